"""Tests of the paper's lemmas: exact algebra where a statement is exact, instances that try to break it where it is not."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.core.types import Floats
from driftbandit.report.tables import Verdict
from driftbandit.theory import bounds
from driftbandit.theory.adversary import Instance, instances
from driftbandit.theory.impossibility import Q, hard_features, sigma_lower_bound, sigma_max
from driftbandit.theory.tuning import episode_reward_bound, optimal_period

DELTA = 0.1  # the allowed share of failures in simulated statements: large, so that a frequency can be measured


class Effort(NamedTuple):
    """How hard to try."""

    instances: int = 10_000
    rounds: int = 60
    seed: int = 0

    def rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, stream])


def ratio_verdict(statement: str, tested: str, ratios: Floats) -> Verdict:
    worst = float(np.max(ratios))
    return Verdict(statement, f"{tested}; worst measured/bound {worst:.3f}", worst <= 1.0 + 1e-9)


def frequency_verdict(statement: str, tested: str, failed: NDArray[Any], allowed: float) -> Verdict:
    frequency = float(np.mean(failed))
    return Verdict(statement, f"{tested}; violated {frequency:.4f}, allowed {allowed:g}", frequency <= allowed)


def estimate_error(instance: Instance, rng: np.random.Generator) -> float:
    """Lemma 1's worst ratio over some directions x, with Rademacher noise on top of the drift."""
    arms, theta, ridge = instance
    rounds, dim = arms.shape
    V = ridge * np.eye(dim) + arms.T @ arms
    rewards = np.einsum("sd,sd->s", arms, theta[:-1]) + rng.choice([-1.0, 1.0], rounds)
    off = np.linalg.solve(V, arms.T @ rewards) - theta[-1]
    directions = np.vstack([off / max(float(np.linalg.norm(off)), 1e-300), arms[:3], arms[-3:]])
    widths = np.sqrt(np.einsum("nd,nd->n", directions, np.linalg.solve(V, directions.T).T))
    longest = max(float(np.linalg.norm(theta, axis=1).max()), 1.0)
    bound = bounds.estimate_error_bound(widths, instance.path_length, rounds, rounds, dim, DELTA, ridge, theta_norm=longest)
    return float((np.abs(directions @ off) / bound).max())


def drift_lemma(effort: Effort) -> list[Verdict]:
    rng = effort.rng(9)
    ratios, claimed, errors = [], [], []
    for instance in instances(effort.rng(1), effort.instances):
        term, length = bounds.drift_term(instance.arms, instance.theta, instance.ridge), instance.path_length
        bound = bounds.drift_bound(length, instance.arms.shape[1], len(instance.arms), instance.ridge)
        ratios.append(term / float(bound))
        claimed.append(term / length)
        errors.append(estimate_error(instance, rng))
    tested = f"{effort.instances:,} adversarial epochs, d ≤ 50"
    above = float(np.mean(np.array(claimed) > 1.0 + 1e-9))
    return [
        frequency_verdict("Lemma 1: estimate error with drift", f"{tested}, noise ±1", np.array(errors) > 1, DELTA),
        ratio_verdict("Lemma 2: drift term ≤ L√(dH/λ)·path length", tested, np.array(ratios)),
        Verdict(
            "Earlier claim (eq. 20): drift term ≤ path length",
            f"the same epochs; {above:.0%} above, worst {max(claimed):.3f} × the path length",
            max(claimed) <= 1.0,
            "False, as the paper says.",
            expected=False,
        ),
        proof_line(),
    ]


def proof_line() -> Verdict:
    """Lemma 2's proof bounds ‖ΣX_s(X_sᵀz)‖ by ‖ΣX_s‖X_s‖‖z‖‖: false where the features cancel."""
    arms, z = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, 0.0])
    V = np.eye(2) + arms.T @ arms
    left, right = arms.T @ (arms @ z), arms.sum(axis=0)
    norms = [float(np.sqrt(v @ np.linalg.solve(V, v))) for v in (left, right)]
    return Verdict(
        "Proof of Lemma 2, fourth line: norms moved inside the sum",
        f"features x and −x: {norms[0]:.3f} versus {norms[1]:.3f}",
        norms[0] <= norms[1],
        "False, and not needed: the triangle inequality bypasses it, so the lemma holds.",
        expected=False,
    )


def martingale(effort: Effort, dim: int, stream: int) -> tuple[Floats, Floats, Floats]:
    """Worst excess over the rounds of self-normalised norms: (Theorem 5's ratio, Lemma 3's ratio, Lemma 1's excess).

    Features are chosen to make the sum large: along the sum so far, and every third round in a random direction.
    """
    rng, n = effort.rng(stream), effort.instances
    V = np.tile(np.eye(dim), (n, 1, 1))
    total, theta = np.zeros((n, dim)), rng.standard_normal((n, dim))
    theta /= np.linalg.norm(theta, axis=1, keepdims=True)
    worst = np.zeros((3, n))
    for t in range(1, effort.rounds + 1):
        x = total + 0.1 * rng.standard_normal((n, dim)) if t % 3 else rng.standard_normal((n, dim))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        noise = rng.standard_normal(n) if t % 2 else rng.choice([-1.0, 1.0], n)
        total += noise[:, None] * x
        V += x[:, :, None] * x[:, None, :]
        both = np.stack([total, total - theta], axis=2)  # λ = 1: B_t is ‖Σηx − θ‖
        solved = np.linalg.solve(V, both)
        squares = np.maximum(np.einsum("ndk,ndk->nk", both, solved), 0.0)
        self_normalised = np.linalg.slogdet(V)[1] - 2.0 * math.log(DELTA)
        beta = bounds.confidence_radius(t, dim, DELTA)
        width = np.sqrt(np.einsum("nd,nd->n", x, np.linalg.solve(V, x[:, :, None])[:, :, 0]))
        error = np.abs(np.einsum("nd,nd->n", x, solved[:, :, 1]))
        worst = np.maximum(worst, [squares[:, 0] / self_normalised, np.sqrt(squares[:, 1]) / beta, error / (beta * width)])
    return worst[0], worst[1], worst[2]


def concentration(effort: Effort) -> list[Verdict]:
    found = []
    for stream, dim in ((2, 2), (3, 5), (10, 20)):
        shorter = effort._replace(rounds=min(effort.rounds, 300 // dim))
        normalised, noise_term, error = martingale(shorter, dim, stream)
        tested = f"{effort.instances:,} martingales of {shorter.rounds} rounds, d = {dim}, features along the sum"
        found += [
            frequency_verdict(f"Theorem 5 (self-normalised bound), d = {dim}", tested, normalised > 1, DELTA),
            frequency_verdict(f"Lemma 3: ‖Σηx − λθ‖_V⁻¹ ≤ β, d = {dim}", tested, noise_term > 1, DELTA),
            frequency_verdict(f"Lemma 1 without drift: |x·(θ̂ − θ)| ≤ β‖x‖_V⁻¹, d = {dim}", tested, error > 1, DELTA),
        ]
    return found


def optimal_tuning(effort: Effort) -> list[Verdict]:
    """Theorem 2's period compared with all others: up to a constant it minimises d^½H^{3/2}P_T + dT/√H."""
    rng, worst = effort.rng(4), 0.0
    for _ in range(effort.instances):
        dim, horizon = int(rng.integers(1, 50)), int(10 ** rng.uniform(2, 6))
        path = float(10 ** rng.uniform(math.log10(math.sqrt(dim) / horizon), math.log10(2 * horizon)))
        H = np.unique(np.geomspace(1, horizon, 200).astype(int)).astype(float)
        order = math.sqrt(dim) * H**1.5 * path + dim * horizon / np.sqrt(H)
        chosen = float(optimal_period(dim, horizon, path))
        worst = max(worst, (math.sqrt(dim) * chosen**1.5 * path + dim * horizon / math.sqrt(chosen)) / order.min())
    tested = f"{effort.instances:,} triples (d, T, P_T)"
    return [
        Verdict("Theorem 2, eq. 12: the period is optimal in order", f"{tested}; worst {worst:.2f} × the best", worst < 3.0)
    ]


def potentials(effort: Effort) -> list[Verdict]:
    inside, chance = [], effort.rng(11)
    for instance in instances(effort.rng(5), effort.instances, longest=40):
        ridge = min(instance.ridge, float(chance.choice([0.4, 1.0, 4.0])))  # L² up to 2.5λ
        rounds, dim = instance.arms.shape
        inside.append(bounds.potential(instance.arms, ridge) / float(bounds.potential_bound(rounds, dim, ridge)))
    ridges = np.geomspace(0.01, 1.0, 200)
    outside = [float(1.0 / math.sqrt(ridge) / bounds.potential_bound(1, 1, ridge)) for ridge in ridges]
    return [
        ratio_verdict(
            "Lemma 4 (elliptical potential), L² ≤ 2.5λ", f"{effort.instances:,} adversarial epochs", np.array(inside)
        ),
        Verdict(
            "Lemma 4 as printed, any L and λ",
            f"one round, d = 1, λ from 0.01 to 1; worst measured/bound {max(outside):.3f}",
            max(outside) <= 1.0,
            "False beyond L² = 2.512λ. Its proof requires L² ≤ λ, and so do Theorems 1 and 2; policies warn beyond that.",
            expected=False,
        ),
    ]


def algebra(effort: Effort) -> list[Verdict]:
    rng = effort.rng(6)
    determinant, reached, exceeded = 0.0, 1.0, 0.0
    for _ in range(effort.instances):
        dim = int(rng.integers(1, 12))
        v = rng.standard_normal(dim) * 10.0 ** rng.uniform(-2, 2)
        determinant = max(determinant, abs(float(np.linalg.det(np.eye(dim) + np.outer(v, v))) / (1.0 + v @ v) - 1.0))
        matrix = rng.standard_normal((dim, int(rng.integers(1, 12))))
        norm = math.sqrt(float(np.linalg.eigvalsh(matrix.T @ matrix)[-1]))
        right: Any = matrix[np.linalg.norm(matrix, axis=1).argmax()]
        for _ in range(40):  # climb: the best left vector for the right one, and so on
            left = matrix @ right / np.linalg.norm(matrix @ right)
            right = matrix.T @ left / np.linalg.norm(matrix.T @ left)
        value = abs(float(left @ matrix @ right)) / norm
        reached, exceeded = min(reached, value), max(exceeded, value)
    tested = f"{effort.instances:,} random matrices, d ≤ 12"
    z = np.ones(2)
    return [
        Verdict("Lemma 5: det(I + vvᵀ) = 1 + ‖v‖²", f"{tested}; largest relative gap {determinant:.1e}", determinant < 1e-8),
        Verdict(
            "Lemma 6: ‖A‖₂ = sup |yᵀAx|",
            f"{tested}; 40 steps of climbing reach {reached:.3f} to {exceeded:.3f} of the norm",
            reached > 0.9 and exceeded < 1.0 + 1e-9,
        ),
        Verdict(
            "Counterexample: Q = [1,−10; 0,1] and I share a characteristic polynomial, zᵀQz ≥ 0 does not follow",
            f"zᵀQz = {z @ Q @ z:g} at z = (1, 1); both have the eigenvalue 1 twice",
            bool(z @ Q @ z == -8.0 and np.allclose(np.linalg.eigvals(Q), 1.0)),
        ),
    ]


def impossibility(effort: Effort) -> list[Verdict]:
    periods = np.concatenate([np.arange(6, effort.instances + 6), np.geomspace(10**4, 10**7, 50).astype(int)])
    slack = float((sigma_max(periods) / sigma_lower_bound(periods)).min())
    one, two, first = hard_features(3000)
    arms = np.vstack([np.tile(one, (first, 1)), np.tile(two, (3000 - first, 1))])
    theta = np.zeros((3001, 2))
    theta[:first] = np.linalg.svd(np.linalg.solve(np.eye(2) + arms.T @ arms, first * np.outer(one, one)))[2][0]
    amplified = bounds.drift_term(arms, theta)
    return [
        Verdict(
            "Theorem 4: σ_max ≥ 0.0564√H",
            f"{len(periods):,} values of H up to 10⁷; least σ_max/bound {slack:.3f}",
            slack >= 1.0,
        ),
        Verdict(
            "Theorem 4's numbers: 5.852 and 18.474, bounds 3.087 and 9.763",
            f"{sigma_max(3000):.3f}, {sigma_max(30_000):.3f}; {sigma_lower_bound(3000):.3f}, {sigma_lower_bound(30_000):.3f}",
            [f"{f(H):.3f}" for H in (3000, 30_000) for f in (sigma_max, sigma_lower_bound)]
            == ["5.852", "3.087", "18.474", "9.763"],
        ),
        Verdict(
            "Earlier claim (eq. 22): σ_max ≤ 1, on Theorem 4's features",
            f"a unit jump after round {first:,} of 3,000 moves the estimate by {amplified:.3f}",
            amplified <= 1.0,
            "False: any bound on it must grow with √H.",
            expected=False,
        ),
    ]


def episode_rewards(effort: Effort) -> list[Verdict]:
    horizon = 400
    episode = math.ceil(math.sqrt(horizon))
    noise = effort.rng(8).choice([-1.0, 1.0], (effort.instances, horizon // episode, episode))
    sums = np.abs(episode + noise.sum(axis=2)).max(axis=1)  # every expected reward at its bound LS = 1
    tested = f"{effort.instances:,} runs of {horizon // episode} episodes of {episode} rounds, Rademacher noise"
    failed = sums > episode_reward_bound(horizon, episode)
    return [frequency_verdict("Lemma 7: every episode's reward sum ≤ Q", tested, failed, 2 / horizon)]
