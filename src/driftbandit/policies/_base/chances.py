"""With what chance each arm is chosen: the choice made again and again from one state, with other luck each time."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftbandit.core import validate
from driftbandit.core.arms import Ball, Ellipsoid, FixedArms
from driftbandit.core.random import generator
from driftbandit.core.types import Floats
from driftbandit.policies._base.leaves import leaves
from driftbandit.policies._base.scratch import LUCK_ROUNDS

STREAM = 0xCA5E  # apart from the luck by which the policy decides
ENDS = np.array([[0.0] * 4, [1.0 - 2.0**-53] * 4])  # the least luck and the greatest: between them lie all ties


def chances(copy: Any, arms: ArrayLike | FixedArms, draws: int) -> Floats:
    """``copy``: of the policy; it is of no use afterwards."""
    draws, count = validate.whole("draws", draws), count_of(arms)
    found = np.zeros(count)
    if copy.ties_only:
        tied = np.unique(choices(copy, arms, ENDS))
        if len(tied) > 1:
            evenly = (np.arange(count) + 0.5) / count  # never further apart than the ties are, so that each is met
            tied = np.unique(choices(copy, arms, np.repeat(evenly, 4).reshape(-1, 4)))
        found[tied] = 1.0 / len(tied)
        return found
    luck = generator(copy.seed, STREAM, copy.rounds).random((draws, 4))
    np.add.at(found, choices(copy, arms, luck), 1.0)
    return found / draws


def count_of(arms: Any) -> int:
    if isinstance(arms, FixedArms):
        return len(arms.rows)
    if isinstance(arms, Ball | Ellipsoid):
        raise ValueError(f"arms must be an array or FixedArms, got {type(arms).__name__}, whose arms have no numbers")
    return len(validate.array("arms", arms, 2))


def choices(copy: Any, arms: ArrayLike | FixedArms, luck: Floats) -> NDArray[np.int64]:
    """The number of the arm chosen with each row of luck, always from the same state."""
    if isinstance(arms, FixedArms):
        copy._meet(arms)
    round, origin = copy.rounds, [(array, array.copy()) for array in leaves(copy.state).values()]
    chosen = np.empty(len(luck), np.int64)
    for k in range(len(luck)):
        page, place = divmod(k, LUCK_ROUNDS)
        if place == 0:
            part = luck[page * LUCK_ROUNDS :][:LUCK_ROUNDS]
            copy._luck[: len(part)] = part
        copy._luck_from = round - place
        chosen[k] = copy.select(arms).index
        copy.rounds = round
        for array, before in origin:
            array[...] = before
    return chosen
