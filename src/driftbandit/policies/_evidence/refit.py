"""What an estimator would be if it had begun later, and how plausible estimators make the rewards that are kept."""

import math

from driftbandit.core.compile import kernel
from driftbandit.policies._evidence.bank import LEARNT, Bank
from driftbandit.policies._evidence.verbs import empty, foresee, remember_constant, size


@kernel
def fit(bank: Bank, k: int, first: int, start: int, oldest: int) -> float:
    """Write into the scratch place estimator k as if it had begun with reward ``start``; return how plausible that makes the
    rewards since ``first``.

    Those before ``start``, and those of rounds before ``oldest``, which came late, are left to k as it was.
    """
    scratch, ring = len(bank.keep), len(bank.rewards)
    empty(bank, scratch)
    if first > 0 and bank.features < size(bank):
        remember_constant(bank, scratch)
    squares = logs = 0.0
    for n in range(first, bank.clock[LEARNT]):
        i = n % ring
        if n >= start and bank.decided[i] >= oldest:
            residual, variance = foresee(bank, scratch, k, n, bank.arms[i], bank.rewards[i])
            squares += residual * residual / variance
            logs += math.log(variance)
        else:
            squares += bank.squares[i, k]
            logs += bank.logs[i, k]
    return plausibility(squares, logs, bank.clock[LEARNT] - first)


@kernel
def record(bank: Bank, k: int, first: int) -> float:
    """How plausible estimator k has made the rewards since ``first``."""
    ring = len(bank.rewards)
    squares = logs = 0.0
    for n in range(first, bank.clock[LEARNT]):
        squares += bank.squares[n % ring, k]
        logs += bank.logs[n % ring, k]
    return plausibility(squares, logs, bank.clock[LEARNT] - first)


@kernel
def plausibility(squares: float, logs: float, count: int) -> float:
    """The log likelihood of residuals at the noise level that suits them best, less what is the same for all estimators."""
    return -0.5 * (logs + count * math.log(max(squares, 1e-300)))
