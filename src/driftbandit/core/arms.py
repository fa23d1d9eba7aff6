"""Arm sets: what users pass to ``select`` or put in a world, and the form in which a block of rounds uses them.

Dimensions: d features, n arms, B rounds of a block.
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftbandit.core import validate
from driftbandit.core.choice import appraise, farthest, novelty, pick, reconsider, reconsider_kept
from driftbandit.core.compile import Verb, kernel
from driftbandit.core.linalg import with_constants
from driftbandit.core.ridge import METRIC, THETA
from driftbandit.core.shown import KEPT, MOST, shortened
from driftbandit.core.types import Floats


class FixedArms:
    """The same n arms in every round: the fast path, O(nd + d²) per round where a plain array takes O(nd²)."""

    def __init__(self, arms: ArrayLike) -> None:
        self.rows = validate.array("arms", arms, 2).copy()
        self.rows.flags.writeable = False
        self.columns = self.rows.T.copy()
        self.columns.flags.writeable = False
        self.shape = self.rows.shape
        self.dim = self.rows.shape[1]
        self.longest = validate.longest_row("arms", self.rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.rows, dtype) if copy or dtype not in (None, np.float64) else self.rows

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FixedArms) and np.array_equal(self.rows, other.rows)

    def __hash__(self) -> int:
        return hash(self.rows.tobytes())

    def __repr__(self) -> str:
        shown = len(self) if len(self) <= MOST else KEPT
        rows = [shortened(row) for row in self.rows[:shown].tolist()]
        return f"FixedArms([{', '.join(rows)}{f', … {len(self) - shown:,} more' if shown < len(self) else ''}])"


def axes(dim: int) -> FixedArms:
    """±e_1 … ±e_d."""
    unit = np.eye(validate.whole("dim", dim))
    return FixedArms(np.concatenate([unit, -unit]))


@dataclass(frozen=True)
class Ball:
    """Every x with ‖x‖ ≤ radius."""

    radius: float = 1.0

    def __post_init__(self) -> None:
        validate.settle(self, radius=validate.positive("radius", self.radius))

    @property
    def longest(self) -> float:
        return self.radius

    def factor(self, dim: int) -> Floats:
        """F such that the set is {Fz : ‖z‖ ≤ 1}."""
        return self.radius * np.eye(dim)


@dataclass(frozen=True)
class Ellipsoid:
    """Every x with xᵀ·shape⁻¹·x ≤ 1: half-axes are the square roots of the shape's eigenvalues."""

    shape: ArrayLike
    longest: float = field(init=False, repr=False)
    _factor: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        matrix = validate.array("shape", self.shape, 2)
        if matrix.shape[0] != matrix.shape[1] or abs(matrix - matrix.T).max() > 1e-12 * abs(matrix).max():
            raise ValueError(f"shape must be a symmetric matrix, got {matrix.tolist()}")
        axes = np.linalg.eigvalsh(matrix)
        if not axes[0] > 1e-14 * axes[-1]:
            raise ValueError(f"shape must be positive definite, got smallest eigenvalue {axes[0]:g}")
        shape = tuple(map(tuple, matrix.tolist()))
        validate.settle(self, shape=shape, longest=math.sqrt(axes[-1]), _factor=np.linalg.cholesky(matrix))

    def factor(self, dim: int) -> Floats:
        """F such that the set is {Fz : ‖z‖ ≤ 1}."""
        if len(self._factor) != dim:
            raise ValueError(f"shape must be ({dim}, {dim}) for {dim} features, got {self._factor.shape}")
        return self._factor


class Kept(NamedTuple):
    """One fixed set, whose scores the policy keeps up to date."""

    columns: Floats  # (d, n)


class Dealt(NamedTuple):
    """A new set each round."""

    columns: Floats  # (B, d, n)
    score: Floats  # (3, n): scratch

    def with_constants(self, count: int) -> "Dealt":
        return self._replace(columns=with_constants(self.columns, count))


class Convex(NamedTuple):
    """A ball or an ellipsoid."""

    factor: Floats  # (d, d)


@Verb
def choose(arms: Any, i: int, state: Any, beta: float, luck: Floats, x: Floats) -> int:
    """Write into x the optimistic choice of the block's round i; return its index, or −1 if arms have none."""
    raise NotImplementedError


@choose.of(Kept)
def _choose_kept(arms: Kept, i: int, state: Any, beta: float, luck: Floats, x: Floats) -> int:
    arm: int = reconsider_kept(state, pick(state.ridge.score, beta, novelty(state), luck[0]), luck)
    for j in range(len(x)):
        x[j] = arms.columns[j, arm]
    return arm


@choose.of(Dealt)
def _choose_dealt(arms: Dealt, i: int, state: Any, beta: float, luck: Floats, x: Floats) -> int:
    columns = arms.columns[i]
    appraise(state.ridge.vector[THETA], state.ridge.matrix[METRIC], columns, arms.score)
    arm: int = reconsider(state, columns, arms.score, pick(arms.score, beta, novelty(state), luck[0]), luck)
    for j in range(len(x)):
        x[j] = columns[j, arm]
    return arm


@choose.of(Convex)
def _choose_convex(arms: Convex, i: int, state: Any, beta: float, luck: Floats, x: Floats) -> int:
    farthest(state.ridge.vector[THETA], state.ridge.matrix[METRIC], arms.factor, beta, novelty(state), luck, x)
    return -1


@Verb
def best_value(arms: Any, theta: Floats, out: Floats) -> None:
    """max ⟨x, θ_t⟩ over the arms of each round, summed in the loop's order, so that the best arm's regret is 0."""


@kernel
def best_of(columns: Floats, theta: Floats) -> float:
    d, n = columns.shape
    best = -math.inf
    for i in range(n):
        value = 0.0
        for j in range(d):
            value += columns[j, i] * theta[j]
        best = max(best, value)
    return best


@best_value.of(Kept)
def _best_kept(arms: Kept, theta: Floats, out: Floats) -> None:
    for t in range(len(out)):
        out[t] = best_of(arms.columns, theta[t])


@best_value.of(Dealt)
def _best_dealt(arms: Dealt, theta: Floats, out: Floats) -> None:
    for t in range(len(out)):
        out[t] = best_of(arms.columns[t], theta[t])


@best_value.of(Convex)
def _best_convex(arms: Convex, theta: Floats, out: Floats) -> None:
    d = len(arms.factor)
    for t in range(len(out)):
        total = 0.0
        for j in range(d):
            value = 0.0
            for i in range(d):
                value += arms.factor[i, j] * theta[t, i]
            total += value * value
        out[t] = math.sqrt(total)
