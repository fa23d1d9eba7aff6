"""A draw of θ̃ from N(θ̂, a²·V⁻¹ṼV⁻¹), where there are blocks.

In the terms of weighed_blocks.py, θ̃ of what is shared is θ̂ + a·S⁻¹η, and that of a block m + a·ζ − W·θ̃ of what is shared, where
ζ has the covariance V_xx⁻¹Ṽ_xxV_xx⁻¹, η that of core, and both together V_xx⁻¹·bent. The blocks are drawn first, each by a
triangular root of its own: without shared features that is the root of the whole. Then η is drawn, given them.

Dimensions: B blocks of w features, s shared ones.
"""

from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.compile import Verb, kernel
from driftbandit.core.linalg import add_rows, factorise, times
from driftbandit.core.ridge import METRIC, THETA
from driftbandit.core.types import Floats
from driftbandit.policies._base.discounted import measure
from driftbandit.policies._base.faded_blocks import take_off
from driftbandit.policies._base.weighed_blocks import WeighedBlocks

PRODUCT, COVARIANCE, ROOT = 0, 1, 2


class Roots(NamedTuple):
    """Scratch."""

    matrix: Floats  # (3, w, w): of one block
    slope: Floats  # (w, s): root⁻¹·V_xx⁻¹·bent of one block
    common: Floats  # (3, s, s): of η, given the blocks
    eta: Floats  # (2, s): η; S⁻¹η


@Verb
def draw(ridge: Any, base: Any, root: Any, normal: Floats, spread: float) -> None:
    """Put θ̃ into ``ridge``: θ̂ of the base, and ``spread`` times a root of METRIC times these normal numbers."""


def new_roots(ridge: WeighedBlocks) -> Roots:
    w, s = len(ridge.squares.line), len(ridge.squares.rest)
    return Roots(np.zeros((3, w, w)), np.zeros((w, s)), np.zeros((3, s, s)), np.zeros((2, s)))


def new_played(base: WeighedBlocks) -> WeighedBlocks:
    """The same, but for a θ̃ of its own."""
    blocks = base.faded.blocks
    shared = blocks.shared._replace(vector=np.zeros_like(blocks.shared.vector))
    own = blocks._replace(vector=np.zeros_like(blocks.vector), shared=shared)
    return base._replace(faded=base.faded._replace(blocks=own))


@kernel
def draw_blocks(ridge: WeighedBlocks, base: WeighedBlocks, roots: Roots, normal: Floats, spread: float) -> None:
    blocks, drawn, squares = base.faded.blocks, ridge.faded.blocks, base.squares
    s, width, matrix, common = len(squares.rest), len(squares.line), roots.matrix, roots.common
    roots.eta[:] = 0.0
    for j in range(s):
        for m in range(s):
            common[COVARIANCE, j, m] = squares.core[j, m]
    for k in range(len(squares.own)):
        inverse, first = blocks.matrix[k, METRIC], s + k * width
        z = normal[first : first + width]
        measure(blocks.penalty, squares.own[k], inverse, matrix[PRODUCT], matrix[COVARIANCE])
        factorise(matrix[COVARIANCE], matrix[ROOT])
        shift(drawn.vector[k, THETA], blocks.vector[k, THETA], matrix[ROOT], z, spread)
        if s > 0:
            lean(matrix[ROOT], inverse, squares.bent[k], roots.slope)
            take_off(common[COVARIANCE], roots.slope, roots.slope)
            add_rows(roots.eta[0], z, roots.slope, width)
    factorise(common[COVARIANCE], common[ROOT])
    shift(roots.eta[0], roots.eta[0], common[ROOT], normal[:s], 1.0)
    times(blocks.shared.matrix[METRIC], roots.eta[0], roots.eta[1])
    for j in range(s):
        drawn.shared.vector[THETA, j] = blocks.shared.vector[THETA, j] + spread * roots.eta[1, j]


@kernel
def shift(out: Floats, mean: Floats, root: Floats, z: Floats, spread: float) -> None:
    """out = mean + spread·root·z."""
    for i in range(len(out)):
        total = 0.0
        for j in range(i + 1):
            total += root[i, j] * z[j]
        out[i] = mean[i] + spread * total


@kernel
def lean(root: Floats, inverse: Floats, bent: Floats, slope: Floats) -> None:
    """slope = root⁻¹·inverse·bent."""
    for i in range(len(root)):
        row = slope[i]
        row[:] = 0.0
        add_rows(row, inverse[i], bent, len(root))
        for j in range(i):
            other, a = slope[j], root[i, j]
            for m in range(len(row)):
                row[m] -= a * other[m]
        for m in range(len(row)):
            row[m] = row[m] / root[i, i] if root[i, i] > 0.0 else 0.0


@draw.of(WeighedBlocks)
def _draw(ridge: WeighedBlocks, base: WeighedBlocks, root: Roots, normal: Floats, spread: float) -> None:
    draw_blocks(ridge, base, root, normal, spread)
