"""The shop itself: visitors, banners, and how likely each is to be clicked. A seed determines all of it; no policy is in it.

Dimensions: T decisions (visitors, in the order in which they come), B banners, C columns of context.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.core.random import generator
from driftbandit.core.types import Floats, Ints

BANNERS = ("sale", "new", "gifts", "bestsellers", "outdoors", "delivery")
COUNTRIES = {"DE": 0.40, "FR": 0.25, "IT": 0.15, "ES": 0.12, "NL": 0.08}  # shares of the visitors
DEVICES = {"phone": 0.55, "desktop": 0.35, "tablet": 0.10}
RETURNING = 0.35
ITEMS, MOST_ITEMS = 2.0, 20  # in the basket: on average, and the most that are distinguished
VISITORS_PER_DAY = 1000
SEASON = 10_000, 40_000  # decisions: the shortest and the longest

COLUMNS = (  # the first country and the first device are in the constant
    *("constant", *list(COUNTRIES)[1:], *list(DEVICES)[1:]),
    *("hour, sine", "hour, cosine", "basket", "returning"),
)
DIM = len(BANNERS) * len(COLUMNS)
LONGEST = 6**0.5  # the constant, a country, a device, an hour, a full basket, a returning visitor: each at most 1

BASE = -3.8  # the log odds of a click, before anything else
LIKING = 0.3  # how much visitors differ in clicking at all …
TASTE = 0.3  # … and in what they click: standard deviations of a column's weight
STAYS = 0.6  # the probability that a banner's weight survives a change of season

VISITORS, SEASONS, CLICKS, WAITS = range(4)  # streams of chance
SOON, TIMEOUT = 50, 500  # decisions: if rewards are late, a click is told within the first, no click after the second


class Visitors(NamedTuple):
    """What can be known about visitors, one entry per visitor."""

    country: Ints  # a place among COUNTRIES
    device: Ints
    moment: Ints  # of VISITORS_PER_DAY in a day
    items: Floats  # in the basket
    returning: NDArray[np.bool]

    def columns(self) -> Floats:
        """(T, C): the columns that the probabilities of a click depend on."""
        angle = 2 * np.pi * self.moment / VISITORS_PER_DAY
        return np.column_stack(
            [
                np.ones(len(self.items)),
                *(self.country == level for level in range(1, len(COUNTRIES))),
                *(self.device == level for level in range(1, len(DEVICES))),
                *(np.sin(angle), np.cos(angle), np.log1p(self.items) / np.log1p(MOST_ITEMS), self.returning),
            ]
        )


class Traffic(NamedTuple):
    """What happens in a shop, as a compiled loop reads it."""

    contexts: Floats  # (T, C), of length at most 1
    chances: Floats  # (T, B): of a click
    luck: Floats  # (T,): a banner is clicked if this is below its chance, so all players have the same luck
    wait: Ints  # (T, 2): decisions until no click is told, and until a click is


@lru_cache(maxsize=2)
def open_shop(seed: int, decisions: int, late: bool = False) -> Traffic:
    """The traffic of this seed; a shorter one is the beginning of a longer one."""
    visitors = draw_visitors(seed, decisions).columns()
    chances = np.empty((decisions, len(BANNERS)))
    chance = generator(seed, SEASONS)
    liking = LIKING * chance.standard_normal(len(COLUMNS))
    taste = TASTE * chance.standard_normal((len(BANNERS), len(COLUMNS)))
    for start, stop in seasons(seed, decisions):
        chances[start:stop] = 1 / (1 + np.exp(-BASE - visitors[start:stop] @ (liking + taste).T))
        fresh = TASTE * chance.standard_normal(taste.shape)
        taste = np.where(chance.random(taste.shape) < STAYS, taste, fresh)
    wait = np.zeros((decisions, 2), np.int64)
    if late:
        wait[:, 0], wait[:, 1] = TIMEOUT, generator(seed, WAITS).integers(0, SOON, decisions, endpoint=True)
    return Traffic(visitors / LONGEST, chances, generator(seed, CLICKS).random(decisions), wait)


def draw_visitors(seed: int, decisions: int) -> Visitors:
    u = generator(seed, VISITORS).random((decisions, 4))
    items = np.floor(np.log1p(-u[:, 2]) / np.log(ITEMS / (1 + ITEMS)))  # geometric, from 0 on
    return Visitors(
        np.searchsorted(np.cumsum(list(COUNTRIES.values()))[:-1], u[:, 0], side="right"),
        np.searchsorted(np.cumsum(list(DEVICES.values()))[:-1], u[:, 1], side="right"),
        np.arange(decisions) % VISITORS_PER_DAY,
        np.minimum(items, MOST_ITEMS),
        u[:, 3] < RETURNING,
    )


def seasons(seed: int, decisions: int) -> list[tuple[int, int]]:
    """The first decision of each season, and that of the next."""
    chance, starts = generator(seed, SEASONS, 1), [0]
    while starts[-1] < decisions:
        starts.append(starts[-1] + int(chance.integers(*SEASON, endpoint=True)))
    return list(zip(starts, [*starts[1:-1], decisions], strict=False))


def share(shop: Traffic, chosen: Ints) -> float:
    """The expected share of the clicks between random choice and an oracle that knows every probability."""
    by_chance, oracle = shop.chances.mean(axis=1).sum(), shop.chances.max(axis=1).sum()
    got = np.take_along_axis(shop.chances, chosen[:, None], axis=1).sum()
    return float((got - by_chance) / (oracle - by_chance))
