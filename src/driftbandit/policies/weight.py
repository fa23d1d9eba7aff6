"""WeightUCB (Russac, Vernade, Cappé 2019, D-LinUCB): ridge regression with weights γ^age."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.confidence import Confidence, radius
from driftbandit.core.ridge import METRIC, Ridge, rescore
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._base.confident import DISCOUNT, ConfidentPolicy, tuned_discount
from driftbandit.policies._base.discounted import (
    add_to_squares,
    fade_squares,
    grow_older,
    measure,
    solve_whole,
    take_in,
    weigh,
)
from driftbandit.policies._base.faded_blocks import check_sums, new_sums
from driftbandit.policies._base.sound import check_faded, check_mass, check_now
from driftbandit.policies._base.verbs import begin, learn
from driftbandit.policies._base.weighed_blocks import check_squares, new_weighed

DATA2, INVERSE, PRODUCT = 0, 1, 2


class WeightState(NamedTuple):
    ridge: Any  # a Ridge, or WeighedBlocks; here V = Σγ^age·x·xᵀ, b = Σγ^age·r·x, METRIC = V⁻¹ṼV⁻¹
    law: Confidence
    discount: float  # γ
    matrix: Any  # (3, d, d): DATA2 = Σγ^(2·age)·x·xᵀ, Ṽ without λI; scratch. Or Squares
    mass: Floats  # (1,): Σγ^(2·age), the count of observations in β
    clock: Ints  # (1,): the last decided round


def new_state(policy: Any) -> WeightState:
    """A fresh state for a policy with a discount, which this settles."""
    policy.discount = tuned_discount(policy)
    ridge: Any = new_sums(policy)
    if policy.blocks > 1:
        ridge = new_weighed(ridge)
    matrix = ridge.squares if policy.blocks > 1 else np.zeros((3, policy.dim, policy.dim))
    return WeightState(ridge, policy.confidence(), policy.discount, matrix, np.zeros(1), np.zeros(1, np.int64))


def check_state(state: WeightState, rounds: int, longest: float) -> None:
    """Refuse a state read from a file that this many rounds cannot have led to; the results of ``weigh`` are not checked."""
    if isinstance(state.ridge, Ridge):
        check_sums("V", state.ridge, state.discount, rounds, longest)
        check_faded("Ṽ", state.ridge._replace(matrix=state.matrix), state.discount**2, rounds, longest)
    else:
        check_sums("V", state.ridge.faded, state.discount, rounds, longest)
        check_squares(state.ridge, state.discount, rounds, longest)
    check_mass(state.mass[0], state.discount, rounds)
    check_now(state.clock[0], rounds)


@begin.of(WeightState)
def _begin(state: WeightState, t: int, luck: Floats) -> float:
    grow_older(state, t)
    fade_squares(state.ridge, state.matrix, state.discount * state.discount)
    weigh(state.ridge, state.matrix)
    return radius(state.law, state.mass[0])


@learn.of(WeightState)
def _learn(state: WeightState, s: int, x: Floats, r: float) -> None:
    weight = take_in(state, s, x, r)
    add_to_squares(state.ridge, state.matrix, x, weight)


@fade_squares.of(Ridge)
def _fade_squares(ridge: Ridge, squares: Floats, keep: float) -> None:
    data2 = squares[DATA2]
    for i in range(len(data2)):
        for j in range(len(data2)):
            data2[i, j] *= keep


@add_to_squares.of(Ridge)
def _add_to_squares(ridge: Ridge, squares: Floats, x: Floats, weight: float) -> None:
    data2 = squares[DATA2]
    for i in range(len(x)):
        for j in range(len(x)):
            data2[i, j] += weight * weight * x[i] * x[j]


@weigh.of(Ridge)
def _weigh(ridge: Ridge, squares: Floats) -> None:
    solve_whole(ridge, squares[INVERSE])
    measure(ridge.penalty, squares[DATA2], squares[INVERSE], squares[PRODUCT], ridge.matrix[METRIC])
    rescore(ridge)


@dataclass(repr=False, eq=False, kw_only=True)
class WeightUCB(ConfidentPolicy):
    """Forget gradually: a round that is k rounds old weighs ``discount``^k (γ).

    Give ``discount``, or ``horizon`` (T) and ``path_length`` (P_T). A late reward gets the weight of its age. Keeps two
    covariances, V and Ṽ, and widths in V⁻¹ṼV⁻¹, as its authors' analysis needs.
    """

    discount: float | None = None
    path_length: float | None = None

    remembers = DISCOUNT
    in_blocks = True
    ties_only = True
    pen = 3

    def _new_state(self) -> WeightState:
        return new_state(self)

    def _check_state(self) -> None:
        check_state(self.state, self.rounds, self.arm_norm)
