"""Problems with named fields: how many actions there are, what is known about a visitor, and what visitors like."""

import random
from typing import Any, NamedTuple

Visitor = dict[str, Any]
LEVELS: dict[str, list[str]] = {
    "country": ["DE", "FR", "IT", "ES", "NL"],
    "device": ["phone", "tablet", "desktop"],
    "channel": ["search", "mail", "social", "direct", "partner", "advert"],
}
MORE: dict[str, list[str]] = {
    **LEVELS,
    "country": [f"country-{k}" for k in range(20)],
    "weekday": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    "page": ["home", "search", "product", "basket", "help", "account", "offers", "brand"],
}


class Counter(NamedTuple):
    """A problem: how many actions, which categories; hour, basket and returning are known in all."""

    actions: int
    columns: int  # that a declared context turns a visitor into
    levels: dict[str, list[str]]

    @property
    def names(self) -> list[str]:
        return [f"action-{k}" for k in range(self.actions)]


COUNTERS = {"6 × 20": Counter(6, 20, LEVELS), "100 × 50": Counter(100, 50, MORE)}


def visitors(counter: Counter, count: int) -> list[Visitor]:
    rng = random.Random(2)
    return [
        {
            **{name: rng.choice(levels) for name, levels in counter.levels.items()},
            "hour": rng.uniform(0, 24),
            "basket": rng.uniform(0, 100),
            "returning": rng.random() < 0.4,
        }
        for _ in range(count)
    ]


def reward_of(action: str, visitor: Visitor) -> float:
    """Phones like the first action, others the second."""
    return float(action == ("action-0" if visitor["device"] == "phone" else "action-1"))
