"""Named actions, and how an action in a context becomes an arm: with parameters of its own, shared ones, or both."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core import validate
from driftbandit.core.compile import bind
from driftbandit.core.pinned import Pinned, pin
from driftbandit.core.spread import Pattern, write_arms
from driftbandit.core.types import Floats

MODELS = ("disjoint", "shared", "hybrid")
PLAIN = np.ones(1)  # the features of an action that has none
HALF = float(np.sqrt(0.5))  # so that an arm of two parts has length at most 1


@dataclass
class Actions:
    """Names in the order of their places; a place, once taken, stays with its name.

    Parameters:
        features: each action's vector of features, all of the same size and of length at most 1; or none.
        places: the greatest number of actions, including those added later.
    """

    names: dict[str, int]  # name → place, in order
    features: dict[str, Floats] = field(default_factory=dict)
    places: int = 0
    removed: set[str] = field(default_factory=set)
    active: tuple[str, ...] = field(default=(), init=False)  # those on offer

    @classmethod
    def of(cls, actions: Sequence[str] | Mapping[str, Any], places: int | None) -> "Actions":
        if isinstance(actions, str) or not isinstance(actions, Sequence | Mapping):
            raise ValueError(f"actions must be a list of names, or a mapping from names to features, got {actions!r}")
        if not actions:
            raise ValueError("actions must name at least one action, got none")
        made = cls({}, {}, validate.whole("places", max(len(actions), 1) if places is None else places))
        for name in actions:
            made.add(name, actions[name] if isinstance(actions, Mapping) else None)
        return made

    @property
    def feature_count(self) -> int:
        return len(next(iter(self.features.values()), PLAIN))

    def add(self, name: str, features: Any = None) -> None:
        """Add a new action, or a removed one again, with what is known of it."""
        if not isinstance(name, str) or not name:
            raise ValueError(f"an action must be a non-empty string, got {name!r}: give it a name")
        if name in self.removed:
            if features is not None and not np.array_equal(features, self.features.get(name, [])):
                raise ValueError(f"action {name!r} is added again with other features: give the new one a new name")
            self.removed.discard(name)
            self._settle()
            return
        if name in self.names:
            raise ValueError(f"action {name!r} is defined twice: give each action a name of its own")
        if len(self.names) >= self.places:
            raise ValueError(
                f"no place is left for action {name!r}: all {self.places} are taken (removed actions keep theirs). Make a "
                f"chooser or an experiment that may need more actions with places = {2 * self.places}, say"
            )
        vector = self._checked(name, features)
        self.names[name] = len(self.names)
        if vector is not None:
            self.features[name] = vector
        self._settle()

    def remove(self, name: str) -> None:
        """Stop offering it; what is known of it is kept."""
        self.place(name)
        if self.active == (name,):
            raise ValueError(f"action {name!r} is the only one left: add another before you remove it")
        self.removed.add(name)
        self._settle()

    def _settle(self) -> None:
        self.active = tuple(name for name in self.names if name not in self.removed)

    def offered(self, exclude: Iterable[str]) -> tuple[str, ...]:
        """The active actions, without those excluded."""
        try:
            if isinstance(exclude, str):
                raise TypeError
            out = set(exclude)
        except TypeError:
            raise ValueError(f"exclude must be a list of actions, got {exclude!r}") from None
        for name in out:
            self.place(name)
        if len(out) == len(self.active):
            raise ValueError(f"no action is left, since all {len(self.active)} are excluded: exclude fewer")
        return tuple(name for name in self.active if name not in out) if out else self.active

    def place(self, name: str) -> int:
        if name not in self.names or name in self.removed:
            raise ValueError(f"unknown action {name!r}: the actions are {', '.join(map(repr, self.active))}")
        return self.names[name]

    def _checked(self, name: str, features: Any) -> Floats | None:
        if features is None:
            if self.features:
                raise ValueError(f"action {name!r} has no features, but the others have {self.feature_count}: give it as many")
            return None
        vector = validate.array(f"the features of action {name!r}", features, 1)
        if (self.names and len(vector) != self.feature_count) or (self.names and not self.features):
            expected = self.feature_count if self.features else "none"
            raise ValueError(
                f"action {name!r} has {len(vector)} features, but the others have {expected}: give all the same number"
            )
        if not np.linalg.norm(vector) <= 1.0 + 1e-9:
            raise ValueError(
                f"the features of action {name!r} must have length at most 1, got {np.linalg.norm(vector):g}: scale them down"
            )
        return vector


class Offer(NamedTuple):
    """Some actions, and what makes their arms from a context: a plain array of the right length, not checked."""

    names: tuple[str, ...]
    pattern: Pinned
    blank: Floats
    write: Callable[..., None]

    def arms(self, context: Floats) -> Floats:
        made = self.blank.copy()
        self.write(self.pattern.handle, context, made)
        return made


@dataclass(frozen=True)
class ArmLayout:
    """The columns of an arm: features × context for shared parameters, one block per action for parameters of its own."""

    model: str
    context: Sequence[str]  # names of the context's columns
    features: int
    places: int

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"model must be one of {', '.join(map(repr, MODELS))}, got {self.model!r}")

    @property
    def shared(self) -> int:
        """How many columns all actions share."""
        return 0 if self.model == "disjoint" else self.features * len(self.context)

    @property
    def own(self) -> int:
        """How many columns an action has to itself."""
        return 0 if self.model == "shared" else len(self.context)

    @property
    def dim(self) -> int:
        return self.shared + self.places * self.own

    def offer(self, names: tuple[str, ...], actions: Actions, in_blocks: bool) -> Offer:
        """For a policy that takes all columns, or in blocks the block's number, the shared columns and the action's own."""
        places = np.array([actions.names[name] for name in names])
        features = np.array([actions.features.get(name, PLAIN)[: self.shared] for name in names])
        first, scale = int(in_blocks), HALF if self.model == "hybrid" else 1.0
        own = first + self.shared + (0 if in_blocks else self.own) * places[: len(names) if self.own else 0]
        pattern = pin(Pattern(places[: len(names) * first].astype(np.float64), features, own, scale))
        blank = np.zeros((len(names), first + self.shared + self.own if in_blocks else self.dim))
        return Offer(names, pattern, blank, bind(write_arms, pattern, blank[0], blank))

    def used_by(self, place: int) -> list[int]:
        """The columns of an action: the shared ones, and its own."""
        start = self.shared + place * self.own
        return [*range(self.shared), *range(start, start + self.own)]

    def columns(self, names: Sequence[str]) -> list[str]:
        """A name for every column."""
        features = [""] if self.features == 1 else [f"feature {k} × " for k in range(self.features)]
        shared = [f"{feature}{column}" for feature in features for column in self.context] if self.shared else []
        taken = [*names, *(f"place {k}" for k in range(len(names), self.places))]
        return [*shared, *(f"{name}: {column}" for name in taken for column in self.context if self.own)]
