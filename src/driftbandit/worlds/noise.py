"""Noise laws: what is added to the mean reward, or how else a reward is drawn from its mean."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from driftbandit.core import validate
from driftbandit.core.random import Chance, page_sizes, pages_of
from driftbandit.core.types import Floats
from driftbandit.worlds.part import Part
from driftbandit.worlds.reward import Form, added, clicked, counted


class Noise(Part):
    @property
    def form(self) -> Form:
        """How a reward is computed from its mean and the round's random number."""
        return added()

    @abstractmethod
    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        """One number per round, in pages."""


@dataclass(frozen=True)
class Law(Noise):
    """A law whose ``scale`` is also its sub-Gaussian constant (R), where it has one."""

    scale: float = 1.0

    def __post_init__(self) -> None:
        validate.settle(self, scale=validate.not_negative("scale", self.scale))

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
    """±scale, each with probability ½."""

    def draw(self, rng: np.random.Generator, rounds: int) -> Floats:
        return 2.0 * rng.integers(0, 2, rounds) - 1.0


@dataclass(frozen=True)
class StudentT(Law):
    """Heavy tails: Student's t with ``freedom`` degrees of freedom and standard deviation ``scale``."""

    freedom: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.settle(self, freedom=validate.real("freedom", self.freedom))
        if self.freedom <= 2.0:
            raise ValueError(f"freedom must exceed 2 for the variance to be finite, got {self.freedom:g}")

    def draw(self, rng: np.random.Generator, rounds: int) -> Floats:
        return rng.standard_t(self.freedom, rounds) * math.sqrt(1.0 - 2.0 / self.freedom)


@dataclass(frozen=True)
class Alternating(Gaussian):
    """Gaussian with standard deviation ``scale`` for ``every`` rounds, then ``quiet`` times that for as many, and so on."""

    quiet: float = 0.1
    every: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.settle(self, quiet=validate.not_negative("quiet", self.quiet), every=validate.whole("every", self.every))
        if self.quiet > 1.0:
            raise ValueError(f"quiet must be at most 1, got {self.quiet:g}")

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        start = 0
        for page in super().deal(horizon, chance):
            turn = np.arange(start, start + len(page)) // self.every
            yield page * np.where(turn % 2, self.quiet, 1.0)
            start += len(page)


class NoiseArray(Noise):
    """Your own noise, one number per round, the same in every replicate."""

    by_name = False

    def __init__(self, values: ArrayLike) -> None:
        self.values = validate.array("values", values, 1).copy()

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        return pages_of("values", self.values, horizon)


class Luck(Noise):
    """A law with a given mean: each round deals one number, uniform on [0, 1), that decides alike for every policy."""

    @property
    @abstractmethod
    def form(self) -> Form: ...

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        for page, size in enumerate(page_sizes(horizon)):
            yield chance(page).random(size)


@dataclass(frozen=True)
class Clicks(Luck):
    """1 or 0: a click with probability ⟨x, θ⟩, clipped to [0, 1]. Its ``scale`` is Hoeffding's ½, whatever the base rate."""

    scale: ClassVar[float] = 0.5

    @property
    def form(self) -> Form:
        return clicked()


@dataclass(frozen=True)
class Counts(Luck):
    """Counts with mean ⟨x, θ⟩, at least 0: Poisson, but 0 in a fraction ``zeros`` of the rounds, whatever is played.

    Counts have no sub-Gaussian constant. Their ``scale`` is the standard deviation of a count with mean ``typical``.
    """

    zeros: float = 0.0
    typical: float = 1.0

    def __post_init__(self) -> None:
        zeros, typical = validate.not_negative("zeros", self.zeros), validate.positive("typical", self.typical)
        if zeros >= 1.0:
            raise ValueError(f"zeros must be less than 1, a fraction of the rounds, got {zeros:g}")
        validate.settle(self, zeros=zeros, typical=typical)

    @property
    def scale(self) -> float:
        return math.sqrt(self.typical + self.typical**2 * self.zeros / (1.0 - self.zeros))

    @property
    def form(self) -> Form:
        return counted(self.zeros)
