"""Policies and choosers from plain data, and back: what a client sends, and what the journal keeps of a new experiment."""

import io
import json
from dataclasses import fields
from typing import Any

import msgspec

from driftbandit.contexts.chooser import Chooser
from driftbandit.contexts.context import Context
from driftbandit.live.errors import Invalid
from driftbandit.live.fold.choosing import ChooserPlayer
from driftbandit.live.fold.players import Player, PolicyPlayer
from driftbandit.policies import every
from driftbandit.policies._base import saved
from driftbandit.policies._base.policy import Policy, same

DECLARED = ("context", "model", "actions", "features", "places")  # of a Chooser, apart from what it has seen since
MOST_DIM = 1000


class Spec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A policy as plain data; with ``actions``, a Chooser.

    Parameters:
        policy: its class, such as "AdaptiveUCB".
        dim: the number of features; a Chooser finds it out.
        parameters: the policy's others.
        actions: names, or a mapping from names to features of their own.
        context: the fields of a visitor, as ``Context.to_dict`` gives them.
        model, places: as of a Chooser.
    """

    policy: str = "AdaptiveUCB"
    dim: int | None = None
    parameters: dict[str, Any] = {}
    actions: list[str] | dict[str, list[float]] | None = None
    context: dict[str, Any] | None = None
    model: str = "hybrid"
    places: int | None = None


def make(spec: Spec) -> Policy | Chooser:
    """Raises Invalid."""
    kinds = every()
    if spec.policy not in kinds:
        raise Invalid(f"unknown policy kind {spec.policy!r}: one of {', '.join(sorted(kinds))}", "policy")
    kind = kinds[spec.policy]
    try:
        if spec.actions is None:
            if spec.context is not None:
                raise Invalid("a context needs actions: name them", "actions")
            if spec.dim is None:
                raise Invalid("dim, the number of features, must be given, or actions", "dim")
            check_dim(spec.dim)
            return kind(spec.dim, **spec.parameters)
        if spec.dim is not None:
            raise Invalid("dim follows from actions and context: leave it out", "dim")
        context = None if spec.context is None else declared(spec.context)
        return Chooser(checking(kind), spec.actions, context, model=spec.model, places=spec.places, **spec.parameters)
    except (ValueError, TypeError) as error:
        raise error if isinstance(error, Invalid) else Invalid(str(error), "parameters") from None


def declared(context: dict[str, Any]) -> Context:
    try:
        return Context.from_dict(context)
    except (ValueError, TypeError) as error:
        raise Invalid(str(error), "context") from None


def checking(kind: Any) -> Any:
    """The kind, but for one size that it refuses to be made with."""

    def made(dim: int, **parameters: Any) -> Any:
        check_dim(dim)
        return kind(dim, **parameters)

    made.in_blocks = kind.in_blocks  # type: ignore[attr-defined]  # which a Chooser asks before it makes one
    return made


def check_dim(dim: int) -> None:
    """Before anything of that size is allocated."""
    if isinstance(dim, bool) or not isinstance(dim, int) or not 1 <= dim <= MOST_DIM:
        raise Invalid(f"dim must be a whole number from 1 to {MOST_DIM}, got {dim!r}", "dim")


def described(learner: Policy | Chooser) -> str:
    """What it was made as, as text: equal for equals, whatever they have learnt."""
    policy, about = parts(learner)
    chooser = None if about is None else {name: about[name] for name in DECLARED}
    defaults = {each.name: each.default for each in fields(policy)}
    given = {name: value for name, value in policy._given.items() if not same(value, defaults[name])}  # 1, where 1.0 is meant
    return json.dumps([type(policy).__name__, given, chooser], sort_keys=True)


def packed(learner: Policy | Chooser) -> bytes:
    """For the journal: how to make it if it is fresh, all of it if it has decided already."""
    policy, about = parts(learner)
    if policy.rounds:
        return learner.to_bytes()
    return json.dumps({"policy": type(policy).__name__, "given": policy._given, "about": about}).encode()


def unpacked(data: bytes) -> Policy | Chooser:
    if not data.startswith(b"{"):  # a zip archive, as a saved policy is
        return from_bytes(data)
    told = json.loads(data)
    kind = Policy._kind("the journal", told["policy"])
    policy = kind(**told["given"])
    return policy if told["about"] is None else Chooser._made(told["about"], policy)


def from_bytes(data: bytes) -> Policy | Chooser:
    with saved.naming("what the journal keeps of a policy"):
        about = saved.Saved(io.BytesIO(data)).header.get("about")
    return Policy.from_bytes(data) if about is None else Chooser.from_bytes(data)


def player_of(learner: Policy | Chooser) -> Player:
    return ChooserPlayer(learner) if isinstance(learner, Chooser) else PolicyPlayer(learner)


def parts(learner: Policy | Chooser) -> tuple[Policy, dict[str, Any] | None]:
    if isinstance(learner, Chooser):
        return learner.policy, learner._about()
    if isinstance(learner, Policy):
        return learner, None
    raise Invalid(f"policy must be a policy or a Chooser, got {type(learner).__name__}", "policy")
