"""A draw of θ̃ from N(θ̂, a²·V⁻¹ṼV⁻¹) in blocks: the same as by a triangular root of the whole matrix.

In the terms of weighed_blocks.py, θ̃ of the shared part is θ̂ + a·ζ, and of a block m + a·ζ − W·θ̃ of the shared part. The
covariance of ζ is S⁻¹·core·S⁻¹ in the shared part, V_xx⁻¹Ṽ_xxV_xx⁻¹ in a block, and H·S⁻¹ between the two, with
H = V_xx⁻¹·bent. A triangular root draws one after the other, each given all before it. Given the shared part, two blocks have
the covariance −H·known·Hᵀ, with known = core⁻¹. Each block drawn adds to ``known``, and to the mean of the next, H·lead.

Dimensions: B blocks of w features, s shared ones.
"""

from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.compile import Verb, kernel
from driftbandit.core.linalg import add_rows, factorise, invert, times
from driftbandit.core.ridge import METRIC, THETA
from driftbandit.core.types import Floats
from driftbandit.policies._base.discounted import measure
from driftbandit.policies._base.faded_blocks import add_product, take_off
from driftbandit.policies._base.weighed_blocks import WeighedBlocks

PRODUCT, COVARIANCE, ROOT = 0, 1, 2


class Roots(NamedTuple):
    """Scratch."""

    own: Floats  # (3, w, w): of one block
    common: Floats  # (3, s, s): of the shared part
    known: Floats  # (s, s)
    lead: Floats  # (2, s): and scratch
    slope: Floats  # (2, s, w): Hᵀ and known·Hᵀ of one block
    gain: Floats  # (w, s): root⁻¹·H·known


@Verb
def draw(ridge: Any, base: Any, root: Any, normal: Floats, spread: float) -> None:
    """Put θ̃ into ``ridge``: θ̂ of the base plus ``spread`` times a root of METRIC times these normal numbers."""


def new_roots(ridge: WeighedBlocks) -> Roots:
    w, s = len(ridge.squares.line), len(ridge.squares.rest)
    shapes = (3, w, w), (3, s, s), (s, s), (2, s), (2, s, w), (w, s)
    return Roots(*map(np.zeros, shapes))


def new_played(base: WeighedBlocks) -> WeighedBlocks:
    """The same arrays, except for a θ̃ of its own."""
    blocks = base.faded.blocks
    shared = blocks.shared._replace(vector=np.zeros_like(blocks.shared.vector))
    own = blocks._replace(vector=np.zeros_like(blocks.vector), shared=shared)
    return base._replace(faded=base.faded._replace(blocks=own))


@kernel
def draw_blocks(ridge: WeighedBlocks, base: WeighedBlocks, roots: Roots, normal: Floats, spread: float) -> None:
    blocks, drawn, squares, matrix = base.faded.blocks, ridge.faded.blocks, base.squares, roots.own
    s, width = len(squares.rest), len(squares.line)
    if s > 0:
        draw_shared(ridge, base, roots, normal[:s], spread)
    for k in range(len(squares.own)):
        inverse, first = blocks.matrix[k, METRIC], s + k * width
        theta, z = drawn.vector[k, THETA], normal[first : first + width]
        measure(blocks.penalty, squares.own[k], inverse, matrix[PRODUCT], matrix[COVARIANCE])
        if s > 0:
            incline(roots, inverse, squares.bent[k])
        factorise(matrix[COVARIANCE], matrix[ROOT])
        shift(theta, blocks.vector[k, THETA], matrix[ROOT], z, spread)
        if s > 0:
            for j in range(s):
                for i in range(width):
                    theta[i] += spread * roots.lead[0, j] * roots.slope[0, j, i]
            get_to_know(roots, z)


@kernel
def draw_shared(ridge: WeighedBlocks, base: WeighedBlocks, roots: Roots, z: Floats, spread: float) -> None:
    """The shared part, which comes first: known = core⁻¹, lead = S⁻¹·root⁻ᵀ·z."""
    shared, drawn, core, common = base.faded.blocks.shared, ridge.faded.blocks.shared, base.squares.core, roots.common
    root, known, lead, solved = common[ROOT], roots.known, roots.lead[0], roots.lead[1]
    measure(0.0, core, shared.matrix[METRIC], common[PRODUCT], common[COVARIANCE])
    factorise(common[COVARIANCE], root)
    shift(drawn.vector[THETA], shared.vector[THETA], root, z, spread)
    for i in range(len(z) - 1, -1, -1):
        rest = z[i]
        for j in range(i + 1, len(z)):
            rest -= root[j, i] * solved[j]
        solved[i] = rest / root[i, i] if root[i, i] > 0.0 else 0.0
    times(shared.matrix[METRIC], solved, lead)
    for i in range(len(z)):
        for j in range(len(z)):
            known[i, j] = core[i, j]
    invert(known)


@kernel
def shift(out: Floats, mean: Floats, root: Floats, z: Floats, spread: float) -> None:
    """out = mean + spread·root·z."""
    for i in range(len(out)):
        total = 0.0
        for j in range(i + 1):
            total += root[i, j] * z[j]
        out[i] = mean[i] + spread * total


@kernel
def incline(roots: Roots, inverse: Floats, bent: Floats) -> None:
    """Hᵀ of a block; its covariance, given what was drawn before, is less by H·known·Hᵀ."""
    slope, other = roots.slope[0], roots.slope[1]
    slope[:] = 0.0
    other[:] = 0.0
    for i in range(len(inverse)):
        add_product(slope, bent[i], inverse[i], 1.0)
    for j in range(len(slope)):
        add_rows(other[j], roots.known[j], slope, len(slope))
    take_off(roots.own[COVARIANCE], slope, other)


@kernel
def get_to_know(roots: Roots, z: Floats) -> None:
    """After a block is drawn: known += gainᵀ·gain, lead −= gainᵀ·z."""
    root, gain, lead = roots.own[ROOT], roots.gain, roots.lead[0]
    for i in range(len(gain)):
        row = gain[i]
        for j in range(len(row)):
            row[j] = roots.slope[1, j, i]
        for m in range(i):
            other, a = gain[m], root[i, m]
            for j in range(len(row)):
                row[j] -= a * other[j]
        for j in range(len(row)):
            row[j] = row[j] / root[i, i] if root[i, i] > 0.0 else 0.0
            lead[j] -= row[j] * z[i]
        add_product(roots.known, row, row, 1.0)


@draw.of(WeighedBlocks)
def _draw(ridge: WeighedBlocks, base: WeighedBlocks, root: Roots, normal: Floats, spread: float) -> None:
    draw_blocks(ridge, base, root, normal, spread)
