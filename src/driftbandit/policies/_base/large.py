"""A choice among many fresh arms, in three steps.

Only the first and the last depend on the kind of state, so that pruning is compiled once for all policies, and not at all for
small sets.
"""

from collections.abc import Callable
from typing import Any

from driftbandit.core.compile import bind
from driftbandit.core.pruning import choose
from driftbandit.core.ridge import METRIC, THETA
from driftbandit.core.types import Floats
from driftbandit.policies._base.entry import LINE, LUCK, SQUARE, open_rows, think_again


def decide_many(state: Any) -> Callable[..., int]:
    """A function that does what ``decide_rows`` does, for states of this kind."""
    begin_with = bind(open_rows, state, 0, LUCK, 0, SQUARE, 1.0, SQUARE)
    choose_one = bind(choose, LINE, SQUARE, 1.0, SQUARE, SQUARE, 1.0)
    confirm = bind(think_again, state, SQUARE, SQUARE, 0, LUCK, 0)

    def decide(
        state: Any,
        t: int,
        luck: Floats,
        place: int,
        rows: Floats,
        longest: float,
        columns: Floats,
        score: Floats,
        x: Floats,
    ) -> int:
        beta = begin_with(state, t, luck, place, rows, longest, columns)
        if beta == -1.0:
            return -1
        theta, metric = state.ridge.vector[THETA], state.ridge.matrix[METRIC]
        arm = confirm(state, columns, score, choose_one(theta, metric, beta, columns, score, luck[place, 0]), luck, place)
        x[:] = rows[arm]
        return arm

    return decide
