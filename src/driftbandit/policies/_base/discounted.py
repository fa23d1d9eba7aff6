"""Sums in which a round that is k rounds old weighs γ^k: what the policies that forget gradually share.

They are kept without λI, so that discounting them needs no re-regularisation. A state that keeps them has ``ridge`` with
V = Σγ^age·x·xᵀ and b = Σγ^age·r·x, ``discount`` γ, ``mass`` Σγ^(2·age) and ``clock``, the last decided round. Operations
on the sums are verbs: for a Ridge here, for blocks in faded_blocks.py and weighed_blocks.py.
"""

import math
from typing import Any

from driftbandit.core.compile import Verb, kernel
from driftbandit.core.linalg import add_rows, invert, times
from driftbandit.core.ridge import METRIC, THETA, B, Ridge, V, rescore
from driftbandit.core.types import Floats


@Verb
def fade_sums(ridge: Any, keep: float) -> None:
    """V ← γV, b ← γb."""


@Verb
def add_to_sums(ridge: Any, x: Floats, r: float, weight: float) -> None:
    """V += w·x·xᵀ, b += w·r·x."""


@Verb
def solve(ridge: Any) -> None:
    """METRIC = (V + λI)⁻¹ and θ̂ = METRIC·b."""


@Verb
def fade_squares(ridge: Any, squares: Any, keep: float) -> None:
    """Ṽ ← γ²Ṽ, where ``squares`` has it, without λI."""


@Verb
def add_to_squares(ridge: Any, squares: Any, x: Floats, weight: float) -> None:
    """Ṽ += w²·x·xᵀ."""


@Verb
def weigh(ridge: Any, squares: Any) -> None:
    """θ̂ as ``solve`` does, and METRIC = V⁻¹ṼV⁻¹, both with their λI."""


@kernel
def grow_older(state: Any, t: int) -> None:
    """Round t begins: everything is a round older."""
    g = state.discount
    fade_sums(state.ridge, g)
    state.mass[0] *= g * g
    state.clock[0] = t


@kernel
def take_in(state: Any, s: int, x: Floats, r: float) -> float:
    """Add the reward of round s, and return its weight."""
    # The next round discounts once more, and round s is to weigh γ^(t−s) then: 1 if it is the last one.
    weight = math.pow(state.discount, state.clock[0] - s - 1)
    add_to_sums(state.ridge, x, r, weight)
    state.mass[0] += weight * weight
    return weight


@kernel
def solve_whole(ridge: Ridge, inverse: Floats) -> None:
    """inverse = (V + λI)⁻¹ and θ̂ = inverse·b: discounting moves V in every direction, so it takes one solve per round."""
    d = len(inverse)
    for i in range(d):
        for j in range(d):
            inverse[i, j] = ridge.matrix[V, i, j] + (ridge.penalty if i == j else 0.0)
    invert(inverse)
    times(inverse, ridge.vector[B], ridge.vector[THETA])


@kernel
def measure(penalty: float, data2: Floats, inverse: Floats, product: Floats, metric: Floats) -> None:
    """metric = V⁻¹ṼV⁻¹, from V⁻¹ and Ṽ without λI."""
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


@fade_sums.of(Ridge)
def _fade_sums(ridge: Ridge, keep: float) -> None:
    b, data = ridge.vector[B], ridge.matrix[V]
    for i in range(len(b)):
        b[i] *= keep
        for j in range(len(b)):
            data[i, j] *= keep


@add_to_sums.of(Ridge)
def _add_to_sums(ridge: Ridge, x: Floats, r: float, weight: float) -> None:
    b, data = ridge.vector[B], ridge.matrix[V]
    for i in range(len(x)):
        b[i] += weight * r * x[i]
        for j in range(len(x)):
            data[i, j] += weight * x[i] * x[j]


@solve.of(Ridge)
def _solve(ridge: Ridge) -> None:
    solve_whole(ridge, ridge.matrix[METRIC])
    rescore(ridge)
