"""The second matrix of WeightUCB, Ṽ = λI + Σγ^(2·age)·x·xᵀ, in blocks.

A width is √(vᵀṼv) with v = V⁻¹a of an arm a = (z, x). With y = V_xx⁻¹·x of its block, z̃ = z − Wᵀx and p = S⁻¹z̃, v is p in the
shared part, y − Wp in its block and −Wp in every other. So Ṽ is transformed once per round: bent = Ṽ_xz − Ṽ_xx·W of each block,
and core, its form in p with all −Wp. Then vᵀṼv = yᵀṼ_xx·y + 2yᵀ·bent·p + pᵀ·core·p, which reads one block.

Dimensions: B blocks of w features, s shared ones.
"""

from typing import NamedTuple

import numpy as np

from driftbandit.core.blocks import parts, take_rest
from driftbandit.core.compile import kernel
from driftbandit.core.linalg import add_rows
from driftbandit.core.ridge import GAIN, METRIC, THETA
from driftbandit.core.rows import admit_rows, appraise_row, read_rows, score_by_row
from driftbandit.core.types import Floats
from driftbandit.core.verbs import admit, forecast_arm, metric_of, score_arms, table_of, theta_of
from driftbandit.policies._base.discounted import add_to_squares, add_to_sums, fade_squares, fade_sums, weigh
from driftbandit.policies._base.faded_blocks import (
    FadedBlocks,
    add_product,
    add_row,
    fade_array,
    fade_blocks,
    solve_blocks,
    take_off,
)
from driftbandit.policies._base.sound import check_arrow, check_faded


class Squares(NamedTuple):
    own: Floats  # (B, w, w): Σγ^(2·age)·x·xᵀ of each block
    cross: Floats  # (B, w, s): Σγ^(2·age)·x·zᵀ
    common: Floats  # (s, s): Σγ^(2·age)·z·zᵀ
    bent: Floats  # (B, w, s)
    core: Floats  # (s, s)
    line: Floats  # (w,) and …
    rest: Floats  # … (s,): scratch


class WeighedBlocks(NamedTuple):
    faded: FadedBlocks  # METRIC is V⁻¹, in parts
    squares: Squares


def new_weighed(faded: FadedBlocks) -> WeighedBlocks:
    blocks, width, shared = faded.cross.shape
    return WeighedBlocks(
        faded,
        Squares(
            np.zeros((blocks, width, width)),
            np.zeros_like(faded.cross),
            np.zeros((shared, shared)),
            np.zeros_like(faded.cross),
            np.zeros((shared, shared)),
            np.zeros(width),
            np.zeros(shared),
        ),
    )


def check_squares(ridge: WeighedBlocks, discount: float, rounds: int, longest: float) -> None:
    squares, blocks = ridge.squares, ridge.faded.blocks
    for part, matrix in zip(parts(blocks), [*squares.own, squares.common], strict=False):
        check_faded("Ṽ", part._replace(matrix=matrix[None]), discount**2, rounds, longest)
    check_arrow("Ṽ", blocks.penalty, squares.own, squares.cross, squares.common)


@kernel
def fade_all(squares: Squares, keep: float) -> None:
    for k in range(len(squares.own)):
        fade_array(squares.own[k], keep)
        fade_array(squares.cross[k], keep)
    fade_array(squares.common, keep)


@kernel
def add_square(squares: Squares, row: Floats, weight: float) -> None:
    k, s = int(row[0]), len(squares.rest)
    z, x = row[1 : 1 + s], row[1 + s :]
    add_product(squares.own[k], x, x, weight)
    add_product(squares.cross[k], x, z, weight)
    add_product(squares.common, z, z, weight)


@kernel
def bend(ridge: WeighedBlocks) -> None:
    """Transform Ṽ: core = Ṽ_zz − Σ(Wᵀ·Ṽ_xz + bentᵀ·W)."""
    squares, blocks = ridge.squares, ridge.faded.blocks
    core, penalty = squares.core, blocks.penalty
    for j in range(len(core)):
        for m in range(len(core)):
            core[j, m] = squares.common[j, m] + (penalty if j == m else 0.0)
    for k in range(len(squares.own)):
        own, cross, bent, mixing = squares.own[k], squares.cross[k], squares.bent[k], blocks.mixing[k]
        for i in range(len(own)):
            squares.rest[:] = 0.0
            add_rows(squares.rest, own[i], mixing, len(own))
            for j in range(len(core)):
                bent[i, j] = cross[i, j] - squares.rest[j] - penalty * mixing[i, j]
        take_off(core, mixing, cross)
        take_off(core, bent, mixing)
    for j in range(len(core)):
        for m in range(j):
            core[m, j] = core[j, m]


@kernel
def forecast_weighed(ridge: WeighedBlocks, row: Floats) -> tuple[float, float]:
    blocks, squares = ridge.faded.blocks, ridge.squares
    k, s = int(row[0]), len(blocks.rest)
    vector, shared, x = blocks.vector[k], blocks.shared, row[1 + s :]
    y, p = vector[GAIN], shared.vector[GAIN]
    mean, _ = appraise_row(vector[THETA], blocks.matrix[k, METRIC], x, y)
    length2, square = appraise_row(y, squares.own[k], y, squares.line)
    square += blocks.penalty * length2
    if s > 0:
        take_rest(blocks, k, row[1 : 1 + s], x)
        more, _ = appraise_row(shared.vector[THETA], shared.matrix[METRIC], blocks.rest, p)
        _, wider = appraise_row(p, squares.core, p, squares.rest)
        squares.rest[:] = 0.0
        add_rows(squares.rest, y, squares.bent[k], len(y))
        for j in range(s):
            wider += 2.0 * squares.rest[j] * p[j]
        mean, square = mean + more, square + wider
    return mean, square


table_of.of(WeighedBlocks)(read_rows)
score_arms.of(WeighedBlocks)(score_by_row)


@fade_sums.of(WeighedBlocks)
def _fade_sums(ridge: WeighedBlocks, keep: float) -> None:
    fade_blocks(ridge.faded, keep)


@add_to_sums.of(WeighedBlocks)
def _add_to_sums(ridge: WeighedBlocks, x: Floats, r: float, weight: float) -> None:
    add_row(ridge.faded, x, r, weight)


@fade_squares.of(WeighedBlocks)
def _fade_squares(ridge: WeighedBlocks, squares: Squares, keep: float) -> None:
    fade_all(squares, keep)


@add_to_squares.of(WeighedBlocks)
def _add_to_squares(ridge: WeighedBlocks, squares: Squares, x: Floats, weight: float) -> None:
    add_square(squares, x, weight * weight)


@weigh.of(WeighedBlocks)
def _weigh(ridge: WeighedBlocks, squares: Squares) -> None:
    solve_blocks(ridge.faded)
    bend(ridge)


@admit.of(WeighedBlocks)
def _admit(ridge: WeighedBlocks, rows: Floats, columns: Floats, limit: float) -> int:
    return admit_rows(rows, len(ridge.squares.own), limit)


@forecast_arm.of(WeighedBlocks)
def _forecast_arm(ridge: WeighedBlocks, table: Floats, i: int) -> tuple[float, float]:
    return forecast_weighed(ridge, table[i])


@theta_of.of(WeighedBlocks)
def _theta_of(ridge: WeighedBlocks) -> Floats:
    theta: Floats = theta_of(ridge.faded)
    return theta


@metric_of.of(WeighedBlocks)
def _metric_of(ridge: WeighedBlocks) -> Floats:
    inverse: Floats = metric_of(ridge.faded)
    squares, penalty = ridge.squares, ridge.faded.blocks.penalty
    s, width = len(squares.rest), len(squares.line)
    whole = penalty * np.eye(len(inverse))
    whole[:s, :s] += squares.common
    for k, (own, cross) in enumerate(zip(squares.own, squares.cross, strict=True)):
        at = slice(s + k * width, s + (k + 1) * width)
        whole[at, at] += own
        whole[at, :s], whole[:s, at] = cross, cross.T
    return inverse @ whole @ inverse
