"""Chooser: from a visitor's fields to the name of an action, and back to what was learnt, without arrays by hand."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from driftbandit.contexts.actions import Actions, ArmLayout
from driftbandit.contexts.context import Context
from driftbandit.core.types import Floats
from driftbandit.policies._base.decision import Decision
from driftbandit.policies._base.policy import Policy


class Opinion(NamedTuple):
    """What is thought of one action in one context."""

    action: str
    estimate: float  # of its reward
    width: float  # how far that may be off, as the policy is optimistic
    score: float  # their sum, by which actions are compared
    parts: dict[str, float]  # what each column contributes to the estimate


class Choice(NamedTuple):
    """An action for a visitor, which waits for its reward."""

    action: str
    decision: Decision
    context: Floats
    chooser: "Chooser"

    def explain(self) -> list[Opinion]:
        """What the policy thinks now of every action in this context, the best first."""
        return self.chooser.opinions(self.context)

    def __repr__(self) -> str:
        return f"Choice({self.action!r}, round {self.decision.round})"


class ActionRecord(NamedTuple):
    """How an action has fared."""

    chosen: int
    rewarded: int  # of these, how many rewards have come
    mean: float  # of those rewards
    offered: bool  # whether it can be chosen now


class ChooserStatus(NamedTuple):
    """What a chooser has seen and believes."""

    actions: dict[str, ActionRecord]
    out_of_range: dict[str, int]  # by field: how many values were clipped, or of a level not declared
    estimate: dict[str, float]  # θ̂ by the name of its column
    policy: Any  # the policy's own status, if it has one


class Chooser:
    """Choose among named actions for a visitor with named fields.

    >>> from driftbandit import AdaptiveUCB, Category, Chooser, Context
    >>> shop = Chooser(AdaptiveUCB, actions=["red", "green"], context=Context({"device": Category(["phone", "desktop"])}))
    >>> for visit in range(400):
    ...     device = "phone" if visit % 2 else "desktop"
    ...     choice = shop.select({"device": device})
    ...     shop.update(choice, (choice.action == "red") == (device == "phone"))
    >>> shop.select({"device": "phone"}).action, shop.select({"device": "desktop"}).action
    ('red', 'green')

    Parameters:
        policy: a class of policy, or a function that makes one from the number of columns.
        actions: their names, or a mapping from names to features of their own (numbers, at most of length 1 together).
        context: how a visitor becomes numbers; without one, the actions alone are compared.
        model: "disjoint": each action has parameters of its own; "shared": the parameters are of features × context, for
            actions that have features; "hybrid", the default: both, so that an action that is new starts with what
            is common to all.
        places: how many actions there may be in all, those added later included.
        settings: parameters of the policy.
    """

    def __init__(
        self,
        policy: Callable[..., Policy],
        actions: Sequence[str] | Mapping[str, Any],
        context: Context | None = None,
        *,
        model: str = "hybrid",
        places: int | None = None,
        **settings: Any,
    ) -> None:
        self.context = Context({}) if context is None else context
        self.actions = Actions.of(actions, places)
        if model == "shared" and not self.actions.features:
            raise ValueError(
                'model "shared" needs actions with features: give a mapping from names to features, or another model'
            )
        self.layout = ArmLayout(model, self.context.columns, self.actions.feature_count, self.actions.places)
        self.policy = policy(self.layout.dim, **settings)
        self.out_of_range: Counter[str] = Counter()
        self._chosen: Counter[str] = Counter()
        self._rewarded: Counter[str] = Counter()
        self._total: Counter[str] = Counter()

    def select(self, fields: Mapping[str, Any] | None = None, *, exclude: Iterable[str] = ()) -> Choice:
        """Choose an action for a visitor; some may be excluded in this round."""
        offered = self._offered(exclude)
        notes: Counter[str] = Counter()
        context = self.context.encode({} if fields is None else fields, notes=notes)
        decision = self.policy.select(self._arms(offered, context))
        assert decision.index is not None
        action = offered[decision.index]
        self.out_of_range.update(notes)
        self._chosen[action] += 1
        return Choice(action, decision, context, self)

    def update(self, choice: Choice, reward: float) -> None:
        """Learn the reward of a choice: once, now or much later, in any order."""
        if not isinstance(choice, Choice):
            raise ValueError(f"choice must be what select returned, got {choice!r}")
        self.policy.update(choice.decision, reward)
        self._rewarded[choice.action] += 1
        self._total[choice.action] += reward  # type: ignore[assignment]  # a Counter takes any number

    def add(self, action: str, features: Any = None) -> None:
        """Offer a new action, or one again that was removed."""
        self.actions.add(action, features)

    def remove(self, action: str) -> None:
        """Offer an action no more; rewards of its past choices are still learnt, and its record stays."""
        self.actions.remove(action)

    def opinions(self, context: Floats) -> list[Opinion]:
        """What the policy thinks now of every action in an encoded context, the best first."""
        estimate, names = self.policy.estimate(), self.columns
        found = []
        for action, arm in zip(self.actions.active, self._arms(self.actions.active, context), strict=True):
            parts = arm * estimate.theta
            mean, width = float(parts.sum()), float(estimate.radius * np.sqrt(max(arm @ estimate.metric @ arm, 0.0)))
            used = {names[k]: float(parts[k]) for k in np.flatnonzero(arm)}
            found.append(Opinion(action, mean, width, mean + width, used))
        return sorted(found, key=lambda opinion: -opinion.score)

    @property
    def columns(self) -> list[str]:
        """The names of the policy's features."""
        return self.layout.columns(self.actions.names)

    def status(self) -> ChooserStatus:
        """What it has seen and believes, by name."""
        offered = set(self.actions.active)
        records = {
            name: ActionRecord(
                self._chosen[name],
                self._rewarded[name],
                self._total[name] / self._rewarded[name] if self._rewarded[name] else float("nan"),
                name in offered,
            )
            for name in self.actions.names
        }
        theta = dict(zip(self.columns, self.policy.estimate().theta.tolist(), strict=True))
        own = self.policy.status() if hasattr(self.policy, "status") else None
        return ChooserStatus(records, dict(self.out_of_range), theta, own)

    def _offered(self, exclude: Iterable[str]) -> list[str]:
        active = self.actions.active
        if isinstance(exclude, str):
            raise ValueError(f"exclude must be a list of actions, got the text {exclude!r}")
        out = set(exclude)
        for name in out:
            self.actions.place(name)
        offered = [name for name in active if name not in out]
        if not offered:
            raise ValueError(f"no action is left: all {len(active)} are excluded")
        return offered

    def _arms(self, offered: Sequence[str], context: Floats) -> Floats:
        arms = np.zeros((len(offered), self.layout.dim))
        for row, name in zip(arms, offered, strict=True):
            self.layout.fill(row, self.actions.names.index(name), self.actions.features_of(name), context)
        return arms
