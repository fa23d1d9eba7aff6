"""Score only arms that can win: the choice of ``appraise`` and ``pick``, most others ruled out by an upper bound on the index.

The bound is first from lengths: with c the greatest sum of absolute values in a row of the metric, xᵀ·metric·x ≤ c‖x‖². If that
leaves many, it is from the forms in float32, which are off by at most ε·c‖x‖² (Higham 2002, §3.1), in a third of the time. The
arms left are scored as usual, so that a choice is the same, ties included, to the last bit.

Dimensions: d features, n arms, one arm per column.
"""

import math

import numpy as np

from driftbandit.core.choice import TIE, appraise, appraise_few, count_from, lead, pick
from driftbandit.core.compile import kernel
from driftbandit.core.forms import TILE, add_forms
from driftbandit.core.linalg import add_rows, aligned
from driftbandit.core.types import Floats

ROWS = 3  # of the scores: mean, square, index
LARGE = 30_000  # from this many entries of an arm set on, bounds pay
FEW = 8  # once at most one arm in so many is left, these are scored
ABOVE = 1.0 + 1e-9  # far above the rounding of float64
UNIT = 2.0**-24  # that of float32
TINY = 1e-30  # above anything lost to underflow if the largest number is 1
PLAIN = 1e100  # up to this size, and down to its inverse, numbers can be squared and scaled to 1


def is_large(dim: int, n: int) -> bool:
    return dim * n >= LARGE


def new_score(dim: int, n: int) -> Floats:
    """Scratch space to score n arms; for a large set it has more than three rows, to prune it."""
    rows = ROWS
    if is_large(dim, n):
        singles = padded(n) * (dim + 1) + padded(dim * dim) + 4 * TILE
        rows = -(-(padded(ROWS * n) + singles // 2) // n)
    return aligned(rows, n)


@kernel
def padded(count: int) -> int:
    return (count + 15) // 16 * 16


@kernel
def choose(theta: Floats, metric: Floats, beta: float, novelty: float, columns: Floats, score: Floats, u: float) -> int:
    """The arm that ``appraise`` and ``pick`` would choose.

    Leaves every mean, and the square and the index of the choice, as they do; other squares and indices may be upper bounds.
    """
    if len(score) > ROWS:
        arm = prune(theta, metric, beta, novelty, columns, score, u)
        if arm >= 0:
            return arm
    appraise(theta, metric, columns, score[:ROWS])
    return pick(score[:ROWS], beta, novelty, u)


@kernel
def prune(theta: Floats, metric: Floats, beta: float, novelty: float, columns: Floats, score: Floats, u: float) -> int:
    """The choice, or −1 if bounds cannot tell."""
    n = columns.shape[1]
    room, few = score.reshape(-1)[padded(ROWS * n) :], max(n // FEW, 1)
    c, unit = bound_by_length(theta, metric, columns, score, room)
    if not (1.0 / PLAIN < c < PLAIN and 1.0 / PLAIN < unit < PLAIN):
        return -1
    for sharper in range(2):
        edge, size, left = rule_out(theta, metric, beta, novelty, columns, score, room)
        if left <= few:
            return pick_among(theta, metric, beta, novelty, columns, score, u, edge, size, left, room)
        if not sharper:
            bound_in_single(metric, c, unit, columns, score, edge, left, room)
    return -1


@kernel
def bound_by_length(theta: Floats, metric: Floats, columns: Floats, score: Floats, room: Floats) -> tuple[float, float]:
    """The means, and c‖x‖² for the squares; returns c and the greatest of them."""
    d, n = columns.shape
    mean, square, sums = score[0], score[1], room[:d]
    mean[:] = 0.0
    square[:] = 0.0
    sums[:] = 0.0
    add_rows(mean, theta, columns, d)
    for j in range(d):
        for k in range(d):
            sums[k] += abs(metric[j, k])
        for i in range(n):
            square[i] += columns[j, i] * columns[j, i]
    c = largest(sums)
    unit = c * largest(square) * ABOVE
    for i in range(n):
        square[i] = c * square[i] * ABOVE + TINY * unit
    return c, unit


@kernel
def largest(values: Floats) -> float:
    top = 0.0
    for i in range(len(values)):
        top = max(top, values[i])
    return top


@kernel
def bound_in_single(
    metric: Floats, c: float, unit: float, columns: Floats, score: Floats, edge: float, left: int, room: Floats
) -> None:
    """Lower the bounds of those left from c‖x‖² to the forms in float32, plus a margin for rounding."""
    (d, n), square = columns.shape, score[1]
    if left > n // 2:  # copying all is faster than looking for those left
        edge, left = -math.inf, n
    width, single = padded(left), room.view(np.float32)
    x, single = single[: d * width].reshape(d, width), single[d * width :]
    form, single = single[:width], single[width:]
    matrix, single = single[: d * d].reshape(d, d), single[padded(d * d) :]
    for j in range(d):
        for k in range(j + 1):
            matrix[j, k] = metric[j, k] / c
    form[:] = 0.0
    gather(columns, score[2], edge, math.sqrt(c / unit), x)
    add_forms(form, matrix, x, single[: 4 * TILE])
    margin = (2 * d + 32) * UNIT  # a term is rounded as often as it is multiplied and added to: less than 2d + 32 times
    place = 0
    for i in range(n):
        if not score[2, i] < edge:
            square[i] = min(square[i], (unit * form[place] + margin * square[i] + TINY * unit) * ABOVE)
            place += 1


@kernel
def gather(columns: Floats, index: Floats, edge: float, scale: float, x: Floats) -> None:
    """Copy the columns whose index is not below the edge, scaled, and fill up with zeros."""
    d, n = columns.shape
    place = 0
    if edge == -math.inf:
        place = n
        for j in range(d):
            for i in range(n):
                x[j, i] = scale * columns[j, i]
    else:
        for i in range(n):
            if not index[i] < edge:
                for j in range(d):
                    x[j, place] = scale * columns[j, i]
                place += 1
    for j in range(d):
        for i in range(place, x.shape[1]):
            x[j, i] = 0.0


@kernel
def rule_out(
    theta: Floats, metric: Floats, beta: float, novelty: float, columns: Floats, score: Floats, room: Floats
) -> tuple[float, float, int]:
    """From upper bounds on the squares: an edge below which no arm wins or ties, a bound on the size, and how many are left."""
    best, size = lead(score, beta, novelty)
    index = score[2]
    edge = scored(best, theta, metric, beta, novelty, columns, room)[2] - TIE * size
    left = 0
    for i in range(len(index)):
        left += not index[i] < edge
    return edge, size, left


@kernel
def scored(
    arm: int, theta: Floats, metric: Floats, beta: float, novelty: float, columns: Floats, room: Floats
) -> tuple[float, float, float]:
    """Mean, square and index of one arm."""
    d = len(columns)
    x, own = room[:d].reshape(d, 1), room[d : d + ROWS].reshape(ROWS, 1)
    for j in range(d):
        x[j, 0] = columns[j, arm]
    appraise_few(theta, metric, x, own)
    lead(own, beta, novelty)
    return own[0, 0], own[1, 0], own[2, 0]


@kernel
def settle(arm: int, theta: Floats, metric: Floats, beta: float, novelty: float, columns: Floats, score: Floats) -> None:
    """After ``choose``: make the scores of this arm exact too, if they are bounds."""
    if len(score) > ROWS:
        room = score.reshape(-1)[padded(ROWS * columns.shape[1]) :]
        score[0, arm], score[1, arm], score[2, arm] = scored(arm, theta, metric, beta, novelty, columns, room)


@kernel
def pick_among(
    theta: Floats,
    metric: Floats,
    beta: float,
    novelty: float,
    columns: Floats,
    score: Floats,
    u: float,
    edge: float,
    size: float,
    left: int,
    room: Floats,
) -> int:
    """The choice among those not below the edge; −1 if the bound on the size is too wide to tell which tie."""
    d, index = len(columns), score[2]
    x, own = room[: d * left].reshape(d, left), room[d * left : (d + ROWS) * left].reshape(ROWS, left)
    gather(columns, index, edge, 1.0, x)
    appraise_few(theta, metric, x, own)
    best, least = lead(own, beta, novelty)
    top = own[2, best]
    if count_from(own[2], top - TIE * size) != count_from(own[2], top - TIE * least):
        return -1
    chosen = pick(own, beta, novelty, u)
    place = arm = -1
    while place < chosen:
        arm += 1
        place += not index[arm] < edge
    for row in range(ROWS):
        score[row, arm] = own[row, chosen]
    return arm
