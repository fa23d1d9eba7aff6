"""One round from Python: the kernels behind ``select`` and ``update``."""

from typing import Any

import numpy as np

from driftbandit.core.choice import farthest, pick, reconsider, reconsider_many
from driftbandit.core.compile import kernel
from driftbandit.core.linalg import turn
from driftbandit.core.ridge import METRIC, THETA
from driftbandit.core.types import Floats
from driftbandit.core.verbs import admit, score_arms, table_of
from driftbandit.policies._base.verbs import begin

LUCK, LINE, SQUARE = np.empty((1, 4)), np.empty(1), np.empty((1, 1))  # examples by which to find a compiled entry
SLACK = 1.0 + 1e-9  # an arm scaled to length L may exceed it by rounding


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
    arm: int = reconsider(state, table, score, pick(score, beta, luck[place, 0]), luck[place])
    for j in range(len(x)):
        x[j] = rows[arm, j]
    return arm


@kernel
def open_rows(state: Any, t: int, luck: Floats, place: int, rows: Floats, longest: float, columns: Floats) -> float:
    """Begin a round with the rows and return β; or −1, with nothing changed, if a row is too long or not finite."""
    if not turn(rows, columns, longest * longest * SLACK * SLACK):
        return -1.0
    beta: float = begin(state, t, luck[place])
    return beta


@kernel
def think_again(state: Any, columns: Floats, score: Floats, arm: int, luck: Floats, place: int) -> int:
    return int(reconsider_many(state, columns, score, arm, luck[place]))


@kernel
def decide_kept(state: Any, t: int, luck: Floats, place: int) -> int:
    """Choose from the fixed set."""
    beta = begin(state, t, luck[place])
    ridge = state.ridge
    arm: int = reconsider(state, ridge.columns, ridge.score, pick(ridge.score, beta, luck[place, 0]), luck[place])
    return arm


@kernel
def decide_convex(state: Any, t: int, luck: Floats, place: int, factor: Floats, x: Floats) -> None:
    """Choose from {Fz : ‖z‖ ≤ 1} and write the choice into x."""
    beta = begin(state, t, luck[place])
    farthest(state.ridge.vector[THETA], state.ridge.matrix[METRIC], factor, beta, luck[place], x)
