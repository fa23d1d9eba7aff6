"""A choice among many arms, in three steps.

Only the first and the last depend on the kind of state, so that pruning is compiled once for all policies, and not at all for
small sets.
"""

from collections.abc import Callable
from typing import Any

from driftbandit.core.compile import bind
from driftbandit.core.pinned import Pinned, pin
from driftbandit.core.pruning import choose, new_score
from driftbandit.core.ridge import METRIC, THETA
from driftbandit.core.types import Floats
from driftbandit.policies._base.entry import LINE, SQUARE, Desk, open_kept, open_rows, think_again


def decide_many(pinned: Pinned) -> Callable[..., int]:
    """A function that does what ``decide_fresh`` does, for this desk."""
    begin_with, settle_on = bind(open_rows, pinned, 0, 0, SQUARE), chooser(pinned)

    def decide(handle: Any, t: int, place: int, rows: Floats, x: Floats) -> int:
        beta, novelty = begin_with(handle, t, place, rows)
        if beta == -1.0:
            return -1
        arm = settle_on(beta, novelty, place)
        x[:] = rows[arm]
        return arm

    return decide


def decide_many_kept(desk: Desk, columns: Floats) -> Callable[..., int]:
    """A function that does what ``decide_kept`` does, for these arms: on a desk of their own, beside that for fresh arms."""
    pinned = pin(desk._replace(columns=columns, score=new_score(*columns.shape)))
    begin_round, settle_on = bind(open_kept, pinned, 0, 0), chooser(pinned)

    def decide(_: Any, t: int, place: int) -> int:
        return settle_on(*begin_round(pinned.handle, t, place), place)

    return decide


def chooser(pinned: Pinned) -> Callable[[float, float, int], int]:
    """Once a round has begun: the choice among the columns on this desk."""
    desk: Desk = pinned.value
    choose_one = bind(choose, LINE, SQUARE, 1.0, 1.0, SQUARE, SQUARE, 1.0)
    confirm = bind(think_again, pinned, 0, 0)
    theta, metric = desk.state.ridge.vector[THETA], desk.state.ridge.matrix[METRIC]

    def settle_on(beta: float, novelty: float, place: int) -> int:
        arm = choose_one(theta, metric, beta, novelty, desk.columns, desk.score, desk.luck[place, 0])
        return confirm(pinned.handle, arm, place)

    return settle_on
