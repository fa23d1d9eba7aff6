"""WeightUCB (Russac, Vernade, Cappé 2019, D-LinUCB): ridge regression with weights γ^age."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.compile import kernel
from driftbandit.core.linalg import add_rows
from driftbandit.core.ridge import METRIC, Confidence, Ridge, radius, rescore
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._base.confident import DISCOUNT, ConfidentPolicy, tuned_discount
from driftbandit.policies._base.discounted import grow_older, new_sums, solve, take_in
from driftbandit.policies._base.sound import check_faded, check_mass, check_now
from driftbandit.policies._base.verbs import begin, learn

DATA2, INVERSE, PRODUCT = 0, 1, 2


class WeightState(NamedTuple):
    ridge: Ridge  # here V = Σγ^age·x·xᵀ, b = Σγ^age·r·x, METRIC = V⁻¹ṼV⁻¹
    law: Confidence
    discount: float  # γ
    matrix: Floats  # (3, d, d): DATA2 = Σγ^(2·age)·x·xᵀ, Ṽ without λI; scratch
    mass: Floats  # (1,): Σγ^(2·age), the count of observations in β
    clock: Ints  # (1,): the last decided round


def new_state(policy: Any) -> WeightState:
    """For a policy with a discount, which this settles."""
    policy.discount = tuned_discount(policy)
    d = policy.dim
    matrix = np.zeros((3, d, d))
    return WeightState(new_sums(policy), policy.confidence(), policy.discount, matrix, np.zeros(1), np.zeros(1, np.int64))


def check_state(state: WeightState, rounds: int, longest: float) -> None:
    """Refuse a state read from a file that this many rounds cannot have led to; what ``solve`` makes is not looked at."""
    check_faded("V", state.ridge, state.discount, rounds, longest)
    check_faded("Ṽ", state.ridge._replace(matrix=state.matrix), state.discount**2, rounds, longest)
    check_mass(state.mass[0], state.discount, rounds)
    check_now(state.clock[0], rounds)


@kernel
def measure(state: WeightState) -> None:
    """METRIC = V⁻¹ṼV⁻¹."""
    penalty, metric = state.ridge.penalty, state.ridge.matrix[METRIC]
    data2, inverse, product = state.matrix[DATA2], state.matrix[INVERSE], state.matrix[PRODUCT]
    d = len(metric)
    metric[:] = 0.0
    for i in range(d):
        for j in range(d):
            product[i, j] = penalty * inverse[i, j]
        add_rows(product[i], data2[i], inverse, d)
    for i in range(d):
        add_rows(metric[i, : i + 1], inverse[i], product, d)  # the lower triangle, …
        for j in range(i):
            metric[j, i] = metric[i, j]  # … and its mirror image


@begin.of(WeightState)
def _begin(state: WeightState, t: int, luck: Floats) -> float:
    grow_older(state, t)
    g, data2 = state.discount, state.matrix[DATA2]
    for i in range(len(data2)):
        for j in range(len(data2)):
            data2[i, j] *= g * g
    solve(state.ridge, state.matrix[INVERSE])
    measure(state)
    rescore(state.ridge)
    return radius(state.law, state.mass[0])


@learn.of(WeightState)
def _learn(state: WeightState, s: int, x: Floats, r: float) -> None:
    weight, data2 = take_in(state, s, x, r), state.matrix[DATA2]
    for i in range(len(x)):
        for j in range(len(x)):
            data2[i, j] += weight * weight * x[i] * x[j]


@dataclass(repr=False, eq=False, kw_only=True)
class WeightUCB(ConfidentPolicy):
    """Forget gradually: a round that is k rounds old weighs ``discount``^k (γ).

    Give ``discount``, or ``horizon`` (T) and ``path_length`` (P_T). A late reward gets the weight of its age. Keeps two
    covariances, V and Ṽ, and widths in V⁻¹ṼV⁻¹, as its authors' analysis needs.
    """

    discount: float | None = None
    path_length: float | None = None

    remembers = DISCOUNT
    pen = 3

    def _new_state(self) -> WeightState:
        return new_state(self)

    def _check_state(self) -> None:
        check_state(self.state, self.rounds, self.arm_norm)
