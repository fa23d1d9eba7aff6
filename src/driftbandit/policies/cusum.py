"""CUSUM restarts (Page 1954; for bandits Liu, Lee, Shroff 2018, CUSUM-UCB), here on the residuals of a ridge estimate."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from driftbandit.core import validate
from driftbandit.core.ridge import Ridge, forecast
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._base.confident import ConfidentPolicy
from driftbandit.policies._base.sound import check_now, check_range
from driftbandit.policies._base.verbs import begin, learn
from driftbandit.policies.restart import NEVER, START, RestartState, check_state, new_state, restart

UP, DOWN = 0, 1
SLACK = 0.5  # what a residual must exceed, in its standard deviations, to count: tuned to shifts of twice that


class CusumState(NamedTuple):
    ridge: Ridge  # the base's own
    base: RestartState  # which never restarts by itself
    noise: float  # R
    threshold: float
    sums: Floats  # (2,): the one-sided sums, UP and DOWN
    clock: Ints  # (1,): the last decided round


@begin.of(CusumState)
def _begin(state: CusumState, t: int, luck: Floats) -> float:
    state.clock[0] = t
    beta: float = begin(state.base, t, luck)
    return beta


@learn.of(CusumState)
def _learn(state: CusumState, s: int, x: Floats, r: float) -> None:
    if s < state.base.clock[START]:
        return
    mean, square = forecast(state.ridge, x)
    z = (r - mean) / (state.noise * math.sqrt(1.0 + max(square, 0.0)))
    sums = state.sums
    sums[UP] = max(0.0, sums[UP] + z - SLACK)
    sums[DOWN] = max(0.0, sums[DOWN] - z - SLACK)
    if max(sums[UP], sums[DOWN]) > state.threshold:
        sums[:] = 0.0
        restart(state.base, state.clock[0] + 1)
    else:
        learn(state.base, s, x, r)


@dataclass(repr=False, eq=False, kw_only=True)
class CusumUCB(ConfidentPolicy):
    """Forget everything when the residuals lean one way: a restart once a CUSUM of them exceeds ``threshold``.

    Give ``threshold``, or ``horizon`` (T) for ln T; ``noise`` (R) sets the residuals' scale. ``ridge`` is d(R/S)² unless
    given. Rewards are tested as they arrive; one that comes after the restart that followed its round is dropped.
    Caveat: no regret bound, and a change that does not show at the arms it plays is never found.
    """

    ridge: float = None  # type: ignore[assignment]  # settled from noise
    width: float = 0.3
    threshold: float | None = None

    proved: ClassVar[bool] = False
    by_arrival: ClassVar[bool] = True
    ties_only: ClassVar[bool] = True

    def _new_state(self) -> CusumState:
        validate.positive("noise", self.noise)
        if self.threshold is None:
            if self.horizon is None:
                raise ValueError("threshold must be given, or horizon for ln T")
            self.threshold = math.log(max(self.horizon, 2))
        self.threshold = validate.positive("threshold", self.threshold)
        base = new_state(self, NEVER)
        return CusumState(base.ridge, base, self.noise, self.threshold, np.zeros(2), np.zeros(1, np.int64))

    def _with_ridge(self, state: Any, ridge: Ridge) -> Any:
        return state._replace(ridge=ridge, base=state.base._replace(ridge=ridge))

    def _check_state(self) -> None:
        check_state(self.state.base, self.rounds, self.arm_norm, NEVER)
        check_range("the sums of residuals", self.state.sums, 0.0, self.state.threshold)
        check_now(self.state.clock[0], self.rounds)
