"""A bank whose estimators split into blocks: a reward touches one block of each, as in core/blocks.py.

All blocks of an estimator fade together, so the share left of V and b is one factor for all, kept separately: fading costs no
more than the block whose turn it is to have restored what λI loses.

Dimensions: K estimators, B blocks of w features, s shared ones.
"""

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftbandit.core.blocks import (
    Blocks,
    clear_blocks,
    learn_row,
)
from driftbandit.core.compile import kernel
from driftbandit.core.linalg import aligned
from driftbandit.core.ridge import METRIC, STEPS, B, Ridge, V
from driftbandit.core.types import Floats
from driftbandit.policies._evidence.bank import PENALTY, SETTLE, Bank, copy_ridge, due_upkeep, new_bank
from driftbandit.policies._evidence.block_summary import (
    describe_blocks,
    lean_to_blocks,
    summary_of_blocks,
    trace_of_blocks,
    unseen_in_blocks,
)
from driftbandit.policies._evidence.verbs import (
    describe,
    duplicate,
    empty,
    foresee,
    lean_to,
    length2,
    located,
    size,
    summary,
    trace,
    unseen,
)

FAINT = 1e-30  # when so little of V and b is left, they are rescaled, long before digits are lost

# As a Bank, but matrix (K + 1, B, 2, w, w), vector (K + 1, B, 3, w), tally (K + 1, B, 2), arms and x with the number of
# their block. And mixing, shared_matrix, shared_vector, shared_tally, known, rest: of each estimator as in Blocks; unit:
# scratch, an arm; left (K + 1,): V, b and METRIC⁻¹ are this times those kept; gram (K + 1, s, s), moment (K + 1, s): ΣWᵀW and
# ΣWᵀm, so that ‖θ̂‖² and the trace of METRIC need not visit every block; summed (K + 1,): after how many rewards these were
# last summed afresh; 0 if they are not kept.
OWN = (
    "mixing",
    "shared_matrix",
    "shared_vector",
    "shared_tally",
    "shared_columns",
    "known",
    "rest",
    "unit",
    "left",
    "gram",
    "moment",
    "summed",
)
BlockBank: Any = namedtuple("BlockBank", (*Bank._fields, *OWN))  # type: ignore[misc]


def new_block_bank(blocks: int, width: int, shared: int, memories: Sequence[int], noise: float | None) -> Any:
    plain = new_bank(1, False, memories, noise)  # for what is the same
    dim, estimators = shared + blocks * width, len(plain.keep) + 1
    ring = max(128, SETTLE * dim)
    shapes = {
        "matrix": (estimators, blocks, 2, width, width),
        "vector": (estimators, blocks, 3, width),
        "mixing": (estimators, blocks, width, shared),
        "shared_matrix": (estimators, 2, shared, shared),
        "shared_vector": (estimators, 3, shared),
        "shared_columns": (shared, 0),
        "known": (estimators, shared),
        "rest": (shared,),
        "gram": (estimators, shared, shared),
        "moment": (estimators, shared),
        "columns": (width, 0),
        "squares": (ring, estimators - 1),
        "logs": (ring, estimators - 1),
        "taken": (ring,),
        "sources": (2, dim),
        "arms": (ring, 1 + shared + width),
        "rewards": (ring,),
        "x": (1 + shared + width,),
        "unit": (1 + shared + width,),
    }
    counts = {
        "tally": (estimators, blocks, 2),
        "shared_tally": (estimators, 2),
        "summed": (estimators,),
        "decided": (ring,),
        "newest": (ring,),
    }
    arrays = {name: aligned(*shape) for name, shape in shapes.items()}
    for array in arrays.values():
        array[...] = 0.0
    arrays |= {name: np.zeros(shape, np.int64) for name, shape in counts.items()}
    return BlockBank(**{**plain._asdict(), "features": dim, **arrays, "left": np.ones(estimators)})


@kernel
def estimator(bank: Any, k: int) -> Blocks:
    penalty, columns, s = bank.scale[PENALTY], bank.columns, len(bank.rest) if bank.summed[k] else 0
    shared = Ridge(penalty, bank.shared_matrix[k], bank.shared_vector[k], bank.shared_columns, bank.score, bank.shared_tally[k])
    return Blocks(
        penalty,
        bank.matrix[k],
        bank.vector[k],
        bank.tally[k],
        bank.mixing[k],
        shared,
        bank.known[k],
        bank.gram[k, :s],
        bank.moment[k, :s],
        bank.rest,
        columns,
        bank.score,
    )


@kernel
def predict_and_learn_row(bank: Any, place: int, k: int, n: int, x: Floats, r: float) -> tuple[float, float]:
    """Forget, predict, learn: λI is restored along axes as if an arm along each had earned 0.

    One call in a loop for these arms and the one played, since its code takes long to compile.
    """
    blocks, left = estimator(bank, place), bank.left
    turn, keep, axes, weight = due_upkeep(bank, place, k, n)
    left[place] *= keep
    if left[place] < FAINT:
        scale_anew(blocks, left[place])
        left[place] = 1.0
    mean = square = 0.0
    row, reward = bank.unit, 0.0
    for i in range(axes + 1):
        if i < axes:
            point(row, (turn * axes + i) % bank.features, len(bank.rest))
        else:
            row, reward, weight = x, r, 1.0
        mean, square = learn_row(blocks, row, reward, weight / left[place], i == axes)
    return r - mean, 1.0 + square / left[place]


@kernel
def point(row: Floats, axis: int, s: int) -> None:
    """The arm of length 1 along an axis."""
    width = len(row) - 1 - s
    row[:] = 0.0
    if axis < s:
        row[1 + axis] = 1.0
    else:
        row[0] = (axis - s) // width
        row[1 + s + (axis - s) % width] = 1.0


@kernel
def scale_anew(blocks: Blocks, left: float) -> None:
    for part in range(len(blocks.matrix) + 1):
        matrix, vector = blocks.shared.matrix, blocks.shared.vector
        if part < len(blocks.matrix):
            matrix, vector = blocks.matrix[part], blocks.vector[part]
        for i in range(vector.shape[1]):
            vector[B, i] *= left
            for j in range(vector.shape[1]):
                matrix[V, i, j] *= left
                matrix[METRIC, i, j] /= left
    for i in range(len(blocks.known)):
        blocks.known[i] *= left


@kernel
def empty_blocks(bank: Any, k: int) -> None:
    clear_blocks(estimator(bank, k))
    bank.left[k], bank.summed[k] = 1.0, 0
    bank.built[k] = bank.scale[PENALTY]


@kernel
def duplicate_blocks(bank: Any, source: int, target: int) -> None:
    bank.left[target], bank.built[target] = bank.left[source], bank.built[source]
    for i in range(len(bank.rest)):
        bank.known[target, i] = bank.known[source, i]
    for block in range(bank.matrix.shape[1]):
        copy_ridge(
            bank.matrix[source, block], bank.vector[source, block], bank.matrix[target, block], bank.vector[target, block]
        )
        bank.tally[target, block, STEPS] = bank.tally[source, block, STEPS]
        for i in range(len(bank.columns)):
            for j in range(len(bank.rest)):
                bank.mixing[target, block, i, j] = bank.mixing[source, block, i, j]
    copy_ridge(bank.shared_matrix[source], bank.shared_vector[source], bank.shared_matrix[target], bank.shared_vector[target])
    bank.shared_tally[target, STEPS] = bank.shared_tally[source, STEPS]
    bank.summed[target] = bank.summed[source]
    for i in range(len(bank.rest) if bank.summed[source] else 0):
        bank.moment[target, i] = bank.moment[source, i]
        for j in range(len(bank.rest)):
            bank.gram[target, i, j] = bank.gram[source, i, j]


# --- the verbs, for a bank in blocks --------------------------------------------------------------------------------


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


@located.of(BlockBank)
def _located(bank: Any, x: Floats) -> tuple[int, int, int]:
    shared = len(bank.rest)
    return 1, shared, int(x[0]) * (len(x) - 1 - shared)


@trace.of(BlockBank)
def _trace(bank: Any, k: int) -> float:
    return trace_of_blocks(bank, k)


@unseen.of(BlockBank)
def _unseen(bank: Any, k: int) -> float:
    return unseen_in_blocks(bank, k)


@summary.of(BlockBank)
def _summary(bank: Any, k: int) -> tuple[float, float, float]:
    signal, unknown = summary_of_blocks(bank, k)
    return signal, unknown, length2(bank, bank.x)


@describe.of(BlockBank)
def _describe(bank: Any, k: int, radius: float, novelty: float, theta: Floats, widths: Floats) -> None:
    describe_blocks(bank, k, radius, novelty, theta, widths)


@lean_to.of(BlockBank)
def _lean_to(bank: Any, k: int, share: float, theta: Floats) -> None:
    lean_to_blocks(bank, k, share, theta)
