"""The quadratic forms xᵀ·matrix·x of many columns x: in float64, bit for bit as row by row of the matrix, or in float32.

Dimensions: d features, n columns. Several hundred columns at a time stay in the cache, and blocks of 4 × 4 of the matrix read
each of them a quarter as often.
"""

from driftbandit.core.compile import kernel
from driftbandit.core.types import Floats

TILE = 1024  # columns at a time, of float32


@kernel
def add_forms(square: Floats, matrix: Floats, columns: Floats, room: Floats) -> None:
    """square[i] += xᵀ·matrix·x for every column x, from the lower triangle; room is scratch for four rows of a tile."""
    d, n = columns.shape
    tile = len(room) // 4
    for low in range(0, n, tile):
        high = min(low + tile, n)
        for j in range(0, d - d % 4, 4):
            add_four(square[low:high], matrix, j, columns, low, high, room)
        for j in range(d - d % 4, d):
            add_one(square[low:high], matrix[j], j, columns, low, high, room)


@kernel
def add_four(square: Floats, matrix: Floats, j: int, columns: Floats, low: int, high: int, room: Floats) -> None:
    """What rows j to j + 3 of the triangle add."""
    m, tile, half = high - low, len(room) // 4, matrix.dtype.type(0.5)
    a, b, c, d = room[:m], room[tile : tile + m], room[2 * tile : 2 * tile + m], room[3 * tile : 3 * tile + m]
    w, x, y, z = columns[j, low:high], columns[j + 1, low:high], columns[j + 2, low:high], columns[j + 3, low:high]
    p, q, r, s = half * matrix[j, j], half * matrix[j + 1, j + 1], half * matrix[j + 2, j + 2], half * matrix[j + 3, j + 3]
    for i in range(m):
        a[i] = p * w[i]
        b[i] = q * x[i]
        c[i] = r * y[i]
        d[i] = s * z[i]
    for k in range(0, j, 4):
        add_block(a, b, c, d, matrix, j, columns, k, low, high)
    bw, cw, cx = matrix[j + 1, j], matrix[j + 2, j], matrix[j + 2, j + 1]
    dw, dx, dy = matrix[j + 3, j], matrix[j + 3, j + 1], matrix[j + 3, j + 2]
    for i in range(m):
        first, second = a[i], b[i] + bw * w[i]
        third, fourth = c[i] + cw * w[i] + cx * x[i], d[i] + dw * w[i] + dx * x[i] + dy * y[i]
        sofar = square[i] + (first + first) * w[i] + (second + second) * x[i]
        square[i] = sofar + (third + third) * y[i] + (fourth + fourth) * z[i]


@kernel
def add_block(
    a: Floats, b: Floats, c: Floats, d: Floats, matrix: Floats, j: int, columns: Floats, k: int, low: int, high: int
) -> None:
    """To a, b, c, d, one each for rows j to j + 3: their entries k to k + 3 times the columns'."""
    w, x, y, z = columns[k, low:high], columns[k + 1, low:high], columns[k + 2, low:high], columns[k + 3, low:high]
    aw, ax, ay, az = matrix[j, k], matrix[j, k + 1], matrix[j, k + 2], matrix[j, k + 3]
    bw, bx, by, bz = matrix[j + 1, k], matrix[j + 1, k + 1], matrix[j + 1, k + 2], matrix[j + 1, k + 3]
    cw, cx, cy, cz = matrix[j + 2, k], matrix[j + 2, k + 1], matrix[j + 2, k + 2], matrix[j + 2, k + 3]
    dw, dx, dy, dz = matrix[j + 3, k], matrix[j + 3, k + 1], matrix[j + 3, k + 2], matrix[j + 3, k + 3]
    for i in range(high - low):
        a[i] += aw * w[i] + ax * x[i] + (ay * y[i] + az * z[i])
        b[i] += bw * w[i] + bx * x[i] + (by * y[i] + bz * z[i])
        c[i] += cw * w[i] + cx * x[i] + (cy * y[i] + cz * z[i])
        d[i] += dw * w[i] + dx * x[i] + (dy * y[i] + dz * z[i])


@kernel
def add_one(square: Floats, weights: Floats, j: int, columns: Floats, low: int, high: int, room: Floats) -> None:
    """What row j of the triangle adds, for the last few if d is not a multiple of four."""
    m, own = high - low, columns[j, low:high]
    row, half = room[:m], weights.dtype.type(0.5) * weights[j]
    for i in range(m):
        row[i] = half * own[i]
    for k in range(0, j - j % 4, 4):
        w, x, y, z = columns[k, low:high], columns[k + 1, low:high], columns[k + 2, low:high], columns[k + 3, low:high]
        p, q, r, s = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for i in range(m):
            row[i] += p * w[i] + q * x[i] + (r * y[i] + s * z[i])
    for k in range(j - j % 4, j):
        p, x = weights[k], columns[k, low:high]
        for i in range(m):
            row[i] += p * x[i]
    for i in range(m):
        square[i] += (row[i] + row[i]) * own[i]
