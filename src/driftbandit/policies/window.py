"""WindowUCB (Cheung, Simchi-Levi, Zhu 2019; eq. 7 of the paper): ridge regression on the last w rounds."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftbandit import _check
from driftbandit._compile import kernel
from driftbandit._types import Floats, Ints
from driftbandit.policies.base import Policy, tuned
from driftbandit.policies.verbs import begin, learn, retune
from driftbandit.ridge import OBSERVED, Confidence, Ridge, add, clear, new_ridge, radius
from driftbandit.theory.tuning import optimal_window

START, NOW, WINDOW = 0, 1, 2
EMPTY = -1


class WindowState(NamedTuple):
    ridge: Ridge
    law: Confidence
    clock: Ints  # (3,): first round that counts; the last decided round; the window w
    rounds: Ints  # (w,): the round whose reward a row of the ring holds
    arms: Floats  # (w, d)
    rewards: Floats  # (w,)


def new_state(policy: Policy, window: int) -> WindowState:
    return WindowState(
        new_ridge(policy.dim, policy.ridge), policy.confidence(), np.array([0, -1, window], np.int64),
        np.full(window, EMPTY), np.zeros((window, policy.dim)), np.zeros(window),
    )  # fmt: skip


@kernel
def evict(state: WindowState, slot: int) -> None:
    if state.rounds[slot] != EMPTY:
        add(state.ridge, state.arms[slot], state.rewards[slot], -1.0)
        state.rounds[slot] = EMPTY


@begin.of(WindowState)
def _begin(state: WindowState, t: int, luck: Floats) -> float:
    # Round t sees rounds t−w … t−1. What is older shares its row with round t−1, whose reward may still be out.
    window = state.clock[WINDOW]
    state.clock[NOW] = t
    slot = (t - 1) % window
    if state.rounds[slot] < t - window:
        evict(state, slot)
    return radius(state.law, state.ridge.tally[OBSERVED])


@learn.of(WindowState)
def _learn(state: WindowState, s: int, x: Floats, r: float) -> None:
    window = state.clock[WINDOW]
    if s < state.clock[START] or s <= state.clock[NOW] - window:
        return
    slot = s % window
    evict(state, slot)
    add(state.ridge, x, r, 1.0)
    state.rounds[slot] = s
    for j in range(len(x)):
        state.arms[slot, j] = x[j]
    state.rewards[slot] = r


@retune.of(WindowState)
def _retune(state: WindowState, t: int, memory: int) -> None:
    clear(state.ridge)
    state.rounds[:] = EMPTY
    state.clock[START] = t
    state.clock[WINDOW] = memory


@dataclass(repr=False, eq=False, kw_only=True)
class WindowUCB(Policy):
    """Forget what is older than ``window`` rounds (w), one round at a time. Keeps w rows in a ring.

    Give ``window``, or ``horizon`` (T) and ``path_length`` (P_T). A reward that comes after its round left the window
    is dropped.
    """

    window: int | None = None
    path_length: float | None = None

    def _new_state(self) -> WindowState:
        self.window = tuned(self, "window", optimal_window)
        return new_state(self, _check.whole("window", self.window))
