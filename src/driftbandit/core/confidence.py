"""The radius of the confidence set: how far off an estimate may be (eq. 9)."""

import math
from typing import NamedTuple

from driftbandit.core.compile import kernel


class Confidence(NamedTuple):
    """The radius β (eq. 9) with its constants folded: bias + scale·√(log_term + d·ln(1 + n·rate))."""

    bias: float  # √λ·S
    scale: float  # R
    log_term: float  # 2 ln(1/δ)
    dim: float
    rate: float  # L²/(λd)


@kernel
def radius(law: Confidence, observations: float) -> float:
    return law.bias + law.scale * math.sqrt(law.log_term + law.dim * math.log1p(observations * law.rate))
