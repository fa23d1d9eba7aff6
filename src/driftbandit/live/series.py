"""Sums by time and action, in a ring of buckets: what happened lately, in memory that does not grow."""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from driftbandit.core.types import Floats

CHOSEN, REWARDED, TOTAL, SQUARES = range(4)
INTERVAL = 1.96  # standard errors: 95 %


class Series:
    """``count`` buckets of ``width`` seconds; rows beyond ``actions`` share the last.

    Times may come a little out of order; what is older than the ring is passed over.
    """

    def __init__(self, width: float, count: int, actions: int) -> None:
        self.width, self.count = width, count
        self.sums = np.zeros((count, actions, 4))
        self.newest = -1  # the number of the newest bucket, counted from the epoch

    def add(self, time: float, action: int, column: int, value: float = 1.0) -> None:
        bucket = int(time // self.width)
        if bucket > self.newest:
            self._turn_to(bucket)
        if bucket > self.newest - self.count:
            row = self.sums[bucket % self.count, min(action, self.sums.shape[1] - 1)]
            row[column] += value
            if column == TOTAL:
                row[REWARDED] += 1
                row[SQUARES] += value * value

    def _turn_to(self, bucket: int) -> None:
        steps = min(bucket - self.newest, self.count)
        for old in range(bucket - steps + 1, bucket + 1):
            self.sums[old % self.count] = 0.0
        self.newest = bucket

    def table(self, now: float) -> "tuple[list[float], Floats]":
        """When each bucket begins, the oldest first, and its sums (bucket, action, 4)."""
        self._turn_to(max(self.newest, int(now // self.width)))
        numbers = np.arange(self.newest - self.count + 1, self.newest + 1)
        return (numbers * self.width).tolist(), self.sums[numbers % self.count]


def means(sums: Floats) -> tuple[list[float | None], list[float | None], list[float | None]]:
    """The mean reward of each row and the ends of its 95 % interval; None where fewer than one or two rewards came."""
    n, total, squares = sums[..., REWARDED], sums[..., TOTAL], sums[..., SQUARES]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        half = INTERVAL * np.sqrt(np.maximum(squares / n - mean**2, 0.0) / (n - 1))
    half[n < 2] = np.nan
    return gaps(mean), gaps(mean - half), gaps(mean + half)


def gaps(values: Floats) -> list[float | None]:
    """As JSON has it, which knows no NaN; to six digits, more than anyone can see."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values.ravel()]


class Histogram:
    """Counts below each of some bounds, and above the last; as Prometheus wants them."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds, self.counts, self.total = list(bounds), [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        return sum(self.counts)
