"""Parameter paths θ_1 … θ_T: how a world changes. Each deals its path in pages, so memory does not grow with T."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from driftbandit.core import validate
from driftbandit.core.compile import kernel
from driftbandit.core.random import PAGE, Chance, page_sizes, pages_of
from driftbandit.core.types import Floats
from driftbandit.worlds.part import Part


class Drift(Part):
    dim: int

    @abstractmethod
    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        """The path as (k, dim) arrays of at most a page each, ``horizon`` rows in all."""


@dataclass(frozen=True)
class UnitDrift(Drift):
    """A path in ``dim`` dimensions of vectors no longer than 1; of unit vectors unless stated otherwise."""

    dim: int = 2

    def __post_init__(self) -> None:
        validate.settle(self, dim=validate.whole("dim", self.dim))


def hold(theta: Floats, rounds: int) -> Iterator[Floats]:
    """The same θ for this many rounds."""
    for size in page_sizes(rounds):
        yield np.broadcast_to(theta, (size, len(theta)))


def on_sphere(rng: np.random.Generator, dim: int) -> Floats:
    direction = rng.standard_normal(dim)
    return direction / math.sqrt(direction @ direction)


def on_circle(dim: int, angle: Floats) -> Floats:
    """Unit vectors at these angles in the plane of the first two coordinates."""
    theta = np.zeros((len(angle), dim))
    theta[:, 0], theta[:, 1] = np.cos(angle), np.sin(angle)
    return theta


def turns(horizon: int, period: int) -> Iterator[Floats]:
    """The position of each round in a cycle of ``period`` rounds, as an angle."""
    for start in range(0, horizon, PAGE):
        yield 2.0 * math.pi * (np.arange(start, min(start + PAGE, horizon)) % period) / period


@dataclass(frozen=True)
class Plane(UnitDrift):
    """A drift in the plane of the first two coordinates."""

    def __post_init__(self) -> None:
        if validate.whole("dim", self.dim) < 2:
            raise ValueError(f"dim must be at least 2, since θ moves in a plane, got {self.dim}")
        super().__post_init__()


@dataclass(frozen=True)
class Abrupt(Plane):
    """The paper's abrupt world: [1,0], [-1,0], [0,1], [0,-1] for T/8 rounds each, then [1,0] for the second half."""

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        corners = on_circle(self.dim, np.array([0.0, math.pi, math.pi / 2, -math.pi / 2, 0.0])).round()
        ends = [horizon * k // 8 for k in (0, 1, 2, 3, 4, 8)]
        for theta, start, stop in zip(corners, ends, ends[1:], strict=False):
            yield from hold(theta, stop - start)


@dataclass(frozen=True)
class Gradual(Plane):
    """The paper's gradual world: once along the unit circle by ``angle``, from [1,0] to [-1,0] by default."""

    angle: float = math.pi

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.settle(self, angle=validate.real("angle", self.angle))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        step = self.angle / max(horizon - 1, 1)
        for start in range(0, horizon, PAGE):
            yield on_circle(self.dim, step * np.arange(start, min(start + PAGE, horizon)))


@dataclass(frozen=True)
class Seasonal(Plane):
    """Around the unit circle once every ``period`` rounds: what is forgotten comes back."""

    period: int = field(default=10_000, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.settle(self, period=validate.whole("period", self.period))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        for angle in turns(horizon, self.period):
            yield on_circle(self.dim, angle)


@dataclass(frozen=True)
class Constant(UnitDrift):
    """One θ in all rounds, drawn from the sphere."""

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        yield from hold(on_sphere(chance(0), self.dim), horizon)


@dataclass(frozen=True)
class Switching(UnitDrift):
    """A new θ from the sphere about every ``every`` rounds (uniformly between 0.5 and 1.5 times that)."""

    every: int = field(default=1000, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.settle(self, every=validate.whole("every", self.every))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        left, segment = horizon, 0
        while left:
            rng = chance(segment)
            length = min(max(int(rng.uniform(0.5, 1.5) * self.every), 1), left)
            yield from hold(on_sphere(rng, self.dim), length)
            left, segment = left - length, segment + 1


@dataclass(frozen=True)
class CalmBurst(Switching):
    """Calm for the first half, ``Switching`` for the third quarter, calm again for the last quarter."""

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        half, quarter = horizon // 2, horizon // 4
        page = np.broadcast_to(on_sphere(chance(0), self.dim), (1, self.dim))
        yield from hold(page[-1], half)
        for page in super().deal(quarter, lambda segment: chance(segment + 1)):
            yield page
        yield from hold(page[-1], horizon - half - quarter)


@dataclass(frozen=True)
class RandomWalk(UnitDrift):
    """A random walk on the sphere whose steps have root mean square length ``step``."""

    step: float = field(default=0.01, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.settle(self, step=validate.not_negative("step", self.step))

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        theta = on_sphere(chance(0), self.dim)
        scale = self.step / math.sqrt(max(self.dim - 1, 1))  # of d directions d − 1 lie along the sphere
        for page, size in enumerate(page_sizes(horizon)):
            moves = chance(page + 1).standard_normal((size, self.dim)) * scale
            walk(theta, moves)
            yield moves


@kernel
def walk(theta: Floats, moves: Floats) -> None:
    """Turn moves into positions, in place, and leave theta at the start of the next page."""
    for t in range(len(moves)):
        length = 0.0
        for j in range(len(theta)):
            moved = theta[j] + moves[t, j]
            moves[t, j] = theta[j]
            theta[j] = moved
            length += moved * moved
        for j in range(len(theta)):
            theta[j] /= math.sqrt(length)


class Path(Drift):
    """Your own path: a (T, dim) array, the same in every replicate."""

    def __init__(self, theta: ArrayLike) -> None:
        self.theta = validate.array("theta", theta, 2).copy()
        self.dim = self.theta.shape[1]

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        return pages_of("theta", self.theta, horizon)
