"""RestartUCB (Algorithm 1) and its two limits: never restart, and restart when told."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core import validate
from driftbandit.core.blocks import new_estimate, parts
from driftbandit.core.compile import kernel
from driftbandit.core.confidence import Confidence, radius
from driftbandit.core.types import Floats, Ints
from driftbandit.core.verbs import absorb, clear, observed
from driftbandit.policies._base.confident import ConfidentPolicy, tuned
from driftbandit.policies._base.policy import Memory
from driftbandit.policies._base.sound import check_range, check_ridge, demand
from driftbandit.policies._base.verbs import begin, learn, retune
from driftbandit.theory.tuning import optimal_period

NEVER = np.iinfo(np.int64).max
START, NEXT, PERIOD, POINTS = 0, 1, 2, 3


class RestartState(NamedTuple):
    ridge: Any  # a Ridge, or Blocks
    law: Confidence
    clock: Ints  # first round of this epoch; first of the next; the period H; then change points, ascending


def new_state(policy: ConfidentPolicy, period: int, points: Sequence[int] = ()) -> RestartState:
    clock = np.array([0, 0, period, *points], np.int64)
    return RestartState(new_estimate(policy.dim, policy.blocks, policy.shared, policy.ridge), policy.confidence(), clock)


def check_state(state: RestartState, rounds: int, longest: float, period: int) -> None:
    """Refuse a state read from a file that this many rounds cannot have led to."""
    start, following = state.clock[START], state.clock[NEXT]
    demand(state.clock[PERIOD] == period, f"the period must be {period}, got {state.clock[PERIOD]}")
    check_range("the first round of this epoch", start, 0, rounds)
    later = state.clock[POINTS:][state.clock[POINTS:] > start]
    expected = min(int(start) + period, NEVER, *later.tolist()) if rounds or following else 0
    demand(following == expected and following >= rounds, f"the next epoch begins in round {expected}, not {following}")
    for ridge in parts(state.ridge):
        check_ridge("ridge", ridge, rounds + 1 - int(start), longest)


@kernel
def restart(state: RestartState, t: int) -> None:
    clear(state.ridge)
    clock, points = state.clock, state.clock[POINTS:]
    clock[START] = t
    clock[NEXT] = t + min(clock[PERIOD], NEVER - t)
    later = np.searchsorted(points, t, side="right")
    if later < len(points):
        clock[NEXT] = min(clock[NEXT], points[later])


@begin.of(RestartState)
def _begin(state: RestartState, t: int, luck: Floats) -> float:
    if t >= state.clock[NEXT]:
        restart(state, t)
    return radius(state.law, observed(state.ridge))


@learn.of(RestartState)
def _learn(state: RestartState, s: int, x: Floats, r: float) -> None:
    if s >= state.clock[START]:
        absorb(state.ridge, x, r)


@retune.of(RestartState)
def _retune(state: RestartState, t: int, memory: int) -> None:
    state.clock[PERIOD] = memory
    restart(state, t)


@dataclass(repr=False, eq=False, kw_only=True)
class RestartUCB(ConfidentPolicy):
    """Forget everything every ``period`` rounds (H). Constant memory.

    Give ``period``, or ``horizon`` (T) and ``path_length`` (P_T) for Theorem 2's H = ⌊d^¼ T^½ P_T^-½⌋. A reward that
    arrives after its epoch is over is dropped.

    >>> from driftbandit import RestartUCB
    >>> RestartUCB(2, horizon=50_000, path_length=6.83).period
    101
    """

    period: int | None = None
    path_length: float | None = None

    remembers = Memory("period")
    in_blocks = True
    ties_only = True
    pen = 1

    def _new_state(self) -> RestartState:
        self.period = validate.whole("period", tuned(self, "period", optimal_period))
        return new_state(self, self.period)

    def _check_state(self) -> None:
        assert self.period is not None
        check_state(self.state, self.rounds, self.arm_norm, self.period)


@dataclass(repr=False, eq=False, kw_only=True)
class StaticUCB(ConfidentPolicy):
    """Never forget: LinUCB as in Abbasi-Yadkori et al. (2011). Right only if the world does not change."""

    pen = 4
    in_blocks = True
    ties_only = True

    def _new_state(self) -> RestartState:
        return new_state(self, NEVER)

    def _check_state(self) -> None:
        check_state(self.state, self.rounds, self.arm_norm, NEVER)


@dataclass(repr=False, eq=False, kw_only=True)
class OracleRestartUCB(ConfidentPolicy):
    """Forget everything at the change points it is told: the rounds, counted from 0, in which a new θ begins."""

    change_points: Sequence[int]

    pen = 0
    in_blocks = True
    ties_only = True

    def _new_state(self) -> RestartState:
        points = [validate.whole("change_points", point) for point in list(self.change_points)]
        if points != sorted(set(points)):
            raise ValueError(f"change_points must increase, got {points}")
        self.change_points = points
        return new_state(self, NEVER, points)

    def _check_state(self) -> None:
        demand(self.state.clock[POINTS:].tolist() == self.change_points, "the change points are not those given")
        check_state(self.state, self.rounds, self.arm_norm, NEVER)
