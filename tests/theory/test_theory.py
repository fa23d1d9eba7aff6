"""Tuning by theory."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftbandit.theory import (
    early_period,
    episode_length,
    episode_reward_bound,
    optimal_discount,
    optimal_period,
    period_pool,
)


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


def test_a_wrong_argument_is_named() -> None:
    with pytest.raises(ValueError, match="path_length"):
        optimal_period(2, 100, -1.0)
    with pytest.raises(ValueError, match="horizon"):
        optimal_period(2, 0, 1.0)


def test_the_bound_on_an_episode() -> None:
    assert episode_reward_bound(50_000, 448, noise=0.0) == 448
    assert episode_reward_bound(50_000, 448) == pytest.approx(448 + 2 * math.sqrt(448 * math.log(50_000 / 448**0.5)))
