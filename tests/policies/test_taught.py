"""Policies whose decisions are kept elsewhere: taught by round and arm, as bytes, with a digest."""

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftbandit import AdaptiveUCB, Category, Chooser, Context, FixedArms, Policy, RestartUCB, StaticUCB, WindowUCB
from driftbandit.policies._evidence.archive import BANK_SPREAD2, COMPARED, INFORMATION, SPREAD2, TRUST

ARMS = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
MAKERS = [lambda: StaticUCB(2), lambda: RestartUCB(2, period=7), lambda: WindowUCB(2, window=9)]


@pytest.mark.parametrize("make", MAKERS)
def test_learning_by_round_and_arm_is_learning(make: Callable[[], Policy]) -> None:
    told, taught = make(), make()
    for k in range(30):
        decision = told.select(ARMS)
        told.update(decision, math.sin(k))
        same = taught.select(ARMS)
        taught.release(same)
        taught.learn(same.round, same.arm, math.sin(k))
    assert told == taught
    assert told.digest() == taught.digest()


def test_a_released_decision_waits_no_more() -> None:
    policy = StaticUCB(2)
    decision = policy.select(ARMS)
    policy.release(decision)
    with pytest.raises(ValueError, match="still waits"):
        policy.update(decision, 1.0)


def test_what_cannot_be_learnt_changes_nothing() -> None:
    policy = StaticUCB(2)
    policy.select(ARMS)
    before = policy.digest()
    wrong: list[tuple[int, Any, float]] = [
        (1, [1.0, 0.0], 1.0),
        (-1, [1.0, 0.0], 1.0),
        (0, [1.0], 1.0),
        (0, [2.0, 0.0], 1.0),
        (0, [math.nan, 0.0], 1.0),
        (0, np.array([math.nan, 0.0]), 1.0),
        (0, [1.0, 0.0], math.inf),
    ]
    for t, arm, reward in wrong:
        with pytest.raises(ValueError, match=r"round|arm|reward"):
            policy.learn(t, arm, reward)
    assert policy.digest() == before


LEARNT_OF_TRUST = [TRUST, SPREAD2, BANK_SPREAD2, COMPARED]


def test_anothers_choice_is_no_word_on_ones_own() -> None:
    """AdaptiveUCB notes what it expects of its choice against the archive's; a reward of neither must not settle that."""
    policy = AdaptiveUCB(2)
    chance, disowned = np.random.default_rng(2), 0
    for k in range(400):
        arms = chance.uniform(-1.0, 1.0, (4, 2))
        decision = policy.select(arms)
        claimed = decision.round + 1 in policy.state.archive.rounds
        reward = float(chance.normal(arms[0, 0] * math.copysign(1.0, math.sin(k / 40.0)), 0.1))
        compared = policy.state.archive.scale.copy()
        own = decision.index == 0
        policy.learn(decision.round, arms[0], reward, own=own)
        assert decision.round + 1 not in policy.state.archive.rounds
        if claimed and not own:
            disowned += 1
            assert np.array_equal(compared[LEARNT_OF_TRUST], policy.state.archive.scale[LEARNT_OF_TRUST])
            assert policy.state.archive.scale[INFORMATION] <= compared[INFORMATION]  # it ages
    assert disowned > 0


@pytest.mark.parametrize("make", [*MAKERS, lambda: AdaptiveUCB(2)])
def test_bytes_and_copies_go_on_alike(make: Callable[[], Policy]) -> None:
    policy, arms = make(), FixedArms(ARMS)
    for k in range(25):
        policy.update(policy.select(arms), float(k % 3))
    policy.select(arms)
    others = [type(policy).from_bytes(policy.to_bytes()), copy.copy(policy), copy.deepcopy(policy)]
    for other in others:
        assert other == policy
        assert other.digest() == policy.digest()
    policy.update(policy.select(arms), 1.0)
    for other in others:
        assert other.digest() != policy.digest()
        other.update(other.select(arms), 1.0)
        assert other.digest() == policy.digest()


def test_damaged_bytes_are_refused() -> None:
    data = StaticUCB(2).to_bytes()
    for wrong in (b"", data[:-9], data.replace(b"StaticUCB", b"StatocUCB")):
        with pytest.raises(ValueError, match="as bytes"):
            StaticUCB.from_bytes(wrong)


def test_a_chooser_learns_by_name() -> None:
    def make() -> Chooser:
        return Chooser(StaticUCB, ["red", "green"], Context({"device": Category(["phone", "desktop"])}))

    told, taught = make(), make()
    for k in range(20):
        fields = {"device": "phone" if k % 2 else "desktop"}
        told.update(told.select(fields), float(k % 3))
        choice = taught.select(fields)
        taught.policy.release(choice.decision)
        taught.learn(choice.decision.round, choice.action, choice.context, float(k % 3))
    assert told.policy.digest() == taught.policy.digest()
    assert told.status().actions == taught.status().actions
    again = Chooser.from_bytes(taught.to_bytes())
    assert again.to_bytes() == taught.to_bytes()
    with pytest.raises(ValueError, match="unknown action"):
        taught.learn(0, "blue", choice.context, 1.0)
