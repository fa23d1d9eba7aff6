"""Policies with the paper's confidence radius: what they are told, and what follows from it."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from driftbandit.core import validate
from driftbandit.core.confidence import Confidence
from driftbandit.policies._base.policy import Memory, Policy
from driftbandit.theory.tuning import optimal_discount

LEAST_DISCOUNT = 1e-6  # γ^-2 stays far from overflow
DISCOUNT = Memory("discount", lambda rounds: 1.0 - 1.0 / max(rounds, 2))


@dataclass(repr=False, eq=False, kw_only=True)
class ConfidentPolicy(Policy):
    """An optimist on a ridge estimate whose radius β is the theory's (eq. 9).

    Parameters, with the paper's symbols:
        dim: the number of features (d).
        ridge: the regulariser (λ).
        delta: the probability that a confidence bound may fail (δ); 1/T when the horizon is given, else 0.01.
        theta_norm: a bound on the length of the hidden parameter (S).
        arm_norm: a bound on the length of an arm (L); a longer one is an error.
        noise: the sub-Gaussian scale of the rewards' noise (R).
        width: a factor on the radius β; 1 is the theory's, less explores less.
        horizon: the number of rounds, if known (T).
        seed: fixes how ties are broken.
        most_waiting: for how many rounds a decision waits for its reward; then it is given up.
    """

    ridge: float = 1.0
    delta: float | None = None
    theta_norm: float = 1.0
    noise: float = 1.0
    width: float = 1.0
    horizon: int | None = None

    proved: ClassVar[bool] = True  # its regret bound asks for ‖x‖² ≤ λ

    def _settle(self) -> None:
        self.theta_norm = validate.positive("theta_norm", self.theta_norm)
        self.noise = validate.not_negative("noise", self.noise)
        self.ridge = validate.positive("ridge", self._prior() if self.ridge is None else self.ridge)
        self.width = validate.not_negative("width", self.width)
        self.horizon = None if self.horizon is None else validate.whole("horizon", self.horizon)
        known = max(self.horizon or 100, 2)
        self.delta = validate.fraction("delta", 1.0 / known if self.delta is None else self.delta)
        if self.arm_norm**2 > 1e12 * self.ridge:
            raise ValueError(f"ridge must be at least 1e-12·arm_norm² for float64 to solve it, got {self.ridge:g}")
        if self.proved and self.arm_norm**2 > self.ridge:
            message = (
                "arm_norm² exceeds ridge: the regret bounds are proved for ‖x‖² ≤ λ only, so raise ridge or scale the arms"
            )
            warnings.warn(message, stacklevel=5)

    def _prior(self) -> float:
        """λ = d(R/S)² if a policy leaves it open: the prior variance S²/d of each coordinate of a θ of length S."""
        return self.dim * (self.noise / self.theta_norm) ** 2

    def confidence(self) -> Confidence:
        assert self.delta is not None
        return Confidence(
            bias=self.width * math.sqrt(self.ridge) * self.theta_norm,
            scale=self.width * self.noise,
            log_term=-2.0 * math.log(self.delta),
            dim=float(self.dim),
            rate=self.arm_norm**2 / (self.ridge * self.dim),
        )


def tuned(policy: Any, name: str, formula: Callable[[int, int, float], Any]) -> Any:
    """The policy's own parameter as given, or by the theory's formula from horizon and path length."""
    given, path_length = getattr(policy, name), policy.path_length
    if given is not None:
        if path_length is not None:
            raise ValueError(f"give {name}, or horizon and path_length, not both")
        return given
    if policy.horizon is None or path_length is None:
        raise ValueError(f"{name} must be given, or horizon and path_length to derive it from")
    return formula(policy.dim, policy.horizon, path_length)


def tuned_discount(policy: Any) -> float:
    """γ as given or by the theory's formula."""
    discount = validate.fraction("discount", tuned(policy, "discount", optimal_discount))
    if discount < LEAST_DISCOUNT:
        raise ValueError(f"discount must be at least {LEAST_DISCOUNT:g}, got {discount:g}")
    return discount
