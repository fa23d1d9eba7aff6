"""Theorem 4: features for which the step that earlier proofs rely on is false."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftbandit.core import validate
from driftbandit.core.arms import FixedArms
from driftbandit.core.types import Floats
from driftbandit.theory.tuning import optimal_period

Q = np.array([[1.0, -10.0], [0.0, 1.0]])  # det(ηI − Q) = det(ηI − I), and yet zᵀQz = −8 for z = (1, 1)
CONSTANT = math.sqrt(2 / 9) * (math.sqrt(2 / 3) - math.sqrt(1 / 3)) / 2  # √a'/2 = 0.05637; printed as 0.0564


def hard_features(period: int) -> tuple[Floats, Floats, int]:
    """Theorem 4, eq. 26: the feature of rounds 1 … p, that of rounds p + 1 … H, and p = ⌊H/3⌋."""
    period = validate.whole("period", period, least=6)
    first = period // 3

    def feature(rounds: int) -> Floats:
        return np.array([1.0, math.sqrt(rounds - 1.0)]) / math.sqrt(rounds)

    return feature(first), feature(period - first), first


def sigma_max(period: ArrayLike) -> Any:
    """σ_max(V⁻¹A) of eq. 27, λ = 1: 5.852 at H = 3000, 18.474 at H = 30,000. Earlier proofs need it to be at most 1.

    The proof's closed form: √((1 + y²)(α² + β²))/s with y² = p − 1, z² = H − p − 1.
    """
    H = np.asarray(period)
    first = H // 3
    y, z = np.sqrt(first - 1.0), np.sqrt(H - first - 1.0)
    s = 2.0 * (y * y + z * z) - 2.0 * y * z + 3.0
    alpha, beta = z * z - y * z + 1.0, 2.0 * y - z
    return np.sqrt((1.0 + y * y) * (alpha * alpha + beta * beta)) / s


def sigma_lower_bound(period: ArrayLike) -> Any:
    """Theorem 4: σ_max ≥ (√a'/2)·√H, a' = (1 − a)a(√(1−a) − √a)² at a = 1/3.

    The paper prints the constant as 0.0564 and the bounds as 3.087 and 9.763, which use all digits of a', as here;
    0.0564·√3000 would be 3.089 and 0.0564·√30,000 9.769. The proof writes p for H in two places.
    """
    return CONSTANT * np.sqrt(np.asarray(period, dtype=float))


def hard_arms(period: int) -> FixedArms:
    """Theorem 4's two features for this period, and ±e₁."""
    one, two, _ = hard_features(period)
    return FixedArms(np.array([one, two, [1.0, 0.0], [-1.0, 0.0]]))


def theorem_four_arms(horizon: int, path_length: float = math.pi) -> FixedArms:
    """A hard arm set: Theorem 4's two features for the period tuned to this horizon, and ±e₁.

    An early reward along the first feature throws the estimate off along e₁, by a factor of order √H; the last two
    arms are those that such an error makes look good.
    """
    return hard_arms(max(optimal_period(2, horizon, path_length), 6))
