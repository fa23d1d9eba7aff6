"""Linear algebra by plain loops, for small d: what BLAS would do, without its overhead, the same to the last bit everywhere."""

import math

import numpy as np

from driftbandit.core.compile import kernel
from driftbandit.core.types import Floats

LINE = 8  # float64s in a cache line
CACHED = 2**17  # float64s that stay in the cache


def aligned(*shape: int) -> Floats:
    """An uninitialised array aligned to a cache line: on one that is not, loops take up to a quarter longer."""
    size = math.prod(shape)
    space = np.empty(size + LINE)
    first = -(space.ctypes.data // space.itemsize) % LINE
    return space[first : first + size].reshape(shape)


def with_constants(columns: Floats, count: int) -> Floats:
    """A copy of arms, one per column, with so many features of 1 below them; or of several such tables."""
    *tables, height, arms = columns.shape
    table = aligned(*tables, height + count, arms)
    table[..., :height, :] = columns
    table[..., height:, :] = 1.0
    return table


@kernel
def add_rows(out: Floats, weights: Floats, rows: Floats, count: int) -> None:
    """out += Σ weights[k]·rows[k] for k < count: the inner loop of all the algebra.

    Four rows at a time, so that ``out`` is read and written a quarter as often.
    """
    n = len(out)
    fours = count - count % 4
    for k in range(0, fours, 4):
        a, b, c, d = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for i in range(n):
            out[i] += a * rows[k, i] + b * rows[k + 1, i] + (c * rows[k + 2, i] + d * rows[k + 3, i])
    for k in range(fours, count):
        a = weights[k]
        for i in range(n):
            out[i] += a * rows[k, i]


@kernel
def turn(rows: Floats, columns: Floats, limit: float) -> bool:
    """columns = rowsᵀ; False, perhaps with columns half written, if a row's squared length is above the limit or NaN.

    Row by row, as they lie in memory: several at a time are faster in the cache and slower out of it.
    """
    return turn_from(0, rows, columns, limit)


@kernel
def turn_many(rows: Floats, columns: Floats, limit: float) -> bool:
    """``turn`` for many rows: four at a time as long as they stay in the cache, in two thirds of the time."""
    n, d = rows.shape
    fours = n - n % 4 if n * d <= CACHED else 0
    for i in range(0, fours, 4):
        a = b = c = e = 0.0
        for j in range(d):
            p, q, r, s = float(rows[i, j]), float(rows[i + 1, j]), float(rows[i + 2, j]), float(rows[i + 3, j])
            a, b, c, e = a + p * p, b + q * q, c + r * r, e + s * s
            columns[j, i], columns[j, i + 1], columns[j, i + 2], columns[j, i + 3] = p, q, r, s
        if not (a <= limit and b <= limit and c <= limit and e <= limit):
            return False
    return turn_from(fours, rows, columns, limit)


@kernel
def turn_from(first: int, rows: Floats, columns: Floats, limit: float) -> bool:
    n, d = rows.shape
    for i in range(first, n):
        square = 0.0
        for j in range(d):
            entry = float(rows[i, j])  # without the compiler, NumPy's own float would warn on overflow
            square += entry * entry
            columns[j, i] = entry
        if not square <= limit:
            return False
    return True


@kernel
def times(matrix: Floats, vector: Floats, out: Floats) -> None:
    """out = matrix · vector for a symmetric matrix."""
    out[:] = 0.0
    add_rows(out, vector, matrix, len(vector))


@kernel
def invert(matrix: Floats) -> None:
    """Invert a symmetric positive definite matrix in place (such a matrix needs no pivoting).

    Gauss–Jordan as symmetric sweeps, which lead to −V⁻¹ and keep all steps symmetric: the lower triangle is enough, half
    the work, and what lies right of the diagonal is scratch space for the pivot's whole row.
    """
    d = len(matrix)
    for p in range(d):
        row = matrix[p]
        for j in range(p + 1, d):
            row[j] = matrix[j, p]
        inverse = 1.0 / row[p]
        for i in range(d):
            if i != p:
                other, factor = matrix[i], inverse * row[i]
                for j in range(i + 1):
                    other[j] -= factor * row[j]
                if i > p:
                    other[p] = factor
        for j in range(p):
            row[j] *= inverse
        row[p] = -inverse
    for i in range(d):
        for j in range(i + 1):
            matrix[i, j] = -matrix[i, j]
            matrix[j, i] = matrix[i, j]


@kernel
def factorise(matrix: Floats, root: Floats) -> None:
    """root·rootᵀ = matrix, root lower triangular (Cholesky); what rounding makes negative counts as 0.

    As in ``invert``, what lies right of the diagonal is scratch space for the pivot's column; it is 0 at the end.
    """
    d = len(matrix)
    for i in range(d):
        for j in range(i + 1):
            root[i, j] = matrix[i, j]
    for p in range(d):
        column = root[p]
        column[p] = pivot = math.sqrt(max(column[p], 0.0))
        for i in range(p + 1, d):
            column[i] = root[i, p] / pivot if pivot > 0.0 else 0.0
            root[i, p] = column[i]
        for i in range(p + 1, d):
            row, factor = root[i], column[i]
            for j in range(p + 1, i + 1):
                row[j] -= factor * column[j]
        for i in range(p + 1, d):
            column[i] = 0.0
