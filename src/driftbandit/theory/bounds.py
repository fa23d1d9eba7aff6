"""The paper's bounds with every constant, before Õ, for arrays of arguments; and the exact quantities they bound.

Symbols: λ ridge, S theta_norm, L arm_norm, R noise, δ delta; H period, P path_length within it.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftbandit.core.types import Floats
from driftbandit.theory.tuning import episode_reward_bound


def confidence_radius(
    observations: ArrayLike,
    dim: ArrayLike,
    delta: ArrayLike,
    ridge: ArrayLike = 1.0,
    theta_norm: ArrayLike = 1.0,
    arm_norm: ArrayLike = 1.0,
    noise: ArrayLike = 1.0,
) -> Any:
    """Lemmas 1 and 3, eq. 9: β = √λ·S + R·√(2 ln(1/δ) + d ln(1 + nL²/(λd))), for n observations.

    One line of the proof lacks the λ in the logarithm, where it belongs.
    """
    n, d, lam, length = (np.asarray(value, dtype=float) for value in (observations, dim, ridge, arm_norm))
    inside = -2.0 * np.log(np.asarray(delta, dtype=float)) + d * np.log1p(n * length**2 / (lam * d))
    return np.sqrt(lam) * theta_norm + noise * np.sqrt(inside)


def drift_term(arms: Floats, theta: Floats, ridge: float = 1.0) -> float:
    """Lemma 2's left side, A_t = ‖V⁻¹ Σ X_s X_sᵀ(θ_s − θ_t)‖: ``arms`` (n, d), ``theta`` (n + 1, d), the last θ_t."""
    V = ridge * np.eye(arms.shape[1]) + arms.T @ arms
    pulls = np.einsum("sd,sd->s", arms, theta[:-1] - theta[-1])
    return float(np.linalg.norm(np.linalg.solve(V, arms.T @ pulls)))


def drift_bound(
    path_length: ArrayLike, dim: ArrayLike, period: ArrayLike, ridge: ArrayLike = 1.0, arm_norm: ArrayLike = 1.0
) -> Any:
    """Lemma 2, eq. 18: L·√(dH/λ)·Σ‖θ_p − θ_{p+1}‖.

    The proof's fourth line moves norms inside a sum, which is not allowed: Σ X_s may cancel where Σ X_s(X_sᵀz) does
    not. The triangle inequality still leads from the third line to the sixth, so the lemma holds.
    """
    d, H, lam = (np.asarray(value, dtype=float) for value in (dim, period, ridge))
    return np.asarray(arm_norm) * np.sqrt(d * H / lam) * np.asarray(path_length)


def estimate_error_bound(
    width: ArrayLike,
    path_length: ArrayLike,
    period: ArrayLike,
    observations: ArrayLike,
    dim: ArrayLike,
    delta: ArrayLike,
    ridge: ArrayLike = 1.0,
    theta_norm: ArrayLike = 1.0,
    arm_norm: ArrayLike = 1.0,
    noise: ArrayLike = 1.0,
) -> Any:
    """Lemma 1, eq. 8: |x·(θ_t − θ̂_t)| ≤ L²√(dH/λ)·P + β·‖x‖_V⁻¹ with probability 1 − δ; ``width`` is ‖x‖_V⁻¹."""
    drift = np.asarray(arm_norm) * drift_bound(path_length, dim, period, ridge, arm_norm)
    return drift + confidence_radius(observations, dim, delta, ridge, theta_norm, arm_norm, noise) * np.asarray(width)


def potential(arms: Floats, ridge: float = 1.0) -> float:
    """Lemma 4's left side: Σ ‖X_t‖ in U_{t-1}⁻¹, U_0 = λI."""
    U = ridge * np.eye(arms.shape[1])
    total = 0.0
    for x in arms:
        total += float(np.sqrt(x @ np.linalg.solve(U, x)))
        U += np.outer(x, x)
    return total


def potential_bound(rounds: ArrayLike, dim: ArrayLike, ridge: ArrayLike = 1.0, arm_norm: ArrayLike = 1.0) -> Any:
    """Lemma 4, eq. of the elliptical potential: √(2dT ln(1 + L²T/(λd))).

    The proof uses 1 + x ≥ e^{x/2} and states it on [0, 1], so L² ≤ λ; it is true up to x = 2.512, and so is the lemma for
    L² ≤ 2.512λ. Beyond that it is false even for one round: d = 1, L²/λ = 3 gives √3 > √(2 ln 4).
    """
    T, d, lam, length = (np.asarray(value, dtype=float) for value in (rounds, dim, ridge, arm_norm))
    return np.sqrt(2.0 * d * T * np.log1p(length**2 * T / (lam * d)))


def epoch_regret_bound(
    period: ArrayLike,
    path_length: ArrayLike,
    dim: ArrayLike,
    delta: ArrayLike,
    ridge: ArrayLike = 1.0,
    theta_norm: ArrayLike = 1.0,
    arm_norm: ArrayLike = 1.0,
    noise: ArrayLike = 1.0,
    *,
    epochs: ArrayLike = 1.0,
) -> Any:
    """Theorem 1: 2L²√(d/λ)·H^{3/2}·P + 2β_H·√(2dH ln(1 + L²H/(λd))) with probability 1 − 2δ. Needs L² ≤ λ.

    Summed over ``epochs`` whose drifts add up to ``path_length``: the second part once per epoch.
    """
    H = np.asarray(period, dtype=float)
    drift = 2.0 * np.asarray(arm_norm) * H * drift_bound(path_length, dim, H, ridge, arm_norm)
    radius = confidence_radius(H, dim, delta, ridge, theta_norm, arm_norm, noise)
    return drift + 2.0 * np.asarray(epochs) * radius * potential_bound(H, dim, ridge, arm_norm)


def regret_bound(
    horizon: ArrayLike,
    period: ArrayLike,
    path_length: ArrayLike,
    dim: ArrayLike,
    ridge: ArrayLike = 1.0,
    theta_norm: ArrayLike = 1.0,
    arm_norm: ArrayLike = 1.0,
    noise: ArrayLike = 1.0,
) -> Any:
    """Theorem 2 before Õ: Theorem 1 summed over ⌈T/H⌉ epochs, δ = 1/(T⌈T/H⌉) in each; with probability 1 − 2/T.

    The theorem says 1 − 1/T, its proof 1 − 2/T. The proof also writes T/√H for the sum of √H over epochs; where H does
    not divide T that is a little too small, so here it is ⌈T/H⌉·√H.
    """
    T = np.asarray(horizon, dtype=float)
    epochs = np.ceil(T / np.asarray(period, dtype=float))
    delta = 1.0 / (T * epochs)
    return epoch_regret_bound(period, path_length, dim, delta, ridge, theta_norm, arm_norm, noise, epochs=epochs)


def meta_regret_bound(plays: ArrayLike, choices: ArrayLike, reward_bound: ArrayLike) -> Any:
    """Exp3's regret over n plays of K choices, 2√(e − 1)·√(nK ln K), for rewards that span 2Q (Theorem 3's second part).

    In the paper's text, "O(ΔNT)" lacks a square root, and N is the pool's size in one place, the number of episodes in another.
    """
    n, K = np.asarray(plays, dtype=float), np.asarray(choices, dtype=float)
    return 2.0 * np.asarray(reward_bound) * 2.0 * np.sqrt(np.e - 1.0) * np.sqrt(n * K * np.log(K))


def bob_regret_bound(
    horizon: int,
    episode: int,
    pool: Sequence[int],
    path_length: float,
    dim: int,
    ridge: float = 1.0,
    theta_norm: float = 1.0,
    arm_norm: float = 1.0,
    noise: float = 1.0,
) -> float:
    """Theorem 3 with constants, in expectation: the best base bound in the pool, Exp3's bound, and the cost of failures.

    Each of ⌈T/Δ⌉ episodes restarts its base, so it has ⌈Δ/H⌉ epochs; each of two events of probability 2/T (Theorem 2,
    Lemma 7) costs at most 2LST.
    """
    episodes = math.ceil(horizon / episode)

    def base(period: int) -> float:
        epochs = episodes * math.ceil(episode / period)
        delta = 1.0 / (horizon * epochs)
        scales = (ridge, theta_norm, arm_norm, noise)
        return float(epoch_regret_bound(period, path_length, dim, delta, *scales, epochs=epochs))

    reward = episode_reward_bound(horizon, episode, theta_norm, arm_norm, noise)
    meta = float(meta_regret_bound(episodes, len(pool), reward))
    return min(map(base, pool)) + meta + 8.0 * arm_norm * theta_norm


def self_normalised_bound(V: Floats, V0: Floats, delta: float, noise: float = 1.0) -> float:
    """Theorem 5 (Abbasi-Yadkori et al.): ‖Σ η_s X_s‖²_V⁻¹ ≤ 2R² ln(√(det V / det V_0)/δ), all t at once, probability 1 − δ."""
    ratio = float(np.linalg.slogdet(V)[1] - np.linalg.slogdet(V0)[1])
    return 2.0 * noise**2 * (0.5 * ratio - float(np.log(delta)))


def minimax_rate(dim: ArrayLike, horizon: ArrayLike, path_length: ArrayLike) -> Any:
    """d^⅔ T^⅔ P_T^⅓: no policy does better in order (Cheung, Simchi-Levi, Zhu 2019). A rate, not a bound: no constant."""
    d, T, P = (np.asarray(value, dtype=float) for value in (dim, horizon, path_length))
    return d ** (2 / 3) * T ** (2 / 3) * P ** (1 / 3)
