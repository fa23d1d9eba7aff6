"""How far to lean from one memory towards the next shorter one.

Memories are four times as long as the next, and where θ drifts steadily the best lies in between. There the forecasts of both,
mixed, are better than either; the share is the one that would have predicted the last rewards best.
"""

from driftbandit.core.compile import kernel
from driftbandit.policies._evidence.bank import NOISE2, Bank

SQUARED, EXPLAINED = range(2)  # sums of gap², and of gap times the residual of the longer memory
LEAST, MANY = 256.0, 16.0  # rewards that these sums remember: at least so many, else this many of the shorter memories
STIFF = 5.0  # gaps whose squares sum to this many times the noise variance move the share half as far as they say


@kernel
def weigh_gaps(bank: Bank) -> None:
    """Take in how far the forecasts of neighbours were apart, and how much of the longer memory's error that explains."""
    for k in range(1, len(bank.keep)):
        gaps, gap = bank.gaps[k], bank.residual[k] - bank.residual[k - 1]
        left = 1.0 - 1.0 / max(LEAST, MANY * bank.memory[k - 1])
        gaps[SQUARED] = left * gaps[SQUARED] + gap * gap
        gaps[EXPLAINED] = left * gaps[EXPLAINED] + gap * bank.residual[k]


@kernel
def lean(bank: Bank, k: int) -> float:
    """The share of the next shorter memory in what estimator k should say: by least squares, shrunk towards 0."""
    gaps = bank.gaps[k]
    if not gaps[EXPLAINED] > 0.0:
        return 0.0
    return float(min(gaps[EXPLAINED] / (gaps[SQUARED] + STIFF * bank.scale[NOISE2]), 1.0))
