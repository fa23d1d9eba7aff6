"""A choice among many fresh arms, in three steps.

Only the first and the last depend on the kind of state, so that pruning is compiled once for all policies, and not at all for
small sets.
"""

from collections.abc import Callable
from typing import Any

from driftbandit.core.compile import bind
from driftbandit.core.pinned import Pinned
from driftbandit.core.pruning import choose
from driftbandit.core.ridge import METRIC, THETA
from driftbandit.core.types import Floats
from driftbandit.policies._base.entry import LINE, SQUARE, Desk, open_rows, think_again


def decide_many(pinned: Pinned) -> Callable[..., int]:
    """A function that does what ``decide_fresh`` does, for this desk."""
    desk: Desk = pinned.value
    begin_with = bind(open_rows, pinned, 0, 0, SQUARE)
    choose_one = bind(choose, LINE, SQUARE, 1.0, SQUARE, SQUARE, 1.0)
    confirm = bind(think_again, pinned, 0, 0)
    theta, metric = desk.state.ridge.vector[THETA], desk.state.ridge.matrix[METRIC]

    def decide(handle: Any, t: int, place: int, rows: Floats, x: Floats) -> int:
        beta = begin_with(handle, t, place, rows)
        if beta == -1.0:
            return -1
        arm = confirm(handle, choose_one(theta, metric, beta, desk.columns, desk.score, desk.luck[place, 0]), place)
        x[:] = rows[arm]
        return arm

    return decide
