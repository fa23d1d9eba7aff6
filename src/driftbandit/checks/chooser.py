"""What anyone may expect of a chooser, whatever its policy."""

import copy
import math
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from driftbandit.checks import refused as refused  # its checks too
from driftbandit.checks.hired import (
    ACTIONS,
    CHOOSER_CHECKS,
    FEATURES,
    VISITOR,
    Hire,
    check,
    play,
    reward_of,
    state_of,
    visitors,
)
from driftbandit.checks.trial import expect, try_all
from driftbandit.contexts.chooser import Chooser
from driftbandit.core.types import Floats
from driftbandit.policies._base.policy import Policy
from driftbandit.policies._evidence.policy import EvidencePolicy


def check_chooser(policy: Callable[..., Policy], **settings: Any) -> list[str]:
    """Run every check on a chooser with this policy; return their names, or raise CheckFailed listing all that fail.

    The arguments are those of ``Chooser``: a policy class, or a function that makes a policy, and the policy's parameters.

    >>> from driftbandit import RestartUCB
    >>> len(check_chooser(RestartUCB, period=100)) == len(CHOOSER_CHECKS)
    True
    """
    subject = f"a chooser with {getattr(policy, '__name__', repr(policy))}"
    return try_all(CHOOSER_CHECKS, subject, lambda function: function(Hire(policy, settings)))


def expect_same_future(chooser: Chooser, twin: Chooser, why: str) -> None:
    expect(play(chooser, 30, seed=9) == play(twin, 30, seed=9), why)


def by_hand(model: str, z: Floats, featured: bool) -> Floats:
    """One row per action: features ⊗ context, one-hot(action) ⊗ context, or both."""
    own = np.kron(np.eye(len(ACTIONS)), z)
    shared = np.kron(np.array(list(FEATURES.values())) if featured else np.ones((len(ACTIONS), 1)), z)
    return {"disjoint": own, "shared": shared, "hybrid": np.hstack([shared, own]) * math.sqrt(0.5)}[model]


def dense_twin(hire: Hire, chooser: Chooser) -> Policy:
    """The same policy for arms encoded by hand; where its defaults depend on blocks, with those of the chooser's."""
    policy, dim = chooser.policy, chooser.layout.dim
    twin = hire.policy(dim, **hire.settings)
    if policy.blocks > 1 and isinstance(policy, EvidencePolicy):
        twin.memories = policy.block_memories  # type: ignore[attr-defined]
        twin.state = twin._new_state()
    return twin


@check
def decides_as_its_policy_does_on_arms_made_by_hand(hire: Hire) -> None:
    """With every model, the choices are those of the same policy, with the same parameters, on arms encoded by hand."""
    for model, featured in (("disjoint", False), ("hybrid", False), ("hybrid", True), ("shared", True)):
        chooser = hire(FEATURES if featured else ACTIONS, model=model)
        twin = dense_twin(hire, chooser)
        for number, visitor in enumerate(visitors(40, seed=1)):
            choice, decision = chooser.select(visitor), twin.select(by_hand(model, VISITOR.encode(visitor), featured))
            same = choice.action == ACTIONS[decision.index or 0]
            expect(same, f"in round {number} of model {model!r} the policy itself would choose differently")
            chooser.update(choice, reward_of(choice, visitor))
            twin.update(decision, reward_of(choice, visitor))


@check
def goes_on_from_a_file_and_from_a_pickle(hire: Hire) -> None:
    """Loaded or unpickled, it continues exactly as it would have, waiting choices included, which can be pickled too."""
    chooser = hire(FEATURES, places=4)
    chooser.add("grey", [0.5, 0.5])
    play(chooser, 25)
    chooser.remove("green")
    waiting = [chooser.select(visitor) for visitor in visitors(5, seed=2)]
    with tempfile.TemporaryDirectory() as folder:
        chooser.save(Path(folder, "chooser.npz"))
        loaded = Chooser.load(Path(folder, "chooser.npz"))
    for twin, how in ((loaded, "loaded"), (pickle.loads(pickle.dumps(chooser)), "unpickled")):
        original = copy.deepcopy(chooser)
        expect(state_of(twin) == state_of(original), f"the {how} chooser is not the same")
        for choice in waiting:
            original.update(choice, 0.5)
            twin.update(pickle.loads(pickle.dumps(choice)), 0.5)
        expect_same_future(original, twin, f"the {how} chooser chose differently")
        expect(state_of(twin) == state_of(original), f"the {how} chooser learnt something different")


@check
def looking_changes_nothing(hire: Hire) -> None:
    """Looking at a chooser between two decisions changes nothing in its state."""
    chooser = hire()
    play(chooser, 25)
    visitor = visitors(1, seed=4)[0]
    choice = chooser.select(visitor)
    looks: dict[str, Callable[[], object]] = {
        "status": chooser.status,
        "explain": choice.explain,
        "opinions": lambda: chooser.opinions(VISITOR.encode(visitor)),
        "estimate": chooser.policy.estimate,
        "digest": chooser.policy.digest,
        "to_bytes": chooser.to_bytes,
        "repr": lambda: (repr(chooser), repr(choice), chooser.policy._repr_html_()),
        "history": getattr(chooser.policy, "history", dict),
    }
    for name, look in looks.items():
        before = state_of(chooser)
        look()
        expect(state_of(chooser) == before, f"{name} changed its state")


@check
def rewards_may_come_late_and_in_any_order(hire: Hire) -> None:
    """Rewards may arrive late or never, and their order changes nothing, unless the policy says so (``by_arrival``)."""
    chooser = hire()
    waiting = [(choice, reward_of(choice, visitor)) for visitor in visitors(12) for choice in [chooser.select(visitor)]]
    other = copy.deepcopy(chooser)
    for choice, reward in waiting[:10]:
        chooser.update(choice, reward)
    for k in np.random.default_rng(7).permutation(10):
        other.update(*waiting[k])
    counts = [each.status().actions["red"][:2] for each in (chooser, other)]
    expect(counts[0] == counts[1], "the order of arrival changed what was counted")
    if chooser.policy.by_arrival:
        play(other, 10)
    else:
        expect_same_future(chooser, other, "the order of arrival changed the choices")


@check
def an_excluded_action_is_never_chosen(hire: Hire) -> None:
    """An action is never chosen in a round that excludes it, however good it is."""
    chooser, rng = hire(), np.random.default_rng(3)
    for visitor in visitors(40, seed=3):
        out = [str(name) for name in rng.choice(ACTIONS, rng.integers(3), replace=False)]
        choice = chooser.select(visitor, exclude=out)
        expect(choice.action not in out, f"{choice.action!r} was chosen, though {out} were excluded")
        chooser.update(choice, reward_of(choice, visitor))
    expect(set(play(chooser, 60)) <= set(ACTIONS), "it chose an action that was never offered")


@check
def actions_come_and_go(hire: Hire) -> None:
    """An added action can be chosen. A removed one cannot, but its late rewards count and it returns with its record."""
    chooser = hire(places=4)
    play(chooser, 20)
    learnt = state_of(chooser)[:3]
    chooser.add("grey")
    late = chooser.select(visitors(1)[0], exclude=["grey", "green", "blue"])
    chooser.remove("red")
    expect("red" not in play(chooser, 30), "'red' was chosen after it was removed")
    before = chooser.status().actions["red"]
    chooser.update(late, 1.0)
    after = chooser.status().actions["red"]
    expect(after.rewarded == before.rewarded + 1 and not after.offered, "a late reward of a removed action was not counted")
    alone = chooser.select(visitors(1)[0], exclude=["green", "blue"])
    expect(alone.action == "grey", f"'grey' was added and was the only action on offer, yet {alone.action!r} was chosen")
    chooser.add("red")
    expect(chooser.status().actions["red"] == after._replace(offered=True), "'red' came back without its record")
    fresh = hire(places=4)
    play(fresh, 20)
    expect(state_of(fresh)[:3] == learnt, "the same visitors led to a different state")
