"""An estimate that splits into blocks, each with features of its own, plus features that all blocks share: V is an arrow.

An arm lies in one block: its row is the number of the block, its shared features z, then its features x there. What the block
alone explains is subtracted first: from the reward, r − ⟨x, m⟩, and from the shared features, z̃ = z − Wᵀx. The shared
parameters are then a ridge on these remainders (Gaussian elimination), and θ̂ of the block is m − W·θ̂ of the shared part. So
learning touches one block and the shared part, a score reads as much, and both are exactly what the whole of V would give.

Dimensions: B blocks of w features, s shared ones, n arms; a row has 1 + s + w entries.
"""

from typing import NamedTuple

import numpy as np

from driftbandit.core.compile import kernel
from driftbandit.core.linalg import aligned
from driftbandit.core.ridge import (
    CANCELS,
    GAIN,
    METRIC,
    MOST_STEPS,
    OBSERVED,
    STEPS,
    THETA,
    Ridge,
    V,
    clear_whole,
    correct,
    new_ridge,
    refresh,
)
from driftbandit.core.rows import admit_rows, appraise_row, read_rows, score_by_row
from driftbandit.core.types import Floats, Ints
from driftbandit.core.verbs import (
    absorb,
    admit,
    clear,
    forecast_arm,
    metric_of,
    observed,
    score_arms,
    table_of,
    theta_of,
    trace_of_v,
    with_penalty,
)


class Blocks(NamedTuple):
    penalty: float  # λ
    matrix: Floats  # (B, 2, w, w): of each block as in Ridge; METRIC is the inverse of its part of V
    vector: Floats  # (B, 3, w): as in Ridge; THETA is m
    tally: Ints  # (B, 2)
    mixing: Floats  # (B, w, s): W
    shared: Ridge  # on the remainders
    known: Floats  # (s,): the diagonal of the shared part of V
    gram: Floats  # (s, s): ΣWᵀW over all blocks and …
    moment: Floats  # … (s,): ΣWᵀm, if they are kept; else empty
    rest: Floats  # (s,): scratch, z̃
    columns: Floats  # (w, 0) and …
    score: Floats  # … (3, 0): no arms are kept


def new_estimate(dim: int, blocks: int, shared: int, penalty: float) -> "Ridge | Blocks":
    """One ridge, or one per block."""
    if blocks == 1:
        return new_ridge(dim, penalty)
    width = (dim - shared) // blocks
    made = Blocks(
        penalty,
        aligned(blocks, 2, width, width),
        aligned(blocks, 3, width),
        np.zeros((blocks, 2), np.int64),
        aligned(blocks, width, shared),
        new_ridge(shared, penalty),
        np.zeros(shared),
        np.zeros((0, 0)),
        np.zeros(0),
        np.zeros(shared),
        np.zeros((width, 0)),
        np.zeros((3, 0)),
    )
    clear(made)
    return made


def parts(ridge: "Ridge | Blocks") -> list[Ridge]:
    """The ridges it consists of: one per block, and that of the shared features."""
    if isinstance(ridge, Ridge):
        return [ridge]
    each = zip(ridge.matrix, ridge.vector, ridge.tally, strict=True)
    own = [Ridge(ridge.penalty, matrix, vector, ridge.columns, ridge.score, tally) for matrix, vector, tally in each]
    return [*own, ridge.shared] if len(ridge.rest) else own


@kernel
def block(blocks: Blocks, k: int) -> Ridge:
    return Ridge(blocks.penalty, blocks.matrix[k], blocks.vector[k], blocks.columns, blocks.score, blocks.tally[k])


@kernel
def take_rest(blocks: Blocks, k: int, z: Floats, x: Floats) -> None:
    """rest = z − Wᵀx."""
    rest = blocks.rest
    for j in range(len(rest)):
        rest[j] = z[j]
    for i in range(len(x)):
        if x[i] != 0.0:
            row, a = blocks.mixing[k, i], x[i]
            for j in range(len(rest)):
                rest[j] -= a * row[j]


@kernel
def forecast_row(blocks: Blocks, row: Floats) -> tuple[float, float]:
    """⟨x, θ̂⟩ of an arm, and the square of its width."""
    k, s = int(row[0]), len(blocks.rest)
    vector, shared, x = blocks.vector[k], blocks.shared, row[1 + s :]
    mean, square = appraise_row(vector[THETA], blocks.matrix[k, METRIC], x, vector[GAIN])
    if s > 0:
        take_rest(blocks, k, row[1 : 1 + s], x)
        more, wider = appraise_row(shared.vector[THETA], shared.matrix[METRIC], blocks.rest, shared.vector[GAIN])
        mean, square = mean + more, square + wider
    return mean, square


@kernel
def learn_row(blocks: Blocks, row: Floats, r: float, weight: float, counts: bool) -> tuple[float, float]:
    """Learn the reward of an arm. Returns what ``forecast_row`` would have returned before.

    A reward that does not count never triggers a fresh solve; that is left to those that do. The block learns first, then the
    shared part, from the remainder: by one call in a loop, since its code takes long to compile.
    """
    k, s = int(row[0]), len(blocks.rest)
    matrix, vector, tally, columns, x = blocks.matrix[k], blocks.vector[k], blocks.tally[k], blocks.columns, row[1 + s :]
    mean = square = 0.0
    for part in range(2 if s > 0 else 1):
        if part == 1:
            shared = blocks.shared
            matrix, vector, tally, columns, x = shared.matrix, shared.vector, shared.tally, shared.columns, blocks.rest
        predicted, wide = appraise_row(vector[THETA], matrix[METRIC], x, vector[GAIN])
        wide = max(wide, 0.0)
        rest, lighter = r - predicted, weight / (1.0 + weight * wide)
        if part == 0 and s > 0:
            take_rest(blocks, k, row[1 : 1 + s], x)
            if len(blocks.gram) > 0:
                sum_up(blocks, k, lighter, rest)
            mix(blocks, k, lighter)
            for j in range(s):
                blocks.known[j] += weight * row[1 + j] * row[1 + j]
        ridge = Ridge(blocks.penalty, matrix, vector, columns, blocks.score, tally)
        divisor = correct(ridge, x, r, weight, predicted, wide)
        if not counts:
            tally[STEPS] -= 1
        elif divisor > CANCELS or tally[STEPS] >= MOST_STEPS:
            refresh(ridge)
        mean, square = mean + predicted, square + wide
        r, weight = rest, lighter
    return mean, square


@kernel
def mix(blocks: Blocks, k: int, weight: float) -> None:
    """W += w·gain·restᵀ: the block learns to explain the shared features as it learns rewards."""
    gain, rest = blocks.vector[k, GAIN], blocks.rest
    for i in range(len(gain)):
        if gain[i] != 0.0:
            row, a = blocks.mixing[k, i], weight * gain[i]
            for j in range(len(rest)):
                row[j] += a * rest[j]


@kernel
def sum_up(blocks: Blocks, k: int, weight: float, surprise: float) -> None:
    """ΣWᵀW and ΣWᵀm as they will be when W has become W + w·gain·restᵀ, and m has become m + w·surprise·gain."""
    gain, theta, rest, along = blocks.vector[k, GAIN], blocks.vector[k, THETA], blocks.rest, blocks.shared.vector[GAIN]
    move, square, mean = weight * surprise, 0.0, 0.0
    along[:] = 0.0  # Wᵀ·gain
    for i in range(len(gain)):
        if gain[i] != 0.0:
            row, a = blocks.mixing[k, i], gain[i]
            square += a * a
            mean += a * theta[i]
            for j in range(len(rest)):
                along[j] += a * row[j]
    for j in range(len(rest)):
        row, a, b = blocks.gram[j], weight * rest[j], weight * (along[j] + weight * square * rest[j])
        blocks.moment[j] += move * along[j] + a * (mean + move * square)
        for m in range(len(rest)):
            row[m] += a * along[m] + b * rest[m]


@kernel
def clear_blocks(blocks: Blocks) -> None:
    for k in range(len(blocks.matrix)):
        clear_whole(block(blocks, k))
    blocks.mixing[:] = 0.0
    clear_whole(blocks.shared)
    blocks.known[:] = blocks.penalty


def whole_theta(theta: Floats, mixing: Floats, shared: Floats) -> Floats:
    """θ̂ of all features, the shared ones first: from m (B, w), W (B, w, s) and θ̂ of the shared ones."""
    return np.concatenate([shared, (theta - mixing @ shared).ravel()])


def whole_metric(matrix: Floats, mixing: Floats, shared: Floats) -> Floats:
    """METRIC of all features: from that of each block (B, w, w), W (B, w, s), and that of the shared ones (s, s)."""
    blocks, width, s = mixing.shape
    spread = np.concatenate([np.eye(s), -mixing.reshape(blocks * width, s)])
    metric: Floats = spread @ shared @ spread.T
    for k in range(blocks):
        own = slice(s + k * width, s + (k + 1) * width)
        metric[own, own] += matrix[k]
    return metric


# --- the verbs, for blocks ------------------------------------------------------------------------------------------


@clear.of(Blocks)
def _clear(ridge: Blocks) -> None:
    clear_blocks(ridge)


@with_penalty.of(Blocks)
def _with_penalty(ridge: Blocks, penalty: float) -> Blocks:
    return Blocks(
        penalty,
        ridge.matrix,
        ridge.vector,
        ridge.tally,
        ridge.mixing,
        with_penalty(ridge.shared, penalty),
        ridge.known,
        ridge.gram,
        ridge.moment,
        ridge.rest,
        ridge.columns,
        ridge.score,
    )


@absorb.of(Blocks)
def _absorb(ridge: Blocks, x: Floats, r: float) -> None:
    learn_row(ridge, x, r, 1.0, True)


@observed.of(Blocks)
def _observed(ridge: Blocks) -> int:
    total = 0
    for k in range(len(ridge.tally)):
        total += ridge.tally[k, OBSERVED]
    return total


@trace_of_v.of(Blocks)
def _trace_of_v(ridge: Blocks) -> float:
    total = 0.0
    for i in range(len(ridge.known)):
        total += ridge.known[i]
    for k in range(len(ridge.matrix)):
        for i in range(len(ridge.columns)):
            total += ridge.matrix[k, V, i, i]
    return float(total)


@admit.of(Blocks)
def _admit(ridge: Blocks, rows: Floats, columns: Floats, limit: float) -> int:
    return admit_rows(rows, len(ridge.matrix), limit)


table_of.of(Blocks)(read_rows)
score_arms.of(Blocks)(score_by_row)


@forecast_arm.of(Blocks)
def _forecast_arm(ridge: Blocks, table: Floats, i: int) -> tuple[float, float]:
    return forecast_row(ridge, table[i])


@theta_of.of(Blocks)
def _theta_of(ridge: Blocks) -> Floats:
    return whole_theta(ridge.vector[:, THETA], ridge.mixing, ridge.shared.vector[THETA])


@metric_of.of(Blocks)
def _metric_of(ridge: Blocks) -> Floats:
    return whole_metric(ridge.matrix[:, METRIC], ridge.mixing, ridge.shared.matrix[METRIC])
