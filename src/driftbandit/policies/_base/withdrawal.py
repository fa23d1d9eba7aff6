"""Taking observations out of an estimate, whole or in blocks, and summing it afresh where that leaves little but rounding."""

from typing import Any

from driftbandit.core.blocks import Blocks, block, clear_blocks, learn_row
from driftbandit.core.compile import Verb, kernel
from driftbandit.core.ridge import OBSERVED, B, Ridge, V, add, clear_whole, refresh
from driftbandit.core.types import Floats, Ints

ALL, NOTHING = -1, -2  # what is to be summed afresh; else the number of a block
EMPTY = -1  # the round of a row that holds nothing
CANCELLED = 0.1  # if less than this share is left, a digit is lost, and more with each such step


@Verb
def withdraw(ridge: Any, x: Floats, r: float) -> int:
    """Take out an absorbed observation; return what cancels so much by this that it must be summed afresh."""
    raise NotImplementedError


@Verb
def collect(ridge: Any, rows: Floats, rewards: Floats, rounds: Ints, which: int) -> None:
    """Sum afresh all, or one block, from those of the rows whose round is not EMPTY."""


def blocks_of(ridge: "Ridge | Blocks") -> int:
    return 1 if isinstance(ridge, Ridge) else len(ridge.matrix)


@kernel
def size(vector: Floats) -> float:
    total = 0.0
    for j in range(len(vector)):
        total += abs(vector[j])
    return total


@kernel
def withdraw_row(blocks: Blocks, row: Floats, r: float) -> int:
    k, shared = int(row[0]), blocks.shared.vector
    b, mixed = size(blocks.vector[k, B]), size(shared[B])
    _, square = learn_row(blocks, row, r, -1.0, True)
    if 1.0 - square < CANCELLED or size(shared[B]) < CANCELLED * mixed:
        return ALL
    if blocks.tally[k, OBSERVED] == 0:
        clear_whole(block(blocks, k))
        blocks.mixing[k] = 0.0
    elif size(blocks.vector[k, B]) < CANCELLED * b:
        return ALL if len(blocks.rest) > 0 else k  # the shared part has learnt the block's remainders
    return NOTHING


@kernel
def collect_rows(blocks: Blocks, rows: Floats, rewards: Floats, rounds: Ints, which: int) -> None:
    if which == ALL:
        clear_blocks(blocks)
    else:
        clear_whole(block(blocks, which))
    for slot in range(len(rounds)):
        if rounds[slot] != EMPTY and (which == ALL or rows[slot, 0] == which):
            learn_row(blocks, rows[slot], rewards[slot], 1.0, True)


@withdraw.of(Ridge)
def _withdraw(ridge: Ridge, x: Floats, r: float) -> int:
    before = size(ridge.vector[B])
    divisor = add(ridge, x, r, -1.0)
    return ALL if divisor < CANCELLED or size(ridge.vector[B]) < CANCELLED * before else NOTHING


@withdraw.of(Blocks)
def _withdraw_row(ridge: Blocks, x: Floats, r: float) -> int:
    return withdraw_row(ridge, x, r)


@collect.of(Ridge)
def _collect(ridge: Ridge, rows: Floats, rewards: Floats, rounds: Ints, which: int) -> None:
    v, b = ridge.matrix[V], ridge.vector[B]
    v[:] = 0.0
    b[:] = 0.0
    for i in range(len(b)):
        v[i, i] = ridge.penalty
    for slot in range(len(rounds)):
        if rounds[slot] != EMPTY:
            for i in range(len(b)):
                b[i] += rewards[slot] * rows[slot, i]
                for j in range(len(b)):
                    v[i, j] += rows[slot, i] * rows[slot, j]
    refresh(ridge)


@collect.of(Blocks)
def _collect_rows(ridge: Blocks, rows: Floats, rewards: Floats, rounds: Ints, which: int) -> None:
    collect_rows(ridge, rows, rewards, rounds, which)
