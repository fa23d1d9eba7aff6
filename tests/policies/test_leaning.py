"""How far an estimate leans towards the next shorter memory: as far as that would have explained past errors."""

import numpy as np
import pytest

from driftbandit import AdaptiveUCB
from driftbandit.core.ridge import THETA
from driftbandit.core.verbs import theta_of
from driftbandit.policies._evidence.bank import MAIN, NOISE2, Bank, new_bank
from driftbandit.policies._evidence.leaning import EXPLAINED, SQUARED, lean, weigh_gaps

MEMORIES = [4, 16, 64]


def told(truth: float, rewards: int, noise: float = 0.1, gap: float = 0.3) -> Bank:
    """A bank whose estimator 2 is wrong by this share of its gap to estimator 1, and by noise."""
    rng, bank = np.random.default_rng(0), new_bank(2, False, MEMORIES, noise)
    for _ in range(rewards):
        apart = gap * rng.standard_normal()
        bank.residual[2] = truth * apart + noise * rng.standard_normal()
        bank.residual[1] = bank.residual[2] - apart
        weigh_gaps(bank)
    return bank


@pytest.mark.parametrize("truth", [0.0, 0.3, 0.8])
def test_the_share_is_the_one_that_explains_most(truth: float) -> None:
    assert lean(told(truth, 2000), 2) == pytest.approx(truth, abs=0.05)


def test_the_share_lies_between_the_two_memories() -> None:
    assert lean(told(-0.5, 500), 2) == 0.0
    assert lean(told(3.0, 500), 2) == 1.0


def test_little_evidence_moves_it_little() -> None:
    few = told(1.0, 3, noise=1.0)
    assert 0.0 <= lean(few, 2) < 0.3
    assert few.gaps[2, SQUARED] < few.scale[NOISE2]


def test_the_shortest_memory_leans_nowhere() -> None:
    assert lean(told(1.0, 500), 0) == 0.0


def play_on(policy: AdaptiveUCB, drift: float, rounds: int) -> float:
    """Play so many rounds, in which θ turns by this angle each; how far the estimate leant on average in the second half."""
    rng, shares = np.random.default_rng(1), []
    for t in range(rounds):
        theta = np.array([np.cos(drift * t), np.sin(drift * t), 0.0, 0.0])
        arms = 0.5 * rng.uniform(-1.0, 1.0, (5, 4))
        decision = policy.select(arms if policy.blocks == 1 else np.column_stack([np.arange(5) % 2, arms[:, :2]]))
        shares.append(lean(policy.state.bank, policy.state.bank.clock[MAIN]))
        policy.update(decision, arms[decision.index] @ theta + 0.3 * rng.standard_normal())
    return float(np.mean(shares[rounds // 2 :]))


def test_a_steady_drift_makes_it_lean_and_calm_does_not() -> None:
    assert play_on(AdaptiveUCB(4), 0.01, 2000) > 5 * play_on(AdaptiveUCB(4), 0.0, 2000)


@pytest.mark.parametrize("policy", [AdaptiveUCB(4), AdaptiveUCB(4, blocks=2)])
def test_what_is_shown_is_what_is_played(policy: AdaptiveUCB) -> None:
    play_on(policy, 0.003, 300)
    bank = policy.state.bank
    bank.gaps[1:, [SQUARED, EXPLAINED]] = 1e6, 4e5
    upright = bank.vector[bank.clock[MAIN], ..., THETA, :].copy()
    policy.select([[0.0, 0.1, 0.2, 0.3]] if policy.blocks == 1 else [[0.0, 0.1, 0.2]])
    assert lean(bank, bank.clock[MAIN]) == pytest.approx(0.4, rel=1e-3)
    np.testing.assert_allclose(policy.status().theta, theta_of(policy.state.ridge), rtol=1e-12)
    np.testing.assert_array_equal(policy.estimate().theta, theta_of(policy.state.ridge))
    np.testing.assert_array_equal(bank.vector[bank.clock[MAIN], ..., THETA, :], upright)
