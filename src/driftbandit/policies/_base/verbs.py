"""The verbs of every policy's state: policies differ only in how they implement these."""

from functools import partial
from typing import Any

from driftbandit.core.compile import Verb
from driftbandit.core.types import Floats


@Verb
def begin(state: Any, t: int, luck: Floats) -> float:
    """Bring the statistics to round t, which is about to be decided, and return the radius β_t."""
    raise NotImplementedError


@Verb
def learn(state: Any, s: int, x: Floats, r: float) -> None:
    """Take in the reward r of arm x, decided in round s: now, late, in any order."""


@Verb
def retune(state: Any, t: int, memory: int) -> None:
    """Start afresh in round t with another memory (a period, a window)."""


@partial(Verb, optional=True)
def disown(state: Any, s: int) -> None:
    """Another's choice was played in round s: forget what was expected of the policy's own."""
