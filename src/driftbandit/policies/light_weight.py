"""LB-WeightUCB (Wang, Zhao, Zhou 2023): weights γ^age with one covariance, so that the width is plain ‖x‖_V⁻¹."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftbandit.core.compile import kernel
from driftbandit.core.linalg import invert, times
from driftbandit.core.ridge import METRIC, THETA, B, Confidence, Ridge, V, new_ridge, radius, rescore
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._base.confident import ConfidentPolicy, tuned_discount
from driftbandit.policies._base.sound import check_faded, check_mass, check_now
from driftbandit.policies._base.verbs import begin, learn


class LightWeightState(NamedTuple):
    """The sums are kept without λI: V ← γV + x·xᵀ + (1 − γ)λI adds up to that plus λI."""

    ridge: Ridge  # here V = Σγ^age·x·xᵀ, b = Σγ^age·r·x
    law: Confidence
    discount: float  # γ
    mass: Floats  # (1,): Σγ^(2·age), the count of observations in β
    clock: Ints  # (1,): the last decided round


@kernel
def solve(ridge: Ridge) -> None:
    metric = ridge.matrix[METRIC]
    for i in range(len(metric)):
        for j in range(len(metric)):
            metric[i, j] = ridge.matrix[V, i, j] + (ridge.penalty if i == j else 0.0)
    invert(metric)
    times(metric, ridge.vector[B], ridge.vector[THETA])
    rescore(ridge)


@begin.of(LightWeightState)
def _begin(state: LightWeightState, t: int, luck: Floats) -> float:
    g = state.discount
    b, data = state.ridge.vector[B], state.ridge.matrix[V]
    for i in range(len(b)):
        b[i] *= g
        for j in range(len(b)):
            data[i, j] *= g
    state.mass[0] *= g * g
    state.clock[0] = t
    solve(state.ridge)
    return radius(state.law, state.mass[0])


@learn.of(LightWeightState)
def _learn(state: LightWeightState, s: int, x: Floats, r: float) -> None:
    # The next round discounts once more, and round s is to weigh γ^(t−s) then: 1 if it is the last one.
    weight = math.pow(state.discount, state.clock[0] - s - 1)
    b, data = state.ridge.vector[B], state.ridge.matrix[V]
    for i in range(len(x)):
        b[i] += weight * r * x[i]
        for j in range(len(x)):
            data[i, j] += weight * x[i] * x[j]
    state.mass[0] += weight * weight


@dataclass(repr=False, eq=False, kw_only=True)
class LightWeightUCB(ConfidentPolicy):
    """WeightUCB with one covariance: half the memory, a third of the work, the same regret bound.

    Give ``discount`` (γ), or ``horizon`` (T) and ``path_length`` (P_T). A late reward gets the weight of its age.
    Caveat: still a solve a round, and still the path length or a discount to be told.
    """

    discount: float | None = None
    path_length: float | None = None

    def _new_state(self) -> LightWeightState:
        self.discount = tuned_discount(self)
        ridge = new_ridge(self.dim, self.ridge)
        ridge.matrix[V] = 0.0
        return LightWeightState(ridge, self.confidence(), self.discount, np.zeros(1), np.zeros(1, np.int64))

    def _check_state(self) -> None:
        state: LightWeightState = self.state
        check_faded("V", state.ridge, state.discount, self.rounds, self.arm_norm)
        check_mass(state.mass[0], state.discount, self.rounds)
        check_now(state.clock[0], self.rounds)
