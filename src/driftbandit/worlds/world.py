"""A world: drift, arms, noise and delay, dealt in blocks of rounds that are the same for every policy."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from driftbandit.core import validate
from driftbandit.core.arms import Ball, Convex, Dealt, Ellipsoid, FixedArms, Kept, best_value
from driftbandit.core.compile import kernel
from driftbandit.core.random import PAGE, Chance, Seed, generator, page_sizes, regroup
from driftbandit.core.types import Floats, Ints
from driftbandit.worlds.arm_sources import ArmSource, DisjointArms, UnitArms
from driftbandit.worlds.delay import Delay, FixedDelay, Schedule
from driftbandit.worlds.drift import Drift
from driftbandit.worlds.noise import Noise
from driftbandit.worlds.reward import Form, mean_reward

PATH, ARMS, NOISE, DELAY = range(4)  # streams of chance


class Block(NamedTuple):
    """Consecutive rounds, as a policy meets them."""

    start: int
    theta: Floats  # (B, d)
    arms: Kept | Dealt | Convex
    noise: Floats  # (B,): what is added to the mean, or the luck that decides, depending on `form`
    best: Floats  # (B,): the greatest mean reward
    arrivals: Ints  # the rounds whose rewards are told in this block …
    upto: Ints  # (B + 1,): … those of the block's round i are arrivals[upto[i]:upto[i + 1]] …
    zero: Ints  # … and on what condition: see is_told
    form: Form  # how a reward is drawn from its mean


@kernel
def fill_best(form: Form, arms: Kept | Dealt | Convex, theta: Floats, out: Floats) -> None:
    best_value(arms, theta, out)
    for t in range(len(out)):
        out[t] = mean_reward(form, out[t])


@dataclass(frozen=True)
class World:
    """``horizon`` rounds of a drift, with arms and noise, or instead of noise a law of rewards such as Clicks.

    ``arms``: UnitArms or another source, FixedArms, a (n, d) array, Ball or Ellipsoid. A replicate is one draw of all that is
    random, determined by its number and the seed, however the rounds are split into blocks.
    """

    drift: Drift
    noise: Noise
    horizon: int
    arms: ArmSource | FixedArms | Ball | Ellipsoid | ArrayLike = field(default_factory=UnitArms)
    delay: Delay = field(default_factory=FixedDelay)
    seed: Seed = 0
    _lengths: dict[int, float] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        validate.settle(self, horizon=validate.whole("horizon", self.horizon), seed=validate.seed(self.seed))
        for name, kind in (("drift", Drift), ("noise", Noise), ("delay", Delay)):
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"{name} must be a {kind.__name__}, got {getattr(self, name)!r}")
        if not isinstance(self.arms, ArmSource | FixedArms | Ball | Ellipsoid):
            object.__setattr__(self, "arms", FixedArms(self.arms))
        if isinstance(self.arms, FixedArms | DisjointArms) and self.arms.dim != self.dim:
            raise ValueError(f"arms must have {self.dim} columns, like the drift, got {self.arms.dim}")
        if isinstance(self.arms, Ellipsoid):
            self.arms.factor(self.dim)

    @property
    def dim(self) -> int:
        return self.drift.dim

    @property
    def longest(self) -> float:
        """The length of the longest arm."""
        return cast(ArmSource | FixedArms | Ball | Ellipsoid, self.arms).longest

    def deal(self, replicate: int = 0, block: int = PAGE) -> Iterator[Block]:
        """The rounds of a replicate, ``block`` at a time."""
        validate.whole("block", block)
        schedule = Schedule()
        streams = zip(
            regroup(self._path(replicate), block),
            self._arms(replicate, block),
            regroup(self.noise.deal(self.horizon, self._chance(replicate, NOISE)), block),
            regroup(self.delay.deal(self.horizon, self._chance(replicate, DELAY)), block),
            strict=False,
        )
        start = 0
        for theta, arms, noise, delays in streams:
            theta, best = np.ascontiguousarray(theta), np.empty(len(theta))
            fill_best(self.noise.form, arms, theta, best)
            yield Block(start, theta, arms, noise, best, *schedule.arrivals(start, delays), self.noise.form)
            start += len(theta)

    def path_length(self, replicate: int = 0) -> float:
        """P_T = Σ‖θ_{t+1} − θ_t‖ of this replicate."""
        if replicate not in self._lengths:
            self._lengths[replicate] = math.fsum(float(page.sum()) for page in self.steps(replicate))
        return self._lengths[replicate]

    def change_points(self, replicate: int = 0) -> list[int]:
        """The rounds, counted from 0, at which a new θ begins."""
        return (np.flatnonzero(np.concatenate(list(self.steps(replicate)))) + 1).tolist()

    def steps(self, replicate: int) -> Iterator[Floats]:
        """‖θ_{t+1} − θ_t‖ for each t, in pages."""
        last: Floats | None = None
        for theta in self._path(replicate):
            joined = theta if last is None else np.concatenate([last, theta])
            yield np.linalg.norm(np.diff(joined, axis=0), axis=1)
            last = theta[-1:]

    def _path(self, replicate: int) -> Iterator[Floats]:
        return self.drift.deal(self.horizon, self._chance(replicate, PATH))

    def _chance(self, replicate: int, stream: int) -> Chance:
        return partial(generator, self.seed, replicate, stream)

    def _arms(self, replicate: int, block: int) -> Iterator[Kept | Dealt | Convex]:
        chance = self._chance(replicate, ARMS)
        if isinstance(self.arms, ArmSource) and self.arms.fresh:
            score = np.empty((3, self.arms.count))
            for columns in regroup(self._fresh(self.arms, chance), block):
                yield Dealt(columns, score)
            return
        arms: Kept | Convex
        if isinstance(self.arms, ArmSource):
            arms = Kept(self.arms.draw(chance(0), self.dim, 1)[0])
        elif isinstance(self.arms, FixedArms):
            arms = Kept(self.arms.columns.copy())
        else:
            assert isinstance(self.arms, Ball | Ellipsoid)
            arms = Convex(self.arms.factor(self.dim))
        for _ in page_sizes(self.horizon, block):
            yield arms

    def _fresh(self, arms: ArmSource, chance: Chance) -> Iterator[Floats]:
        most = max(2**20 // (self.dim * arms.count), 1)  # at most 8 MiB per page
        for page, size in enumerate(page_sizes(self.horizon, min(PAGE, most))):
            yield arms.draw(chance(page), self.dim, size)
