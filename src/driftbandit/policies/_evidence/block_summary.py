"""Sums over all blocks of an estimator: ‖θ̂‖², the trace of METRIC, and each coordinate with its width.

ΣWᵀW and ΣWᵀm are kept of one estimator, the one that is followed, so that these sums need no look into every block.
"""

import math
from typing import Any

from driftbandit.core.compile import kernel
from driftbandit.core.linalg import times
from driftbandit.core.ridge import METRIC, THETA, V
from driftbandit.core.types import Floats
from driftbandit.policies._evidence.bank import LEARNT

NONE = -1  # no estimator is followed
RECOUNT = 4096  # rewards


@kernel
def follow(bank: Any, k: int) -> None:
    """Sum up from all blocks, unless this was done already, and not so long ago that rounding would show."""
    if bank.followed[0] != k or bank.clock[LEARNT] % RECOUNT == 0:
        bank.gram[:] = 0.0
        bank.moment[:] = 0.0
        for block in range(bank.matrix.shape[1]):
            count_block(bank.mixing[k, block], bank.vector[k, block, THETA], 1.0, bank.gram, bank.moment)
        bank.followed[0] = k


@kernel
def count_block(mixing: Floats, theta: Floats, sign: float, gram: Floats, moment: Floats) -> None:
    """Four rows at a time, one after the other, so that the sums are read and written a quarter as often."""
    s, fours = len(moment), len(theta) - len(theta) % 4
    for i in range(0, fours, 4):
        p, q, v, w = mixing[i], mixing[i + 1], mixing[i + 2], mixing[i + 3]
        for j in range(s):
            target, a, b, c, d = gram[j], sign * p[j], sign * q[j], sign * v[j], sign * w[j]
            moment[j] = moment[j] + a * theta[i] + b * theta[i + 1] + c * theta[i + 2] + d * theta[i + 3]
            for m in range(s):
                target[m] = target[m] + a * p[m] + b * q[m] + c * v[m] + d * w[m]
    for i in range(fours, len(theta)):
        row = mixing[i]
        for j in range(s):
            target, a = gram[j], sign * row[j]
            moment[j] += a * theta[i]
            for m in range(s):
                target[m] += a * row[m]


@kernel
def summary_of_blocks(bank: Any, k: int) -> tuple[float, float]:
    """‖θ̂‖² and the trace of METRIC: θ̂ of a block is m − W·θ̂ of what is shared, and its part of METRIC is its own + W·S⁻¹·Wᵀ."""
    theta, metric = bank.shared_vector[k, THETA], bank.shared_matrix[k, METRIC]
    signal = unknown = 0.0
    for block in range(bank.matrix.shape[1]):
        own, matrix = bank.vector[k, block, THETA], bank.matrix[k, block, METRIC]
        for i in range(len(own)):
            signal += own[i] * own[i]
            unknown += matrix[i, i]
    if len(theta) > 0:
        follow(bank, k)
    for i in range(len(theta)):
        signal += theta[i] * (theta[i] - 2.0 * bank.moment[i])
        unknown += metric[i, i]
        for j in range(len(theta)):
            signal += theta[i] * bank.gram[i, j] * theta[j]
            unknown += metric[i, j] * bank.gram[i, j]
    return signal, unknown / bank.left[k]


@kernel
def trace_of_blocks(bank: Any, k: int, which: int) -> float:
    if which == METRIC:
        return summary_of_blocks(bank, k)[1]
    total = bank.known[k, 0]
    for block in range(bank.matrix.shape[1]):
        for i in range(len(bank.columns)):
            total += bank.matrix[k, block, V, i, i]
    return float(total * bank.left[k])


@kernel
def describe_blocks(bank: Any, k: int, radius: float, theta: Floats, widths: Floats) -> None:
    s, width = len(bank.rest), len(bank.columns)
    shared, metric, left = bank.shared_vector[k, THETA], bank.shared_matrix[k, METRIC], bank.left[k]
    for i in range(s):
        theta[i], widths[i] = shared[i], radius * math.sqrt(max(metric[i, i] / left, 0.0))
    for block in range(bank.matrix.shape[1]):
        for i in range(width):
            at, row = s + block * width + i, bank.mixing[k, block, i]
            mean, square = bank.vector[k, block, THETA, i], bank.matrix[k, block, METRIC, i, i]
            times(metric, row, bank.rest)
            for j in range(s):
                mean -= row[j] * shared[j]
                square += row[j] * bank.rest[j]
            theta[at], widths[at] = mean, radius * math.sqrt(max(square / left, 0.0))
