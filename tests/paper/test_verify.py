"""Every statement of the paper has the verdict it deserves, and the checks can fail."""

import numpy as np
import pytest

from common import rounds
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


def test_the_radius_is_the_one_that_policies_use() -> None:
    policy = StaticUCB(3, noise=0.4, theta_norm=0.5, ridge=2.0, delta=0.05)
    for n in range(5):
        expected = theory.confidence_radius(n, 3, 0.05, ridge=2.0, theta_norm=0.5, noise=0.4)
        assert policy.estimate().radius == pytest.approx(float(expected), rel=1e-12)
        policy.update(policy.select(np.eye(3)), 0.1)


def test_effort_is_reproducible() -> None:
    effort = Effort(instances=rounds(200, 50), rounds=20, seed=3)
    assert drift_lemma(effort) == drift_lemma(effort)
    assert drift_lemma(effort) != drift_lemma(effort._replace(seed=4))
