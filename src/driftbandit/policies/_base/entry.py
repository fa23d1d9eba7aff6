"""One round from Python: the kernels behind ``select`` and ``update``."""

from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.choice import farthest, novelty, pick, reconsider, reconsider_kept, reconsider_many
from driftbandit.core.compile import kernel
from driftbandit.core.linalg import turn_many
from driftbandit.core.pinned import unpin
from driftbandit.core.ridge import METRIC, THETA
from driftbandit.core.spread import spread_out
from driftbandit.core.types import Floats
from driftbandit.core.verbs import admit, score_arms, table_of
from driftbandit.policies._base.verbs import begin, learn

LINE, SQUARE = np.empty(1), np.empty((1, 1))  # examples by which to find a compiled entry
SLACK = 1.0 + 1e-9  # an arm scaled to length L may exceed it by rounding


class Desk(NamedTuple):
    """What a policy's rounds have in common; kernels get it pinned."""

    state: Any
    luck: Floats  # of some rounds
    longest: float  # an arm may be
    columns: Floats  # scratch, as many as there are fresh arms …
    score: Floats  # … and theirs


@kernel
def take(desk: Any, s: int, x: Floats, r: float) -> None:
    learn(unpin(desk).state, s, x, r)


@kernel
def decide_fresh(desk: Any, t: int, place: int, rows: Floats, x: Floats) -> int:
    at = unpin(desk)
    return decide_rows(at.state, t, at.luck, place, rows, at.longest, at.columns, at.score, x)


@kernel
def decide_spread(desk: Any, pattern: Any, t: int, place: int, context: Floats, x: Floats) -> int:
    """Choose among arms in blocks, which read no columns, so that there is room for the rows: as many as these, or more."""
    at, to = unpin(desk), unpin(pattern)
    n = len(to.numbers)
    rows, score = at.columns[:n], at.score.reshape(-1)[: 3 * n].reshape(3, n)
    spread_out(to, context, rows)
    return decide_rows(at.state, t, at.luck, place, rows, at.longest, at.columns, score, x)


@kernel
def decide_rows(
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
    """Choose among the rows and copy the choice into x.

    Returns −1 if a row is too long or not finite, −2 if its block does not exist; then nothing is changed.
    """
    trouble: int = admit(state.ridge, rows, columns, longest * longest * SLACK * SLACK)
    if trouble < 0:
        return trouble
    beta = begin(state, t, luck[place])
    table = table_of(state.ridge, rows, columns)
    score_arms(state.ridge, table, score)
    arm: int = reconsider(state, table, score, pick(score, beta, novelty(state), luck[place, 0]), luck[place])
    for j in range(len(x)):
        x[j] = rows[arm, j]
    return arm


@kernel
def open_rows(desk: Any, t: int, place: int, rows: Floats) -> tuple[float, float]:
    """Begin a round with the rows and return β and the novelty; or −1, with nothing changed, if one is too long or infinite."""
    at = unpin(desk)
    if not turn_many(rows, at.columns, at.longest * at.longest * SLACK * SLACK):
        return -1.0, 0.0
    return begin(at.state, t, at.luck[place]), novelty(at.state)


@kernel
def open_kept(desk: Any, t: int, place: int) -> tuple[float, float]:
    """Begin a round and return β and the novelty."""
    at = unpin(desk)
    return begin(at.state, t, at.luck[place]), novelty(at.state)


@kernel
def think_again(desk: Any, arm: int, place: int) -> int:
    at = unpin(desk)
    return int(reconsider_many(at.state, at.columns, at.score, arm, at.luck[place]))


@kernel
def decide_kept(desk: Any, t: int, place: int) -> int:
    """Choose from the fixed set."""
    at = unpin(desk)
    state, luck = at.state, at.luck[place]
    beta = begin(state, t, luck)
    arm: int = reconsider_kept(state, pick(state.ridge.score, beta, novelty(state), luck[0]), luck)
    return arm


@kernel
def decide_convex(desk: Any, t: int, place: int, factor: Floats, x: Floats) -> None:
    """Choose from {Fz : ‖z‖ ≤ 1} and write the choice into x."""
    at = unpin(desk)
    state, luck = at.state, at.luck[place]
    beta = begin(state, t, luck)
    farthest(state.ridge.vector[THETA], state.ridge.matrix[METRIC], factor, beta, novelty(state), luck, x)
