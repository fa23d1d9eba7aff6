"""The shared algebra: exact against closed forms, and still so after a million rounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common import LONG, rounds, unit_rows
from driftbandit import FixedArms, Policy, StaticUCB, WeightUCB, WindowUCB
from driftbandit.core.linalg import invert
from driftbandit.core.ridge import METRIC, SQUARE, THETA, V, add, keep_arms, new_ridge
from driftbandit.core.types import Floats
from driftbandit.core.verbs import clear


@settings(deadline=None)  # the first call compiles
@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_invert_matches_numpy(dim: int, seed: int) -> None:
    root = np.random.default_rng(seed).standard_normal((dim, dim + 3))
    matrix = root @ root.T + 0.1 * np.eye(dim)
    inverse = matrix.copy()
    invert(inverse)
    np.testing.assert_allclose(inverse @ matrix, np.eye(dim), atol=1e-7)
    np.testing.assert_array_equal(inverse, inverse.T)


def test_adding_and_removing_in_any_order_returns_to_the_start() -> None:
    rng = np.random.default_rng(0)
    arms, rewards = unit_rows(rng, 40, 4), rng.standard_normal(40)
    ridge = keep_arms(new_ridge(4, 0.5), np.ascontiguousarray(unit_rows(rng, 6, 4).T))
    for x, r in zip(arms, rewards, strict=True):
        add(ridge, x, r, 1.0)
    for k in rng.permutation(40):
        add(ridge, arms[k], rewards[k], -1.0)
    empty = keep_arms(new_ridge(4, 0.5), ridge.columns)
    np.testing.assert_allclose(ridge.matrix, empty.matrix, atol=1e-12)
    np.testing.assert_allclose(ridge.vector[:2], 0.0, atol=1e-12)
    np.testing.assert_allclose(ridge.score[:2], empty.score[:2], atol=1e-12)
    assert ridge.tally[0] == 0


def test_an_empty_inverse_is_the_identity_over_lambda() -> None:
    """Published code has started from λI instead."""
    ridge = new_ridge(3, 4.0)
    np.testing.assert_array_equal(ridge.matrix[METRIC], np.eye(3) / 4.0)
    np.testing.assert_array_equal(ridge.matrix[V], np.eye(3) * 4.0)


def test_the_metric_stays_symmetric_to_the_last_bit() -> None:
    rng = np.random.default_rng(1)
    ridge = new_ridge(5, 1.0)
    for x in unit_rows(rng, rounds(3000, 200), 5):
        add(ridge, x, 0.3, 1.0)
        np.testing.assert_array_equal(ridge.matrix[METRIC], ridge.matrix[METRIC].T)
    clear(ridge)
    np.testing.assert_array_equal(ridge.vector[THETA], 0.0)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "policy",
    [
        StaticUCB(3, noise=0.1),
        pytest.param(WindowUCB(3, window=700, noise=0.1), marks=LONG),
        pytest.param(WeightUCB(3, discount=0.999, noise=0.1), marks=LONG),
    ],
    ids=["static", "window", "weight"],
)
def test_a_million_rounds_stay_within_1e_6_of_a_fresh_solve(policy: Policy) -> None:
    total = 1_000_000
    rng = np.random.default_rng(2)
    fixed = FixedArms(unit_rows(rng, 8, 3) * rng.uniform(0.2, 1.0, (8, 1)))
    noise = 0.1 * rng.standard_normal(total)
    theta = fixed.rows @ unit_rows(rng, total // 1000, 3).T  # (arms, segments of 1,000 rounds)
    arms: Floats = np.empty((total, 3))
    rewards: Floats = np.empty(total)
    for t in range(total):
        decision = policy.select(fixed)
        assert decision.index is not None
        arms[t], rewards[t] = decision.arm, theta[decision.index, t // 1000] + noise[t]
        policy.update(decision, rewards[t])
        if t % 1000 == 0:
            assert policy.state.ridge.score[SQUARE].min() >= 0.0
    age = total - 1.0 - np.arange(total)
    weight = {
        "StaticUCB": np.ones(total),
        "WindowUCB": 1.0 * (age < 700),
        "WeightUCB": np.power(0.999, age),
    }[type(policy).__name__]
    inverse = np.linalg.inv(np.eye(3) + (arms.T * weight) @ arms)
    metric = inverse @ (np.eye(3) + (arms.T * weight**2) @ arms) @ inverse
    estimate = policy.estimate()
    np.testing.assert_allclose(estimate.theta, inverse @ (arms.T @ (weight * rewards)), rtol=0, atol=1e-6)
    np.testing.assert_allclose(estimate.metric, metric, rtol=1e-6)
