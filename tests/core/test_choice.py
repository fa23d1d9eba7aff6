"""The optimistic choice: exact over balls and ellipsoids, the hard case included; ties decided by luck alone."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from common import rounds, unit_rows
from driftbandit import Ball, Ellipsoid, RestartUCB, StaticUCB
from driftbandit.core.choice import boundary, farthest, pick, widening, width
from driftbandit.core.types import Floats

LUCK = np.array([0.3, 0.6, 0.1, 0.9])


def value(x: Floats, theta: Floats, metric: Floats, beta: float) -> float:
    return float(x @ theta + beta * math.sqrt(x @ metric @ x))


def best_by_search(theta: Floats, metric: Floats, factor: Floats, beta: float, seed: int) -> float:
    """Many starts of a general optimiser on the sphere z/‖z‖."""
    dim = len(theta)

    def loss(z: Floats) -> float:
        return -value(factor @ z / np.linalg.norm(z), theta, metric, beta)

    starts = [*unit_rows(np.random.default_rng(seed), 6, dim), *np.eye(dim), theta + 1e-9]
    return max(-float(minimize(loss, start, method="BFGS").fun) for start in starts)


@settings(max_examples=rounds(60, 15), deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.01, 1.0, 30.0]))
def test_no_search_beats_the_exact_choice(dim: int, seed: int, beta: float) -> None:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((dim, dim + 2)) * 10.0 ** rng.uniform(-2, 1, (dim, 1))
    metric = np.linalg.inv(np.eye(dim) + root @ root.T)
    theta = rng.standard_normal(dim)
    for factor in (Ball(0.7).factor(dim), np.linalg.cholesky(np.eye(dim) * 0.2 + metric)):
        x = np.empty(dim)
        farthest(theta, metric, factor, beta, 0.0, LUCK, x)
        assert np.linalg.norm(np.linalg.solve(factor, x)) == pytest.approx(1.0, abs=1e-9)
        found = best_by_search(theta, metric, factor, beta, seed)
        assert value(x, theta, metric, beta) >= found - 1e-7 * max(1.0, abs(found))


def test_a_constant_beside_a_ball_is_taken_as_known() -> None:
    """Then V of the features alone says what is known of them."""
    rng = np.random.default_rng(0)
    root, theta = rng.standard_normal((6, 4)), rng.standard_normal(4)
    v, factor = np.eye(4) + root.T @ root, Ball().factor(3)
    with_constant, without = np.empty((2, 3))
    farthest(theta, np.linalg.inv(v), factor, 2.0, 0.5, LUCK, with_constant)
    farthest(theta[:3].copy(), np.linalg.inv(v[:3, :3]), factor, 2.0, 0.5, LUCK, without)
    np.testing.assert_allclose(with_constant, without, rtol=1e-9)


@pytest.mark.parametrize("tilt", [0.0, 1e-300, 1e-17, 1e-9, 1e-3])
def test_the_hard_case_and_its_neighbours(tilt: float) -> None:
    """No pull along the longest axis of the confidence ellipsoid: the secular equation alone has no answer there."""
    metric = np.diag([1.0, 0.04, 0.25])
    theta = np.array([tilt, 0.3, 0.1])
    x = np.empty(3)
    farthest(theta, metric, np.eye(3), 2.0, 0.0, LUCK, x)
    assert np.linalg.norm(x) == pytest.approx(1.0, abs=1e-12)
    grid = unit_rows(np.random.default_rng(0), 300_000, 3)
    values = grid @ theta + 2.0 * np.sqrt(np.einsum("ij,jk,ik->i", grid, metric, grid))
    assert value(x, theta, metric, 2.0) >= values.max() - 1e-12
    assert abs(x[0]) > 0.9


def test_the_hard_case_with_a_multiple_longest_axis() -> None:
    """Fewer than d − 1 observations: several axes are longest, and rounding alone pulls along them."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(rounds(2000, 200)):
        dim = int(rng.integers(3, 7))
        seen = unit_rows(rng, int(rng.integers(1, dim - 1)), dim)
        metric = np.linalg.inv(np.eye(dim) + seen.T @ seen)
        theta = metric @ seen.T @ rng.standard_normal(len(seen))
        x = np.empty(dim)
        farthest(theta, metric, np.eye(dim), 1.5, 0.0, rng.random(4), x)
        values, basis = np.linalg.eigh(metric)
        a, s = basis.T @ theta, 1.5 * np.sqrt(values)
        gaps = s[-1] ** 2 - s**2
        pull = np.where(gaps > 1e-9, s * a / np.where(gaps > 1e-9, gaps, 1.0), 0.0)
        if pull @ pull < 1.0:  # the hard case: what is left of the unit goes along a longest axis
            best = math.sqrt(((a + s * pull) ** 2).sum() + (1 - pull @ pull) * s[-1] ** 2)
            worst = max(worst, best - value(x, theta, metric, 1.5))
    assert worst < 1e-9


def test_either_end_of_the_longest_axis_is_chosen_by_luck() -> None:
    a, s = np.array([0.1, 0.0]), np.array([0.5, 1.0])
    ends = {math.copysign(1, boundary(a, s, np.array([u, 0.5, 0, 0]))[1]) for u in (0.1, 0.9)}
    assert ends == {-1.0, 1.0}


def test_an_empty_estimate_tries_every_axis_of_a_ball() -> None:
    first = {tuple(StaticUCB(3, seed=k).select(Ball()).arm.round(12) + 0.0) for k in range(60)}
    assert len(first) == 6


def test_ties_are_broken_at_random_never_by_position() -> None:
    counts = np.zeros(5)
    for seed in range(400):
        counts[StaticUCB(2, seed=seed).select(np.tile([0.6, 0.8], (5, 1))).index] += 1
    assert counts.min() > 45  # 80 expected; fewer than 46 in one of five has probability below 1e-5


def test_rounding_does_not_break_ties() -> None:
    score = np.array([[0.0, 0.0, 0.0], [1.0, 1.0 + 1e-15, 1.0 - 1e-15], [0.0, 0.0, 0.0]])
    assert {pick(score, 1.0, 0.0, u) for u in (0.1, 0.5, 0.9)} == {0, 1, 2}


def test_one_dimension_and_one_arm() -> None:
    policy = RestartUCB(1, period=5)
    for _ in range(12):
        decision = policy.select([[0.5]])
        assert decision.index == 0
        policy.update(decision, 1.0)
    assert abs(policy.select(Ball(0.25)).arm[0]) == 0.25


def test_a_ball_is_an_ellipsoid_with_equal_axes() -> None:
    ball, ellipsoid = StaticUCB(3, noise=0.1), StaticUCB(3, noise=0.1)
    theta = np.array([0.5, -0.5, 0.2])
    for _ in range(rounds(200, 30)):
        first, second = ball.select(Ball(0.5)), ellipsoid.select(Ellipsoid(np.eye(3) * 0.25))
        np.testing.assert_allclose(first.arm, second.arm, atol=1e-9)
        assert first.index is None
        ball.update(first, float(first.arm @ theta))
        ellipsoid.update(second, float(first.arm @ theta))
    np.testing.assert_allclose(ball.estimate().theta, theta, atol=0.1)


@pytest.mark.parametrize("shape", [[[1.0, 2.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]], [[1.0, 0.0]], [[np.nan]]])
def test_an_ellipsoid_needs_a_positive_definite_shape(shape: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="shape"):
        Ellipsoid(shape)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.inf, np.nan])
def test_a_ball_needs_a_positive_radius(radius: float) -> None:
    with pytest.raises(ValueError, match="radius"):
        Ball(radius)


def test_sets_that_do_not_fit_are_refused() -> None:
    policy = StaticUCB(3)
    with pytest.raises(ValueError, match="arm_norm"):
        policy.select(Ball(2.0))
    with pytest.raises(ValueError, match="shape"):
        policy.select(Ellipsoid(np.eye(2) * 0.5))
    assert policy == StaticUCB(3)


def test_novelty_widens_what_is_hardly_known() -> None:
    squares = [0.0, 1e-6, 0.01, 1.0, 100.0, 1e6]
    assert [widening(square, 0.0) for square in squares] == [1.0] * 6
    assert [widening(square, 200.0) for square in squares] == sorted(widening(square, 200.0) for square in squares)
    assert widening(1.0 / 199.0, 200.0) == pytest.approx(1 + 3.5 * math.log(2))  # an arm that has had its share
    assert widening(1e12, 200.0) == pytest.approx(1 + 3.5 * math.log(1 + 200**2))  # one never tried
    assert width(0.5, 0.0, 4.0) == 1.0
    assert width(0.5, 200.0, -1e-18) == 0.0


def test_an_arm_dismissed_early_is_tried_again() -> None:
    """0.3 behind after 10 rewards, at a noise of 0.6: too far for one standard deviation, not for ever."""
    score = np.array([[1.0, 0.7], [1e-3, 0.1], [0.0, 0.0]])
    assert [pick(score, 0.6, novelty, 0.5) for novelty in (0.0, 1.0, 1000.0)] == [0, 0, 1]


def test_on_a_ball_novelty_widens_as_much_as_the_least_known_arm() -> None:
    metric, theta, x, wider = np.diag([1.0, 0.04, 0.25]), np.array([0.2, 0.3, 0.1]), np.empty(3), np.empty(3)
    farthest(theta, metric, np.eye(3), 0.5 * math.sqrt(widening(1.0, 50.0)), 0.0, LUCK, x)
    farthest(theta, metric, np.eye(3), 0.5, 50.0, LUCK, wider)
    np.testing.assert_array_equal(wider, x)
