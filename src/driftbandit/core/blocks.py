"""An estimate that falls into blocks, each with features of its own: V is block diagonal, and so is all that follows from it.

An arm lies in one block: its row begins with the number of the block, and goes on with its features there. Learning touches
one block and a score reads one, so that a round costs what a block costs.

Dimensions: B blocks of w features, n arms; a row has 1 + w entries.
"""

from typing import NamedTuple

import numpy as np

from driftbandit.core.compile import kernel
from driftbandit.core.linalg import add_rows
from driftbandit.core.ridge import (
    GAIN,
    METRIC,
    OBSERVED,
    THETA,
    Ridge,
    V,
    absorb,
    absorb_whole,
    as_estimate,
    clear,
    clear_whole,
    first_feature,
    forecast_arm,
    new_ridge,
    observed,
    score_arms,
    table_of,
    trace_of_v,
    with_penalty,
)
from driftbandit.core.types import Floats, Ints

SPARSE = 3  # times as many features as are not 0: then it pays to skip those that are


class Blocks(NamedTuple):
    penalty: float  # λ
    matrix: Floats  # (B, 2, w, w): of each block as in Ridge
    vector: Floats  # (B, 3, w)
    columns: Floats  # (w, 0) and …
    score: Floats  # … (3, 0): no arms are kept
    tally: Ints  # (B, 2)


def new_estimate(dim: int, blocks: int, penalty: float) -> Ridge | Blocks:
    """One ridge, or one per block."""
    if blocks == 1:
        return new_ridge(dim, penalty)
    width = dim // blocks
    matrix, vector = np.zeros((blocks, 2, width, width)), np.zeros((blocks, 3, width))
    made = Blocks(penalty, matrix, vector, np.zeros((width, 0)), np.zeros((3, 0)), np.zeros((blocks, 2), np.int64))
    clear(made)
    return made


def parts(ridge: Ridge | Blocks) -> list[Ridge]:
    """Its blocks, each a ridge."""
    if isinstance(ridge, Ridge):
        return [ridge]
    each = zip(ridge.matrix, ridge.vector, ridge.tally, strict=True)
    return [Ridge(ridge.penalty, matrix, vector, ridge.columns, ridge.score, tally) for matrix, vector, tally in each]


@kernel
def block(blocks: Blocks, k: int) -> Ridge:
    return Ridge(blocks.penalty, blocks.matrix[k], blocks.vector[k], blocks.columns, blocks.score, blocks.tally[k])


@kernel
def appraise_row(theta: Floats, metric: Floats, x: Floats, gain: Floats) -> tuple[float, float]:
    """⟨x, θ̂⟩ and xᵀ·metric·x; leaves metric·x in ``gain``. Of a sparse x only what is not 0 is worked on."""
    w, count = len(x), 0
    mean = square = 0.0
    for j in range(w):
        gain[j] = 0.0
        count += x[j] != 0.0
    if SPARSE * count < w:
        for j in range(w):
            if x[j] != 0.0:
                row, a = metric[j], x[j]
                for k in range(w):
                    gain[k] += a * row[k]
    else:
        add_rows(gain, x, metric, w)
    for j in range(w):
        mean += x[j] * theta[j]
        square += x[j] * gain[j]
    return mean, square


@kernel
def clear_blocks(blocks: Blocks) -> None:
    for k in range(len(blocks.matrix)):
        clear_whole(block(blocks, k))


@kernel
def absorb_row(blocks: Blocks, x: Floats, r: float) -> None:
    absorb_whole(block(blocks, int(x[0])), x[1:], r)


@kernel
def score_rows(blocks: Blocks, rows: Floats, score: Floats) -> None:
    for i in range(len(rows)):
        score[0, i], score[1, i] = forecast_row(blocks, rows, i)


@kernel
def forecast_row(blocks: Blocks, rows: Floats, i: int) -> tuple[float, float]:
    vector, matrix = blocks.vector[int(rows[i, 0])], blocks.matrix[int(rows[i, 0])]
    return appraise_row(vector[THETA], matrix[METRIC], rows[i, 1:], vector[GAIN])


@clear.of(Blocks)
def _clear(ridge: Blocks) -> None:
    clear_blocks(ridge)


@with_penalty.of(Blocks)
def _with_penalty(ridge: Blocks, penalty: float) -> Blocks:
    return Blocks(penalty, ridge.matrix, ridge.vector, ridge.columns, ridge.score, ridge.tally)


@absorb.of(Blocks)
def _absorb(ridge: Blocks, x: Floats, r: float) -> None:
    absorb_row(ridge, x, r)


@observed.of(Blocks)
def _observed(ridge: Blocks) -> int:
    total = 0
    for k in range(len(ridge.tally)):
        total += ridge.tally[k, OBSERVED]
    return total


@trace_of_v.of(Blocks)
def _trace_of_v(ridge: Blocks) -> float:
    total = 0.0
    for k in range(len(ridge.matrix)):
        for i in range(len(ridge.columns)):
            total += ridge.matrix[k, V, i, i]
    return total


@first_feature.of(Blocks)
def _first_feature(ridge: Blocks, x: Floats) -> int:
    return after_number(x[0], len(ridge.matrix))


@kernel
def after_number(number: float, blocks: int) -> int:
    """1, where the features begin, if this is the number of a block, else −1."""
    return 1 if 0.0 <= number < blocks and number == int(number) else -1


@table_of.of(Blocks)
def _table_of(ridge: Blocks, rows: Floats, columns: Floats) -> Floats:
    return rows


@score_arms.of(Blocks)
def _score_arms(ridge: Blocks, table: Floats, score: Floats) -> None:
    score_rows(ridge, table, score)


@forecast_arm.of(Blocks)
def _forecast_arm(ridge: Blocks, table: Floats, i: int) -> tuple[float, float]:
    return forecast_row(ridge, table, i)


@as_estimate.of(Blocks)
def _as_estimate(ridge: Blocks) -> tuple[Floats, Floats]:
    return ridge.vector[:, THETA].ravel(), ridge.matrix[:, METRIC]
