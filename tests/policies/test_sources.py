"""Noise that depends on the arm is taken neither for a change nor, where it is none, for certainty about the others."""

import math

import numpy as np
import pytest

from driftbandit import AdaptiveUCB, DetectUCB
from driftbandit.core.types import Floats
from driftbandit.policies._evidence.bank import LOUDER, NOISE2, RESTARTS
from driftbandit.policies._evidence.policy import EvidencePolicy
from driftbandit.policies._evidence.sources import noise_of_arm
from driftbandit.policies._evidence.state import noise_where_any

LOUD = 0.3
CONTEXT = 2


def arms_of(context: Floats, blocks: int) -> Floats:
    """Stocks and cash, each with the context in columns of its own."""
    if blocks > 1:
        return np.column_stack([np.arange(2.0), np.tile(context, (2, 1))])
    return np.kron(np.eye(2), context)


def play(policy: EvidencePolicy, rounds: int, gain: float, seed: int, forced: float = 0.0) -> float:
    """The second action earns ½ without any noise, the first that and the gain with much of it; how often that is chosen.

    With a chance of ``forced`` one of them is offered alone, so that both are played.
    """
    rng, stocks = np.random.default_rng(seed), 0
    for _ in range(rounds):
        arms = arms_of(np.array([1.0, rng.uniform(-1.0, 1.0)]), policy.blocks)
        only = int(rng.random() < 0.5) if rng.random() < forced else None
        decision = policy.select(arms if only is None else arms[only : only + 1])
        action = decision.index if only is None else only
        policy.update(decision, 0.5 + (action == 0) * (gain + LOUD * rng.standard_normal()))
        stocks += action == 0
    return stocks / rounds


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
def test_each_arm_has_a_noise_of_its_own(kind: type[EvidencePolicy], blocks: int) -> None:
    policy = kind(2 * CONTEXT, blocks=blocks)
    play(policy, 1000, gain=0.0, seed=1, forced=1.0)
    bank = policy.state.bank
    of_arm = []
    for arm in arms_of(np.array([1.0, 0.5]), blocks):
        bank.x[:] = arm
        of_arm.append(math.sqrt(noise_of_arm(bank)))
    assert of_arm[0] == pytest.approx(LOUD, rel=0.15)
    assert of_arm[1] < 0.3 * LOUD
    assert math.sqrt(bank.scale[NOISE2]) < 0.8 * LOUD < noise_where_any(bank) < 1.15 * LOUD


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_noise_that_all_arms_share_is_found_as_one(blocks: int) -> None:
    policy, rng = AdaptiveUCB(2 * CONTEXT, blocks=blocks), np.random.default_rng(2)
    for _ in range(1000):
        decision = policy.select(arms_of(np.array([1.0, rng.uniform(-1.0, 1.0)]), blocks))
        policy.update(decision, 0.5 + LOUD * rng.standard_normal())
    bank = policy.state.bank
    assert bank.scale[LOUDER] == pytest.approx(1.0, rel=0.05)


@pytest.mark.compiled
@pytest.mark.parametrize("blocks", [1, 2])
def test_an_arm_without_noise_does_not_make_the_other_look_changed(blocks: int) -> None:
    policies = [AdaptiveUCB(2 * CONTEXT, blocks=blocks, seed=seed) for seed in range(5)]
    for seed, policy in enumerate(policies):
        play(policy, 10_000, gain=0.0, seed=seed)
    assert sum(int(policy.state.bank.clock[RESTARTS]) for policy in policies) <= 5


@pytest.mark.compiled
@pytest.mark.parametrize("blocks", [1, 2])
def test_an_arm_without_noise_does_not_keep_the_better_one_from_being_tried(blocks: int) -> None:
    chosen = [play(AdaptiveUCB(2 * CONTEXT, blocks=blocks, seed=seed), 5000, gain=0.1, seed=seed) for seed in range(10)]
    assert min(chosen) > 0.8
