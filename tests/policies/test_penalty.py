"""λ is learnt, and V follows it: an estimator that began with too small a λ would believe too much of what it sees for ever."""

import numpy as np
import pytest

from common import rounds
from driftbandit import AdaptiveUCB, DetectUCB
from driftbandit.core.blocks import whole_metric
from driftbandit.core.ridge import METRIC
from driftbandit.core.types import Floats
from driftbandit.policies._evidence.bank import LEARNT, PENALTY, RESTARTS, SETTLE
from driftbandit.policies._evidence.policy import EvidencePolicy
from driftbandit.policies._evidence.upkeep import RISEN, upkeep

ACTIONS, WIDTH = 5, 4
BASE, SPREAD = 0.05, 0.01  # of clicks: their mean, and how much the weights of a context's columns differ


def clicked(policy: EvidencePolicy, total: int, seed: int, rate: float = BASE) -> tuple[Floats, float]:
    """Clicks at about 5 %: each action has weights of its own, which stay. Σxxᵀ of what was played, and λ once it is learnt."""
    rng = np.random.default_rng(seed)
    theta = SPREAD * rng.standard_normal((ACTIONS, WIDTH)) * (rate > 0.0)
    theta[:, 0] += rate
    played = np.zeros((ACTIONS * WIDTH, ACTIONS * WIDTH))
    first = 0.0
    for t in range(total):
        context = np.array([1.0, *rng.choice([-1.0, 1.0], WIDTH - 1)])
        rows = np.column_stack([np.arange(ACTIONS), np.tile(context, (ACTIONS, 1))])
        arms = np.kron(np.eye(ACTIONS), context)
        decision = policy.select(rows if policy.blocks > 1 else arms)
        policy.update(decision, float(rng.random() < theta[decision.index] @ context))
        played += np.outer(arms[decision.index], arms[decision.index])
        if t + 1 == SETTLE * len(played):
            first = float(policy.state.bank.scale[PENALTY])
    return played, first


def metric_of_endless(policy: EvidencePolicy) -> Floats:
    bank, k = policy.state.bank, len(policy.state.bank.keep) - 1
    if policy.blocks == 1:
        metric: Floats = bank.matrix[k, METRIC]
    else:
        metric = whole_metric(bank.matrix[k, :, METRIC], bank.mixing[k], bank.shared_matrix[k, METRIC]) / bank.left[k]
    return metric


@pytest.mark.parametrize("blocks", [1, ACTIONS])
@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
def test_v_has_what_was_played_and_the_penalty_as_learnt(kind: type[EvidencePolicy], blocks: int) -> None:
    policy = kind(ACTIONS * WIDTH, blocks=blocks)
    played, first = clicked(policy, rounds(3000, 600), seed=1)
    bank = policy.state.bank
    assert bank.clock[RESTARTS] == 0
    built, penalty = bank.built[len(bank.keep) - 1], bank.scale[PENALTY]
    assert built > 1.5 * first
    assert built >= min(penalty, bank.clock[LEARNT] / ACTIONS) / RISEN**1.01
    np.testing.assert_allclose(
        metric_of_endless(policy), np.linalg.inv(played + built * np.eye(len(played))), rtol=1e-7, atol=1e-12
    )


def test_forgetting_and_what_was_learnt_restore_as_much_as_they_should() -> None:
    built = np.array([1.0])
    assert upkeep(built, 0, 1.2, 9.0, 1.0, 10) == (0, 0.0)  # not risen by enough
    axes, weight = upkeep(built, 0, 1.3, 9.0, 1.0, 10)
    assert axes == 10
    assert weight == pytest.approx(0.3)
    assert built[0] == 1.3
    axes, weight = upkeep(built, 0, 1.0, 9.0, 0.9, 10)  # forgetting alone: towards λ as it is now
    assert axes * weight / 10 == pytest.approx(0.1)
    assert built[0] == pytest.approx(0.9 * 1.3 + 0.1)
    axes, weight = upkeep(built, 0, 2.0, 9.0, 0.9, 10)
    assert weight == pytest.approx(2.0 - 0.9 * 1.27)


@pytest.mark.compiled
@pytest.mark.parametrize("blocks", [1, ACTIONS])
def test_a_long_silence_does_not_hide_theta(blocks: int) -> None:
    """Where θ̂ is about 0, λ grows beyond all bounds: V must not follow, or θ̂ stays at 0 and λ is right for ever."""
    policy = AdaptiveUCB(ACTIONS * WIDTH, blocks=blocks)
    clicked(policy, 2000, seed=1, rate=0.0)
    clicked(policy, 5000, seed=1)
    bank = policy.state.bank
    size = np.linalg.norm(policy.status().theta)
    assert bank.built[len(bank.keep) - 1] <= 7000 / (ACTIONS * WIDTH) * WIDTH
    assert size > 0.3 * np.sqrt(ACTIONS) * BASE
