"""The optimistic choice argmax ⟨x, θ̂⟩ + β‖x‖: over a finite set, and exactly over a ball or an ellipsoid.

Dimensions: d features, n arms, one arm per column so that every loop over arms is contiguous. A policy's luck in a
round is four uniform numbers: [0] and [1] break ties here, the rest are the policy's own.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from driftbandit.core.compile import Verb, allocating_kernel, kernel
from driftbandit.core.forms import TILE, add_forms
from driftbandit.core.linalg import add_rows
from driftbandit.core.types import Floats

TIE = 1e-10  # indices this close, relative to their size, are a tie: far above rounding, far below any effect
MANY = 256  # from this many arms on, it pays to take several at a time
STEEP = 3.5  # how fast widths grow with novelty


@kernel
def appraise(theta: Floats, metric: Floats, columns: Floats, score: Floats) -> None:
    """Score every column x: row 0 ⟨x, θ̂⟩, row 1 xᵀ·metric·x (from the lower triangle), row 2 scratch."""
    d, n = columns.shape
    if n < MANY or d < 16:
        appraise_few(theta, metric, columns, score)
        return
    mean, square, row = score[0], score[1], score[2]
    for i in range(n):
        mean[i] = 0.0
        square[i] = 0.0
    add_rows(mean, theta, columns, d)
    add_forms(square, metric, columns, row[: 4 * min(n // 4, TILE // 4)])


@kernel
def appraise_few(theta: Floats, metric: Floats, columns: Floats, score: Floats) -> None:
    """``appraise`` without what pays only for many columns; the same to the last bit."""
    d, n = columns.shape
    mean, square, row = score[0], score[1], score[2]
    for i in range(n):
        mean[i] = 0.0
        square[i] = 0.0
    add_rows(mean, theta, columns, d)
    for j in range(d):
        half = 0.5 * metric[j, j]
        for i in range(n):
            row[i] = half * columns[j, i]
        add_rows(row, metric[j], columns, j)
        for i in range(n):
            square[i] += 2.0 * row[i] * columns[j, i]


@partial(Verb, optional=True)
def novelty(state: Any) -> float:
    """How much wider than others an arm may be that is hardly known: see ``widening``. 0 if β is the same for all."""
    return 0.0


@kernel
def widening(square: float, novelty: float) -> float:
    """By what the square of a width is multiplied: 1 + 3.5·ln(1 + r²), r = novelty/m, m = (1 + square)/square.

    m rewards of the arm itself would tell as much as is known of it. With n/d for the novelty, an arm is the wider the less it
    has had of its share of n rewards, and hardly wider once it has had several times that. So one that was dismissed early is
    tried again, as in MOSS (Audibert, Bubeck 2009).
    """
    missed = novelty * square / (1.0 + square)
    return 1.0 + STEEP * math.log(1.0 + missed * missed)


@kernel
def width(beta: float, novelty: float, square: float) -> float:
    """What is added to the estimate of an arm with this square."""
    square = max(square, 0.0)
    return beta * math.sqrt(square * widening(square, novelty))


@kernel
def pick(score: Floats, beta: float, novelty: float, u: float) -> int:
    """The arm with the greatest index mean + β√square, widened by novelty; u in [0, 1) decides among ties."""
    best, size = lead(score, beta, novelty)
    index = score[2]
    edge = index[best] - TIE * size
    ties = count_from(index, edge)
    if ties == 1:
        return best
    place = int(u * ties)
    for i in range(len(index)):
        if index[i] >= edge:
            if place == 0:
                return i
            place -= 1
    return best


@kernel
def lead(score: Floats, beta: float, novelty: float) -> tuple[int, float]:
    """Write the indices into row 2; return the first of the greatest, and a bound on the size that ties are relative to.

    With novelty, an index that can neither be the greatest nor tie with it stays a bound, by the widening of the least known
    arm: a logarithm for every arm would cost more than the rest.
    """
    mean, square, index = score[0], score[1], score[2]
    n, widest = len(mean), 0.0
    for i in range(n):
        widest = max(widest, square[i])
    most = widening(widest, novelty) if novelty > 0.0 else 1.0
    best, size = 0, 0.0
    for i in range(n):
        wide = beta * math.sqrt(max(square[i], 0.0) * most)
        index[i] = mean[i] + wide
        size = max(size, wide + abs(mean[i]))
    for i in range(n):
        if index[i] > index[best]:
            best = i
    return sharpen(score, beta, novelty, best, size) if novelty > 0.0 else best, size


@kernel
def sharpen(score: Floats, beta: float, novelty: float, likeliest: int, size: float) -> int:
    """Replace the bounds that reach the greatest index by indices; return the first of the greatest.

    That index only rises, so a bound once below it stays below.
    """
    mean, square, index = score[0], score[1], score[2]
    index[likeliest] = mean[likeliest] + width(beta, novelty, square[likeliest])
    best, top = likeliest, index[likeliest]
    for i in range(len(index)):
        if index[i] >= top - TIE * size and i != likeliest:
            index[i] = mean[i] + width(beta, novelty, square[i])
            if index[i] > top or (index[i] == top and i < best):
                best, top = i, index[i]
    return best


@kernel
def count_from(index: Floats, edge: float) -> int:
    """How many indices reach the edge."""
    ties = 0
    for i in range(len(index)):
        ties += index[i] >= edge
    return ties


@partial(Verb, optional=True)
def reconsider(state: Any, columns: Floats, score: Floats, arm: int, luck: Floats) -> int:
    """Which column to play instead of the optimistic one, if a policy has second thoughts; ``score`` is as ``pick`` left it."""
    return arm


@partial(Verb, optional=True)
def reconsider_kept(state: Any, arm: int, luck: Floats) -> int:
    """``reconsider`` for the fixed set whose scores ``state.ridge`` keeps."""
    return arm


@partial(Verb, optional=True)
def reconsider_many(state: Any, columns: Floats, score: Floats, arm: int, luck: Floats) -> int:
    """``reconsider`` for a large set, in which only arms that can win are scored (core/pruning.py); slower to compile."""
    return arm


@allocating_kernel
def farthest(theta: Floats, metric: Floats, factor: Floats, beta: float, novelty: float, luck: Floats, x: Floats) -> None:
    """x = argmax ⟨x, θ̂⟩ + β‖x‖_metric over {Fz : ‖z‖ ≤ 1}, exactly.

    The value is max ‖y‖ over the ellipsoid y = a + s∘u, ‖u‖ ≤ 1, in the eigenbasis of Fᵀ·metric·F. At the optimum
    u_i = c_i/(ν + g_i) with c = s∘a, g = max s² − s², and ν ≥ 0 the root of the secular equation ‖u‖ = 1. Novelty widens all
    arms alike, as much as the least known of them.
    """
    d = len(factor)
    centre = np.zeros(d)
    half = np.zeros((d, d))
    inner = np.zeros((d, d))
    for i in range(d):
        for j in range(d):
            known = metric[i, j]
            if len(theta) > d:  # a constant besides, taken as known: it is the same for all
                known -= metric[i, d] * metric[d, j] / metric[d, d]
            centre[j] += factor[i, j] * theta[i]
            for k in range(d):
                half[i, k] += known * factor[j, k]
    for i in range(d):
        for j in range(d):
            for k in range(d):
                inner[j, k] += factor[i, j] * half[i, k]
    values, basis = np.linalg.eigh(inner)
    beta *= math.sqrt(widening(max(values[d - 1], 0.0), novelty))

    a = np.zeros(d)
    for i in range(d):
        for j in range(d):
            a[j] += basis[i, j] * centre[i]
    s = np.empty(d)
    for i in range(d):
        s[i] = beta * math.sqrt(max(values[i], 0.0))
    y = a + s * boundary(a, s, luck)
    length = 0.0
    for i in range(d):
        length += y[i] * y[i]
    if length == 0.0:  # θ̂ = 0 and β = 0: every direction is equally good
        y[int(luck[1] * d)] = 1.0 if luck[0] < 0.5 else -1.0
        length = 1.0
    y /= math.sqrt(length)
    z = np.zeros(d)
    for i in range(d):
        for j in range(d):
            z[i] += basis[i, j] * y[j]
    for i in range(d):
        x[i] = 0.0
        for j in range(d):
            x[i] += factor[i, j] * z[j]


@allocating_kernel
def boundary(a: Floats, s: Floats, luck: Floats) -> Floats:
    """The unit vector u with ‖a + s∘u‖ greatest, for s ascending."""
    d = len(a)
    top = s[d - 1] * s[d - 1]
    c, g = s * a, top - s * s
    nu = 0.0
    for i in range(d):
        nu = max(nu, abs(c[i]) - g[i])  # here ‖u‖ ≥ 1: Newton on 1/‖u‖ climbs from the left and cannot overshoot
    for _ in range(100):
        f = cubes = 0.0
        for i in range(d):
            if c[i] != 0.0:
                ratio = c[i] / (nu + g[i])
                f += ratio * ratio
                cubes += ratio * ratio / (nu + g[i])
        if f <= 1.0:
            break
        step = (f * math.sqrt(f) - f) / cubes
        if nu + step == nu:
            break
        nu += step

    u = np.zeros(d)
    left = 1.0
    for i in range(d):
        if c[i] != 0.0:
            u[i] = c[i] / (nu + g[i])
            left -= u[i] * u[i]
    if left > 1e-12:  # the hard case: no pull along the longest axis, so either end of it will do
        longest = 0
        for i in range(d):
            longest += g[i] <= 1e-12 * top
        axis = d - 1 - int(luck[1] * longest)
        rest = math.sqrt(left + u[axis] * u[axis])  # what u already has there is rounding
        u[axis] = rest if luck[0] < 0.5 else -rest
    return u
