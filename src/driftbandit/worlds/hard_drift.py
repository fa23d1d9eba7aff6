"""Paths that are hard in different ways: changes that hide, return, come late, come rarely or speed up."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from driftbandit.core import validate
from driftbandit.core.random import PAGE, Chance
from driftbandit.core.types import Floats
from driftbandit.worlds.drift import Drift, Gradual, Plane, UnitDrift, hold, on_circle, on_sphere, turns


def whole_blocks(dim: int, features: int) -> int:
    """The number of features per action, if it divides the dimensions."""
    if dim % validate.whole("features", features):
        raise ValueError(f"features must divide the {dim} dimensions into whole actions, got features = {features}")
    return features


@dataclass(frozen=True)
class Hidden(Plane):
    """θ = ½e_1, and in every second sixth of the horizon some other coordinate is 0.85: e_1's reward never shows it.

    With ``features`` per action, as in DisjointArms, the coordinates are those of the actions' constants.
    """

    features: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.settle(self, features=whole_blocks(self.dim, self.features))
        if self.dim == self.features:
            raise ValueError(f"features must leave room for two actions in {self.dim} dimensions, got {self.features}")

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        ends = [horizon * k // 6 for k in range(7)]
        for sixth, (start, stop) in enumerate(itertools.pairwise(ends)):
            theta = np.zeros(self.dim)
            theta[0] = 0.5
            if sixth % 2:
                theta[self.features * (1 + sixth // 2 % (self.dim // self.features - 1))] = 0.85
            yield from hold(theta, stop - start)


@dataclass(frozen=True)
class Returning(UnitDrift):
    """``count`` vectors from the sphere in turn, each for ``every`` rounds: seasons that change overnight."""

    every: int = field(default=1000, kw_only=True)
    count: int = field(default=2, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.settle(self, every=validate.whole("every", self.every), count=validate.whole("count", self.count))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        for season, start in enumerate(range(0, horizon, self.every)):
            theta = on_sphere(chance(season % self.count), self.dim)
            yield from hold(theta, min(self.every, horizon - start))


@dataclass(frozen=True)
class Rarer(UnitDrift):
    """New θs from the sphere, each lasting twice as long as the one before; the first lasts ``first`` rounds."""

    first: int = field(default=100, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.settle(self, first=validate.whole("first", self.first))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        start = segment = 0
        while start < horizon:
            length = min(self.first << segment, horizon - start)
            yield from hold(on_sphere(chance(segment), self.dim), length)
            start, segment = start + length, segment + 1


@dataclass(frozen=True)
class Late(UnitDrift):
    """One change, after a fraction ``at`` of the rounds."""

    at: float = field(default=0.9, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.settle(self, at=validate.fraction("at", self.at))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        change = int(self.at * horizon)
        yield from hold(on_sphere(chance(0), self.dim), change)
        yield from hold(on_sphere(chance(1), self.dim), horizon - change)


@dataclass(frozen=True)
class Accelerating(Gradual):
    """Along the unit circle by ``angle``, at a speed that grows from 0 in proportion to time."""

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        for start in range(0, horizon, PAGE):
            passed = np.arange(start, min(start + PAGE, horizon)) / max(horizon - 1, 1)
            yield on_circle(self.dim, self.angle * passed * passed)


@dataclass(frozen=True)
class Cycle(UnitDrift):
    """A path that repeats every ``period`` rounds around a vector drawn once."""

    period: int = field(default=10_000, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.settle(self, period=validate.whole("period", self.period))


@dataclass(frozen=True)
class Swaying(Cycle):
    """The first coordinate swings between ±√½; the others, together of length √½, stay fixed."""

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        rest = on_sphere(chance(0), self.dim - 1) if self.dim > 1 else np.empty(0)
        for angle in turns(horizon, self.period):
            yield np.column_stack([np.cos(angle), np.tile(rest, (len(angle), 1))]) * math.sqrt(0.5)


@dataclass(frozen=True)
class Breathing(Cycle):
    """One direction, with a length that goes from 1 to 0.2 and back: the ranking of arms never changes, only the scale."""

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        theta = on_sphere(chance(0), self.dim)
        for angle in turns(horizon, self.period):
            yield np.outer(0.6 + 0.4 * np.cos(angle), theta)


@dataclass(frozen=True)
class Scaled(Drift):
    """Another drift, ``length`` times as long."""

    drift: Drift
    length: float = 1.0
    dim: int = field(init=False, repr=False)

    by_name = False  # it wraps another: a study asks for it by ``length``

    def __post_init__(self) -> None:
        validate.settle(self, length=validate.positive("length", self.length), dim=self.drift.dim)

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        for page in self.drift.deal(horizon, chance):
            yield self.length * page


@dataclass(frozen=True)
class BaseRate(Drift):
    """For DisjointArms: every action yields about ``rate``; another drift determines which yield more.

    ``features``: per action. ``spread``: how far rewards lie from the rate (root mean square over the directions that the other
    drift may take), as a fraction of it: at ½, one in forty would be negative. No θ is longer than ``length``.
    """

    drift: UnitDrift
    rate: float
    features: int
    spread: float = 0.5
    dim: int = field(init=False, repr=False)
    length: float = field(init=False, repr=False)

    by_name = False  # it wraps another: a study asks for it by ``rate``

    def __post_init__(self) -> None:
        if not isinstance(self.drift, UnitDrift):
            raise ValueError(f"drift must have unit length, like Switching, got {self.drift!r}")
        dim, rate = self.drift.dim, validate.positive("rate", self.rate)
        spread = validate.not_negative("spread", self.spread)
        validate.settle(self, rate=rate, features=whole_blocks(dim, self.features), spread=spread)
        validate.settle(self, dim=dim, length=rate * math.sqrt(dim) * (1.0 + spread))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        base = np.zeros(self.dim)
        base[:: self.features] = self.rate * math.sqrt(self.features)
        for page in self.drift.deal(horizon, chance):
            yield base + self.spread * self.rate * math.sqrt(self.dim) * page
