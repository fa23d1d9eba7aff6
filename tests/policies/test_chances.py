"""The chance of each arm: exact where only ties are left to chance, else beside the choices of copies with other seeds."""

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftbandit import (
    AdaptiveUCB,
    Ball,
    BanditOverBandit,
    Chooser,
    CusumUCB,
    DetectionAugmentedUCB,
    DiscountedTS,
    FixedArms,
    LightWeightUCB,
    Master,
    OracleRestartUCB,
    Policy,
    RestartUCB,
    StaticUCB,
    WeightUCB,
    WindowUCB,
)

ARMS = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-0.6, 0.8]])
TIES_ONLY: list[Callable[[], Policy]] = [
    lambda: StaticUCB(2),
    lambda: RestartUCB(2, period=20),
    lambda: OracleRestartUCB(2, change_points=[20]),
    lambda: WindowUCB(2, window=20),
    lambda: WeightUCB(2, discount=0.95),
    lambda: LightWeightUCB(2, discount=0.95),
    lambda: CusumUCB(2, threshold=5.0, noise=0.5),
    lambda: DetectionAugmentedUCB(2, horizon=100, noise=0.5),
]
DRAWING: list[Callable[[], Policy]] = [
    lambda: AdaptiveUCB(2),
    lambda: DiscountedTS(2, discount=0.95, noise=0.5),
    lambda: Master(2, horizon=100, noise=0.5),
    lambda: BanditOverBandit(2, horizon=1000, episode=40, pool=[1, 40]),
]


def taught(policy: Policy, rounds: int = 40) -> Policy:
    """Fixed arms, since one of them takes no others."""
    chance, arms = np.random.default_rng(5), FixedArms(ARMS)
    for _ in range(rounds):
        decision = policy.select(arms)
        policy.update(decision, float(chance.normal(decision.arm[0], 0.5)))
    return policy


def choice_with_seed(policy: Policy, arms: Any, seed: int) -> int:
    """What a policy in this state would choose, had its seed been another."""
    other = copy.copy(policy)
    other.seed = seed
    index = other.select(arms).index
    assert index is not None
    return index


def shares(policy: Policy, arms: Any, seeds: int, count: int) -> np.ndarray[Any, Any]:
    found = [choice_with_seed(policy, arms, 1000 + seed) for seed in range(seeds)]
    return np.bincount(found, minlength=count) / seeds


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_equal_arms_share_evenly(count: int) -> None:
    arms = np.array([[0.6, 0.8]] * count)
    assert StaticUCB(2).chances(arms).tolist() == [1.0 / count] * count
    assert StaticUCB(2).chances(FixedArms(arms)).tolist() == [1.0 / count] * count


def test_only_the_best_share() -> None:
    """Of two arms of full length and two shorter ones, before anything is learnt."""
    arms = np.array([[0.1, 0.0], [1.0, 0.0], [0.0, 0.2], [0.0, -1.0]])
    assert StaticUCB(2).chances(arms).tolist() == [0.0, 0.5, 0.0, 0.5]


@pytest.mark.parametrize("make", TIES_ONLY)
@pytest.mark.parametrize("rounds", [0, 40])
def test_where_only_ties_are_left_to_chance(make: Callable[[], Policy], rounds: int) -> None:
    policy, arms = taught(make(), rounds), FixedArms(ARMS)
    found = policy.chances(arms)
    seen = shares(policy, arms, 60, len(ARMS))
    assert found.sum() == 1.0
    assert (seen[found == 0.0] == 0.0).all()
    assert (seen[found > 0.0] > 0.0).all()
    assert len(set(found[found > 0.0].tolist())) == 1


@pytest.mark.parametrize("make", DRAWING)
def test_where_a_policy_draws(make: Callable[[], Policy]) -> None:
    policy, arms = taught(make()), FixedArms(ARMS)
    found, seen = policy.chances(arms, 600), shares(policy, arms, 300, len(ARMS))
    deviation = np.sqrt(np.maximum(seen * (1.0 - seen), 0.01) * (1.0 / 300 + 1.0 / 600))
    assert (np.abs(found - seen) < 4.0 * deviation).all()


def test_two_arms_and_a_normal_draw() -> None:
    """⟨x − y, θ̃⟩ is normal with variance a²(x − y)ᵀV⁻¹ṼV⁻¹(x − y), so that x has the chance Φ(mean/deviation)."""
    policy, told = (
        DiscountedTS(2, discount=0.8, noise=0.5, ridge=2.0),
        [((1.0, 0.0), 0.9), ((0.0, 1.0), 0.2), ((1.0, 0.0), 0.4)],
    )
    for arm, reward in told:
        policy.learn(policy.select([arm]).round, arm, reward)
    weights = [0.8**age for age in (2, 1, 0)]
    v, squared, b = 2.0 * np.eye(2), 2.0 * np.eye(2), np.zeros(2)
    for weight, (arm, reward) in zip(weights, told, strict=True):
        v += weight * np.outer(arm, arm)
        squared += weight**2 * np.outer(arm, arm)
        b += weight * reward * np.array(arm)
    gap, inverse = np.array([1.0, -1.0]), np.linalg.inv(v)
    z = gap @ inverse @ b / (0.5 * math.sqrt(gap @ inverse @ squared @ inverse @ gap))
    expected, draws = 0.5 * (1.0 + math.erf(z / math.sqrt(2.0))), 4000
    assert 0.6 < expected < 0.95
    found = policy.chances([[1.0, 0.0], [0.0, 1.0]], draws)[0]
    assert abs(found - expected) < 4.0 * math.sqrt(expected * (1.0 - expected) / draws)


@pytest.mark.parametrize("make", [*TIES_ONLY, *DRAWING])
def test_asking_changes_nothing_and_the_answer_stays(make: Callable[[], Policy]) -> None:
    policy, arms = taught(make(), 20), FixedArms(ARMS)
    before, twin = policy.digest(), copy.copy(policy)
    assert (policy.chances(arms, 50) == policy.chances(arms, 50)).all()
    assert policy.digest() == before
    assert policy == twin
    assert policy.select(arms).index == twin.select(arms).index


def test_more_draws_than_luck_is_drawn_at_a_time() -> None:
    policy = DiscountedTS(2, discount=0.9, noise=0.5)
    assert abs(policy.chances(ARMS[[0, 2]], 3000)[0] - 0.5) < 4.0 * math.sqrt(0.25 / 3000)


def test_what_has_no_numbers_or_no_sense_is_refused() -> None:
    policy = DiscountedTS(2, discount=0.9)
    with pytest.raises(ValueError, match="arms must be an array or FixedArms, got Ball"):
        policy.chances(Ball())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="draws"):
        policy.chances(ARMS, 0)
    with pytest.raises(ValueError, match=r"shape \(n, 2\)"):
        policy.chances([[1.0]])


@pytest.mark.parametrize("kind", [StaticUCB, AdaptiveUCB])
def test_a_chooser_names_them(kind: Callable[..., Policy]) -> None:
    shop = Chooser(kind, ["red", "green", "blue"])
    assert shop.chances(exclude=["red"], draws=400) == pytest.approx({"green": 0.5, "blue": 0.5}, abs=0.1)
    for _ in range(30):
        choice = shop.select()
        shop.update(choice, float(choice.action == "blue"))
    found = shop.chances(draws=100)
    assert max(found, key=lambda name: found[name]) == "blue"
    assert sum(found.values()) == pytest.approx(1.0)
