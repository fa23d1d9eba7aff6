"""WindowUCB (Cheung, Simchi-Levi, Zhu 2019; eq. 7 of the paper): ridge regression on the last w rounds."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core import validate
from driftbandit.core.blocks import new_estimate, parts
from driftbandit.core.compile import kernel
from driftbandit.core.confidence import Confidence, radius
from driftbandit.core.ridge import V
from driftbandit.core.sizes import demand_room
from driftbandit.core.types import Floats, Ints
from driftbandit.core.verbs import absorb, clear, observed
from driftbandit.policies._base.confident import ConfidentPolicy, tuned
from driftbandit.policies._base.policy import Memory
from driftbandit.policies._base.sound import (
    EPSILON,
    check_now,
    check_range,
    check_rewards,
    check_ridge,
    check_ring,
    check_rows,
    demand,
)
from driftbandit.policies._base.verbs import begin, learn, retune
from driftbandit.policies._base.withdrawal import ALL, EMPTY, NOTHING, blocks_of, collect, withdraw
from driftbandit.theory.tuning import optimal_window

START, NOW, WINDOW, LEARNT = 0, 1, 2, 3


class WindowState(NamedTuple):
    ridge: Any  # a Ridge, or Blocks
    law: Confidence
    clock: Ints  # (4,): first round that counts; last decided round; the window w; rewards since it was summed afresh
    rounds: Ints  # (w,): the round whose reward a row of the ring holds
    arms: Floats  # (w, d): or in blocks, as rows
    rewards: Floats  # (w,)


def new_state(policy: ConfidentPolicy, window: int) -> WindowState:
    ridge = new_estimate(policy.dim, policy.blocks, policy.shared, policy.ridge)
    entries = policy.dim if policy.blocks == 1 else 1 + policy.shared + len(ridge.columns)
    demand_room("window", window, entries)
    return WindowState(
        ridge, policy.confidence(), np.array([0, -1, window, 0], np.int64),
        np.full(window, EMPTY), np.zeros((window, entries)), np.zeros(window),
    )  # fmt: skip


def check_state(state: WindowState, rounds: int, longest: float, window: int) -> None:
    """Refuse a state read from a file that this many rounds cannot have led to."""
    clock, ridge, kept, blocks = state.clock, state.ridge, state.rounds != EMPTY, blocks_of(state.ridge)
    demand(clock[WINDOW] == window, f"the window must be {window}, got {clock[WINDOW]}")
    check_now(clock[NOW], rounds)
    check_range("the first round that counts", clock[START], 0, rounds)
    check_range("the count of rewards since a fresh sum", clock[LEARNT], 0, max(1024, len(state.rounds)))
    check_range("the rounds in the window", state.rounds, EMPTY, clock[NOW])
    check_ring("the rounds in the window", state.rounds, window, max(clock[START], clock[NOW] - window), clock[NOW])
    check_rows("the arms in the window", state.arms, blocks, longest)
    check_rewards("the rewards in the window", state.rewards)
    demand(observed(ridge) == kept.sum(), "the window does not hold as many rewards as are counted")
    rounding = 4.0 * EPSILON * (2 * clock[LEARNT] + 2 * window) * (ridge.penalty + window * longest**2)
    for part in parts(ridge):
        check_ridge("ridge", part, window, longest, evicted=window)
    for k, part in enumerate(parts(ridge)[:blocks]):
        rows = state.arms[kept] if blocks == 1 else state.arms[kept & (state.arms[:, 0] == k), -len(ridge.columns) :]
        whole = ridge.penalty * np.eye(len(ridge.columns)) + rows.T @ rows
        demand(np.abs(part.matrix[V] - whole).max() <= rounding, "V does not match the arms in the window")


@kernel
def evict(state: WindowState, slot: int) -> None:
    """Take a row out of the estimate; sum afresh if that cancels so much that rounding would remain."""
    if state.rounds[slot] == EMPTY:
        return
    cancelled = withdraw(state.ridge, state.arms[slot], state.rewards[slot])
    state.rounds[slot] = EMPTY
    if cancelled != NOTHING:
        sum_afresh(state, cancelled)


@kernel
def sum_afresh(state: WindowState, which: int) -> None:
    """Sum all, or one block, from the rows of the ring: nothing remains of what has left the window."""
    collect(state.ridge, state.arms, state.rewards, state.rounds[: state.clock[WINDOW]], which)
    if which == ALL:
        state.clock[LEARNT] = 0


@begin.of(WindowState)
def _begin(state: WindowState, t: int, luck: Floats) -> float:
    # Round t sees rounds t−w … t−1. The round before these shares its row with round t−1, whose reward may still be out.
    window = state.clock[WINDOW]
    state.clock[NOW] = t
    slot = (t - 1) % window
    if state.rounds[slot] < t - window:
        evict(state, slot)
    return radius(state.law, observed(state.ridge))


@learn.of(WindowState)
def _learn(state: WindowState, s: int, x: Floats, r: float) -> None:
    window = state.clock[WINDOW]
    if s < state.clock[START] or s <= state.clock[NOW] - window:
        return
    slot = s % window
    evict(state, slot)
    absorb(state.ridge, x, r)
    state.rounds[slot] = s
    for j in range(len(x)):
        state.arms[slot, j] = x[j]
    state.rewards[slot] = r
    state.clock[LEARNT] += 1
    if state.clock[LEARNT] >= max(1024, window):  # V and b accumulate rounding too, and summing them costs w rows
        sum_afresh(state, ALL)


@retune.of(WindowState)
def _retune(state: WindowState, t: int, memory: int) -> None:
    clear(state.ridge)
    state.rounds[:] = EMPTY
    state.clock[START] = t
    state.clock[WINDOW] = memory


@dataclass(repr=False, eq=False, kw_only=True)
class WindowUCB(ConfidentPolicy):
    """Forget what is older than ``window`` rounds (w), one round at a time. Keeps w rows in a ring.

    Give ``window``, or ``horizon`` (T) and ``path_length`` (P_T). A reward that arrives after its round has left the
    window is dropped.
    """

    window: int | None = None
    path_length: float | None = None

    remembers = Memory("window")
    in_blocks = True
    ties_only = True
    pen = 2

    def _new_state(self) -> WindowState:
        self.window = validate.whole("window", tuned(self, "window", optimal_window))
        return new_state(self, self.window)

    def _check_state(self) -> None:
        assert self.window is not None
        demand(self.state.clock[START] == 0, "the window must count from round 0 on")
        check_state(self.state, self.rounds, self.arm_norm, self.window)
