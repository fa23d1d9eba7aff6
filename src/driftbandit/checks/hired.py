"""Choosers to be checked: their actions, their visitors, and their state."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftbandit.contexts.choice import Choice
from driftbandit.contexts.chooser import Chooser
from driftbandit.contexts.context import Context
from driftbandit.contexts.fields import Category, Cyclic, Flag, Hashed, Number
from driftbandit.policies._base.leaves import leaves
from driftbandit.policies._base.policy import Policy

VISITOR = Context(
    {
        "device": Category(["phone", "desktop"], other=False),
        "hour": Cyclic(24),
        "basket": Number(0, 100, log=True),
        "returning": Flag(default=False),
        "page": Hashed(2),
    },
)
FEATURES = {"red": [1.0, 0.0], "green": [0.0, 1.0], "blue": [0.6, 0.8]}
ACTIONS = list(FEATURES)


@dataclass(frozen=True)
class Hire:
    """Makes fresh choosers with the policy under check."""

    policy: Callable[..., Policy]
    settings: dict[str, Any]

    def __call__(self, actions: Any = ACTIONS, *, model: str = "hybrid", places: int | None = None) -> Chooser:
        return Chooser(self.policy, actions, VISITOR, model=model, places=places, **self.settings)


Check = Callable[[Hire], None]

CHOOSER_CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    CHOOSER_CHECKS[function.__name__] = function
    return function


def visitors(count: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [
        {
            "device": ("phone", "desktop")[rng.integers(2)],
            "hour": float(rng.uniform(0, 24)),
            "basket": float(rng.uniform(0, 120)),  # sometimes out of range
            "page": f"page {rng.integers(9)}",
            **({"returning": True} if rng.random() < 0.5 else {}),
        }
        for _ in range(count)
    ]


def reward_of(choice: Choice, visitor: dict[str, Any]) -> float:
    """Phones prefer red, desktops the others; the hour serves as noise."""
    return float((choice.action == "red") == (visitor["device"] == "phone")) + 0.3 * math.sin(1e3 * visitor["hour"])


def play(chooser: Chooser, count: int, seed: int = 0) -> list[str]:
    chosen = []
    for visitor in visitors(count, seed):
        choice = chooser.select(visitor)
        chooser.update(choice, reward_of(choice, visitor))
        chosen.append(choice.action)
    return chosen


def state_of(chooser: Chooser) -> tuple[Any, ...]:
    """Everything that a chooser has learnt and counted, to the last bit."""
    policy, actions = chooser.policy, chooser.actions
    arrays = {name: array.tobytes() for name, array in leaves(policy.state).items()}
    counted = [dict(counts) for counts in (chooser.out_of_range, chooser._chosen, chooser._rewarded, chooser._total)]
    return arrays, policy.rounds, list(policy._waiting), counted, dict(actions.names), set(actions.removed), actions.active
