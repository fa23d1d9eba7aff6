"""Sums over all blocks of an estimator: ‖θ̂‖², the trace of METRIC, and each coordinate with its width.

ΣWᵀW and ΣWᵀm are kept for estimators that were asked for them, so that these sums need not visit every block.
"""

from typing import Any

from driftbandit.core.choice import width as width_of
from driftbandit.core.compile import kernel
from driftbandit.core.ridge import METRIC, THETA, V
from driftbandit.core.types import Floats
from driftbandit.policies._evidence.bank import LEARNT, PENALTY

RECOUNT = 4096  # rewards, after which rounding would show


@kernel
def keep_sums(bank: Any, k: int) -> None:
    """Sum over all blocks, unless that was done recently: since then the sums have followed what was learnt."""
    if bank.summed[k] == 0 or bank.clock[LEARNT] - bank.summed[k] >= RECOUNT:
        bank.gram[k][:] = 0.0
        bank.moment[k][:] = 0.0
        for block in range(bank.matrix.shape[1]):
            count_block(bank.mixing[k, block], bank.vector[k, block, THETA], bank.gram[k], bank.moment[k])
        bank.summed[k] = bank.clock[LEARNT]


@kernel
def count_block(mixing: Floats, theta: Floats, gram: Floats, moment: Floats) -> None:
    for i in range(len(theta)):
        row = mixing[i]
        for j in range(len(row)):
            target, a = gram[j], row[j]
            if a != 0.0:
                moment[j] += a * theta[i]
                for m in range(len(row)):
                    target[m] += a * row[m]


@kernel
def summary_of_blocks(bank: Any, k: int) -> tuple[float, float]:
    """‖θ̂‖² and the trace of METRIC: θ̂ of a block is m − W·θ̂ of the shared part, its part of METRIC is its own + W·S⁻¹·Wᵀ."""
    theta, metric = bank.shared_vector[k, THETA], bank.shared_matrix[k, METRIC]
    signal = unknown = 0.0
    for block in range(bank.matrix.shape[1]):
        own, matrix = bank.vector[k, block, THETA], bank.matrix[k, block, METRIC]
        for i in range(len(own)):
            signal += own[i] * own[i]
            unknown += matrix[i, i]
    gram, moment = bank.gram[k], bank.moment[k]
    if len(theta) > 0:
        keep_sums(bank, k)
    for i in range(len(theta)):
        signal += theta[i] * (theta[i] - 2.0 * moment[i])
        unknown += metric[i, i]
        for j in range(len(theta)):
            signal += theta[i] * gram[i, j] * theta[j]
            unknown += metric[i, j] * gram[i, j]
    return signal, unknown / bank.left[k]


@kernel
def trace_of_blocks(bank: Any, k: int) -> float:
    total = 0.0
    for i in range(len(bank.rest)):
        total += bank.known[k, i]
    for block in range(bank.matrix.shape[1]):
        for i in range(len(bank.columns)):
            total += bank.matrix[k, block, V, i, i]
    return float(total * bank.left[k])


@kernel
def unseen_in_blocks(bank: Any, k: int) -> float:
    total = 0.0
    for i in range(len(bank.rest)):
        total += bank.scale[PENALTY] / bank.known[k, i]
    for block in range(bank.matrix.shape[1]):
        for i in range(len(bank.columns)):
            total += bank.scale[PENALTY] / bank.matrix[k, block, V, i, i]
    return float(total / bank.left[k])


@kernel
def describe_blocks(bank: Any, k: int, radius: float, novelty: float, theta: Floats, widths: Floats) -> None:
    s, width = len(bank.rest), len(bank.columns)
    shared, metric, left = bank.shared_vector[k, THETA], bank.shared_matrix[k, METRIC], bank.left[k]
    along = widths[:s]  # scratch for S⁻¹·W of a row: nothing of the bank's, since describing it must change nothing
    for block in range(bank.matrix.shape[1]):
        for i in range(width):
            at, row = s + block * width + i, bank.mixing[k, block, i]
            mean, square = bank.vector[k, block, THETA, i], bank.matrix[k, block, METRIC, i, i]
            if add_along(row, metric, along):
                for j in range(s):
                    mean -= row[j] * shared[j]
                    square += row[j] * along[j]
            theta[at], widths[at] = mean, width_of(radius, novelty, square / left)
    for i in range(s):
        theta[i], widths[i] = shared[i], width_of(radius, novelty, metric[i, i] / left)


@kernel
def lean_to_blocks(bank: Any, k: int, share: float, theta: Floats) -> None:
    s, width, shared = len(bank.rest), len(bank.columns), bank.shared_vector[k, THETA]
    for i in range(s):
        theta[i] += share * (shared[i] - theta[i])
    for block in range(bank.matrix.shape[1]):
        for i in range(width):
            at, mean, row = s + block * width + i, bank.vector[k, block, THETA, i], bank.mixing[k, block, i]
            for j in range(s):
                mean -= row[j] * shared[j]
            theta[at] += share * (mean - theta[at])


@kernel
def add_along(row: Floats, metric: Floats, along: Floats) -> bool:
    """along = metric·row, without the zeros of the row; False if there is nothing else in it."""
    found = False
    along[:] = 0.0
    for m in range(len(row)):
        a, other = row[m], metric[m]
        if a != 0.0:
            found = True
            for j in range(len(along)):
                along[j] += a * other[j]
    return found
