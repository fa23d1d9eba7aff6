"""Theorem 4: its features, its closed form against singular values, and the digits that the paper prints."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftbandit import theory
from driftbandit.theory.impossibility import hard_arms

pytestmark = pytest.mark.plain


def test_the_printed_digits() -> None:
    assert f"{theory.sigma_max(3000):.3f}" == "5.852"
    assert f"{theory.sigma_max(30_000):.3f}" == "18.474"
    assert f"{theory.sigma_lower_bound(3000):.3f}" == "3.087"
    assert f"{theory.sigma_lower_bound(30_000):.3f}" == "9.763"
    assert f"{0.0564 * math.sqrt(3000):.3f}" == "3.089"  # what the rounded constant would give
    assert np.round(theory.sigma_max([3000, 30_000]), 3).tolist() == [5.852, 18.474]


def test_the_lower_bound_by_hand() -> None:
    shrunk = 2 / 9 * (1 - 2 * math.sqrt(2) / 3)  # a' with the square multiplied out
    assert theory.sigma_lower_bound(36) == pytest.approx(3 * math.sqrt(shrunk))
    assert theory.sigma_lower_bound([36, 144]).tolist() == pytest.approx([3 * math.sqrt(shrunk), 6 * math.sqrt(shrunk)])


def test_the_counterexample() -> None:
    assert theory.Q.tolist() == [[1, -10], [0, 1]]
    assert np.ones(2) @ theory.Q @ np.ones(2) == -8


def test_the_hard_features_by_hand() -> None:
    one, two, first = theory.hard_features(13)  # p = 4, and 9 rounds after it
    assert first == 4
    np.testing.assert_allclose(one, [1 / 2, math.sqrt(3) / 2])
    np.testing.assert_allclose(two, [1 / 3, math.sqrt(8) / 3])
    assert theory.hard_features(6)[2] == 2
    with pytest.raises(ValueError, match="period"):
        theory.hard_features(5)


@given(st.integers(6, 5000))
def test_the_closed_form_of_sigma_is_the_singular_value(period: int) -> None:
    one, two, first = theory.hard_features(period)
    A = first * np.outer(one, one)
    V = A + (period - first) * np.outer(two, two) + np.eye(2)
    assert theory.sigma_max(period) == pytest.approx(np.linalg.norm(np.linalg.solve(V, A), 2), rel=1e-9)


def test_the_hard_arms_are_the_features_and_both_ends_of_the_first_axis() -> None:
    one, two, _ = theory.hard_features(13)
    np.testing.assert_array_equal(hard_arms(13).columns.T, [one, two, [1, 0], [-1, 0]])


def test_the_hard_arms_suit_the_horizon() -> None:
    assert theory.theorem_four_arms(400, 2.0) == hard_arms(16)  # √(√2·200) = 16.8
    assert theory.theorem_four_arms(50_000) == hard_arms(150)  # by default P_T = π
    assert theory.theorem_four_arms(10, 100.0) == hard_arms(6)  # the tuned period would be 1
