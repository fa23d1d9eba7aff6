"""Discounted sums of a model that splits into blocks (core/blocks.py).

They are kept as they are, not as remainders: discounting leaves λI alone, so every block, and with it the remainders, has to be
solved afresh in every round. That takes B solves of w features and one of s, where the whole of V would take one of all.

Dimensions: B blocks of w features, s shared ones.
"""

from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.blocks import Blocks, block, forecast_row, new_estimate, parts
from driftbandit.core.compile import kernel
from driftbandit.core.linalg import add_rows, invert, times
from driftbandit.core.ridge import GAIN, METRIC, THETA, B, Ridge, V, new_ridge
from driftbandit.core.rows import admit_rows, read_rows, score_by_row
from driftbandit.core.types import Floats
from driftbandit.core.verbs import admit, forecast_arm, metric_of, score_arms, table_of, theta_of
from driftbandit.policies._base.discounted import add_to_sums, fade_sums, solve, solve_whole
from driftbandit.policies._base.sound import check_arrow, check_faded


class FadedBlocks(NamedTuple):
    blocks: Blocks  # V and B, of the shared part too, are plain sums; all else is solved from them
    cross: Floats  # (B, w, s): Σγ^age·x·zᵀ


def new_sums(policy: Any) -> "Ridge | FadedBlocks":
    """Empty sums, whole or in blocks."""
    if policy.blocks == 1:
        ridge = new_ridge(policy.dim, policy.ridge)
        ridge.matrix[V] = 0.0
        return ridge
    blocks = new_estimate(policy.dim, policy.blocks, policy.shared, policy.ridge)
    assert isinstance(blocks, Blocks)
    blocks.matrix[:, V] = 0.0
    blocks.shared.matrix[V] = 0.0
    return FadedBlocks(blocks, np.zeros_like(blocks.mixing))


def check_sums(name: str, ridge: "Ridge | FadedBlocks", discount: float, rounds: int, longest: float) -> None:
    """Refuse sums read from a file that this many rounds cannot have led to; the results of ``solve`` are not checked."""
    if isinstance(ridge, Ridge):
        check_faded(name, ridge, discount, rounds, longest)
        return
    blocks = ridge.blocks
    for part in parts(blocks):
        check_faded(name, part, discount, rounds, longest)
    check_arrow(name, blocks.penalty, blocks.matrix[:, V], ridge.cross, blocks.shared.matrix[V])


@kernel
def fade_array(array: Floats, keep: float) -> None:
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            array[i, j] *= keep


@kernel
def add_product(out: Floats, one: Floats, other: Floats, weight: float) -> None:
    """out += w·one·otherᵀ."""
    for i in range(len(one)):
        if one[i] != 0.0:
            row, a = out[i], weight * one[i]
            for j in range(len(other)):
                row[j] += a * other[j]


@kernel
def fade_blocks(faded: FadedBlocks, keep: float) -> None:
    blocks, shared = faded.blocks, faded.blocks.shared
    for k in range(len(blocks.matrix)):
        fade_array(blocks.matrix[k, V], keep)
        fade_array(blocks.vector[k, B : B + 1], keep)
        fade_array(faded.cross[k], keep)
    fade_array(shared.matrix[V], keep)
    fade_array(shared.vector[B : B + 1], keep)


@kernel
def add_row(faded: FadedBlocks, row: Floats, r: float, weight: float) -> None:
    blocks, shared = faded.blocks, faded.blocks.shared
    k, s = int(row[0]), len(blocks.rest)
    z, x, b = row[1 : 1 + s], row[1 + s :], blocks.vector[k, B]
    add_product(blocks.matrix[k, V], x, x, weight)
    add_product(faded.cross[k], x, z, weight)
    add_product(shared.matrix[V], z, z, weight)
    for i in range(len(x)):
        b[i] += weight * r * x[i]
    for j in range(s):
        shared.vector[B, j] += weight * r * z[j]


@kernel
def solve_blocks(faded: FadedBlocks) -> None:
    """Solve every block, then the shared part from what the blocks leave of it: S = V_zz − ΣV_zx·W, with W = V_xx⁻¹·V_xz."""
    blocks, shared, s = faded.blocks, faded.blocks.shared, len(faded.blocks.rest)
    rests, left = shared.matrix[METRIC], shared.vector[GAIN]
    for j in range(s):
        left[j] = shared.vector[B, j]
        for m in range(s):
            rests[j, m] = shared.matrix[V, j, m] + (shared.penalty if j == m else 0.0)
    for k in range(len(blocks.matrix)):
        ridge, mixing, cross = block(blocks, k), blocks.mixing[k], faded.cross[k]
        metric, theta = ridge.matrix[METRIC], ridge.vector[THETA]
        solve_whole(ridge, metric)
        if s > 0:
            for i in range(len(theta)):
                mixing[i] = 0.0
                add_rows(mixing[i], metric[i], cross, len(theta))
            take_off(rests, cross, mixing)
            for i in range(len(theta)):
                for j in range(s):
                    left[j] -= cross[i, j] * theta[i]
    invert(rests)
    times(rests, left, shared.vector[THETA])


@kernel
def take_off(out: Floats, one: Floats, other: Floats) -> None:
    """out −= oneᵀ·other, which is symmetric: the lower triangle."""
    for i in range(len(one)):
        row = other[i]
        for j in range(len(out)):
            target, a = out[j], one[i, j]
            for m in range(j + 1):
                target[m] -= a * row[m]


table_of.of(FadedBlocks)(read_rows)
score_arms.of(FadedBlocks)(score_by_row)


@fade_sums.of(FadedBlocks)
def _fade_sums(ridge: FadedBlocks, keep: float) -> None:
    fade_blocks(ridge, keep)


@add_to_sums.of(FadedBlocks)
def _add_to_sums(ridge: FadedBlocks, x: Floats, r: float, weight: float) -> None:
    add_row(ridge, x, r, weight)


@solve.of(FadedBlocks)
def _solve(ridge: FadedBlocks) -> None:
    solve_blocks(ridge)


@admit.of(FadedBlocks)
def _admit(ridge: FadedBlocks, rows: Floats, columns: Floats, limit: float) -> int:
    return admit_rows(rows, len(ridge.cross), limit)


@forecast_arm.of(FadedBlocks)
def _forecast_arm(ridge: FadedBlocks, table: Floats, i: int) -> tuple[float, float]:
    return forecast_row(ridge.blocks, table[i])


@theta_of.of(FadedBlocks)
def _theta_of(ridge: FadedBlocks) -> Floats:
    theta: Floats = theta_of(ridge.blocks)
    return theta


@metric_of.of(FadedBlocks)
def _metric_of(ridge: FadedBlocks) -> Floats:
    metric: Floats = metric_of(ridge.blocks)
    return metric
