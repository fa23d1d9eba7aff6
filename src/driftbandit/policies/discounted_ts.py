"""D-LinTS (Kim, Tewari 2020): WeightUCB's statistics, and chance in the place of optimism."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.compile import kernel
from driftbandit.core.counter import key_of, normals
from driftbandit.core.linalg import add_rows
from driftbandit.core.ridge import MEAN, METRIC, THETA, Ridge
from driftbandit.core.types import Floats
from driftbandit.policies._base.confident import DISCOUNT, ConfidentPolicy
from driftbandit.policies._base.verbs import begin, learn
from driftbandit.policies.weight import WeightState, check_state, new_state


class SampleState(NamedTuple):
    ridge: Ridge  # what is played: θ̃ and its scores; V and METRIC are the base's own
    base: WeightState
    spread: float  # a
    root: Floats  # (d, d): a lower triangular root of METRIC
    normal: Floats  # (d,)


@kernel
def factorise(matrix: Floats, root: Floats) -> None:
    """root·rootᵀ = matrix (Cholesky); what rounding makes negative counts as 0."""
    for i in range(len(matrix)):
        for j in range(i + 1):
            rest = matrix[i, j]
            for k in range(j):
                rest -= root[i, k] * root[j, k]
            if i == j:
                root[i, i] = math.sqrt(max(rest, 0.0))
            else:
                root[i, j] = rest / root[j, j] if root[j, j] > 0.0 else 0.0


@begin.of(SampleState)
def _begin(state: SampleState, t: int, luck: Floats) -> float:
    begin(state.base, t, luck)
    # A round brings two uniform numbers for a policy's own use, and θ̃ takes d normal ones: they are the keys to more.
    normals(key_of(luck[2]), key_of(luck[3]), state.normal)
    ridge, root = state.ridge, state.root
    factorise(ridge.matrix[METRIC], root)
    theta, mean = ridge.vector[THETA], ridge.score[MEAN]
    for i in range(len(theta)):
        theta[i] = 0.0
        for j in range(i + 1):
            theta[i] += root[i, j] * state.normal[j]
        theta[i] = state.base.ridge.vector[THETA, i] + state.spread * theta[i]
    mean[:] = 0.0
    add_rows(mean, theta, ridge.columns, len(theta))
    return 0.0


@learn.of(SampleState)
def _learn(state: SampleState, s: int, x: Floats, r: float) -> None:
    learn(state.base, s, x, r)


@dataclass(repr=False, eq=False, kw_only=True)
class DiscountedTS(ConfidentPolicy):
    """Forget gradually, explore by chance: draw θ̃ from N(θ̂, a²·V⁻¹ṼV⁻¹), a = ``width``·``noise``, and play its best arm.

    Give ``discount`` (γ), or ``horizon`` (T) and ``path_length`` (P_T). A late reward gets the weight of its age.
    ``estimate`` tells the θ̃ that the next ``select`` goes by, with a radius of 0.
    Caveat: its regret bound asks for an a of the size of β, which explores far more than a = R does.
    """

    discount: float | None = None
    path_length: float | None = None

    remembers = DISCOUNT

    def _new_state(self) -> SampleState:
        base = new_state(self)
        ridge = base.ridge._replace(vector=np.zeros_like(base.ridge.vector))
        return SampleState(ridge, base, self.width * self.noise, np.zeros((self.dim, self.dim)), np.zeros(self.dim))

    def _check_state(self) -> None:
        check_state(self.state.base, self.rounds, self.arm_norm)

    def _with_ridge(self, state: Any, ridge: Ridge) -> Any:
        return state._replace(ridge=ridge)
