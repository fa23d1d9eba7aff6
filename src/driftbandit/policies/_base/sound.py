"""What holds for every valid state: checks for states from a file, which may be damaged or forged."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from driftbandit.core import validate
from driftbandit.core.ridge import MEAN, METRIC, OBSERVED, SQUARE, STEPS, THETA, B, Ridge, V
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._base.entry import SLACK

EPSILON = float(np.finfo(np.float64).eps)
ROUNDING = 1e-6  # what rounding may add up to, relative to what is rounded, unless V is ill-conditioned: …
PER_STEP = 4.0 * EPSILON  # … then this much per step, times the square of its condition number
LARGE = 1e150  # far above any θ̂, but its square is finite

_cancelled: ContextVar[bool] = ContextVar("cancelled", default=False)


@contextmanager
def cancelled(truth: bool) -> Iterator[None]:
    """Within this, rewards may have cancelled, such as +1e9 and −1e9: θ̂ is then mere rounding, and says nothing about b."""
    token = _cancelled.set(truth)
    try:
        yield
    finally:
        _cancelled.reset(token)


def demand(truth: Any, what: str) -> None:
    if not truth:
        raise ValueError(what)


def check_range(name: str, values: Any, least: float, most: float) -> None:
    values = np.asarray(values)
    wrong = values[~((values >= least) & (values <= most))]
    if wrong.size:
        raise ValueError(f"{name} must lie between {least:g} and {most:g}, got {wrong.flat[0]:g}")


def check_now(now: int, rounds: int) -> None:
    """The last decided round: one more if the decision was interrupted before it was returned."""
    check_range("the last decided round", now, rounds - 1, rounds)


def check_arms(name: str, arms: Floats, longest: float) -> None:
    with np.errstate(over="ignore"):
        check_range(f"the squared lengths of {name}", np.einsum("ij,ij->i", arms, arms), 0.0, (longest * SLACK) ** 2)


def check_rows(name: str, rows: Floats, blocks: int, longest: float) -> None:
    """Arms, each with the number of its block if there are blocks."""
    if blocks > 1:
        numbers, rows = rows[:, 0], rows[:, 1:]
        check_range(f"the blocks of {name}", numbers, 0, blocks - 1)
        demand((numbers == np.floor(numbers)).all(), f"the blocks of {name} are not whole numbers")
    check_arms(name, rows, longest)


def check_rewards(name: str, rewards: Floats) -> None:
    check_range(name, rewards, -2.0 * validate.LARGEST, 2.0 * validate.LARGEST)  # a difference of two, at most


def check_ring(name: str, slots: Ints, size: int, first: int, last: int) -> None:
    """Rounds, each in its own place; a negative number is an empty place."""
    held = np.flatnonzero(slots >= 0)
    check_range(name, slots[held], first, last)
    demand((slots[held] % size == held).all(), f"{name} are not in their places")


def check_faded(name: str, ridge: Ridge, discount: float, rounds: int, longest: float) -> None:
    """Σγ^age·x·xᵀ and Σγ^age·r·x: symmetric, positive semidefinite, and no larger than the rounds allow."""
    v, most = ridge.matrix[V], (1.0 + ROUNDING) * (longest * SLACK) ** 2 * most_weight(discount, rounds)
    demand(np.abs(v - v.T).max() <= 1e-9 * (np.abs(v).max() + ridge.penalty), f"{name} is not symmetric")
    demand(np.linalg.eigvalsh(v)[0] >= -1e-9 * (np.abs(v).max() + ridge.penalty), f"{name} is not positive semidefinite")
    check_range(f"the trace of {name}", np.trace(v), 0.0, most)
    check_rewards("the mean reward in b", ridge.vector[B] / (longest * most_weight(discount, rounds)))


def check_arrow(name: str, penalty: float, own: Floats, cross: Floats, common: Floats) -> None:
    """Sums of blocks (B, w, w), of their products with the shared part (B, w, s), and of that (s, s): together one Σx·xᵀ."""
    if len(common):
        solved = np.linalg.solve(own + penalty * np.eye(own.shape[1]), cross)
        rest = penalty * np.eye(len(common)) + common - np.einsum("kij,kim->jm", cross, solved)
        least, most = np.linalg.eigvalsh(rest)[0], np.abs(common).max()
        demand(least >= penalty * (1.0 - ROUNDING) - 1e-8 * most, f"{name} is not positive semidefinite")


def check_mass(mass: float, discount: float, rounds: int) -> None:
    check_range("the count of observations", mass, 0.0, (1.0 + ROUNDING) * most_weight(discount**2, rounds))


def most_weight(discount: float, rounds: int) -> float:
    """No less than Σγ^age over all rounds; the last has age −1, since it is discounted once before it counts."""
    return min(rounds + 1.0, 1.0 / (1.0 - discount)) / discount


def check_ridge(name: str, ridge: Ridge, most: int, longest: float, evicted: int = 0) -> None:
    """V = λI + Σx·xᵀ of at most ``most`` arms, after at most ``evicted`` were taken out again, and what follows from it."""
    v, d = ridge.matrix[V], len(ridge.columns)
    check_range(f"{name}: the count of observations", ridge.tally[OBSERVED], 0, most)
    check_range(f"{name}: the count of steps since a fresh solve", ridge.tally[STEPS], 0, max(1024, 32 * d) + evicted)
    bound = check_solved(name, ridge.matrix, ridge.vector, ridge.tally)
    values = np.linalg.eigvalsh(v)
    demand(values[0] >= ridge.penalty * (1.0 - ROUNDING) - 1e-8 * values[-1], f"{name}: V is less than its λI")
    trace = d * ridge.penalty + float(ridge.tally[OBSERVED]) * (longest * SLACK) ** 2
    demand(evicted or np.trace(v) <= trace * (1.0 + ROUNDING), f"{name}: V is more than its observations allow")
    check_scores(name, ridge, float(bound))


def check_solved(name: str, matrix: Floats, vector: Floats, tally: Ints) -> Any:
    """V symmetric positive definite, METRIC·V = I, Vθ̂ = b: of one ridge or a stack. Returns the relative bound on rounding."""
    v, metric, d = matrix[..., V, :, :], matrix[..., METRIC, :, :], matrix.shape[-1]
    diagonal = np.diagonal(v, axis1=-2, axis2=-1)
    demand((diagonal > 0.0).all(), f"{name}: V is not positive definite")
    root = np.sqrt(diagonal)
    with np.errstate(all="ignore"):  # what overflows is wrong, and is refused
        units = root[..., :, None] * root[..., None, :]
        v, metric = v / units, metric * units  # as if features were in units in which V's diagonal is 1
        for part, what in ((v, "V"), (metric, "METRIC")):
            apart = np.abs(part - np.swapaxes(part, -1, -2)).max((-1, -2))
            demand((apart <= 1e-9 * np.abs(part).max((-1, -2))).all(), f"{name}: {what} is not symmetric")
        least = np.linalg.eigvalsh(v)[..., 0]
        demand((least > -ROUNDING).all(), f"{name}: V is not positive definite")
        bound = np.maximum(ROUNDING, PER_STEP * (tally[..., STEPS] + d) * (d / np.maximum(least, EPSILON)) ** 2)
        residual = np.abs(metric @ v - np.eye(d)).max((-1, -2))
        demand((residual <= bound).all(), f"{name}: METRIC is not the inverse of V")
        theta, b = vector[..., THETA, :] * root, vector[..., B, :] / root
        rest = np.abs(np.einsum("...ij,...j->...i", v, theta) - b).max(-1)
        size = d * np.abs(theta).max(-1) + np.abs(b).max(-1)
        demand((size <= LARGE).all(), f"{name}: θ̂ or b is far too large")
        demand(_cancelled.get() or (rest <= bound * size).all(), f"{name}: θ̂ does not match V and b")
    return bound


def check_scores(name: str, ridge: Ridge, bound: float) -> None:
    """Of a fixed set, ⟨x, θ̂⟩ and ‖x‖² in the metric."""
    x, theta, metric = ridge.columns, ridge.vector[THETA], ridge.matrix[METRIC]
    mean, mean_size = theta @ x, np.abs(theta) @ np.abs(x)
    square = np.einsum("in,ij,jn->n", x, metric, x, optimize=True)
    square_size = np.einsum("in,ij,jn->n", np.abs(x), np.abs(metric), np.abs(x), optimize=True)
    apart = np.abs(ridge.score[MEAN] - mean)
    demand((apart <= LARGE).all(), f"{name}: the arms' means are far too large")
    demand(_cancelled.get() or (apart <= bound * mean_size).all(), f"{name}: the arms' means do not match θ̂")
    demand((np.abs(ridge.score[SQUARE] - square) <= bound * square_size).all(), f"{name}: the arms' widths do not match METRIC")
