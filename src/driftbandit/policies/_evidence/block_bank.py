"""A bank whose estimators fall into blocks: a reward touches one block of each, as in core/blocks.py.

All blocks of an estimator fade together, so what is left of V and b is one factor for all of them, kept beside them: fading
costs no more than the block whose turn it is to be given back what λI loses.

Dimensions: K estimators, B blocks of w features.
"""

import math
from collections import namedtuple
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.blocks import after_number, appraise_row
from driftbandit.core.compile import kernel
from driftbandit.core.ridge import (
    GAIN,
    METRIC,
    STEPS,
    THETA,
    B,
    Ridge,
    V,
    as_estimate,
    clear,
    correct,
    first_feature,
    forecast_arm,
    refresh,
    score_arms,
    table_of,
)
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._evidence.bank import (
    LAPSE,
    PENALTY,
    SETTLE,
    Bank,
    describe,
    duplicate,
    empty,
    foresee,
    length2,
    new_bank,
    play,
    size,
    summary,
    trace,
)

FAINT = 1e-30  # of V and b so little is left that they are scaled anew, long before digits are lost

# As a Bank, but matrix (K + 1, B, 2, w, w), vector (K + 1, B, 3, w), tally (K + 1, B, 2), arms and x with the number of
# their block; and ``left`` (K + 1,): V, b and METRIC⁻¹ are this times what is kept.
BlockBank: Any = namedtuple("BlockBank", (*Bank._fields, "left"))  # type: ignore[misc]


class Played(NamedTuple):
    """What is played: θ̂ of one estimator, and METRIC of one that may be another, where they are in the bank."""

    matrix: Floats
    vector: Floats
    left: Floats
    which: Ints  # (2,): the one, the other


def new_block_bank(blocks: int, width: int, memories: Sequence[int], noise: float | None) -> Any:
    plain = new_bank(1, False, memories, noise)  # for what is the same
    estimators, ring = len(plain.keep) + 1, max(128, SETTLE * blocks * width)
    shapes = {
        "matrix": (estimators, blocks, 2, width, width),
        "vector": (estimators, blocks, 3, width),
        "columns": (width, 0),
        "squares": (ring, estimators - 1),
        "logs": (ring, estimators - 1),
        "taken": (ring,),
        "arms": (ring, 1 + width),
        "rewards": (ring,),
        "x": (1 + width,),
    }
    counts = {"tally": (estimators, blocks, 2), "decided": (ring,), "newest": (ring,)}
    arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
    arrays |= {name: np.zeros(shape, np.int64) for name, shape in counts.items()}
    return BlockBank(**{**plain._asdict(), "features": blocks * width, **arrays, "left": np.ones(estimators)})


def played_of(bank: Any) -> Played:
    return Played(bank.matrix, bank.vector, bank.left, np.zeros(2, np.int64))


@kernel
def part(bank: Any, k: int, block: int) -> Ridge:
    return Ridge(
        bank.scale[PENALTY], bank.matrix[k, block], bank.vector[k, block], bank.columns, bank.score, bank.tally[k, block]
    )


@kernel
def give_back(ridge: Ridge, axis: int, weight: float) -> None:
    """V += w·e_i·e_iᵀ, where b stays."""
    metric, theta, gain = ridge.matrix[METRIC], ridge.vector[THETA], ridge.vector[GAIN]
    step = weight / (1.0 + weight * metric[axis, axis])
    root, move = math.sqrt(step), step * theta[axis]
    for j in range(len(theta)):
        theta[j] -= move * metric[axis, j]
        gain[j] = root * metric[axis, j]
    ridge.matrix[V, axis, axis] += weight
    for j in range(len(theta)):
        row, a = metric[j], gain[j]
        for k in range(len(theta)):
            row[k] -= a * gain[k]


@kernel
def fade_all(bank: Any, place: int, k: int, n: int) -> None:
    """What ``predict_and_learn`` does when the n-th reward is to be forgotten by: V ← γV, and λI along an axis in turn."""
    features, keep, width = bank.features, bank.keep[k], bank.matrix.shape[4]
    bank.left[place] *= keep
    if bank.left[place] < FAINT:
        scale_anew(bank, place)
    axes = math.ceil(features * (1.0 - keep) / LAPSE)
    weight = features * (1.0 - keep) * bank.scale[PENALTY] / axes
    for i in range(axes):
        axis = (n // bank.turns[k] * axes + i) % features
        give_back(part(bank, place, axis // width), axis % width, weight / bank.left[place])


@kernel
def scale_anew(bank: Any, place: int) -> None:
    left = bank.left[place]
    for block in range(bank.matrix.shape[1]):
        for i in range(bank.matrix.shape[4]):
            bank.vector[place, block, B, i] *= left
            for j in range(bank.matrix.shape[4]):
                bank.matrix[place, block, V, i, j] *= left
                bank.matrix[place, block, METRIC, i, j] /= left
    bank.left[place] = 1.0


@kernel
def predict_and_learn_row(bank: Any, place: int, k: int, n: int, x: Floats, r: float) -> tuple[float, float]:
    if bank.keep[k] < 1.0 and n % bank.turns[k] == 0:
        fade_all(bank, place, k, n)
    ridge, left, own = part(bank, place, int(x[0])), bank.left[place], x[1:]
    mean, square = appraise_row(ridge.vector[THETA], ridge.matrix[METRIC], own, ridge.vector[GAIN])
    square = max(square, 0.0)
    if correct(ridge, own, r, 1.0 / left, mean, square) > 1e4 or ridge.tally[STEPS] >= 1024:
        refresh(ridge)
    return r - mean, 1.0 + square / left


@kernel
def empty_blocks(bank: Any, k: int) -> None:
    bank.matrix[k][:] = 0.0
    bank.vector[k][:] = 0.0
    bank.tally[k][:] = 0
    bank.left[k] = 1.0
    for block in range(bank.matrix.shape[1]):
        for i in range(bank.matrix.shape[4]):
            bank.matrix[k, block, V, i, i] = bank.scale[PENALTY]
            bank.matrix[k, block, METRIC, i, i] = 1.0 / bank.scale[PENALTY]


@kernel
def duplicate_blocks(bank: Any, source: int, target: int) -> None:
    bank.left[target] = bank.left[source]
    for block in range(bank.matrix.shape[1]):
        bank.tally[target, block, STEPS] = bank.tally[source, block, STEPS]
        for i in range(bank.matrix.shape[4]):
            for row in range(3):
                bank.vector[target, block, row, i] = bank.vector[source, block, row, i]
            for row in range(2):
                for j in range(bank.matrix.shape[4]):
                    bank.matrix[target, block, row, i, j] = bank.matrix[source, block, row, i, j]


@kernel
def trace_of_blocks(bank: Any, k: int, which: int) -> float:
    total = 0.0
    for block in range(bank.matrix.shape[1]):
        for i in range(bank.matrix.shape[4]):
            total += bank.matrix[k, block, which, i, i]
    return float(total * bank.left[k] if which == V else total / bank.left[k])


@kernel
def squares_of_blocks(bank: Any, k: int) -> float:
    total = 0.0
    for block in range(bank.matrix.shape[1]):
        for i in range(bank.matrix.shape[4]):
            total += bank.vector[k, block, THETA, i] ** 2
    return total


@kernel
def describe_blocks(bank: Any, k: int, radius: float, theta: Floats, widths: Floats) -> None:
    i = 0
    for block in range(bank.matrix.shape[1]):
        for j in range(bank.matrix.shape[4]):
            theta[i] = bank.vector[k, block, THETA, j]
            widths[i] = radius * math.sqrt(max(bank.matrix[k, block, METRIC, j, j] / bank.left[k], 0.0))
            i += 1


@kernel
def forecast_played(played: Played, rows: Floats, i: int) -> tuple[float, float]:
    main, other, block = played.which[0], played.which[1], int(rows[i, 0])
    theta, metric = played.vector[main, block, THETA], played.matrix[other, block, METRIC]
    mean, square = appraise_row(theta, metric, rows[i, 1:], played.vector[main, block, GAIN])
    return mean, square / played.left[other]


@kernel
def score_played(played: Played, rows: Floats, score: Floats) -> None:
    for i in range(len(rows)):
        score[0, i], score[1, i] = forecast_played(played, rows, i)


@kernel
def forget_played(played: Played) -> None:
    """Until a reward has been learnt, nothing is known and all arms tie."""
    played.matrix[:] = 0.0
    played.vector[:] = 0.0
    played.left[:] = 1.0


# --- the ways of a bank in blocks, and of what is played of it ------------------------------------------------------


@size.of(BlockBank)
def _size(bank: Any) -> int:
    return int(bank.features)


@foresee.of(BlockBank)
def _foresee(bank: Any, place: int, k: int, n: int, x: Floats, r: float) -> tuple[float, float]:
    return predict_and_learn_row(bank, place, k, n, x, r)


@empty.of(BlockBank)
def _empty(bank: Any, k: int) -> None:
    empty_blocks(bank, k)


@duplicate.of(BlockBank)
def _duplicate(bank: Any, source: int, target: int) -> None:
    duplicate_blocks(bank, source, target)


@length2.of(BlockBank)
def _length2(bank: Any, x: Floats) -> float:
    total = 0.0
    for i in range(1, len(x)):
        total += x[i] * x[i]
    return total


@trace.of(BlockBank)
def _trace(bank: Any, k: int, which: int, count: int) -> float:
    return trace_of_blocks(bank, k, which)


@summary.of(BlockBank)
def _summary(bank: Any, k: int) -> tuple[float, float, float]:
    return squares_of_blocks(bank, k), trace_of_blocks(bank, k, METRIC), length2(bank, bank.x)


@describe.of(BlockBank)
def _describe(bank: Any, k: int, radius: float, theta: Floats, widths: Floats) -> None:
    describe_blocks(bank, k, radius, theta, widths)


@play.of(Played)
def _play(ridge: Played, bank: Any, main: int, played: int) -> None:
    ridge.which[0], ridge.which[1] = main, played


@clear.of(Played)
def _clear(ridge: Played) -> None:
    forget_played(ridge)


@first_feature.of(Played)
def _first_feature(ridge: Played, x: Floats) -> int:
    return after_number(x[0], ridge.matrix.shape[1])


@table_of.of(Played)
def _table_of(ridge: Played, rows: Floats, columns: Floats) -> Floats:
    return rows


@score_arms.of(Played)
def _score_arms(ridge: Played, table: Floats, score: Floats) -> None:
    score_played(ridge, table, score)


@forecast_arm.of(Played)
def _forecast_arm(ridge: Played, table: Floats, i: int) -> tuple[float, float]:
    return forecast_played(ridge, table, i)


@as_estimate.of(Played)
def _as_estimate(ridge: Played) -> tuple[Floats, Floats]:
    main, other = ridge.which
    return ridge.vector[main, :, THETA].ravel(), ridge.matrix[other, :, METRIC] / ridge.left[other]
