"""Every bound beside a value worked out by hand from the paper's formula, at numbers where each factor differs from 1."""

import inspect
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import unit_rows
from driftbandit import theory

pytestmark = pytest.mark.plain

# λ = 9, S = 2, L = 3, R = 5, d = 3. With n = 6 then nL²/(λd) = 2, and with δ = 1/9 the radius is 3·2 + 5√(4 ln 3 + 3 ln 3).
SCALES = {"ridge": 9.0, "theta_norm": 2.0, "arm_norm": 3.0, "noise": 5.0}
BETA = 6 + 5 * math.sqrt(7 * math.log(3))
POTENTIAL = 6 * math.sqrt(math.log(3))  # √(2·3·6·ln 3)

# One value for each parameter of the functions.
VALUES: dict[str, Any] = {
    "dim": 3,
    "horizon": 1000,
    "path_length": 2.5,
    "period": 12,
    "observations": 7,
    "rounds": 9,
    "width": 0.25,
    "delta": 0.05,
    "ridge": 4.0,
    "theta_norm": 0.5,
    "arm_norm": 1.5,
    "noise": 0.3,
    "epochs": 2,
    "episode": 40,
    "pool": [2, 8],
    "plays": 5,
    "choices": 3,
    "reward_bound": 6.0,
    "arms": np.array([[1.0, 0.0], [0.6, 0.8]]),
    "theta": np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]),
    "V": np.diag([4.0, 9.0]),
    "V0": np.eye(2),
}
FUNCTIONS = [name for name in theory.__all__ if inspect.isfunction(getattr(theory, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_its_arguments_by_name(name: str) -> None:
    function = getattr(theory, name)
    parameters = inspect.signature(function).parameters.values()
    named = {p.name: VALUES[p.name] for p in parameters}
    by_place = [VALUES[p.name] for p in parameters if p.kind is not p.KEYWORD_ONLY]
    only_named = {p.name: VALUES[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY}
    np.testing.assert_equal(function(**named), function(*by_place, **only_named))


def test_the_confidence_radius() -> None:
    assert theory.confidence_radius(6, 3, 1 / 9, **SCALES) == pytest.approx(BETA)
    assert theory.confidence_radius(0, 3, 1 / 9, **SCALES) == pytest.approx(6 + 5 * math.sqrt(4 * math.log(3)))


def test_the_drift_term_by_hand() -> None:
    arms, theta = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[4.0, 0.0], [1.0, 2.0], [1.0, 1.0]])
    assert theory.drift_term(arms, theta) == pytest.approx(math.hypot(3 / 2, 4 / 5))  # V = diag(2, 5), Σ = (3, 4)
    assert theory.drift_term(arms, theta, 4.0) == pytest.approx(math.hypot(3 / 5, 4 / 8))


@given(st.integers(1, 8), st.integers(1, 40), st.floats(0.5, 8.0), st.integers(0, 2**32 - 1))
def test_the_drift_term_is_what_it_says(dim: int, n: int, ridge: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arms, theta = unit_rows(rng, n, dim), rng.standard_normal((n + 1, dim))
    V = ridge * np.eye(dim) + sum(np.outer(x, x) for x in arms)
    explicit = np.linalg.inv(V) @ sum(np.outer(x, x) @ (theta[s] - theta[-1]) for s, x in enumerate(arms))
    assert theory.drift_term(arms, theta, ridge) == pytest.approx(float(np.linalg.norm(explicit)), abs=1e-9)


def test_the_drift_bound() -> None:
    assert theory.drift_bound(5.0, 2, 8, ridge=4.0, arm_norm=3.0) == pytest.approx(30)  # 3·√(2·8/4)·5
    assert theory.drift_bound(2.0, 4, 9) == pytest.approx(12)


def test_the_bound_on_the_estimates_error() -> None:
    drift = 3**2 * 2 * 0.5  # L²√(dH/λ)·P with H = 12
    value = theory.estimate_error_bound(0.1, 0.5, 12, 6, 3, 1 / 9, **SCALES)
    assert value == pytest.approx(drift + 0.1 * BETA)


def test_the_potential_by_hand() -> None:
    assert theory.potential(np.array([[1.0], [1.0]])) == pytest.approx(1 + math.sqrt(0.5))
    there_and_back = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0]])
    assert theory.potential(there_and_back, 4.0) == pytest.approx(1 + 1 + math.sqrt(1 / 2))  # the last in 8I
    assert theory.potential(np.array([[1.0, 0.0], [3.0, 4.0]])) == pytest.approx(1 + math.sqrt(9 / 2 + 16))


def test_the_bound_on_the_potential() -> None:
    assert theory.potential_bound(6, 3, ridge=9.0, arm_norm=3.0) == pytest.approx(POTENTIAL)
    assert theory.potential_bound(2, 1) == pytest.approx(2 * math.sqrt(math.log(3)))


def test_the_bound_on_an_epoch() -> None:
    drift = 54 * math.sqrt(2)  # 2L²·√(d/λ)·H^{3/2}·P = 18·√(3/9)·√216·½
    assert theory.epoch_regret_bound(6, 0.5, 3, 1 / 9, **SCALES) == pytest.approx(drift + 2 * BETA * POTENTIAL)
    four = theory.epoch_regret_bound(6, 0.5, 3, 1 / 9, **SCALES, epochs=4)
    assert four == pytest.approx(drift + 4 * 2 * BETA * POTENTIAL)


def restarted() -> float:
    """Theorem 2 with H = 6 and T = 20: four epochs, the last one short, δ = 1/80 in each."""
    beta = 6 + 5 * math.sqrt(2 * math.log(80) + 3 * math.log(3))
    return 54 * math.sqrt(2) + 4 * 2 * beta * POTENTIAL


def test_the_bound_over_the_horizon() -> None:
    assert theory.regret_bound(20, 6, 0.5, 3, **SCALES) == pytest.approx(restarted())
    one = theory.epoch_regret_bound(20, 0.5, 3, 1 / 20, **SCALES)
    assert theory.regret_bound(20, 20, 0.5, 3, **SCALES) == pytest.approx(float(one))


def test_the_bound_on_the_meta_learner() -> None:
    expected = 48 * math.sqrt((math.e - 1) * math.log(2))  # 2·3 · 2√(e − 1) · √(8·2·ln 2)
    assert theory.meta_regret_bound(8, 2, 3.0) == pytest.approx(expected)
    assert theory.meta_regret_bound(8, 1, 3.0) == 0.0  # nothing to choose from


def test_the_bound_on_bandits_over_bandits() -> None:
    """T = 20, Δ = 12: two episodes, the last one short, with two epochs of H = 6 each, or one of H = 12."""
    failures = 2 * (2 / 20) * 2 * 3 * 2 * 20  # two events of probability 2/T, each costs at most 2LST
    alone = theory.bob_regret_bound(20, 12, [6], 0.5, 3, **SCALES)
    assert alone == pytest.approx(restarted() + failures)
    beta = 6 + 5 * math.sqrt(2 * math.log(40) + 3 * math.log(5))  # H = 12: 12·L²/(λd) = 4, δ = 1/(20·2)
    longer = 2 * 9 * math.sqrt(3 / 9) * 12**1.5 * 0.5 + 2 * 2 * beta * math.sqrt(2 * 3 * 12 * math.log(5))
    assert theory.bob_regret_bound(20, 12, [12], 0.5, 3, **SCALES) == pytest.approx(longer + failures)
    beta = 6 + 5 * math.sqrt(2 * math.log(120) + 3 * math.log(8 / 3))  # H = 5: three epochs in each, the last one short
    shorter = 2 * 9 * math.sqrt(3 / 9) * 5**1.5 * 0.5 + 6 * 2 * beta * math.sqrt(2 * 3 * 5 * math.log(8 / 3))
    assert theory.bob_regret_bound(20, 12, [5], 0.5, 3, **SCALES) == pytest.approx(shorter + failures)
    Q = 3 * 2 * 12 + 2 * 5 * math.sqrt(12 * math.log(20 / math.sqrt(12)))
    meta = 2 * Q * 2 * math.sqrt(math.e - 1) * math.sqrt(2 * 2 * math.log(2))
    both = theory.bob_regret_bound(20, 12, [6, 12], 0.5, 3, **SCALES)
    assert both == pytest.approx(min(restarted(), longer) + meta + failures)


def test_the_self_normalised_bound() -> None:
    value = theory.self_normalised_bound(np.diag([4.0, 9.0]), 2 * np.eye(2), 1 / 3, noise=5.0)
    assert value == pytest.approx(2 * 25 * math.log(9))  # √(36/4)/δ = 9
    assert theory.self_normalised_bound(4 * np.eye(2), np.eye(2), 0.5) == pytest.approx(2 * math.log(8))


def test_the_minimax_rate() -> None:
    assert theory.minimax_rate(8, 1000, 27) == pytest.approx(4 * 100 * 3)


def test_unless_told_otherwise_every_scale_is_one() -> None:
    ones = dict.fromkeys(SCALES, 1.0)
    assert theory.confidence_radius(7, 3, 0.1) == theory.confidence_radius(7, 3, 0.1, **ones)
    assert theory.estimate_error_bound(0.1, 2.0, 9, 7, 3, 0.1) == theory.estimate_error_bound(0.1, 2.0, 9, 7, 3, 0.1, **ones)
    assert theory.epoch_regret_bound(9, 2.0, 3, 0.1) == theory.epoch_regret_bound(9, 2.0, 3, 0.1, **ones, epochs=1)
    assert theory.regret_bound(90, 9, 2.0, 3) == theory.regret_bound(90, 9, 2.0, 3, **ones)
    assert theory.bob_regret_bound(90, 30, [2, 9], 2.0, 3) == theory.bob_regret_bound(90, 30, [2, 9], 2.0, 3, **ones)
    assert theory.drift_bound(2.0, 3, 9) == theory.drift_bound(2.0, 3, 9, ridge=1, arm_norm=1)
    assert theory.potential_bound(9, 3) == theory.potential_bound(9, 3, ridge=1, arm_norm=1)


def test_bounds_work_on_arrays() -> None:
    periods = np.array([10, 100, 1000])
    values = theory.regret_bound(10_000, periods, 3.0, 2)
    assert values.tolist() == [theory.regret_bound(10_000, int(period), 3.0, 2) for period in periods]
    assert theory.confidence_radius(np.arange(4)[:, None], np.array([2, 3]), 0.1).shape == (4, 2)
    assert theory.estimate_error_bound([0.1, 0.2], 1.0, 5, 5, 2, 0.1, ridge=[1, 2]).shape == (2,)
    assert theory.epoch_regret_bound(5, [1, 2], 2, 0.1, arm_norm=[0.5, 1], epochs=[1, 3]).shape == (2,)
    assert theory.meta_regret_bound([8, 18], 2, [3, 2]).tolist() == pytest.approx(
        [theory.meta_regret_bound(8, 2, 3), theory.meta_regret_bound(18, 2, 2)]
    )
