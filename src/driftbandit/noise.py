"""Noise laws: what a reward adds to its expectation."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftbandit import _check
from driftbandit._chance import Chance, page_sizes, pages_of
from driftbandit._types import Floats


class Noise(ABC):
    @abstractmethod
    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        """One number a round, in pages."""


@dataclass(frozen=True)
class Law(Noise):
    """A law whose ``scale`` is also its sub-Gaussian constant (R), where it has one."""

    scale: float = 1.0

    def __post_init__(self) -> None:
        _check.settle(self, scale=_check.not_negative("scale", self.scale))

    @abstractmethod
    def draw(self, rng: np.random.Generator, rounds: int) -> Floats:
        """Noise of scale 1."""

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        for page, size in enumerate(page_sizes(horizon)):
            yield self.scale * self.draw(chance(page), size)


class Gaussian(Law):
    """N(0, scale²)."""

    def draw(self, rng: np.random.Generator, rounds: int) -> Floats:
        return rng.standard_normal(rounds)


class Uniform(Law):
    """Uniform on [−scale, scale]."""

    def draw(self, rng: np.random.Generator, rounds: int) -> Floats:
        return rng.uniform(-1.0, 1.0, rounds)


class Rademacher(Law):
    """±scale, each half of the time."""

    def draw(self, rng: np.random.Generator, rounds: int) -> Floats:
        return 2.0 * rng.integers(0, 2, rounds) - 1.0


@dataclass(frozen=True)
class StudentT(Law):
    """Heavy tails: Student's t with ``freedom`` degrees of freedom and the standard deviation ``scale``."""

    freedom: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.settle(self, freedom=_check.real("freedom", self.freedom))
        if self.freedom <= 2.0:
            raise ValueError(f"freedom must exceed 2 for the variance to be finite, got {self.freedom:g}")

    def draw(self, rng: np.random.Generator, rounds: int) -> Floats:
        return rng.standard_t(self.freedom, rounds) * math.sqrt(1.0 - 2.0 / self.freedom)


@dataclass(frozen=True)
class Alternating(Gaussian):
    """Gaussian of standard deviation ``scale`` for ``every`` rounds, of ``quiet`` times that for as many, and so on."""

    quiet: float = 0.1
    every: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.settle(self, quiet=_check.not_negative("quiet", self.quiet), every=_check.whole("every", self.every))
        if self.quiet > 1.0:
            raise ValueError(f"quiet must be at most 1, got {self.quiet:g}")

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        start = 0
        for page in super().deal(horizon, chance):
            turn = np.arange(start, start + len(page)) // self.every
            yield page * np.where(turn % 2, self.quiet, 1.0)
            start += len(page)


class NoiseArray(Noise):
    """Noise of one's own, one number a round, the same in every replicate."""

    def __init__(self, values: ArrayLike) -> None:
        self.values = _check.array("values", values, 1).copy()

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        return pages_of("values", self.values, horizon)
