"""LB-WeightUCB (Wang, Zhao, Zhou 2023): weights γ^age with one covariance, so that the width is plain ‖x‖_V⁻¹."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.confidence import Confidence, radius
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._base.confident import DISCOUNT, ConfidentPolicy, tuned_discount
from driftbandit.policies._base.discounted import grow_older, solve, take_in
from driftbandit.policies._base.faded_blocks import check_sums, new_sums
from driftbandit.policies._base.sound import check_mass, check_now
from driftbandit.policies._base.verbs import begin, learn


class LightWeightState(NamedTuple):
    """V ← γV + x·xᵀ + (1 − γ)λI adds up to the sums, which are kept without λI, plus λI."""

    ridge: Any  # a Ridge, or FadedBlocks; here V = Σγ^age·x·xᵀ, b = Σγ^age·r·x
    law: Confidence
    discount: float  # γ
    mass: Floats  # (1,): Σγ^(2·age), the count of observations in β
    clock: Ints  # (1,): the last decided round


@begin.of(LightWeightState)
def _begin(state: LightWeightState, t: int, luck: Floats) -> float:
    grow_older(state, t)
    solve(state.ridge)
    return radius(state.law, state.mass[0])


@learn.of(LightWeightState)
def _learn(state: LightWeightState, s: int, x: Floats, r: float) -> None:
    take_in(state, s, x, r)


@dataclass(repr=False, eq=False, kw_only=True)
class LightWeightUCB(ConfidentPolicy):
    """WeightUCB with one covariance: half the memory, a third of the work, the same regret bound.

    Give ``discount`` (γ), or ``horizon`` (T) and ``path_length`` (P_T). A late reward gets the weight of its age.
    Caveat: still one solve per round, and it still has to be told the path length or a discount.
    """

    discount: float | None = None
    path_length: float | None = None

    remembers = DISCOUNT
    in_blocks = True
    ties_only = True

    def _new_state(self) -> LightWeightState:
        self.discount = tuned_discount(self)
        return LightWeightState(new_sums(self), self.confidence(), self.discount, np.zeros(1), np.zeros(1, np.int64))

    def _check_state(self) -> None:
        state: LightWeightState = self.state
        check_sums("V", state.ridge, state.discount, self.rounds, self.arm_norm)
        check_mass(state.mass[0], state.discount, self.rounds)
        check_now(state.clock[0], self.rounds)
