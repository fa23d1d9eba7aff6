"""What a chooser must refuse, whatever its policy, and remain unchanged."""

import math
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from driftbandit.checks.hired import ACTIONS, Hire, check, play, state_of, visitors
from driftbandit.checks.trial import expect
from driftbandit.contexts.chooser import Chooser


def expect_refusal(chooser: Chooser, named: str, what: str, attempt: Callable[[], object]) -> None:
    """The attempt must raise a ValueError that names the culprit, and change nothing."""
    before = state_of(chooser)
    try:
        attempt()
    except ValueError as error:
        expect(named in str(error), f"{what}: the message does not name {named}: {error}")
    else:
        raise AssertionError(f"{what} raised no ValueError")
    expect(state_of(chooser) == before, f"{what} changed the chooser")


@check
def bad_visitors_are_refused(hire: Hire) -> None:
    """An unknown level, a missing or unknown field, NaN, a wrong type: a ValueError names the field, nothing changes."""
    chooser = hire()
    play(chooser, 10)
    good = {"device": "phone", "hour": 12.0, "basket": 5.0, "returning": True, "page": "home"}
    wrong: list[tuple[str, Any]] = [
        *(("device", value) for value in ("fridge", 7, None, ["phone"], math.nan)),
        *(("hour", value) for value in (math.nan, math.inf, "noon", None, True)),
        *(("basket", value) for value in (math.nan, -math.inf, "5", None, [5.0], 1j)),
        *(("returning", value) for value in ("yes", 2, math.nan)),
        *(("page", value) for value in (None, 1.5, b"home")),
        ("colour", "red"),
    ]
    for field, value in wrong:
        visitor = {**good, "basket": 1e9, field: value}  # what is clipped is not to be counted either
        expect_refusal(chooser, field, f"{value!r} as {field}", lambda visitor=visitor: chooser.select(visitor))  # type: ignore[misc]
    for field in ("device", "hour", "basket", "page"):
        visitor = {name: value for name, value in good.items() if name != field}
        expect_refusal(chooser, field, f"no {field}", lambda visitor=visitor: chooser.select(visitor))  # type: ignore[misc]
    for odd in ("phone", 3, [good]):
        expect_refusal(chooser, "mapping", f"{odd!r} as a visitor", lambda odd=odd: chooser.select(odd))  # type: ignore[misc]


@check
def bad_actions_are_refused(hire: Hire) -> None:
    """A duplicate, an unknown action, one too many, or none left: a ValueError names the action, nothing changes."""
    chooser, visitor = hire(places=4), visitors(1)[0]
    play(chooser, 10)
    attempts: Iterable[tuple[str, str, Callable[[], object]]] = (
        ("'red'", "an action named twice", lambda: chooser.add("red")),
        ("name", "a number for a name", lambda: chooser.add(3)),  # type: ignore[arg-type]
        ("'grey'", "features that the others lack", lambda: chooser.add("grey", [1.0])),
        ("'grey'", "an unknown action removed", lambda: chooser.remove("grey")),
        ("'grey'", "an unknown action excluded", lambda: chooser.select(visitor, exclude=["grey"])),
        ("all 3", "every action excluded", lambda: chooser.select(visitor, exclude=ACTIONS)),
        ("'red'", "text excluded", lambda: chooser.select(visitor, exclude="red")),
        ("exclude", "a number excluded", lambda: chooser.select(visitor, exclude=3)),  # type: ignore[arg-type]
    )
    for named, what, attempt in attempts:
        expect_refusal(chooser, named, what, attempt)
    chooser.add("grey")
    expect_refusal(chooser, "'white'", "one action too many", lambda: chooser.add("white"))
    for name in ACTIONS:
        chooser.remove(name)
    expect_refusal(chooser, "'grey'", "the last action removed", lambda: chooser.remove("grey"))
    expect_refusal(chooser, "'red'", "a removed action excluded", lambda: chooser.select(visitor, exclude=["red"]))
    expect_refusal(chooser, "'red'", "two actions with one name", lambda: hire(["red", "red"]))


@check
def bad_rewards_are_refused(hire: Hire) -> None:
    """Rewards that are not finite, or for anything but a waiting choice of its own: a ValueError; the choice keeps waiting."""
    chooser, other, visitor = hire(), hire(), visitors(1)[0]
    play(chooser, 5)
    choice, strange = chooser.select(visitor), other.select(visitor)
    for reward in (math.nan, math.inf, None, "much", 1j):
        expect_refusal(chooser, "reward", f"a reward of {reward}", lambda reward=reward: chooser.update(choice, reward))  # type: ignore[misc]
    for odd in ("red", None, choice.decision, strange):
        named = "decision" if odd is strange else "choice"
        expect_refusal(chooser, named, f"a reward for {odd}", lambda odd=odd: chooser.update(odd, 1.0))  # type: ignore[misc]
    chooser.update(choice, 1.0)
    expect_refusal(chooser, "decision", "a second reward", lambda: chooser.update(choice, 1.0))


@check
def a_file_with_another_context_is_refused(hire: Hire) -> None:
    """A context of another version, or one that does not match the policy's columns: a ValueError says so."""
    chooser = hire()
    play(chooser, 5)
    about = chooser._about()
    short = {**about["context"], "fields": about["context"]["fields"][:-1]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "chooser.npz")
        for named, context in (("version", {**about["context"], "version": 99}), ("columns", short)):
            chooser.policy._write(path, {**about, "context": context})
            expect_refusal(chooser, named, f"a file with another {named}", lambda: Chooser.load(path))
