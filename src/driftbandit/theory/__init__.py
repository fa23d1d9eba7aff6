"""The paper's mathematics as functions, cited by number."""

from driftbandit.theory.tuning import (
    early_period,
    episode_length,
    episode_reward_bound,
    optimal_discount,
    optimal_period,
    optimal_window,
    period_pool,
)

__all__ = [
    "early_period",
    "episode_length",
    "episode_reward_bound",
    "optimal_discount",
    "optimal_period",
    "optimal_window",
    "period_pool",
]
