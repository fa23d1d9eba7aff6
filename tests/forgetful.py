"""Policies of one's own, as a user would write them: one built on ours, in the compiled loop, and one of plain NumPy."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.confidence import Confidence, radius
from driftbandit.core.ridge import OBSERVED, Ridge, new_ridge
from driftbandit.core.types import Floats, Ints
from driftbandit.core.verbs import absorb, clear
from driftbandit.policies._base.confident import ConfidentPolicy
from driftbandit.policies._base.policy import Memory
from driftbandit.policies._base.verbs import begin, learn


class ForgetfulState(NamedTuple):
    ridge: Ridge
    law: Confidence
    chance: float
    start: Ints  # the first round after it last forgot


@begin.of(ForgetfulState)
def _begin(state: ForgetfulState, t: int, luck: Floats) -> float:
    if luck[3] < state.chance:
        clear(state.ridge)
        state.start[0] = t
    return radius(state.law, state.ridge.tally[OBSERVED])


@learn.of(ForgetfulState)
def _learn(state: ForgetfulState, s: int, x: Floats, r: float) -> None:
    if s >= state.start[0]:
        absorb(state.ridge, x, r)


@dataclass(repr=False, eq=False, kw_only=True)
class ForgetfulUCB(ConfidentPolicy):
    """Forget everything when a coin says so, about every ``period`` rounds."""

    period: int = 100

    remembers = Memory("period")
    pen = 8

    def _new_state(self) -> ForgetfulState:
        ridge = new_ridge(self.dim, self.ridge)
        return ForgetfulState(ridge, self.confidence(), 1.0 / self.period, np.zeros(1, np.int64))


class Habit:
    """Mostly the arm that points most along the sum of what paid; its decisions are bare numbers."""

    remembers = "memory_of_mine", float

    def __init__(self, dim: int, memory_of_mine: float = 50.0, seed: int = 0, stubborn: bool = False) -> None:
        self.keep, self.theta, self.rng = 1.0 - 1.0 / memory_of_mine, np.zeros(dim), np.random.default_rng(seed)
        self.stubborn = stubborn

    def select(self, arms: Any) -> int:
        self.arms = np.asarray(arms)
        lost = self.rng.random() < 0.05 and not self.stubborn
        return int(self.rng.integers(len(arms)) if lost else np.argmax(self.arms @ self.theta))

    def update(self, decision: int, reward: float) -> None:
        self.theta = self.keep * self.theta + reward * self.arms[decision]


class Mute:
    """No player: it never learns."""

    def select(self, arms: Any) -> int:
        return 0


class Unaware(Habit):
    """A player that does not ask how many features there are."""

    def __init__(self) -> None:
        super().__init__(2)


class Curious(Habit):
    """A player that asks for what no world tells."""

    def __init__(self, dim: int, path_length: float) -> None:
        super().__init__(dim, path_length)
