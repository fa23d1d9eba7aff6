"""What a page shows of one experiment, as sums that do not grow: by action over time, delays, memory."""

import time
from collections import deque
from collections.abc import Sequence
from math import inf
from typing import Any

import msgspec
import numpy as np

from driftbandit.live.door.series import (
    CHOSEN,
    REWARDED,
    SQUARES,
    TOTAL,
    Histogram,
    Series,
    deviations,
    gaps,
    means,
    pooled,
    short,
)
from driftbandit.live.fold.entries import Entry
from driftbandit.live.fold.records import Decided

MOST_ACTIONS = 32  # shown one by one; the rest together
OTHERS = "others"
RECENT = 50  # decisions told one by one
DELAYS = (0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 21600.0, 86400.0)  # seconds
SPANS = {"30m": (5.0, 360), "7d": (1800.0, 336)}  # width of a bucket in seconds, how many


class ActionHistory(msgspec.Struct):
    """An action over time: one number per bucket; null where nothing was, or too little for an interval."""

    action: str
    decisions: list[int]
    rewards: list[int]  # learnt in the bucket, defaults included
    mean: list[float | None]  # of these
    low: list[float | None]  # its 95 % interval
    high: list[float | None]
    deviations: list[float]  # the sum of squared distances from the mean, by which buckets can be put together


class Restart(msgspec.Struct):
    """The policy found older outcomes outdated and started over. ``at`` is null where that was before the span."""

    round: int
    at: float | None


class History(msgspec.Struct, kw_only=True):
    """An experiment over time, in buckets of ``width`` seconds; ``times`` are their beginnings, the last is not over."""

    span: str
    width: float
    times: list[float]
    decisions: list[int]
    rewards: list[int]
    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]
    deviations: list[float]  # as for an action
    bounds: list[float | None]  # the least and the greatest reward learnt so far: intervals end there
    memory: list[float | None]  # rewards that the policy remembers
    restarts: list[Restart]
    actions: list[ActionHistory]


class Board:
    """Fed with decisions and learnt rewards in the order of the journal, some time after they were answered."""

    def __init__(self) -> None:
        self.series = {span: Series(width, count, MOST_ACTIONS + 1) for span, (width, count) in SPANS.items()}
        self.places: dict[str, int] = {}
        self.delays = Histogram(DELAYS)
        self.bounds = (inf, -inf)  # the least and the greatest reward learnt
        self.baselines = np.zeros((2, 4))  # what the caller's own choices earned: where the policy's differed, where it agreed
        self._sums: dict[tuple[int, int], list[float]] = {}  # by second and place: what is not in the series yet
        self._rows: dict[tuple[int, str | None, int], list[float]] = {}  # the same by second, action and index
        self._rounds: dict[int, int] = {}  # by second: the first
        self.last: deque[Decided] = deque(maxlen=RECENT)

    def decided(self, record: Decided) -> None:
        self.last.append(record)
        second = int(record.at)
        self._row(second, record.action, record.index)[CHOSEN] += 1
        self._rounds.setdefault(second, record.round)

    def learnt(self, entry: Entry, at: float, reward: float) -> None:
        row = self._row(int(at), entry.label, entry.index)
        row[REWARDED] += 1
        row[TOTAL] += reward
        row[SQUARES] += reward * reward
        self.bounds = (min(self.bounds[0], reward), max(self.bounds[1], reward))
        if entry.baseline:
            self.baselines[int(entry.own)] += (0.0, 1.0, reward, reward * reward)

    def rewarded(self, entry: Entry, at: float) -> None:
        self.delays.add(max(0.0, at - entry.at))

    def _row(self, second: int, action: str | None, index: int) -> list[float]:
        row = self._rows.get((second, action, index))
        return self._new_row(second, action, index) if row is None else row

    def _new_row(self, second: int, action: str | None, index: int) -> list[float]:
        name = f"arm {index}" if action is None else action
        place = self.places.get(name)
        if place is None:
            place = MOST_ACTIONS
            if len(self.places) < MOST_ACTIONS:
                place = self.places[name] = min({*range(MOST_ACTIONS)}.difference(self.places.values()))
        row = self._rows[second, action, index] = self._sums.setdefault((second, place), [0.0, 0.0, 0.0, 0.0])
        return row

    def settle(self, memory: float | None) -> None:
        """Into the series with what has come, and with the memory in use."""
        for series in self.series.values():
            for (second, place), sums in self._sums.items():
                series.add(second, place, sums)
            for second, round in self._rounds.items():
                series.reach(second, round)
            series.level(time.time(), np.nan if memory is None else memory)
        self._sums.clear()
        self._rows.clear()
        self._rounds.clear()
        if len(self.places) == MOST_ACTIONS:
            self._make_room()

    def _make_room(self) -> None:
        """Actions of which nothing is left in any series give their places to others."""
        used = np.logical_or.reduce([series.sums.any(axis=(0, 2)) for series in self.series.values()])
        self.places = {name: place for name, place in self.places.items() if used[place]}

    def names(self, used: Any) -> list[tuple[str, int]]:
        """Of the actions, and of their places; the others, if there are any."""
        known = list(self.places.items())
        return [*known, (OTHERS, MOST_ACTIONS)] if used[MOST_ACTIONS] else known

    def history(self, span: str, restarts: Sequence[int]) -> History:
        series = self.series[span]
        table = series.table(time.time())
        sums = table.sums
        variance = pooled(sums)
        mean, low, high = means(sums.sum(axis=1), variance, self.bounds)
        return History(
            span=span,
            width=series.width,
            times=table.times,
            decisions=whole(sums[..., CHOSEN].sum(axis=1)),
            rewards=whole(sums[..., REWARDED].sum(axis=1)),
            mean=mean,
            low=low,
            high=high,
            deviations=short(deviations(sums.sum(axis=1))),
            bounds=gaps(np.array(self.bounds)),
            memory=gaps(table.levels),
            restarts=[Restart(round, table.when(round)) for round in restarts],
            actions=[self._over_time(name, sums[:, place], variance) for name, place in self.names(sums.any(axis=(0, 2)))],
        )

    def _over_time(self, name: str, sums: Any, variance: float) -> ActionHistory:
        counts = whole(sums[:, CHOSEN]), whole(sums[:, REWARDED])
        return ActionHistory(name, *counts, *means(sums, variance, self.bounds), short(deviations(sums)))


def whole(values: Any) -> list[int]:
    counts: list[int] = values.astype(int).tolist()
    return counts
