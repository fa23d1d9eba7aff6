"""MASTER (Wei, Luo 2021): copies of LinUCB at dyadic scales, and two tests that make all of them start over."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from driftbandit.core import validate
from driftbandit.core.compile import kernel
from driftbandit.core.confidence import Confidence, radius
from driftbandit.core.counter import WORD, key_of, uniform
from driftbandit.core.ridge import MEAN, METRIC, OBSERVED, SQUARE, THETA, Ridge, forecast, new_ridge, rescore
from driftbandit.core.types import Floats, Ints
from driftbandit.core.verbs import absorb, clear
from driftbandit.policies._base.confident import ConfidentPolicy
from driftbandit.policies._base.sound import check_now, check_range, check_rewards, check_ridge, demand
from driftbandit.policies._base.verbs import begin, learn
from driftbandit.theory.bounds import potential_bound

BLOCK, ORDER, NOW, FIRST, SECOND = 0, 1, 2, 3, 4
LOWEST, EXCESS, TOLD = 0, 1, 2
TOTAL, COUNT = 0, 1
HIGH = 1e100  # above every estimate, and finite, so that it can be saved


class MasterState(NamedTuple):
    """A copy of order m lives for 2^m rounds from a multiple of 2^m on, so that one place per order is enough."""

    ridge: Ridge  # what is played: the estimate of the playing copy
    law: Confidence
    rate: float  # ρ(t) = rate/√t, LinUCB's regret bound per round
    hurdle: float  # ρ̂ = hurdle·ρ
    matrix: Floats  # (M, 2, d, d): matrix, vector, score and tally of each copy's ridge
    vector: Floats  # (M, 3, d)
    score: Floats  # (M, 3, n)
    tally: Ints  # (M, 2)
    earned: Floats  # (M, 2): TOTAL and COUNT of the rewards of all rounds in each copy's life
    block: Floats  # (3,): of this block, the LOWEST optimistic estimate g̃; EXCESS Σ(g̃ − r); rewards TOLD
    clock: Ints  # (5,): first round of this block; its order n; the last decided round; keys of this block's schedule


@kernel
def copy_of(state: MasterState, m: int) -> Ridge:
    """The ridge of order m, as views: for kernels only, since numba hands Python whole arrays."""
    ridge = state.ridge
    return Ridge(ridge.penalty, state.matrix[m], state.vector[m], ridge.columns, state.score[m], state.tally[m])


@kernel
def rescore_copies(state: MasterState) -> None:
    for m in range(len(state.score)):
        rescore(copy_of(state, m))


@kernel
def lives(state: MasterState, m: int, turn: int) -> bool:
    """Whether the turn-th copy of order m in this block exists: with probability ρ(2^n)/ρ(2^m).

    A function of the block's keys, not of the past, so that a late reward finds the copy that played its round.
    """
    clock = state.clock
    return uniform(clock[FIRST], clock[SECOND], 64 * turn + m) < math.pow(2.0, 0.5 * (m - clock[ORDER]))


@kernel
def player(state: MasterState, s: int) -> int:
    """The shortest copy alive in round s of this block; that of order n always is."""
    since = s - state.clock[BLOCK]
    for m in range(state.clock[ORDER]):
        if lives(state, m, since >> m):
            return m
    return int(state.clock[ORDER])


@kernel
def changed(state: MasterState, since: int) -> bool:
    """Test 1: a copy whose life is over earned more than was thought possible. Test 2: the block earned less than estimated."""
    hurdle = state.hurdle * state.rate
    for m in range(state.clock[ORDER] + 1):
        over = since & ((1 << m) - 1) == 0 and state.earned[m, COUNT] > 0.0 and lives(state, m, (since >> m) - 1)
        possible = state.block[LOWEST] + 9.0 * hurdle / math.sqrt(1 << m)
        if over and state.earned[m, TOTAL] >= possible * state.earned[m, COUNT]:
            return True
    told: float = state.block[TOLD]
    return told > 0.0 and state.block[EXCESS] >= 3.0 * hurdle * math.sqrt(told)


@kernel
def open_block(state: MasterState, t: int, order: int, luck: Floats) -> None:
    clock, block = state.clock, state.block
    clock[BLOCK], clock[ORDER] = t, order
    clock[FIRST], clock[SECOND] = key_of(luck[2]), key_of(luck[3])
    block[LOWEST], block[EXCESS], block[TOLD] = HIGH, 0.0, 0.0


@begin.of(MasterState)
def _begin(state: MasterState, t: int, luck: Floats) -> float:
    clock = state.clock
    since = t - clock[BLOCK]
    if t == 0 or changed(state, since):
        open_block(state, t, 0, luck)
    elif since == 1 << clock[ORDER]:
        open_block(state, t, min(clock[ORDER] + 1, len(state.tally) - 1), luck)
    clock[NOW] = t
    since = t - clock[BLOCK]
    for m in range(clock[ORDER] + 1):
        if since & ((1 << m) - 1) == 0:
            renew(state, m)
    return show(state, player(state, t))


@kernel
def renew(state: MasterState, m: int) -> None:
    clear(copy_of(state, m))
    state.earned[m] = 0.0


@kernel
def show(state: MasterState, m: int) -> float:
    """Make this copy's estimate the one that is played, and return its radius."""
    ridge, playing = state.ridge, copy_of(state, m)
    d, n = ridge.columns.shape
    for i in range(d):
        ridge.vector[THETA, i] = playing.vector[THETA, i]
        for j in range(d):
            ridge.matrix[METRIC, i, j] = playing.matrix[METRIC, i, j]
    for i in range(n):
        ridge.score[MEAN, i] = playing.score[MEAN, i]
        ridge.score[SQUARE, i] = playing.score[SQUARE, i]
    return radius(state.law, playing.tally[OBSERVED])


@learn.of(MasterState)
def _learn(state: MasterState, s: int, x: Floats, r: float) -> None:
    clock = state.clock
    since, now = s - clock[BLOCK], clock[NOW] - clock[BLOCK]
    if since < 0:
        return
    for m in range(clock[ORDER] + 1):
        if since >> m == now >> m:
            state.earned[m, TOTAL] += r
            state.earned[m, COUNT] += 1.0
    m = player(state, s)
    if since >> m == now >> m:
        teach(state, m, x, r)


@kernel
def teach(state: MasterState, m: int, x: Floats, r: float) -> None:
    """Let the copy that played learn, and note what it had promised."""
    playing, block = copy_of(state, m), state.block
    mean, square = forecast(playing, x)
    optimistic = mean + radius(state.law, playing.tally[OBSERVED]) * math.sqrt(max(square, 0.0))
    block[LOWEST] = min(block[LOWEST], optimistic)
    block[EXCESS] += optimistic - r
    block[TOLD] += 1.0
    absorb(playing, x, r)


@dataclass(repr=False, eq=False, kw_only=True)
class Master(ConfidentPolicy):
    """Start over when a test fails: copies of LinUCB at all scales, started at random, of which the shortest plays.

    Needs ``horizon`` (T). ``slack`` is a factor on what the tests tolerate; 1 is the theory's. A reward that arrives
    after the end of the copy that played its round is dropped. Simplified: logarithms are taken at T, so that ρ(t) ∝ 1/√t.
    Caveat: at the theory's slack the tests stay silent below astronomical horizons (Gerogiannis, Huang, Veeravalli 2024).
    """

    slack: float = 1.0

    by_arrival: ClassVar[bool] = True

    def _new_state(self) -> MasterState:
        if self.horizon is None:
            raise ValueError("horizon must be given: the scales of the copies and the tests follow from it")
        self.slack = validate.positive("slack", self.slack)
        ridge, law = new_ridge(self.dim, self.ridge), self.confidence()
        orders, d = self.horizon.bit_length(), self.dim
        T = max(self.horizon, 2)
        rate = 2.0 * radius(law, T) * float(potential_bound(T, d, self.ridge, self.arm_norm)) / math.sqrt(T)
        hurdle = self.slack * 6.0 * (math.log2(T) + 1.0) * math.log(T)
        return MasterState(
            ridge, law, rate, hurdle, np.zeros((orders, 2, d, d)), np.zeros((orders, 3, d)), np.zeros((orders, 3, 0)),
            np.zeros((orders, 2), np.int64), np.zeros((orders, 2)), np.zeros(3), np.zeros(5, np.int64),
        )  # fmt: skip

    def _with_ridge(self, state: Any, ridge: Ridge) -> Any:
        state = state._replace(ridge=ridge, score=np.zeros((len(state.score), *ridge.score.shape)))
        rescore_copies(state)
        return state

    def _check_state(self) -> None:
        state, (block, order, now, *keys) = self.state, self.state.clock.tolist()
        check_now(now, self.rounds)
        check_range("the order of this block", order, 0, len(state.tally) - 1)
        check_range("the rounds of this block so far", now - block, 0, 2**order - 1)
        check_range("the keys of this block's schedule", keys, 0, WORD)
        check_range("the count of rewards in this block", state.block[TOLD], 0, now - block + 1)
        check_range("the lowest estimate in this block", state.block[LOWEST], -HIGH, HIGH)
        check_range("the excess of this block", state.block[EXCESS], -HIGH, HIGH)
        demand(state.block.any() or not self.rounds, "no block was ever begun")
        for m in range(order + 1 if state.block.any() else 0):
            parts = state.matrix[m], state.vector[m], state.ridge.columns, state.score[m], state.tally[m]
            check_ridge(f"the copy of order {m}", Ridge(self.ridge, *parts), 2**m, self.arm_norm)
            check_range(f"the count of rewards of order {m}", state.earned[m, COUNT], 0, 2**m)
            check_rewards(f"the mean reward of order {m}", state.earned[m, TOTAL] / 2**m)
