"""Delay laws: how many further rounds are decided before a reward is told. 0 tells it before the next decision."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftbandit import _check
from driftbandit._chance import Chance, page_sizes, pages_of
from driftbandit._types import Ints


class Delay(ABC):
    """Whole numbers from 0 to ``longest``."""

    longest: int

    @abstractmethod
    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        """One number a round, in pages."""


@dataclass(frozen=True)
class FixedDelay(Delay):
    """Every reward waits as long."""

    longest: int = 0

    def __post_init__(self) -> None:
        _check.settle(self, longest=_check.whole("longest", self.longest, least=0))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        for size in page_sizes(horizon):
            yield np.full(size, self.longest)


@dataclass(frozen=True)
class UniformDelay(Delay):
    """Uniform on shortest … longest."""

    longest: int
    shortest: int = 0

    def __post_init__(self) -> None:
        shortest = _check.whole("shortest", self.shortest, least=0)
        _check.settle(self, shortest=shortest, longest=_check.whole("longest", self.longest, least=shortest))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        for page, size in enumerate(page_sizes(horizon)):
            yield chance(page).integers(self.shortest, self.longest, size, endpoint=True)


@dataclass(frozen=True)
class GeometricDelay(Delay):
    """Memoryless with this mean, cut off at ``longest``."""

    mean: float
    longest: int

    def __post_init__(self) -> None:
        mean, longest = _check.not_negative("mean", self.mean), _check.whole("longest", self.longest, least=0)
        _check.settle(self, mean=mean, longest=longest)

    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        for page, size in enumerate(page_sizes(horizon)):
            waits = chance(page).geometric(1.0 / (1.0 + self.mean), size) - 1
            yield np.minimum(waits, self.longest)


class DelayArray(Delay):
    """Delays of one's own, one number a round, the same in every replicate."""

    def __init__(self, values: ArrayLike) -> None:
        values = _check.array("values", values, 1)
        if (values < 0).any() or (values % 1).any() or (values > 2**53).any():
            raise ValueError("values must be whole numbers from 0 to 2**53")
        self.values = values.astype(np.int64)
        self.longest = int(self.values.max())

    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        return pages_of("values", self.values, horizon)


class Schedule:
    """Which rewards are told after which round, block by block: earlier rounds first among those told together."""

    def __init__(self) -> None:
        self._rounds = self._due = np.empty(0, np.int64)

    def arrivals(self, start: int, delays: Ints) -> tuple[Ints, Ints]:
        """The rounds told in this block, and where in that list each round's own begin and end."""
        stop = start + len(delays)
        decided = np.arange(start, stop)
        rounds = np.concatenate([self._rounds, decided])
        due = np.concatenate([self._due, decided + delays])
        now = due < stop
        self._rounds, self._due = rounds[~now], due[~now]
        order = np.argsort(due[now], kind="stable")
        upto = np.searchsorted(due[now][order], np.arange(start, stop + 1))
        return rounds[now][order], upto
