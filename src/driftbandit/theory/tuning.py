"""How much the theory tells a policy to forget: Theorem 2's period, and what bandits over bandits (Section 3.4) build on it."""

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftbandit.core import validate


def over_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function also take arrays, by position or by name, elementwise; scalar calls stay as they are."""

    @wraps(function)
    def on_any(*arguments: Any, **named: Any) -> Any:
        if all(np.ndim(argument) == 0 for argument in (*arguments, *named.values())):
            return function(*arguments, **named)
        return np.vectorize(function)(*arguments, **named)

    return on_any


@over_arrays
def optimal_period(dim: int, horizon: int, path_length: float) -> int:
    """Theorem 2, eq. 12: H = min(⌊d^¼ T^½ P_T^-½⌋, T); no restart (H = T) when P_T < √d/T."""
    dim, horizon = validate.whole("dim", dim), validate.whole("horizon", horizon)
    path_length = validate.not_negative("path_length", path_length)
    if path_length < math.sqrt(dim) / horizon:
        return horizon
    best = math.floor(math.sqrt(math.sqrt(dim) * horizon / path_length))
    return min(max(best, 1), horizon)


@over_arrays
def early_period(dim: int, horizon: int, path_length: float) -> int:
    """H = ⌊(dT/P_T)^⅔⌋, at most T: the tuning of the paper's first version, which relies on the lemma that Theorem 4 refutes.

    It would promise a regret of (dT)^⅔ P_T^⅓. The proof of Theorem 3 still mentions it.
    """
    dim, horizon = validate.whole("dim", dim), validate.whole("horizon", horizon)
    path_length = validate.not_negative("path_length", path_length)
    if path_length < dim / math.sqrt(horizon):
        return horizon
    best = math.floor(math.pow(dim * horizon / path_length, 2 / 3))
    return min(max(best, 1), horizon)


@over_arrays
def optimal_window(dim: int, horizon: int, path_length: float) -> Any:
    """The window w of WindowUCB: the same trade-off, so the same number as H ("Fixing the gap", Section 4.3)."""
    return optimal_period(dim, horizon, path_length)


@over_arrays
def optimal_discount(dim: int, horizon: int, path_length: float) -> Any:
    """The discount γ = 1 − 1/τ of WeightUCB, τ as for the window; τ = 1 would discount everything, so at least 2."""
    return 1.0 - 1.0 / max(optimal_period(dim, horizon, path_length), 2)


@over_arrays
def episode_length(dim: int, horizon: int) -> int:
    """Bandits-over-bandits: Δ = ⌈d√T⌉, at most T."""
    dim, horizon = validate.whole("dim", dim), validate.whole("horizon", horizon)
    return min(math.ceil(dim * math.sqrt(horizon)), horizon)


def period_pool(dim: int, horizon: int, theta_norm: float = 1.0, episode: int | None = None) -> list[int]:
    """Eq. 14: H_i = ⌊d^¼ S^-½ 2^(i-1)⌋ for i = 1 … ⌈½ log₂(ST)⌉ + 1.

    As printed, H_1 is 0 if S > √d, and H_N can exceed Δ: here they are clipped to [1, Δ], and duplicates dropped.
    """
    episode = episode_length(dim, horizon) if episode is None else validate.whole("episode", episode)
    theta_norm = validate.positive("theta_norm", theta_norm)
    size = max(math.ceil(0.5 * math.log2(theta_norm * horizon)), 0) + 1
    periods = (math.floor(dim**0.25 * theta_norm**-0.5 * 2**i) for i in range(size))
    return sorted({min(max(period, 1), episode) for period in periods})


def episode_reward_bound(
    horizon: ArrayLike, episode: ArrayLike, theta_norm: ArrayLike = 1.0, arm_norm: ArrayLike = 1.0, noise: ArrayLike = 1.0
) -> Any:
    """Lemma 7: an episode's reward sum stays within Q = LSΔ + 2R√(Δ ln(T/√Δ)) with probability 1 − 2/T.

    The lemma defines L_i without the absolute value that its text and its proof use.
    """
    T, rounds = np.asarray(horizon, dtype=float), np.asarray(episode, dtype=float)
    spread = rounds * np.log(T / np.sqrt(rounds))
    return np.asarray(arm_norm) * theta_norm * rounds + 2.0 * np.asarray(noise) * np.sqrt(spread)
