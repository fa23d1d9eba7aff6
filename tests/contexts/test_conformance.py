"""A chooser with every policy keeps its promises, and the checks notice one that does not."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from common import KINDS, LONG, every_policy
from driftbandit import DetectionAugmentedUCB, Policy, StaticUCB
from driftbandit.checks import CheckFailed, check_chooser
from driftbandit.checks.hired import CHOOSER_CHECKS
from driftbandit.contexts.chooser import Chooser
from driftbandit.contexts.context import Context


def maker(kind: str) -> Callable[[int], Policy]:
    example = every_policy(2)[kind]
    return lambda dim: type(example)(**{**example._given, "dim": dim})


@pytest.mark.compiled  # without the compiler it would take minutes
@pytest.mark.parametrize("kind", KINDS)
def test_conformance_of_a_chooser(kind: str) -> None:
    assert check_chooser(maker(kind)) == list(CHOOSER_CHECKS)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(name, marks=LONG) if name.endswith("weight") or name == "window" else name
        for name, policy in every_policy(2).items()
        if policy.in_blocks and "intercept" not in name
    ],
)
def test_conformance_of_a_chooser_in_blocks(kind: str) -> None:
    """Of a class, which says whether it plays blocks; the same class on arms made by hand has none."""
    example = every_policy(2)[kind]
    settings = {name: value for name, value in example._given.items() if name != "dim"}
    assert Chooser(type(example), ["red", "green"], **settings).policy.blocks == 2
    assert check_chooser(type(example), **settings) == list(CHOOSER_CHECKS)


def test_settings_are_passed_on() -> None:
    assert check_chooser(StaticUCB, noise=0.1, seed=3) == list(CHOOSER_CHECKS)


def test_a_policy_for_fixed_arms_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="DetectionAugmentedUCB plays one fixed set of arms"):
        Chooser(DetectionAugmentedUCB, ["red", "green"], horizon=100, noise=0.1)


def failures() -> dict[str, str]:
    with pytest.raises(CheckFailed) as failed:
        check_chooser(StaticUCB, noise=0.1)
    heading, *lines = str(failed.value).splitlines()
    assert heading == f"a chooser with StaticUCB fails {len(lines)} of {len(CHOOSER_CHECKS)} checks"
    return dict(line.split(": ", 1) for line in lines)


def hasty(chooser: Chooser, fields: Any = None, *, exclude: Iterable[str] = ()) -> Any:
    chooser._chosen["red"] += 1
    return select(chooser, fields, exclude=exclude)


def deaf(chooser: Chooser, fields: Any = None, *, exclude: Iterable[str] = ()) -> Any:
    return select(chooser, fields)


def shuffled(chooser: Chooser, offered: tuple[str, ...]) -> Any:
    return offer_of(chooser, offered[::-1])._replace(names=offered)


def forgetful(chooser: Chooser, choice: Any, reward: float) -> None:
    if choice.action in chooser.actions.active:
        update(chooser, choice, reward)


def lenient(context: Context, fields: Any, notes: Any = None) -> Any:
    if isinstance(fields, dict) and isinstance(fields.get("hour"), float) and np.isnan(fields["hour"]):
        fields = {**fields, "hour": 0.0}
    return encode(context, fields, notes)


def half_written(chooser: Chooser) -> dict[str, Any]:
    return {**getstate(chooser), "_rewarded": type(chooser._rewarded)()}


select, update, offer_of, encode, getstate = (
    Chooser.select,
    Chooser.update,
    Chooser._offer_of,
    Context.encode,
    Chooser.__getstate__,
)


@pytest.mark.parametrize(
    ("owner", "method", "broken", "noticed"),
    [
        (Chooser, "select", hasty, ["bad_visitors_are_refused", "bad_actions_are_refused"]),
        (Chooser, "select", deaf, ["bad_actions_are_refused", "an_excluded_action_is_never_chosen", "actions_come_and_go"]),
        (Chooser, "_offer_of", shuffled, ["decides_as_its_policy_does_on_arms_made_by_hand"]),
        (Chooser, "update", forgetful, ["bad_rewards_are_refused", "actions_come_and_go"]),
        (Context, "encode", lenient, ["bad_visitors_are_refused"]),
        (Chooser, "__getstate__", half_written, ["goes_on_from_a_file_and_from_a_pickle"]),
    ],
)
def test_the_checks_notice(
    owner: type, method: str, broken: Callable[..., Any], noticed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, method, broken)
    assert set(noticed) <= failures().keys()
