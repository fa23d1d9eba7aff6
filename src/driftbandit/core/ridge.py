"""The algebra that every policy shares: a ridge estimate kept up to date by rank-one formulas, without an inverse per round.

Dimensions: d features, n arms of a fixed set (0 when no set is fixed).
"""

import math
from typing import NamedTuple

import numpy as np

from driftbandit.core.choice import appraise, appraise_few
from driftbandit.core.compile import kernel
from driftbandit.core.linalg import add_rows, aligned, invert, times, turn, with_constants
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

# Rows of the packed arrays: passing one array from Python costs as much as a dozen multiplications.
V, METRIC = 0, 1
B, THETA, GAIN = 0, 1, 2
MEAN, SQUARE, SHADOW = 0, 1, 2
OBSERVED, STEPS = 0, 1

CANCELS = 1e4  # a divisor above this means that digits have cancelled
MOST_STEPS = 1024  # rank-one steps after which rounding has added up


class Ridge(NamedTuple):
    """V = λI + Σ w x xᵀ and b = Σ w r x, with what follows from them."""

    penalty: float  # λ
    matrix: Floats  # (2, d, d): V; METRIC, where a width is √(xᵀ·METRIC·x): V⁻¹, or V⁻¹ṼV⁻¹ for WeightUCB
    vector: Floats  # (3, d): B = b; THETA = θ̂ = V⁻¹b; GAIN, scratch, V⁻¹x of the last step
    columns: Floats  # (d, n): the fixed arm set, one arm per column, so that loops over arms are contiguous
    score: Floats  # (3, n): of the fixed set, MEAN = ⟨x_i, θ̂⟩; SQUARE = ‖x_i‖² in the metric; SHADOW, scratch
    tally: Ints  # (2,): OBSERVED in the estimate; rank-one STEPS since the last fresh solve


def new_ridge(dim: int, penalty: float) -> Ridge:
    ridge = Ridge(
        penalty,
        aligned(2, dim, dim),
        aligned(3, dim),
        np.zeros((dim, 0)),
        np.zeros((3, 0)),
        np.zeros(2, np.int64),
    )
    clear(ridge)
    return ridge


def keep_arms(ridge: Ridge, columns: Floats) -> Ridge:
    """The same estimate, keeping the scores of this arm set from now on."""
    columns = with_constants(columns, len(ridge.columns) - len(columns))
    ridge = ridge._replace(columns=columns, score=np.zeros((3, columns.shape[1])))
    rescore(ridge)
    return ridge


@kernel
def rescore(ridge: Ridge) -> None:
    appraise(ridge.vector[THETA], ridge.matrix[METRIC], ridge.columns, ridge.score)


@kernel
def clear_whole(ridge: Ridge) -> None:
    """V = λI. O(d² + nd), for policies that do it often."""
    d, n = ridge.columns.shape
    ridge.matrix[:] = 0.0
    ridge.vector[:] = 0.0
    ridge.score[:] = 0.0
    ridge.tally[:] = 0
    for j in range(d):
        ridge.matrix[V, j, j] = ridge.penalty
        ridge.matrix[METRIC, j, j] = 1.0 / ridge.penalty
        for i in range(n):
            ridge.score[SQUARE, i] += ridge.columns[j, i] * ridge.columns[j, i] / ridge.penalty


@kernel
def forecast(ridge: Ridge, x: Floats) -> tuple[float, float]:
    """⟨x, θ̂⟩ and the square of x's width; leaves METRIC·x in GAIN."""
    theta, gain = ridge.vector[THETA], ridge.vector[GAIN]
    times(ridge.matrix[METRIC], x, gain)
    mean = square = 0.0
    for j in range(len(x)):
        mean += x[j] * theta[j]
        square += x[j] * gain[j]
    return mean, square


@kernel
def add(ridge: Ridge, x: Floats, r: float, weight: float) -> float:
    """V += w·x·xᵀ, b += w·r·x by recursive least squares; a weight of −1 removes what was added with 1.

    O(d² + nd): the fixed arms' scores follow by the same rank-one formulas (Sherman–Morrison). Returns the divisor
    1 + w‖x‖²: if it is far from 1 either way, digits have cancelled.
    """
    predicted, square = forecast(ridge, x)
    return correct(ridge, x, r, weight, predicted, square)


@kernel
def correct(ridge: Ridge, x: Floats, r: float, weight: float, predicted: float, q: float) -> float:
    """``add`` for a caller that has already made the forecast."""
    d, n = ridge.columns.shape
    v, metric = ridge.matrix[V], ridge.matrix[METRIC]
    b, theta, gain = ridge.vector[B], ridge.vector[THETA], ridge.vector[GAIN]
    mean, square, shadow = ridge.score[MEAN], ridge.score[SQUARE], ridge.score[SHADOW]

    divisor = 1.0 + weight * q
    step = weight / divisor
    move = step * (r - predicted)

    for i in range(n):
        shadow[i] = 0.0
    add_rows(shadow, gain, ridge.columns, d)
    for i in range(n):
        mean[i] += move * shadow[i]
        square[i] -= step * shadow[i] * shadow[i]

    # Scaling first makes each product commute, so the metric stays symmetric to the last bit.
    sign = 1.0 if weight > 0.0 else -1.0
    root = math.sqrt(abs(step))
    for j in range(d):
        b[j] += weight * r * x[j]
        theta[j] += move * gain[j]
        gain[j] *= root
    for j in range(d):
        if x[j] != 0.0:
            row, a = v[j], weight * x[j]
            for k in range(d):
                row[k] += a * x[k]
        if gain[j] != 0.0:
            row, a = metric[j], sign * gain[j]
            for k in range(d):
                row[k] -= a * gain[k]

    ridge.tally[OBSERVED] += 1 if weight > 0.0 else -1
    ridge.tally[STEPS] += 1
    return divisor


@kernel
def absorb_whole(ridge: Ridge, x: Floats, r: float) -> None:
    """Add an observation of weight 1, and solve afresh if rounding calls for it.

    Rounding adds up step by step, so that happens every so often, at a few per cent of the cost. And the first
    observation in a direction of which λ says almost nothing cancels digits at once.
    """
    divisor = add(ridge, x, r, 1.0)
    if divisor > CANCELS or ridge.tally[STEPS] >= max(MOST_STEPS, 32 * len(ridge.columns)):
        refresh(ridge)


@kernel
def fade(ridge: Ridge, keep: float, features: int, axis: int, weight: float) -> None:
    """V ← γV + w·e_i·e_iᵀ, b ← γb: forget a little, and restore along one axis in turn what λI loses. O(d²).

    Coordinates from ``features`` on are constants and do not fade: V ← DVD with D = √γ on the others, 1 on these. Does not
    update a fixed set's scores.
    """
    v, metric = ridge.matrix[V], ridge.matrix[METRIC]
    b, theta, gain = ridge.vector[B], ridge.vector[THETA], ridge.vector[GAIN]
    d, grow, root = len(b), 1.0 / keep, math.sqrt(keep)
    for j in range(features):
        gain[j] = metric[axis, j] * grow
        for k in range(features, d):
            v[j, k] *= root
            v[k, j] *= root
            metric[j, k] /= root
            metric[k, j] /= root
    for k in range(features, d):
        gain[k] = metric[axis, k]
    step = weight / (1.0 + weight * gain[axis])
    root, move = math.sqrt(step), step * theta[axis]
    for j in range(d):
        theta[j] -= move * gain[j]
        gain[j] *= root
    for j in range(features):
        b[j] *= keep
        row = v[j]
        for k in range(features):
            row[k] *= keep
        row, a = metric[j], gain[j]
        for k in range(features):
            row[k] = row[k] * grow - a * gain[k]
    v[axis, axis] += weight
    if features < d:
        for j in range(d):
            for k in range(max(j, features), d):
                metric[j, k] -= gain[j] * gain[k]
                metric[k, j] = metric[j, k]
        times(v, theta, b)


@kernel
def refresh(ridge: Ridge) -> None:
    """Solve afresh from V and b."""
    d = len(ridge.columns)
    for i in range(d):
        for j in range(d):
            ridge.matrix[METRIC, i, j] = ridge.matrix[V, i, j]
    invert(ridge.matrix[METRIC])
    b, theta, left = ridge.vector[B], ridge.vector[THETA], ridge.vector[GAIN]
    times(ridge.matrix[METRIC], b, theta)
    times(ridge.matrix[V], theta, left)  # one step of refinement: what b asks for beyond Vθ̂
    for i in range(d):
        left[i] = b[i] - left[i]
    add_rows(theta, left, ridge.matrix[METRIC], d)
    ridge.tally[STEPS] = 0
    appraise_few(theta, ridge.matrix[METRIC], ridge.columns, ridge.score)  # rare; the one for many arms takes long to compile


@clear.of(Ridge)
def _clear(ridge: Ridge) -> None:
    clear_whole(ridge)


@with_penalty.of(Ridge)
def _with_penalty(ridge: Ridge, penalty: float) -> Ridge:
    return Ridge(penalty, ridge.matrix, ridge.vector, ridge.columns, ridge.score, ridge.tally)


@absorb.of(Ridge)
def _absorb(ridge: Ridge, x: Floats, r: float) -> None:
    absorb_whole(ridge, x, r)


@observed.of(Ridge)
def _observed(ridge: Ridge) -> int:
    return int(ridge.tally[OBSERVED])


@trace_of_v.of(Ridge)
def _trace_of_v(ridge: Ridge) -> float:
    total = 0.0
    for i in range(len(ridge.columns)):
        total += ridge.matrix[V, i, i]
    return total


@admit.of(Ridge)
def _admit(ridge: Ridge, rows: Floats, columns: Floats, limit: float) -> int:
    return 0 if turn(rows, columns, limit) else -1


@table_of.of(Ridge)
def _table_of(ridge: Ridge, rows: Floats, columns: Floats) -> Floats:
    return columns


@score_arms.of(Ridge)
def _score_arms(ridge: Ridge, table: Floats, score: Floats) -> None:
    theta = ridge.vector[THETA]
    appraise_few(theta, ridge.matrix[METRIC], table[: len(theta)], score)


@forecast_arm.of(Ridge)
def _forecast_arm(ridge: Ridge, table: Floats, i: int) -> tuple[float, float]:
    return forecast_column(ridge, table, i)


@kernel
def forecast_column(ridge: Ridge, columns: Floats, i: int) -> tuple[float, float]:
    mean = square = 0.0
    for j in range(len(columns)):
        row = 0.0
        for k in range(len(columns)):
            row += ridge.matrix[METRIC, j, k] * columns[k, i]
        mean += columns[j, i] * ridge.vector[THETA, j]
        square += columns[j, i] * row
    return mean, square


@theta_of.of(Ridge)
def _theta_of(ridge: Ridge) -> Floats:
    theta: Floats = ridge.vector[THETA]
    return theta


@metric_of.of(Ridge)
def _metric_of(ridge: Ridge) -> Floats:
    metric: Floats = ridge.matrix[METRIC]
    return metric
