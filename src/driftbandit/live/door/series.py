"""Sums by time and action, in a ring of buckets: what happened lately, in memory that does not grow."""

from bisect import bisect_left
from collections.abc import Sequence
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from driftbandit.core.types import Floats

CHOSEN, REWARDED, TOTAL, SQUARES = range(4)
INTERVAL = 1.96  # standard errors: 95 %


class Table(NamedTuple):
    """The ring, the oldest bucket first."""

    times: list[float]  # when each begins
    sums: Floats  # (bucket, action, 4)
    levels: Floats  # (bucket,): the last seen, NaN if none was
    rounds: Floats  # (bucket,): the first decided in it, NaN if none was

    def when(self, round: int) -> float | None:
        """About when a round was decided; None if that was before all of this."""
        known = np.flatnonzero(self.rounds <= round)
        return self.times[known[-1]] if len(known) else None


class Series:
    """``count`` buckets of ``width`` seconds. What is older than the ring is passed over."""

    def __init__(self, width: float, count: int, actions: int) -> None:
        self.width, self.count = width, count
        self.sums = np.zeros((count, actions, 4))
        self.levels, self.rounds = np.full(count, np.nan), np.full(count, np.nan)
        self.newest = -1  # the number of the newest bucket, counted from the epoch

    def add(self, time: float, action: int, sums: Sequence[float]) -> None:
        if (bucket := self._at(time)) is not None:
            self.sums[bucket, action] += sums

    def level(self, time: float, value: float) -> None:
        if (bucket := self._at(time)) is not None:
            self.levels[bucket] = value

    def reach(self, time: float, round: int) -> None:
        if (bucket := self._at(time)) is not None and not self.rounds[bucket] <= round:
            self.rounds[bucket] = round

    def _at(self, time: float) -> int | None:
        number = int(time // self.width)
        if number > self.newest:
            self._turn_to(number)
        return number % self.count if number > self.newest - self.count else None

    def _turn_to(self, number: int) -> None:
        fresh = np.arange(max(self.newest + 1, number - self.count + 1), number + 1) % self.count
        self.sums[fresh], self.levels[fresh], self.rounds[fresh] = 0.0, np.nan, np.nan
        self.newest = number

    def table(self, now: float) -> Table:
        if int(now // self.width) > self.newest:
            self._turn_to(int(now // self.width))
        numbers = np.arange(self.newest - self.count + 1, self.newest + 1)
        order = numbers % self.count
        return Table((numbers * self.width).tolist(), self.sums[order], self.levels[order], self.rounds[order])


def pooled(sums: Floats) -> float:
    """The variance of all rewards in a table."""
    n, total, squares = sums[..., REWARDED].sum(), sums[..., TOTAL].sum(), sums[..., SQUARES].sum()
    return max(float(squares / n - (total / n) ** 2), 0.0) if n else 0.0


def means(
    sums: Floats, variance: float, bounds: Sequence[float] = (-inf, inf)
) -> tuple[list[float | None], list[float | None], list[float | None]]:
    """The mean reward of each row and the ends of its 95 % interval; None where no reward came.

    A row's own variance counts together with one reward of the ``variance`` of all, since where few rewards came, and by
    chance the same, its own says nothing. No end lies beyond ``bounds``, the least and the greatest reward seen,
    so a rate is never below 0.
    """
    n, total = sums[..., REWARDED], sums[..., TOTAL]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        half = INTERVAL * np.sqrt((deviations(sums) + variance) / n / n)
    return gaps(mean), gaps(np.maximum(mean - half, bounds[0])), gaps(np.minimum(mean + half, bounds[1]))


def deviations(sums: Floats) -> Floats:
    """The sum of squared distances of each row's rewards from their mean."""
    n, total, squares = sums[..., REWARDED], sums[..., TOTAL], sums[..., SQUARES]
    apart: Floats = np.maximum(squares - total**2 / np.maximum(n, 1.0), 0.0)
    return apart


def gaps(values: Floats) -> list[float | None]:
    """As JSON has it, which knows no NaN."""
    return [value if isfinite(value) else None for value in short(values)]


def short(values: Floats) -> list[float]:
    """To six digits, more than anyone can see. All at once, since a page asks for tens of thousands."""
    with np.errstate(invalid="ignore", divide="ignore"):
        last = np.clip(np.floor(np.log10(np.abs(values))) - 5, -22, 22)  # the place of the sixth digit
        tens = 10.0 ** np.abs(last)
        rounded = np.where(last > 0, np.round(values / tens) * tens, np.round(values * tens) / tens)
    shortened: list[float] = np.where(np.isfinite(values) & (values != 0), rounded, values).tolist()
    return shortened


class Histogram:
    """Counts up to each of some bounds, and above the last."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds, self.counts, self.total = list(bounds), [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value
