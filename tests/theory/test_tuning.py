"""Tuning by theory: each formula at numbers worked out by hand, its limits, and how it is called."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftbandit.theory import (
    early_period,
    episode_length,
    episode_reward_bound,
    optimal_discount,
    optimal_period,
    optimal_window,
    period_pool,
)

pytestmark = pytest.mark.plain


@given(st.integers(1, 100), st.integers(1, 10**7), st.floats(0, 1e4))
def test_the_period_stays_between_one_and_the_horizon(dim: int, horizon: int, path_length: float) -> None:
    period = optimal_period(dim, horizon, path_length)
    assert 1 <= period <= horizon
    if path_length < math.sqrt(dim) / horizon:
        assert period == horizon
    assert 0 < optimal_discount(dim, horizon, path_length) < 1
    assert 1 <= early_period(dim, horizon, path_length) <= horizon


@given(st.integers(1, 100), st.integers(1, 10**7), st.floats(1e-3, 1e3))
def test_the_pool_ascends_within_an_episode(dim: int, horizon: int, theta_norm: float) -> None:
    pool = period_pool(dim, horizon, theta_norm)
    assert pool == sorted(set(pool))
    assert 1 <= pool[0] <= pool[-1] <= episode_length(dim, horizon) <= horizon


def test_the_period_by_hand() -> None:
    assert optimal_period(16, 900, 4.0) == 30  # 2·30/2
    assert optimal_period(16, 1000, 4.0) == 31  # 31.6
    assert optimal_period(2, 50_000, 6.83) == 101
    assert optimal_period(16, 100, 0.0) == optimal_period(16, 100, 0.01) == optimal_period(16, 100, 0.04) == 100
    assert optimal_period(16, 100, 0.05) == 89  # √(4·100/0.05) = 89.4
    assert optimal_period(1, 10, 20.0) == 1


def test_the_early_period_by_hand() -> None:
    assert early_period(2, 1000, 50.0) == 11  # 40^⅔ = 11.7
    assert early_period(3, 900, 90.0) == 9  # 30^⅔ = 9.65
    assert early_period(2, 100, 0.0) == early_period(2, 100, 0.1) == early_period(2, 100, 0.19) == 100
    assert early_period(2, 100, 0.25) == 86  # 800^⅔ = 86.2
    assert early_period(1, 10, 20.0) == 1


def test_window_and_discount_follow_the_period() -> None:
    assert optimal_window(16, 1000, 4.0) == 31
    assert optimal_discount(16, 900, 4.0) == pytest.approx(29 / 30)
    assert optimal_discount(1, 10, 20.0) == 0.5
    assert optimal_discount(1, 40, 10.0) == 0.5  # period 2


def test_the_episode_by_hand() -> None:
    assert episode_length(2, 50) == 15  # 14.1
    assert episode_length(2, 49) == 14
    assert episode_length(10, 50) == 50


def test_the_pool_by_hand() -> None:
    assert period_pool(16, 64, 4.0) == [1, 2, 4, 8, 16]  # d^¼S^-½ = 1, N = ½·log₂ 256 + 1
    assert period_pool(16, 64, 4.0, episode=5) == [1, 2, 4, 5]
    assert period_pool(16, 64) == [2, 4, 8, 16]
    assert period_pool(1, 50) == [1, 2, 4, 8]  # N = ⌈2.8⌉ + 1, Δ = 8
    assert period_pool(3, 100, 0.5) == [1, 3, 7, 14]  # 1.86·2^i, N = ⌈2.8⌉ + 1
    assert period_pool(1, 64, 9.0) == [1, 2, 5, 8]  # 0.33·2^i up to 10.7, Δ = 8
    assert period_pool(1, 4, 1 / 1024) == [2]  # one period of 32, Δ = 2
    assert period_pool(16, 10_000, 1 / 20_000) == [282]  # N = 1 once ST < 1
    assert period_pool(16, 10_000, 1 / 160_000) == [800]


def test_the_bound_on_an_episode() -> None:
    assert episode_reward_bound(50_000, 448, noise=0.0) == 448
    assert episode_reward_bound(50_000, 448) == pytest.approx(448 + 2 * math.sqrt(448 * math.log(50_000 / 448**0.5)))
    horizon = 2 * math.exp(4)  # ln(T/√4) = 4
    assert episode_reward_bound(horizon, 4, theta_norm=3.0, arm_norm=2.0, noise=5.0) == pytest.approx(2 * 3 * 4 + 2 * 5 * 4)


def test_arrays_go_by_place_and_by_name() -> None:
    assert optimal_period(2, 50_000, [6.83, np.pi]).tolist() == [101, 150]
    assert optimal_period(dim=2, horizon=50_000, path_length=[6.83, np.pi]).tolist() == [101, 150]
    assert optimal_period(16, path_length=4.0, horizon=np.array([[900], [1000]])).tolist() == [[30], [31]]
    assert episode_length(np.array([1, 2]), horizon=50_000).tolist() == [224, 448]
    assert early_period(dim=2, horizon=1000, path_length=[50.0, 0.0]).tolist() == [11, 1000]
    assert optimal_window(dim=16, horizon=[900, 1000], path_length=4.0).tolist() == [30, 31]
    assert optimal_discount(dim=[16, 1], horizon=[900, 10], path_length=[4.0, 20.0]).tolist() == [1 - 1 / 30, 0.5]
    assert isinstance(optimal_period(dim=2, horizon=50_000, path_length=6.83), int)


@pytest.mark.parametrize("tune", [optimal_period, early_period, optimal_window, optimal_discount])
def test_a_wrong_argument_is_named(tune: Callable[..., Any]) -> None:
    for name, wrong in (("dim", 0), ("horizon", 0), ("path_length", -1.0)):
        with pytest.raises(ValueError, match=name):
            tune(**{"dim": 2, "horizon": 100, "path_length": 1.0, name: wrong})
    with pytest.raises(TypeError, match="bogus"):
        tune(2, 100, 1.0, bogus=1)


def test_a_wrong_argument_of_an_episode_is_named() -> None:
    with pytest.raises(ValueError, match="dim"):
        episode_length(0, 100)
    with pytest.raises(ValueError, match="horizon"):
        episode_length(2, horizon=0)
    with pytest.raises(ValueError, match="episode"):
        period_pool(2, 100, episode=0)
    with pytest.raises(ValueError, match="theta_norm"):
        period_pool(2, 100, theta_norm=0.0)
