"""The shop for a loop of your own: visitors as dictionaries of named fields, and the reward of showing a banner."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from driftbandit.contexts.context import Context
from driftbandit.contexts.fields import Category, Cyclic, Flag, Number
from driftbandit.core import validate
from driftbandit.shop.storefront import (
    BANNERS,
    COUNTRIES,
    DEVICES,
    MOST_ITEMS,
    VISITORS_PER_DAY,
    Traffic,
    Visitors,
    draw_visitors,
    open_shop,
    seasons,
)

VISITOR = Context(
    {
        "country": Category(list(COUNTRIES), other=False),
        "device": Category(list(DEVICES), other=False),
        "hour": Cyclic(24),
        "basket": Number(0, MOST_ITEMS, log=True),
        "returning": Flag(),
    }
)


class Visit(NamedTuple):
    """One visitor: the fields are what a policy may see; the rest is hidden from it."""

    number: int  # from 0 on
    fields: dict[str, Any]
    chances: dict[str, float]  # of a click, by banner
    luck: float  # a banner is clicked if this is below its chance: the same for every policy that plays this shop
    waits: tuple[int, int]  # how many visitors come before no click is known, and before a click is

    def reward(self, banner: str) -> float:
        """1 for a click, 0 for none."""
        if banner not in self.chances:
            raise ValueError(f"unknown banner {banner!r}: the banners are {', '.join(map(repr, self.chances))}")
        return float(self.luck < self.chances[banner])

    def told(self, banner: str) -> int:
        """The number of the visit before which the reward of this banner is known: the next, unless clicks come late."""
        return self.number + 1 + self.waits[int(self.reward(banner))]


@dataclass(frozen=True)
class Shop:
    """A simulated shop: the seed determines who comes, what they click and when seasons change.

    >>> from driftbandit import AdaptiveUCB, Chooser
    >>> shop = Shop(seed=1)
    >>> chooser = Chooser(AdaptiveUCB, actions=shop.banners, context=shop.context)
    >>> for visit in shop.visits(10):
    ...     choice = chooser.select(visit.fields)
    ...     chooser.update(choice, visit.reward(choice.action))
    >>> visit.fields
    {'country': 'FR', 'device': 'desktop', 'hour': 0.216, 'basket': 2, 'returning': True}

    Parameters:
        late: whether a click is known only some visitors later (at most 50), and no click, as a 0, after 500: until then a
            click could still come.
    """

    seed: int = 0
    late: bool = False
    banners: ClassVar[tuple[str, ...]] = BANNERS
    context: ClassVar[Context] = VISITOR

    def __post_init__(self) -> None:
        validate.settle(self, seed=validate.whole("seed", self.seed, least=0), late=validate.flag("late", self.late))

    def visits(self, count: int) -> Iterator[Visit]:
        """The first ``count`` visitors in order of arrival; a smaller count gives the beginning of a larger one."""
        count = validate.whole("count", count)
        return meet(draw_visitors(self.seed, count), open_shop(self.seed, count, self.late))

    def changes(self, count: int) -> list[int]:
        """The visits among the first ``count`` at which tastes change. No policy is told."""
        return [start for start, _ in seasons(self.seed, validate.whole("count", count))[1:]]


def meet(visitors: Visitors, traffic: Traffic) -> Iterator[Visit]:
    """One by one, as plain Python values."""
    hours = 24 * visitors.moment / VISITORS_PER_DAY
    countries, devices = list(COUNTRIES), list(DEVICES)
    for number, chances in enumerate(traffic.chances):
        fields = {
            "country": countries[visitors.country[number]],
            "device": devices[visitors.device[number]],
            "hour": float(hours[number]),
            "basket": int(visitors.items[number]),
            "returning": bool(visitors.returning[number]),
        }
        no_click, click = traffic.wait[number].tolist()
        yield Visit(
            number, fields, dict(zip(BANNERS, chances.tolist(), strict=True)), float(traffic.luck[number]), (no_click, click)
        )
