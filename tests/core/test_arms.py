"""Arm sets as values: what they compare, print and share."""

import numpy as np
import pytest

from driftbandit import Ball, Ellipsoid, FixedArms
from driftbandit.core.arms import Convex, best_value


def test_fixed_arms_are_an_array_that_is_copied_on_request_only() -> None:
    arms = FixedArms([[1.0, 0.0], [0.0, 0.5]])
    assert np.asarray(arms) is arms.rows
    assert np.asarray(arms, np.float64) is arms.rows
    assert not np.shares_memory(np.array(arms, copy=True), arms.rows)
    assert np.asarray(arms, np.float32).dtype == np.float32


def test_an_ellipsoid_is_its_shape() -> None:
    one, same, other = Ellipsoid([[4, 1], [1, 2]]), Ellipsoid(np.array([[4.0, 1.0], [1.0, 2.0]])), Ellipsoid([[4, 0], [0, 2]])
    assert repr(one) == "Ellipsoid(shape=((4.0, 1.0), (1.0, 2.0)))"
    assert one == same
    assert hash(one) == hash(same)
    assert one != other


def test_an_ellipsoid_is_not_flat() -> None:
    assert Ellipsoid(np.diag([1.1e-14, 1.0])).longest == 1.0
    with pytest.raises(ValueError, match="positive definite"):
        Ellipsoid(np.diag([1e-14, 1.0]))


def test_the_best_of_a_convex_set_by_hand() -> None:
    out = np.empty(2)
    best_value(Convex(Ball(2.0).factor(2)), np.array([[3.0, 4.0], [0.0, 1.0]]), out)
    assert out.tolist() == pytest.approx([10, 2])
    best_value(Convex(Ellipsoid([[4, 1], [1, 2]]).factor(2)), np.array([[1.0, 1.0], [2.0, -1.0]]), out)
    assert out.tolist() == pytest.approx([np.sqrt(8), np.sqrt(14)])  # √(θᵀ·shape·θ)
