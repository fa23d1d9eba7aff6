"""DiscountedTS where arms are one-hot(banner) ⊗ context: its matrices fall apart into one block for each banner.

The same draws and, but for rounding, the same decisions as the policy's own state, for an eighth of the work (d³ is dear).
After an edit here touch shopkeepers.py: numba notices edits only in the file of the loop.
"""

from typing import NamedTuple

import numpy as np

from driftbandit import DiscountedTS
from driftbandit.core.counter import key_of, normals
from driftbandit.core.ridge import METRIC, THETA, Ridge, new_ridge
from driftbandit.core.types import Floats
from driftbandit.policies._base.verbs import begin, learn
from driftbandit.policies.discounted_ts import factorise
from driftbandit.policies.weight import WeightState


class BlocksState(NamedTuple):
    ridge: Ridge  # what is played: θ̃
    blocks: tuple[WeightState, ...]
    spread: float  # a
    root: Floats  # (c, c): a lower triangular root of a block's METRIC
    normal: Floats  # (d,)


def blocks_of(policy: DiscountedTS, count: int) -> BlocksState:
    """The state of a fresh policy, in blocks."""
    width = policy.dim // count
    small = [DiscountedTS(width, discount=policy.discount, noise=policy.noise, ridge=policy.ridge) for _ in range(count)]
    ridge = new_ridge(policy.dim, policy.ridge)
    ridge.matrix[METRIC] = 0.0  # with a radius of 0 nobody looks at it
    blocks = tuple(block.state.base for block in small)
    return BlocksState(ridge, blocks, policy.width * policy.noise, np.zeros((width, width)), np.zeros(policy.dim))


@begin.of(BlocksState)
def _begin(state: BlocksState, t: int, luck: Floats) -> float:
    normals(key_of(luck[2]), key_of(luck[3]), state.normal)
    root, width = state.root, len(state.root)
    for k in range(len(state.blocks)):
        block = state.blocks[k]
        begin(block, t, luck)
        factorise(block.ridge.matrix[METRIC], root)
        theta, normal = state.ridge.vector[THETA, k * width :], state.normal[k * width :]
        for i in range(width):
            theta[i] = 0.0
            for j in range(i + 1):
                theta[i] += root[i, j] * normal[j]
            theta[i] = block.ridge.vector[THETA, i] + state.spread * theta[i]
    return 0.0


@learn.of(BlocksState)
def _learn(state: BlocksState, s: int, x: Floats, r: float) -> None:
    width = len(state.root)
    for k in range(len(state.blocks)):
        if x[k * width] != 0.0:  # the constant, which only the banner shown has
            learn(state.blocks[k], s, x[k * width : (k + 1) * width], r)
