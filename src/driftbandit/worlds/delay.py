"""Delay laws: how many further rounds are decided before a reward is told. 0: it is told before the next decision."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from driftbandit.core import validate
from driftbandit.core.compile import kernel
from driftbandit.core.random import Chance, page_sizes, pages_of
from driftbandit.core.types import Ints
from driftbandit.worlds.part import Part


class Delay(Part):
    """Whole numbers from 0 to ``longest``."""

    longest: int

    @abstractmethod
    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        """One number per round, in pages; or two, for a reward that is not 0 and for one that is."""


@dataclass(frozen=True)
class FixedDelay(Delay):
    """The same delay for every reward."""

    longest: int = 0

    def __post_init__(self) -> None:
        validate.settle(self, longest=validate.whole("longest", self.longest, least=0))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        for size in page_sizes(horizon):
            yield np.full(size, self.longest)


@dataclass(frozen=True)
class UniformDelay(Delay):
    """Uniform on shortest … longest."""

    longest: int
    shortest: int = 0

    def __post_init__(self) -> None:
        shortest = validate.whole("shortest", self.shortest, least=0)
        validate.settle(self, shortest=shortest, longest=validate.whole("longest", self.longest, least=shortest))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        for page, size in enumerate(page_sizes(horizon)):
            yield chance(page).integers(self.shortest, self.longest, size, endpoint=True)


@dataclass(frozen=True)
class GeometricDelay(Delay):
    """Memoryless with this mean, truncated at ``longest``."""

    mean: float
    longest: int

    def __post_init__(self) -> None:
        mean, longest = validate.not_negative("mean", self.mean), validate.whole("longest", self.longest, least=0)
        validate.settle(self, mean=mean, longest=longest)

    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        for page, size in enumerate(page_sizes(horizon)):
            waits = chance(page).geometric(1.0 / (1.0 + self.mean), size) - 1
            yield np.minimum(waits, self.longest)


@dataclass(frozen=True)
class HeavyDelay(Delay):
    """Heavy-tailed (Lomax): k rounds or more with probability (1 + k/scale)^-tail, truncated at ``longest``."""

    scale: float
    longest: int
    tail: float = 1.0

    def __post_init__(self) -> None:
        scale, tail = validate.positive("scale", self.scale), validate.positive("tail", self.tail)
        validate.settle(self, scale=scale, tail=tail, longest=validate.whole("longest", self.longest, least=0))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        for page, size in enumerate(page_sizes(horizon)):
            waits = self.scale * chance(page).pareto(self.tail, size)
            yield np.minimum(waits, self.longest).astype(np.int64)


@dataclass(frozen=True)
class Timeout(Delay):
    """As with clicks: a nonzero reward is told after another ``delay`` (by default at once), a 0 only after ``wait`` rounds."""

    wait: int
    delay: Delay = field(default_factory=FixedDelay)
    longest: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        wait = validate.whole("wait", self.wait, least=0)
        validate.settle(self, wait=wait, longest=wait)
        if not isinstance(self.delay, Delay) or isinstance(self.delay, Timeout):
            raise ValueError(f"delay must be a Delay other than Timeout, got {self.delay!r}")
        if self.delay.longest > self.wait:
            raise ValueError(f"delay must be at most the wait of {self.wait}, after which a 0 is told, got {self.delay!r}")

    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        for waits in self.delay.deal(horizon, chance):
            yield np.column_stack([waits, np.full(len(waits), self.wait)])


class DelayArray(Delay):
    """Your own delays, one number per round, the same in every replicate."""

    by_name = False

    def __init__(self, values: ArrayLike) -> None:
        values = validate.array("values", values, 1)
        if (values < 0).any() or (values % 1).any() or (values > 2**53).any():
            raise ValueError("values must be whole numbers from 0 to 2**53")
        self.values = values.astype(np.int64)
        self.longest = int(self.values.max())

    def deal(self, horizon: int, chance: Chance) -> Iterator[Ints]:
        return pages_of("values", self.values, horizon)


@kernel
def is_told(zero: Ints, k: int, reward: float) -> bool:
    """Whether the k-th arrival is where this reward is told.

    Where ``zero`` is empty, every arrival is told. Else each round is listed twice among the arrivals: ``zero`` is 1 where it
    is told if its reward is 0, and 0 where it is told if not.
    """
    return len(zero) == 0 or (reward == 0.0) == bool(zero[k])


class Schedule:
    """Which rewards are told after which round, block by block; of those told together, earlier rounds come first."""

    def __init__(self) -> None:
        self._entries = self._due = np.empty(0, np.int64)

    def arrivals(self, start: int, delays: Ints) -> tuple[Ints, Ints, Ints]:
        """The rounds told in this block, where in that list each round's own begin and end, and ``zero`` of ``is_told``."""
        stop, kinds = start + len(delays), delays[0].size
        entries = np.concatenate([self._entries, np.arange(start * kinds, stop * kinds)])
        due = np.concatenate([self._due, np.arange(start * kinds, stop * kinds) // kinds + delays.ravel()])
        now = due < stop
        self._entries, self._due = entries[~now], due[~now]
        order = np.argsort(due[now], kind="stable")
        upto = np.searchsorted(due[now][order], np.arange(start, stop + 1))
        told = entries[now][order]
        return told // kinds, upto, told % kinds if kinds > 1 else told[:0]
