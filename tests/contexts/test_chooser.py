"""Chooser: the same decisions as the policy on arms made by hand, under names; actions that come and go; clear errors."""

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from common import rounds
from driftbandit import AdaptiveUCB, DiscountedTS, Policy, RestartUCB, StaticUCB
from driftbandit.contexts.actions import ArmLayout
from driftbandit.contexts.chooser import Chooser
from driftbandit.contexts.context import Context
from driftbandit.contexts.fields import Category, Number
from forgetful import Habit

VISITOR = Context({"device": Category(["phone", "desktop"], other=False), "basket": Number(0, 10)})
FEATURES = {"red": [1.0, 0.0], "green": [0.0, 1.0], "blue": [0.6, 0.8]}


def visitors(count: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    return [{"device": str(rng.choice(["phone", "desktop"])), "basket": float(rng.uniform(0, 10))} for _ in range(count)]


def by_hand(model: str, names: list[str], z: Any, features: dict[str, list[float]]) -> Any:
    rows = []
    for place, name in enumerate(names):
        own = np.kron(np.eye(len(names))[place], z)
        shared = np.kron(features.get(name, [1.0]), z)
        rows.append({"disjoint": own, "shared": shared, "hybrid": np.concatenate([shared, own]) / math.sqrt(2)}[model])
    return np.array(rows)


@pytest.mark.parametrize("model", ["disjoint", "shared", "hybrid"])
@pytest.mark.parametrize("featured", [False, True])
def test_it_decides_as_the_policy_does_on_arms_made_by_hand(model: str, featured: bool) -> None:
    if model == "shared" and not featured:
        pytest.skip("shared parameters need features")
    actions: Any = FEATURES if featured else list(FEATURES)
    chooser = Chooser(RestartUCB, actions, VISITOR, model=model, period=50, noise=0.1)
    twin = RestartUCB(chooser.layout.dim, period=50, noise=0.1)
    for n, visitor in enumerate(visitors(rounds(200, 60))):
        z = VISITOR.encode(visitor)
        choice, decision = chooser.select(visitor), twin.select(by_hand(model, list(FEATURES), z, FEATURES if featured else {}))
        assert choice.action == list(FEATURES)[decision.index or 0]
        reward = math.sin(n) + (choice.action == "red")
        chooser.update(choice, reward)
        twin.update(decision, reward)
    assert np.allclose(twin.estimate().theta, chooser.policy.estimate().theta, rtol=0, atol=1e-12)


@pytest.mark.parametrize("policy", [StaticUCB, AdaptiveUCB])
def test_it_learns_who_likes_what(policy: type[Policy]) -> None:
    chooser = Chooser(policy, ["red", "green"], Context({"device": Category(["phone", "desktop"])}))
    for n in range(300):
        device = "phone" if n % 2 else "desktop"
        choice = chooser.select({"device": device})
        chooser.update(choice, (choice.action == "red") == (device == "phone"))
    assert chooser.select({"device": "phone"}).action == "red"
    assert chooser.select({"device": "desktop"}).action == "green"
    status = chooser.status()
    assert status.actions["red"].chosen == status.actions["red"].rewarded + 1
    assert status.estimate["red: device=phone"] > status.estimate["red: device=desktop"]


def test_a_player_that_is_no_policy_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"inherits from driftbandit\.Policy; Habit can play studies, suites and replays"):
        Chooser(Habit, ["red", "green"])  # type: ignore[arg-type]


def test_an_explanation_adds_up_and_the_best_comes_first() -> None:
    chooser = Chooser(RestartUCB, ["red", "green", "blue"], VISITOR, period=1000, noise=0.1)
    for visitor in visitors(50):
        chooser.update(chooser.select(visitor), 0.5)
    choice = chooser.select({"device": "phone", "basket": 3.0})
    opinions = choice.explain()
    assert opinions[0].action == choice.action
    assert {opinion.action for opinion in opinions} == {"red", "green", "blue"}
    for opinion in opinions:
        assert opinion.estimate == pytest.approx(sum(opinion.parts.values()))
        assert opinion.score == pytest.approx(opinion.estimate + opinion.width)
        assert f"{opinion.action}: device=phone" in opinion.parts
        assert not any("desktop" in part for part in opinion.parts)


def test_actions_come_and_go() -> None:
    chooser = Chooser(StaticUCB, ["red", "green"], VISITOR, places=3, noise=0.1)
    visitor = {"device": "phone", "basket": 1.0}
    for _ in range(100):
        choice = chooser.select(visitor)
        chooser.update(choice, choice.action == "green")
    chooser.add("blue")
    assert chooser.select(visitor).action == "blue"  # of which nothing is known but what all have in common
    with pytest.raises(ValueError, match="no place is left for action 'grey': all 3 are taken"):
        chooser.add("grey")
    late = chooser.select(visitor, exclude=["red", "blue"])
    assert late.action == "green"
    chooser.remove("green")
    assert chooser.select(visitor, exclude=["blue"]).action == "red"
    chooser.update(late, 1)  # its rewards are still learnt
    assert not chooser.status().actions["green"].offered
    chooser.add("green")
    assert chooser.select(visitor, exclude=["blue"]).action == "green"  # with what is known of it


def test_an_action_comes_back_as_it_was() -> None:
    chooser = Chooser(StaticUCB, FEATURES, VISITOR, noise=0.1)
    chooser.remove("blue")
    for features in ([0.8, 0.6], [1.0], "blue"):
        with pytest.raises(ValueError, match="'blue' is added again with other features"):
            chooser.add("blue", features)
    assert chooser.actions.active == ("red", "green")
    chooser.add("blue", FEATURES["blue"])
    assert chooser.actions.active == tuple(FEATURES)


def test_a_choice_is_a_value_that_cannot_be_changed() -> None:
    first, second = (Chooser(StaticUCB, ["red"], VISITOR, seed=1).select(visitors(1)[0]) for _ in range(2))
    assert first == second == pickle.loads(pickle.dumps(first))
    assert len({first, second}) == 1
    assert first != "red"
    assert repr(first).startswith("Choice(action='red', decision=Decision(round=0, index=0")
    with pytest.raises(AttributeError):
        first.action = "green"  # type: ignore[misc]


def test_mistakes_are_named_and_change_nothing() -> None:
    chooser = Chooser(StaticUCB, ["red", "green"], VISITOR, noise=0.1)
    choice = chooser.select({"device": "phone", "basket": 1.0})
    before = pickle.dumps(chooser)
    visitor = {"device": "phone", "basket": 1.0}
    for call, message in (
        (lambda: chooser.select({"device": "watch", "basket": 1.0}), "device"),
        (lambda: chooser.select({"device": "phone"}), "basket"),
        (lambda: chooser.select(visitor, exclude=["red", "green"]), "no action is left, since all 2 are excluded"),
        (lambda: chooser.select(visitor, exclude=["blue"]), "unknown action 'blue': the actions are 'red', 'green'"),
        (lambda: chooser.select(visitor, exclude="red"), "must be a list of actions"),
        (lambda: chooser.update(choice, math.nan), "reward"),
        (lambda: chooser.update("red", 1.0), "choice must be what select returned"),  # type: ignore[arg-type]
        (lambda: chooser.learn(0, "red", choice.context[:2], 1.0), r"context must have 4 entries, got shape \(2,\)"),
        (lambda: chooser.opinions(np.full(4, np.nan, np.float32)), "context must be finite"),
        (lambda: chooser.add("red"), "action 'red' is defined twice"),
        (lambda: chooser.remove("blue"), "unknown action 'blue'"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert pickle.dumps(chooser) == before
    for actions, message in (
        ([], "at least one action"),
        ("red", "must be a list of names"),
        (["red", "red"], "defined twice"),
        ([1], "must be a non-empty string, got 1"),
        ({"red": [1.0], "green": [0.5, 0.5]}, "'green' has 2 features, but the others have 1"),
        ({"red": [2.0, 0.0]}, "length at most 1, got 2"),
    ):
        with pytest.raises(ValueError, match=message):
            Chooser(StaticUCB, actions, VISITOR)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="context must be a Context or Transformed, got"):
        Chooser(StaticUCB, ["red"], {"device": 3})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs actions with features"):
        Chooser(StaticUCB, ["red"], VISITOR, model="shared")
    with pytest.raises(ValueError, match="model must be one of 'disjoint', 'shared', 'hybrid', got 'both'"):
        Chooser(StaticUCB, ["red"], VISITOR, model="both")


@pytest.mark.parametrize("make", [list, np.float32, lambda context: np.repeat(context, 2)[::2]])
def test_an_encoded_context_may_be_any_array(make: Any) -> None:
    chooser, twin = (Chooser(StaticUCB, ["red", "green"], VISITOR, noise=0.1) for _ in range(2))
    context = np.array([0.5, 0.0, 0.5, 0.25])  # exact in float32
    for each, given in ((chooser, make(context)), (twin, context)):
        each.select({"device": "phone", "basket": 1.0})
        each.learn(0, "green", given, 1.0)
    assert chooser.policy.digest() == twin.policy.digest()
    assert chooser.opinions(make(context)) == twin.opinions(context)


@pytest.mark.parametrize("model", ["disjoint", "hybrid"])
def test_every_column_has_a_name_of_its_own(model: str) -> None:
    layout = ArmLayout(model, VISITOR.columns, 1, 3)
    names = layout.columns(["red", "green"])
    assert len(names) == len(set(names)) == layout.dim


def test_without_a_context_the_actions_alone_are_compared() -> None:
    chooser = Chooser(DiscountedTS, ["a", "b"], discount=0.99, noise=0.1)
    for _ in range(100):
        choice = chooser.select()
        chooser.update(choice, choice.action == "b")
    assert chooser.status().actions["b"].chosen > 80


@pytest.mark.parametrize("policy", [StaticUCB, AdaptiveUCB])
def test_a_saved_chooser_goes_on_exactly(policy: type[Policy], tmp_path: Path) -> None:
    chooser = Chooser(policy, FEATURES, VISITOR, places=4)
    waiting = [chooser.select(visitor) for visitor in visitors(30)]
    for n, choice in enumerate(waiting[:20]):
        chooser.update(choice, math.sin(n))
    chooser.add("grey", [0.5, 0.5])
    chooser.remove("red")
    chooser.save(tmp_path / "shop.npz")
    again = Chooser.load(tmp_path / "shop.npz")
    assert repr(again.status().actions) == repr(chooser.status().actions)
    assert again.columns == chooser.columns
    for visitor, late in zip(visitors(40)[30:], waiting[20:], strict=True):
        one, other = chooser.select(visitor), again.select(visitor)
        assert one.action == other.action != "red"
        chooser.update(late, 0.5)
        again.update(pickle.loads(pickle.dumps(late)), 0.5)
    assert np.array_equal(chooser.policy.estimate().theta, again.policy.estimate().theta)
    chooser.policy.save(tmp_path / "policy.npz")
    with pytest.raises(ValueError, match="holds a policy without a chooser"):
        Chooser.load(tmp_path / "policy.npz")
    with pytest.raises(ValueError, match="no longer knows its chooser"):
        pickle.loads(pickle.dumps(waiting[0])).explain()


def test_history_is_told_by_name() -> None:
    chooser = Chooser(AdaptiveUCB, ["red", "green"], VISITOR)
    for visitor in visitors(20):
        chooser.update(chooser.select(visitor), 1.0)
    assert {"theta of red: basket", "width of constant"} <= set(chooser.history().columns)
    with pytest.raises(ValueError, match="StaticUCB keeps no history"):
        Chooser(StaticUCB, ["red"]).history()
