"""The paper's mathematics as functions, cited by number."""

from driftbandit.theory.advice import Advice, advise
from driftbandit.theory.bounds import (
    bob_regret_bound,
    confidence_radius,
    drift_bound,
    drift_term,
    epoch_regret_bound,
    estimate_error_bound,
    meta_regret_bound,
    minimax_rate,
    potential,
    potential_bound,
    regret_bound,
    self_normalised_bound,
)
from driftbandit.theory.impossibility import Q, hard_features, sigma_lower_bound, sigma_max, theorem_four_arms
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
    "Advice",
    "Q",
    "advise",
    "bob_regret_bound",
    "confidence_radius",
    "drift_bound",
    "drift_term",
    "early_period",
    "episode_length",
    "episode_reward_bound",
    "epoch_regret_bound",
    "estimate_error_bound",
    "hard_features",
    "meta_regret_bound",
    "minimax_rate",
    "optimal_discount",
    "optimal_period",
    "optimal_window",
    "period_pool",
    "potential",
    "potential_bound",
    "regret_bound",
    "self_normalised_bound",
    "sigma_lower_bound",
    "sigma_max",
    "theorem_four_arms",
]
