"""Theorem 4: features for which the step that earlier proofs rest on is false."""

import math

import numpy as np

from driftbandit import _check
from driftbandit._types import Floats
from driftbandit.arms import FixedArms
from driftbandit.theory.tuning import optimal_period


def hard_features(period: int) -> tuple[Floats, Floats, int]:
    """Theorem 4, eq. 26: the feature of rounds 1 … p, that of rounds p + 1 … H, and p = ⌊H/3⌋."""
    period = _check.whole("period", period, least=6)
    first = period // 3

    def feature(rounds: int) -> Floats:
        return np.array([1.0, math.sqrt(rounds - 1.0)]) / math.sqrt(rounds)

    return feature(first), feature(period - first), first


def theorem_four_arms(horizon: int, path_length: float = math.pi) -> FixedArms:
    """A hard arm set: Theorem 4's two features for the period tuned to this horizon, and ±e₁.

    An early reward along the first feature throws the estimate off along e₁, by a factor of order √H; the last two
    arms are those that such an error makes look good.
    """
    one, two, _ = hard_features(max(optimal_period(2, horizon, path_length), 6))
    return FixedArms(np.array([one, two, [1.0, 0.0], [-1.0, 0.0]]))
