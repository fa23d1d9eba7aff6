"""Chooser: from a visitor's fields to a named action, and from its reward to what was learnt, with no arrays to handle."""

import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np

from driftbandit.contexts.actions import Actions, ArmLayout, Offer
from driftbandit.contexts.choice import ActionRecord, Choice, ChooserStatus, Opinion
from driftbandit.contexts.context import Context
from driftbandit.contexts.transformed import Transformed
from driftbandit.core import validate
from driftbandit.core.spread import Spread
from driftbandit.core.types import Floats
from driftbandit.policies._base import saved
from driftbandit.policies._base.outlook import Outlook
from driftbandit.policies._base.policy import Policy
from driftbandit.policies._base.scratch import is_plain

if TYPE_CHECKING:
    import polars as pl

FORMAT = "driftbandit chooser 1"
NOBODY: tuple[str, ...] = ()
MOST_OFFERS = 1024  # that are kept


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
        policy: a policy class, or a function that makes a policy from the number of columns.
        actions: their names, or a mapping from names to features (a vector of length at most 1 for each).
        context: how a visitor becomes numbers; without one, the actions alone are compared.
        model: "disjoint": each action has parameters of its own; "shared": parameters belong to features × context, for
            actions that have features; "hybrid", the default: both, so that a new action starts with what is common
            to all.
        places: the greatest number of actions, including those added later.
        settings: parameters of the policy.
    """

    def __init__(
        self,
        policy: Callable[..., Policy],
        actions: Sequence[str] | Mapping[str, Any],
        context: Context | Transformed | None = None,
        *,
        model: str = "hybrid",
        places: int | None = None,
        **settings: Any,
    ) -> None:
        self.context = Context({}) if context is None else context
        if not isinstance(self.context, Context | Transformed):
            raise ValueError(f"context must be a Context or Transformed, got {context!r}: declare one with Context({{...}})")
        self.actions = Actions.of(actions, places)
        if model == "shared" and not self.actions.features:
            raise ValueError(
                'model "shared" needs actions with features: give a mapping from names to features, or another model'
            )
        self.layout = ArmLayout(model, self.context.columns, self.actions.feature_count, self.actions.places)
        apart = model != "shared" and self.actions.places > 1 and not settings.get("intercept")
        if apart and getattr(policy, "in_blocks", False):  # the same choices, at the cost of one action's parameters
            settings = {"blocks": self.actions.places, "shared": self.layout.shared, **settings}
        self.policy = policy(self.layout.dim, **settings)
        if not isinstance(self.policy, Policy):
            raise ValueError(
                "a Chooser needs a policy that inherits from driftbandit.Policy; "
                f"{type(self.policy).__name__} can play studies, suites and replays"
            )
        if getattr(self.policy, "fixed_only", False):
            kind = type(self.policy).__name__
            raise ValueError(f"{kind} plays one fixed set of arms, but here arms change with the context: use another policy")
        self._in_blocks = getattr(self.policy, "blocks", 1) > 1
        self._spreads = self._in_blocks and type(self.policy).select is Policy.select  # one of a user's own expects an array
        self.out_of_range: Counter[str] = Counter()
        self._chosen: dict[str, int] = {}  # a Counter takes twice as long to count
        self._rewarded: dict[str, int] = {}
        self._total: dict[str, float] = {}
        self._notes: Counter[str] = Counter()  # of one visitor; empty between rounds
        self._offer: Offer | None = None  # the last one, which is usually the next one too
        self._offers: dict[tuple[str, ...], Offer] = {}  # those made so far

    def select(self, fields: Mapping[str, Any] | None = None, *, exclude: Iterable[str] = NOBODY) -> Choice:
        """Choose an action for a visitor; some may be excluded in this round."""
        offered = self.actions.active if exclude is NOBODY else self.actions.offered(exclude)
        notes, offer = self._notes, self._offer
        if offer is None or offer.names is not offered:
            self._offer = offer = self._offer_of(offered)
        try:
            context = self.context.encode({} if fields is None else fields, notes)
            arms: Any = Spread(offer.pattern, context) if self._spreads else offer.arms(context)
            decision = self.policy.select(arms)
        except BaseException:
            notes.clear()
            raise
        if notes:
            self.out_of_range.update(notes)
            notes.clear()
        assert decision._index is not None
        action, chosen = offered[decision._index], self._chosen
        chosen[action] = chosen.get(action, 0) + 1
        return Choice(action, decision, context, self)

    def update(self, choice: Choice, reward: float) -> None:
        """Learn the reward of a choice: once, now or much later, in any order."""
        if not isinstance(choice, Choice):
            raise ValueError(f"choice must be what select returned, got {choice!r}")
        self.policy.update(choice._decision, reward)
        self._count(choice._action, reward)

    def learn(self, round: int, action: str, context: Floats, reward: float, *, own: bool = True) -> None:
        """Like ``Policy.learn``: learn the reward of an action that was shown in an encoded context, whoever chose it."""
        if action not in self.actions.names:
            raise ValueError(f"unknown action {action!r}: the actions are {', '.join(map(repr, self.actions.names))}")
        arm = self._offer_of((action,)).arms(self._as_context(context))[0]
        self.policy.learn(round, arm, reward, own=own)
        self._count(action, reward)

    def _count(self, action: str, reward: float) -> None:
        rewarded, total = self._rewarded, self._total
        rewarded[action] = rewarded.get(action, 0) + 1
        total[action] = total.get(action, 0.0) + float(reward)

    def add(self, action: str, features: Any = None) -> None:
        """Offer a new action, or a removed one again."""
        self.actions.add(action, features)

    def remove(self, action: str) -> None:
        """Stop offering an action; rewards of its past choices are still learnt, and its record is kept."""
        self.actions.remove(action)

    def opinions(self, context: Floats, outlook: Outlook | None = None) -> list[Opinion]:
        """What the policy thinks now of every action in an encoded context, the best first.

        outlook: the policy's, to share it among several calls.
        """
        outlook = self.policy.outlook() if outlook is None else outlook
        active, names, theta = self.actions.active, self.columns, outlook.theta
        arms = self._offer_of(active).arms(self._as_context(context))
        means, widths = outlook.appraise(arms)
        columns = [list(range(self.layout.dim))] * len(active)
        if self._in_blocks:
            columns, arms = [self.layout.used_by(self.actions.names[name]) for name in active], arms[:, 1:]
        found = []
        for action, arm, at, mean, width in zip(active, arms, columns, means.tolist(), widths.tolist(), strict=True):
            used = {names[at[k]]: float(arm[k] * theta[at[k]]) for k in np.flatnonzero(arm)}
            found.append(Opinion(action, mean, width, mean + width, used))
        return sorted(found, key=lambda opinion: -opinion.score)

    def chances(
        self, fields: Mapping[str, Any] | None = None, *, exclude: Iterable[str] = NOBODY, draws: int = 1000
    ) -> dict[str, float]:
        """With what chance the next ``select`` would choose each action; changes nothing. See ``Policy.chances``."""
        offered = self.actions.offered(exclude)
        arms = self._offer_of(offered).arms(self.context.encode({} if fields is None else fields))
        return dict(zip(offered, self.policy.chances(arms, draws).tolist(), strict=True))

    @property
    def columns(self) -> list[str]:
        """The names of the policy's features."""
        return self.layout.columns(list(self.actions.names))

    def status(self) -> ChooserStatus:
        """What it has seen and believes, by name."""
        offered = set(self.actions.active)
        records = {
            name: ActionRecord(
                self._chosen.get(name, 0),
                self._rewarded.get(name, 0),
                self._total[name] / self._rewarded[name] if self._rewarded.get(name) else math.nan,
                name in offered,
            )
            for name in self.actions.names
        }
        theta = dict(zip(self.columns, self.policy.theta().tolist(), strict=True))
        own = self.policy.status() if hasattr(self.policy, "status") else None
        return ChooserStatus(records, dict(self.out_of_range), theta, own)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_offer": None, "_offers": {}}

    def save(self, path: str | Path) -> None:
        """Write one file of data from which ``load`` makes a chooser that continues exactly as this one would."""
        about = self._about()
        with self.policy._alone():
            self.policy._write(path, about)

    def to_bytes(self) -> bytes:
        """What ``save`` would write to a file."""
        return self.policy._packed(self._about())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The chooser that ``to_bytes`` wrote, which continues exactly as the original would."""
        return cls._read(io.BytesIO(data), "this chooser as bytes")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The chooser that ``save`` wrote; choices that still wait can be rewarded."""
        with open(path, "rb") as file:
            return cls._read(file, path)

    @classmethod
    def _read(cls, file: BinaryIO, path: str | Path) -> Self:
        with saved.naming(path):
            about = saved.Saved(file).header.get("about")
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise ValueError(f"{path} holds a policy without a chooser: load it with Policy.load")
        policy = Policy._read(file, path)
        with saved.naming(path):
            return cls._made(about, policy)

    @classmethod
    def _made(cls, about: dict[str, Any], policy: Policy) -> Self:
        """A chooser from the data of ``_about`` and its policy."""
        actions = about["features"] if about["features"] else about["actions"]
        context = Context.from_dict(about["context"])
        made = cls(lambda dim: policy, actions, context, model=about["model"], places=about["places"])
        if policy.dim != made.layout.dim:
            raise ValueError(f"its actions and context make {made.layout.dim} columns, but its policy has {policy.dim}")
        for name in about["removed"]:
            made.actions.remove(name)
        for name in ("out_of_range", "_chosen", "_rewarded"):
            getattr(made, name).update({str(key): int(count) for key, count in about[name].items()})
        made._total.update({str(key): float(total) for key, total in about["_total"].items()})
        return made

    def _about(self) -> dict[str, Any]:
        """Everything but the policy, as plain data."""
        if not isinstance(self.context, Context):
            raise ValueError(
                "only a declared Context can be saved: a fitted transformer is code, so pickle the chooser instead"
            )
        return {
            "format": FORMAT,
            "context": self.context.to_dict(),
            "model": self.layout.model,
            "actions": list(self.actions.names),
            "features": {name: vector.tolist() for name, vector in self.actions.features.items()},
            "places": self.actions.places,
            "removed": sorted(self.actions.removed),
            **{name: dict(getattr(self, name)) for name in ("out_of_range", "_chosen", "_rewarded", "_total")},
        }

    def history(self) -> "pl.DataFrame":
        """The policy's own history, with θ̂ and its widths under the names of the columns (AdaptiveUCB and DetectUCB)."""
        if not hasattr(self.policy, "history"):
            raise ValueError(f"{type(self.policy).__name__} keeps no history; AdaptiveUCB and DetectUCB do")
        notes: pl.DataFrame = self.policy.history()
        names = {f"{part}_{k}": f"{part} of {name}" for k, name in enumerate(self.columns) for part in ("theta", "width")}
        return notes.rename({old: new for old, new in names.items() if old in notes.columns})

    def _offer_of(self, offered: tuple[str, ...]) -> Offer:
        offer = self._offers.get(offered)
        if offer is None:
            if len(self._offers) >= MOST_OFFERS:
                self._offers.clear()
            self._offers[offered] = offer = self.layout.offer(offered, self.actions, self._in_blocks)
        return offer

    def _as_context(self, context: Floats) -> Floats:
        """A context from outside, checked."""
        plain = context if isinstance(context, np.ndarray) and is_plain(context) else validate.array("context", context, 1)
        if plain.shape != (len(self.layout.context),):
            raise ValueError(f"context must have {len(self.layout.context)} entries, got shape {plain.shape}")
        return plain
