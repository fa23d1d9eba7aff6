"""D-LinTS (Kim, Tewari 2020): WeightUCB's statistics, with random draws in place of optimism."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.counter import key_of, normals
from driftbandit.core.linalg import add_rows, factorise
from driftbandit.core.ridge import MEAN, METRIC, THETA, Ridge
from driftbandit.core.types import Floats
from driftbandit.policies._base.confident import DISCOUNT, ConfidentPolicy
from driftbandit.policies._base.drawn_blocks import draw, new_played, new_roots
from driftbandit.policies._base.verbs import begin, learn
from driftbandit.policies.weight import WeightState, check_state, new_state


class SampleState(NamedTuple):
    ridge: Any  # what is played: θ̃ and its scores; V and METRIC are the base's own. A Ridge, or WeighedBlocks
    base: WeightState
    spread: float  # a
    root: Any  # (d, d): a lower triangular root of METRIC. Or Roots
    normal: Floats  # (d,)


@begin.of(SampleState)
def _begin(state: SampleState, t: int, luck: Floats) -> float:
    begin(state.base, t, luck)
    # A round brings two uniform numbers for a policy's own use, and θ̃ takes d normal ones: the two are keys to more.
    normals(key_of(luck[2]), key_of(luck[3]), state.normal)
    draw(state.ridge, state.base.ridge, state.root, state.normal, state.spread)
    return 0.0


@learn.of(SampleState)
def _learn(state: SampleState, s: int, x: Floats, r: float) -> None:
    learn(state.base, s, x, r)


@draw.of(Ridge)
def _draw(ridge: Ridge, base: Ridge, root: Floats, normal: Floats, spread: float) -> None:
    factorise(ridge.matrix[METRIC], root)
    theta, mean = ridge.vector[THETA], ridge.score[MEAN]
    for i in range(len(theta)):
        theta[i] = 0.0
        for j in range(i + 1):
            theta[i] += root[i, j] * normal[j]
        theta[i] = base.vector[THETA, i] + spread * theta[i]
    mean[:] = 0.0
    add_rows(mean, theta, ridge.columns, len(theta))


@dataclass(repr=False, eq=False, kw_only=True)
class DiscountedTS(ConfidentPolicy):
    """Forget gradually, explore by chance: draw θ̃ from N(θ̂, a²·V⁻¹ṼV⁻¹), a = ``width``·``noise``, and play its best arm.

    Give ``discount`` (γ), or ``horizon`` (T) and ``path_length`` (P_T). A late reward gets the weight of its age.
    ``estimate`` gives the θ̃ that the next ``select`` uses, with a radius of 0.
    Caveat: its regret bound requires an a as large as β, which explores far more than a = R does.
    """

    discount: float | None = None
    path_length: float | None = None

    remembers = DISCOUNT
    in_blocks = True

    def _new_state(self) -> SampleState:
        base, spread, normal = new_state(self), self.width * self.noise, np.zeros(self.dim)
        if self.blocks > 1:
            return SampleState(new_played(base.ridge), base, spread, new_roots(base.ridge), normal)
        ridge = base.ridge._replace(vector=np.zeros_like(base.ridge.vector))
        return SampleState(ridge, base, spread, np.zeros((self.dim, self.dim)), normal)

    def _check_state(self) -> None:
        check_state(self.state.base, self.rounds, self.arm_norm)

    def _with_ridge(self, state: Any, ridge: Ridge) -> Any:
        return state._replace(ridge=ridge)
