"""Every policy against its naive twin: the same choices, round by round, and the same estimates."""

import heapq

import numpy as np
import pytest

from common import FIXED_KINDS, KINDS, every_policy, rounds, unit_rows
from driftbandit import FixedArms
from naive import twin_of

CASES = [(kind, "fixed") for kind in FIXED_KINDS] + [(kind, "changing") for kind in KINDS]
SHAPES = [(1, 3), (2, 20), (5, 7), (12, 30)]


@pytest.mark.parametrize("delayed", [False, True], ids=["prompt", "delayed"])
@pytest.mark.parametrize(("dim", "n"), SHAPES)
@pytest.mark.parametrize(("kind", "arms"), CASES)
def test_same_choices_as_the_naive_twin(kind: str, dim: int, n: int, arms: str, delayed: bool) -> None:
    costly = kind.startswith(("adaptive", "detect"))  # a dozen estimators, each solved afresh several times a round
    total = rounds(500 if costly else 2000, 90)
    policy = every_policy(dim, scale=rounds(150, 20), seed=7, fixed=True)[kind]
    twin = twin_of(policy)
    rng = np.random.default_rng([dim, n, delayed])
    theta = unit_rows(rng, total, dim)  # a new θ every round: estimates that never settle
    fixed = FixedArms(unit_rows(rng, n, dim))
    if arms == "fixed":
        policy.keep(fixed)
    out: list[tuple[int, int]] = []  # (due, round), the earliest first
    decisions = {}
    for t in range(total):
        if t % 97 == 0 and t % getattr(policy, "episode", t + 1) != 0:
            theta_hat, metric, beta = twin.estimate()
            mine = policy.estimate()
            np.testing.assert_allclose(mine.theta, theta_hat, rtol=0, atol=1e-8)
            widths = np.einsum("ij,jk,ik->i", fixed.rows, mine.metric, fixed.rows) ** 0.5
            naive_widths = np.einsum("ij,jk,ik->i", fixed.rows, metric, fixed.rows) ** 0.5
            np.testing.assert_allclose(mine.radius * widths, beta * naive_widths, rtol=0, atol=1e-8)
            assert mine.novelty == pytest.approx(twin.novelty())
        size = n + int(rng.integers(-1, 2)) * (n > 1)
        rows = fixed.rows if arms == "fixed" else unit_rows(rng, size, dim) * rng.uniform(0.1, 1.0, (size, 1))
        decision = policy.select(fixed if arms == "fixed" else rows)
        assert decision.index == twin.select(rows), f"round {t}"
        np.testing.assert_array_equal(decision.arm, rows[decision.index])
        decisions[t] = decision, float(decision.arm @ theta[t // 50] + 0.3 * rng.standard_normal())
        heapq.heappush(out, (t + (int(rng.integers(0, 60)) if delayed else 0), t))
        while out and out[0][0] <= t:
            s = heapq.heappop(out)[1]
            if delayed and s % 11 == 5:
                continue  # this reward never comes
            policy.update(*decisions[s])
            twin.update(s, decisions[s][1])
