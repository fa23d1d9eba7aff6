"""The players of the shop, and the loop that runs them: our policies through ``Chooser``, VowpalWabbit from the same fields."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from driftbandit.contexts.chooser import Chooser
from driftbandit.contexts.values import nearest
from driftbandit.core.types import Ints
from driftbandit.policies._base.policy import Policy
from driftbandit.policies.adaptive import AdaptiveUCB
from driftbandit.policies.detect import DetectUCB
from driftbandit.policies.discounted_ts import DiscountedTS
from driftbandit.policies.restart import StaticUCB
from driftbandit.shop.visits import Shop
from driftbandit.shop.vowpal import INTERACTIONS, Showing, VowpalWabbit, installed

Progress = Callable[[int], None]  # called with the number of decisions just made
STEP = 500  # decisions between two such calls
MEMORY = 10_000  # decisions: about as long as a short season


class Keeper(Protocol):
    """A ``Chooser``, or anything with the same two methods."""

    def select(self, fields: Mapping[str, Any]) -> Any: ...  # a choice with ``action``, the banner
    def update(self, choice: Any, reward: float) -> None: ...


@dataclass(frozen=True)
class Ours:
    """One of our policies, and what it is told."""

    kind: type[Policy]
    told: str = "nothing"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def keeper(self, seed: int) -> Keeper:
        return Chooser(self.kind, Shop.banners, Shop.context, seed=seed, **self.settings)


class Shown(NamedTuple):
    action: str
    showing: Showing


class FromFields:
    """VowpalWabbit, with the numbers that our policies see."""

    def __init__(self, options: str, seed: int, interactions: str = INTERACTIONS) -> None:
        self.player = VowpalWabbit(Shop.banners, Shop.context.columns, options, seed, interactions)

    def select(self, fields: Mapping[str, Any]) -> Shown:
        showing = self.player.select(Shop.context.encode(fields))
        return Shown(Shop.banners[showing.index], showing)

    def update(self, choice: Shown, reward: float) -> None:
        self.player.update(choice.showing, reward)


@dataclass(frozen=True)
class Theirs:
    told: str  # VowpalWabbit's options
    interactions: str = INTERACTIONS

    def keeper(self, seed: int) -> Keeper:
        return FromFields(self.told, seed, self.interactions)


KEEPERS: dict[str, Ours | Theirs] = {
    "AdaptiveUCB": Ours(AdaptiveUCB),
    "DetectUCB": Ours(DetectUCB),
    "StaticUCB": Ours(StaticUCB, "width 0.1", {"width": 0.1, "noise": 0.5}),
    "DiscountedTS": Ours(
        DiscountedTS, "noise 0.25, width 0.3, memory 10,000", {"discount": 1 - 1 / MEMORY, "noise": 0.25, "width": 0.3}
    ),
    "VowpalWabbit": Theirs("--epsilon 0.05"),
    "VowpalWabbit-squarecb": Theirs("--squarecb --power_t 0"),
}


def chosen_keepers(names: Iterable[str] | None = None) -> tuple[list[str], list[str]]:
    """The players with these names that can play, and those that cannot because VowpalWabbit is not installed."""
    wanted = list(KEEPERS if names is None else dict.fromkeys(names))
    for name in wanted:
        if name not in KEEPERS:
            raise ValueError(f"--policies: unknown player {name!r}; {nearest(name, KEEPERS)}")
    absent = [name for name in wanted if isinstance(KEEPERS[name], Theirs) and not installed()]
    return [name for name in wanted if name not in absent], absent


class Kept(NamedTuple):
    """What a player chose, and how long it took."""

    chosen: Ints  # (T,): the banners shown, by their place
    seconds: float  # of the processor


def keep(keeper: Keeper, shop: Shop, decisions: int, progress: Progress | None = None) -> Kept:
    """Show a banner to each visitor; every reward is told as soon as it is known."""
    chosen = np.empty(decisions, np.int64)
    waiting: dict[int, list[tuple[Any, float]]] = {}  # by the visit before which they are told
    before = time.thread_time()
    for visit in shop.visits(decisions):
        for choice, reward in waiting.pop(visit.number, ()):
            keeper.update(choice, reward)
        choice = keeper.select(visit.fields)
        chosen[visit.number] = shop.banners.index(choice.action)
        waiting.setdefault(visit.told(choice.action), []).append((choice, visit.reward(choice.action)))
        if progress and (visit.number + 1) % STEP == 0:
            progress(STEP)
    return Kept(chosen, time.thread_time() - before)
