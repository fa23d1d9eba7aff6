"""The mathematics: functions against hand-computed numbers, the checks' verdicts, and checks that can fail."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import rounds, unit_rows
from driftbandit import StaticUCB, theory
from driftbandit.paper.verify.lemmas import Effort, concentration, drift_lemma
from driftbandit.paper.verify.theorems import CHECKS, verify
from driftbandit.theory import bounds

FALSE = ["Earlier claim (eq. 20)", "Proof of Lemma 2, fourth line", "Lemma 4 as printed", "Earlier claim (eq. 22)"]


@pytest.mark.compiled
def test_every_statement_has_the_verdict_it_deserves() -> None:
    ticks: list[int] = []
    verdicts = verify(Effort(instances=300), lambda: ticks.append(1))
    assert len(ticks) == len(CHECKS)
    assert all(verdict.holds == verdict.expected for verdict in verdicts)
    failing = [verdict.statement for verdict in verdicts if not verdict.holds]
    assert len(failing) == len(FALSE)
    for statement in FALSE:
        assert any(name.startswith(statement) for name in failing)
    numbered = " ".join(verdict.statement for verdict in verdicts)
    for name in [f"Lemma {k}" for k in range(1, 8)] + [f"Theorem {k}" for k in range(1, 6)]:
        assert name in numbered


def test_a_bound_that_is_too_small_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    effort = Effort(instances=200, rounds=30)
    right = bounds.confidence_radius
    monkeypatch.setattr(bounds, "confidence_radius", lambda *a, **k: 0.3 * right(*a, **k))
    assert not all(verdict.holds for verdict in concentration(effort) if "Lemma 3" in verdict.statement)
    monkeypatch.setattr(bounds, "drift_bound", lambda path, *a, **k: np.asarray(path) * 1.0)
    assert not next(v for v in drift_lemma(effort) if v.statement.startswith("Lemma 2")).holds


def test_the_printed_digits() -> None:
    assert f"{theory.sigma_max(3000):.3f}" == "5.852"
    assert f"{theory.sigma_max(30_000):.3f}" == "18.474"
    assert f"{theory.sigma_lower_bound(3000):.3f}" == "3.087"
    assert f"{theory.sigma_lower_bound(30_000):.3f}" == "9.763"
    assert f"{0.0564 * math.sqrt(3000):.3f}" == "3.089"  # what the rounded constant would give
    z = np.ones(2)
    assert z @ theory.Q @ z == -8.0


def test_the_radius_is_the_one_that_policies_use() -> None:
    policy = StaticUCB(3, noise=0.4, theta_norm=0.5, ridge=2.0, delta=0.05)
    for n in range(5):
        expected = theory.confidence_radius(n, 3, 0.05, ridge=2.0, theta_norm=0.5, noise=0.4)
        assert policy.estimate().radius == pytest.approx(float(expected), rel=1e-12)
        policy.update(policy.select(np.eye(3)), 0.1)


def test_bounds_by_hand() -> None:
    assert theory.drift_bound(2.0, 4, 9, ridge=1.0) == pytest.approx(12.0)
    first = 2 * math.sqrt(2) * 100**1.5 * 0.5
    beta = 1 + math.sqrt(2 * math.log(100) + 2 * math.log(51))
    second = 2 * beta * math.sqrt(2 * 2 * 100 * math.log(51))
    assert theory.epoch_regret_bound(100, 0.5, 2, 0.01) == pytest.approx(first + second)
    assert theory.regret_bound(100, 100, 0.5, 2) == pytest.approx(theory.epoch_regret_bound(100, 0.5, 2, 0.01))
    assert theory.minimax_rate(8, 1000, 27) == pytest.approx(4 * 100 * 3)
    assert theory.potential(np.array([[1.0], [1.0]])) == pytest.approx(1 + math.sqrt(0.5))
    assert theory.self_normalised_bound(4 * np.eye(2), np.eye(2), 0.5) == pytest.approx(2 * (math.log(4) + math.log(2)))
    assert theory.meta_regret_bound(100, 1, 5.0) == 0.0


def test_bounds_work_on_arrays() -> None:
    periods = np.array([10, 100, 1000])
    values = theory.regret_bound(10_000, periods, 3.0, 2)
    assert values.shape == (3,)
    assert values[1] == theory.regret_bound(10_000, 100, 3.0, 2)
    assert theory.confidence_radius(np.arange(4)[:, None], np.array([2, 3]), 0.1).shape == (4, 2)
    assert theory.optimal_period(2, 50_000, [6.83, np.pi]).tolist() == [101, 150]
    assert theory.episode_length(np.array([1, 2]), 50_000).tolist() == [224, 448]
    assert np.round(theory.sigma_max([3000, 30_000]), 3).tolist() == [5.852, 18.474]


@given(st.integers(6, 5000))
def test_the_closed_form_of_sigma_is_the_singular_value(period: int) -> None:
    one, two, first = theory.hard_features(period)
    A = first * np.outer(one, one)
    V = A + (period - first) * np.outer(two, two) + np.eye(2)
    assert theory.sigma_max(period) == pytest.approx(np.linalg.norm(np.linalg.solve(V, A), 2), rel=1e-9)


def test_the_bound_on_bandits_over_bandits() -> None:
    whole = theory.bob_regret_bound(1000, 100, [10, 50], 0.5, 2)
    base = min(
        2 * math.sqrt(2) * H**1.5 * 0.5
        + 2 * 10 * math.ceil(100 / H) * float(theory.confidence_radius(H, 2, 1 / (1000 * 10 * math.ceil(100 / H))))
        * float(theory.potential_bound(H, 2))
        for H in (10, 50)
    )  # fmt: skip
    meta = theory.meta_regret_bound(10, 2, theory.episode_reward_bound(1000, 100))
    assert whole == pytest.approx(base + meta + 8)


@given(st.integers(1, 8), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_the_drift_term_is_what_it_says(dim: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arms, theta = unit_rows(rng, n, dim), rng.standard_normal((n + 1, dim))
    V = np.eye(dim) + sum(np.outer(x, x) for x in arms)
    explicit = np.linalg.inv(V) @ sum(np.outer(x, x) @ (theta[s] - theta[-1]) for s, x in enumerate(arms))
    assert theory.drift_term(arms, theta) == pytest.approx(float(np.linalg.norm(explicit)), abs=1e-9)


def test_advice_is_honest() -> None:
    short = theory.advise(2, 50_000, 6.83, noise=0.316)
    assert short[0].parameters == {"period": 101}
    assert short[0].vacuous
    assert "says nothing" in str(short[0])
    long = theory.advise(2, 10**10, 0.001, noise=0.1)
    assert not long[0].vacuous
    assert long[1].bound is None
    assert "of the most" in str(long[0])
    assert [advice.policy for advice in long] == ["RestartUCB", "WindowUCB", "WeightUCB", "BanditOverBandit"]
    assert long[2].bound is None
    assert "proved for arm_norm² ≤ ridge" in str(theory.advise(2, 1000, 1.0, arm_norm=2.0)[0])
    with pytest.raises(ValueError, match="path_length"):
        theory.advise(2, 1000, -1.0)


def test_effort_is_reproducible() -> None:
    effort = Effort(instances=rounds(200, 50), rounds=20, seed=3)
    assert drift_lemma(effort) == drift_lemma(effort)
    assert drift_lemma(effort) != drift_lemma(effort._replace(seed=4))
