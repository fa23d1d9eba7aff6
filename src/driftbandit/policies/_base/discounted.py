"""Sums in which a round that is k rounds old weighs γ^k: what the policies that forget gradually share.

They are kept without λI, so that discounting them needs no re-regularisation. A state that keeps them has ``ridge`` with
V = Σγ^age·x·xᵀ and b = Σγ^age·r·x, ``discount`` γ, ``mass`` Σγ^(2·age) and ``clock``, the last decided round.
"""

import math
from typing import Any

from driftbandit.core.compile import kernel
from driftbandit.core.linalg import invert, times
from driftbandit.core.ridge import THETA, B, Ridge, V, new_ridge
from driftbandit.core.types import Floats


def new_sums(policy: Any) -> Ridge:
    ridge = new_ridge(policy.dim, policy.ridge)
    ridge.matrix[V] = 0.0
    return ridge


@kernel
def grow_older(state: Any, t: int) -> None:
    """Round t begins: everything is a round older."""
    g = state.discount
    b, data = state.ridge.vector[B], state.ridge.matrix[V]
    for i in range(len(b)):
        b[i] *= g
        for j in range(len(b)):
            data[i, j] *= g
    state.mass[0] *= g * g
    state.clock[0] = t


@kernel
def take_in(state: Any, s: int, x: Floats, r: float) -> float:
    """Add the reward of round s, and return its weight."""
    # The next round discounts once more, and round s is to weigh γ^(t−s) then: 1 if it is the last one.
    weight = math.pow(state.discount, state.clock[0] - s - 1)
    b, data = state.ridge.vector[B], state.ridge.matrix[V]
    for i in range(len(x)):
        b[i] += weight * r * x[i]
        for j in range(len(x)):
            data[i, j] += weight * x[i] * x[j]
    state.mass[0] += weight * weight
    return weight


@kernel
def solve(ridge: Ridge, inverse: Floats) -> None:
    """inverse = (V + λI)⁻¹ and θ̂ = inverse·b: discounting moves V in every direction, so it takes one solve per round."""
    d = len(inverse)
    for i in range(d):
        for j in range(d):
            inverse[i, j] = ridge.matrix[V, i, j] + (ridge.penalty if i == j else 0.0)
    invert(inverse)
    times(inverse, ridge.vector[B], ridge.vector[THETA])
