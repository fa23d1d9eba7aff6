"""What a player is: the contract between a policy and what runs it, be it ``play``, a study, a replay or a check.

A player is any object with two methods. A ``Policy`` is one; a class of ten lines may be another.

``select(arms)`` decides a round. ``arms`` is an (n, dim) array, read-only; or ``FixedArms``, which can be used as one, where
they are the same in every round; or a ``Ball`` or an ``Ellipsoid``. It returns

- the number of an arm, from 0 to n − 1 (−1, ``True`` and 1.0 are refused); or
- an object with the arm itself, ``arm``, and optionally its number, ``index``, which takes precedence.

Anything else, including a bare vector, is an error that names player, round and value. For a ball only the second form works.

``update(decision, reward)`` gets back the same object that ``select`` returned: at most once, immediately or many rounds later,
in any order. A bare number does not say which round it belongs to: if arms change and rewards are late, return an object.

Each replicate has its own player, made by ``spawn(replicate)``, or by a deep copy if there is no such method. So what a player
learns, and its random generator, must be in the object. ``np.random.random()``, or a generator that belongs to a module or a
class, is one stream for all copies: whichever draws first changes what the others get. A deep copy has the same random numbers
as its original: without ``spawn`` all replicates draw the same.

A study makes a player from its class (``kind = "module:Class"``), with what the constructor asks for by name: ``dim``, which
it must take; ``noise``, ``horizon``, ``theta_norm`` and ``change_points`` of the world; ``seed``, the replicate's number; and
any key of its table. A class with ``remembers = ("period", int)`` can be told a ``memory`` in rounds, as ours can.
"""

import copy
from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from driftbandit.core.arms import FixedArms
from driftbandit.core.types import Floats
from driftbandit.policies._base import leaves
from driftbandit.policies._base.entry import SLACK
from driftbandit.policies._base.policy import Policy

if TYPE_CHECKING:
    from driftbandit.worlds.world import World


class Player(Protocol):
    """Anything that can play: ``select`` returns an arm's number or an object with ``arm``; ``update`` gets that back."""

    def select(self, arms: Any) -> Any: ...
    def update(self, decision: Any, reward: float) -> None: ...


Maker = Callable[["World", int], Player]  # for policies that depend on the world or the replicate


def is_player(candidate: object) -> bool:
    return all(callable(getattr(candidate, method, None)) for method in ("select", "update"))


def fresh(player: Any, replicate: int) -> Any:
    """A player for this replicate; the one passed in stays unchanged."""
    return player.spawn(replicate) if hasattr(player, "spawn") else copy.deepcopy(player)


def state_bytes(player: Player) -> int:
    """The size of a policy's state in bytes; 0 for a player without one."""
    return leaves.state_bytes(player.state) if isinstance(player, Policy) else 0


def index_of(decision: Any, offered: Floats, player: Player, t: int) -> int:
    """Which of the arms offered in round t a decision means: by its number if it has one, else by its arm."""
    n, index = len(offered), decision if isinstance(decision, Integral) else getattr(decision, "index", None)
    if isinstance(index, Integral):
        if not isinstance(index, bool) and 0 <= int(index) < n:
            return int(index)
    elif (arm := arm_of(decision)) is not None and arm.shape == offered.shape[1:]:
        for same in np.flatnonzero((offered == arm).all(axis=1)):
            return int(same)
    raise refusal(player, t, decision, f"one of the {n} offered, as a number from 0 to {n - 1} or as an object's `arm`")


def chosen_arm(decision: Any, arms: Any, dim: int, player: Player, t: int) -> Floats:
    """The arm that a decision means, if it was offered in round t."""
    if isinstance(arms, FixedArms | np.ndarray):
        return np.asarray(arms[index_of(decision, np.asarray(arms), player, t)])
    arm = arm_of(decision)
    if arm is None or arm.shape != (dim,) or not np.linalg.norm(arm) <= arms.longest * SLACK:
        raise refusal(player, t, decision, f"one of {arms!r}, as {dim} numbers in an object's `arm`")
    return arm


def arm_of(decision: Any) -> Floats | None:
    try:
        return np.array(decision.arm, np.float64)
    except (AttributeError, TypeError, ValueError):
        return None


def refusal(player: Player, t: int, decision: Any, wanted: str) -> ValueError:
    return ValueError(f"{type(player).__name__}.select must return an arm: {wanted}; in round {t} it returned {decision!r}")
