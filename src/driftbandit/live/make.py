"""Policies and choosers from plain data, and back: what a client sends, and what the journal keeps of a new experiment."""

from typing import Any

import msgspec

from driftbandit.contexts.chooser import Chooser
from driftbandit.policies._base.policy import Policy


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
    raise NotImplementedError
