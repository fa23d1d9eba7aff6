"""A bank of ridge estimators with memories from short to unlimited, all of which learn from every reward.

Every estimator has to predict a reward before it learns it; the latest residuals are kept.

Dimensions: K estimators, the last of which never forgets; D features, with the intercept if there is one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from driftbandit.core.choice import width
from driftbandit.core.compile import kernel
from driftbandit.core.ridge import (
    CANCELS,
    METRIC,
    MOST_STEPS,
    STEPS,
    THETA,
    B,
    Ridge,
    V,
    correct,
    fade,
    forecast,
    refresh,
    rescore,
)
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._evidence.upkeep import known_along_an_axis, upkeep
from driftbandit.policies._evidence.verbs import (
    describe,
    duplicate,
    empty,
    foresee,
    lean_to,
    length2,
    located,
    play,
    remember_constant,
    size,
    summary,
    trace,
    unseen,
)

LEARNT, MAIN, RESTARTS, SINCE, NEWEST, BIRTH, VARIED, SOUND = range(8)  # rows of the clock
NOISE2, FOURTH, COUNTED, LOUD, SIGNAL2, LENGTH2, WEIGHT, PENALTY, CONSTANT, SHIFT, FIRST, LOUDER = range(12)  # of the scale
PACE = 64  # a memory forgets in at least so many steps: in fewer, λI comes back in lumps, which short memories mistake for news
SETTLE = 8  # rewards per feature after which the scales are trusted
ENDLESS = 1e18  # rewards: 1 − 1/memory is 1
REMEMBERED = 16.0  # rewards: a fresh start knows the constant at most as well as from so many: part of a change may be in it
MOST_RESTARTS = 256  # whose rounds are remembered


class Bank(NamedTuple):
    features: int  # d: all but the intercept
    memory: Floats  # (K,): in rewards, the last unlimited
    keep: Floats  # (K,): (1 − 1/memory)^turns, what is left after a step of forgetting …
    turns: Ints  # (K,): … which is taken after so many rewards
    matrix: Floats  # (K + 1, 2, D, D): as in Ridge; the last is scratch
    vector: Floats  # (K + 1, 3, D)
    tally: Ints  # (K + 1, 2)
    built: Floats  # (K + 1,): the λ that is in V
    columns: Floats  # (D, 0) and …
    score: Floats  # … (3, 0): the bank keeps no arms' scores
    evidence: Floats  # (K, K): [k, j] against k by j, which has the shorter memory
    onset: Ints  # (K, K): how many rewards had been learnt when it was last 0
    gaps: Floats  # (K, 2): between forecasts of neighbours, see leaning.py
    residual: Floats  # (K,): scratch, of a reward, …
    variance: Floats  # (K,): … and its variance in units of the noise's
    squares: Floats  # (ring, K): of the last residuals, each over its variance, …
    logs: Floats  # (ring, K): … whose logarithm this is
    taken: Floats  # (ring,): the one of these squares from which the noise was learnt
    sources: Floats  # (2, d): where noise comes from, see sources.py
    decided: Ints  # (ring,): the rounds of these rewards …
    newest: Ints  # (ring,): … and the latest round heard of by then
    arms: Floats  # (ring, D)
    rewards: Floats  # (ring,)
    x: Floats  # (D,): scratch, an arm with its intercept
    scale: Floats  # noise variance; mean fourth power of residuals; how many rewards they average; the noise variance at
    # present; signal variance per feature; an arm's length²; how many rewards these average; λ; the feature of the intercept;
    # the first reward if there is one, which is then subtracted from all; the first reward; how many times the noise
    # variance that of arms with noise is
    clock: Ints  # rewards learnt; main estimator; restarts; when the last one was; the latest round heard of; the first round
    # whose reward counts after the last restart; whether rewards have varied; the longest memory that nothing refutes, from
    # which the scales are learnt
    restarts: Ints  # (MOST_RESTARTS,): a ring of the rounds reached when they happened


def new_bank(features: int, intercept: bool, memories: Sequence[int], noise: float | None) -> Bank:
    dim = features + intercept
    count, ring = len(memories) + 1, max(128, SETTLE * dim)
    turns = np.array([*(max(1, memory // PACE) for memory in memories), 1])
    memory = np.array([*memories, ENDLESS])
    scale = np.zeros(12)
    scale[NOISE2] = 0.0 if noise is None else noise * noise
    return Bank(
        features=features,
        memory=memory,
        keep=(1.0 - 1.0 / memory) ** turns,
        turns=turns,
        matrix=np.zeros((count + 1, 2, dim, dim)),
        vector=np.zeros((count + 1, 3, dim)),
        tally=np.zeros((count + 1, 2), np.int64),
        built=np.zeros(count + 1),
        columns=np.zeros((dim, 0)),
        score=np.zeros((3, 0)),
        evidence=np.zeros((count, count)),
        onset=np.zeros((count, count), np.int64),
        gaps=np.zeros((count, 2)),
        residual=np.zeros(count),
        variance=np.zeros(count),
        squares=np.zeros((ring, count)),
        logs=np.zeros((ring, count)),
        taken=np.zeros(ring),
        sources=np.zeros((2, features)),
        decided=np.zeros(ring, np.int64),
        newest=np.zeros(ring, np.int64),
        arms=np.zeros((ring, dim)),
        rewards=np.zeros(ring),
        x=np.zeros(dim),
        scale=scale,
        clock=np.zeros(8, np.int64),
        restarts=np.zeros(MOST_RESTARTS, np.int64),
    )


@kernel
def member(bank: Bank, k: int) -> Ridge:
    return Ridge(bank.scale[PENALTY], bank.matrix[k], bank.vector[k], bank.columns, bank.score, bank.tally[k])


@kernel
def empty_whole(bank: Bank, k: int) -> None:
    """What `clear` of a member would do; with that, a round at d = 2 takes 6 % longer."""
    bank.matrix[k][:] = 0.0
    bank.vector[k][:] = 0.0
    bank.tally[k][:] = 0
    bank.built[k] = bank.scale[PENALTY]
    for i in range(len(bank.x)):
        bank.matrix[k, V, i, i] = bank.scale[PENALTY]
        bank.matrix[k, METRIC, i, i] = 1.0 / bank.scale[PENALTY]


@kernel
def duplicate_whole(bank: Bank, source: int, target: int) -> None:
    copy_ridge(bank.matrix[source], bank.vector[source], bank.matrix[target], bank.vector[target])
    bank.tally[target, STEPS] = bank.tally[source, STEPS]
    bank.built[target] = bank.built[source]


@kernel
def copy_ridge(matrix: Floats, vector: Floats, to_matrix: Floats, to_vector: Floats) -> None:
    for i in range(vector.shape[1]):
        for row in range(3):
            to_vector[row, i] = vector[row, i]
        for row in range(2):
            for j in range(vector.shape[1]):
                to_matrix[row, i, j] = matrix[row, i, j]


@kernel
def predict_and_learn(ridge: Ridge, x: Floats, r: float) -> tuple[float, float]:
    """Predict a reward, learn it. Returns the residual and its variance in units of the noise's."""
    mean, square = forecast(ridge, x)
    square = max(square, 0.0)
    if correct(ridge, x, r, 1.0, mean, square) > CANCELS or ridge.tally[STEPS] >= MOST_STEPS:
        refresh(ridge)
    return r - mean, 1.0 + square


@kernel
def due_upkeep(bank: Bank, place: int, k: int, n: int) -> tuple[int, float, int, float]:
    """What to do, before the n-th reward, to the estimator in a place that forgets as k does: the number of this turn, how much
    is left, along how many axes to add to V, and how much."""
    turn, features = n // bank.turns[k], bank.features
    keep = bank.keep[k] if n == turn * bank.turns[k] else 1.0
    most = known_along_an_axis(n - bank.clock[SINCE], bank.memory[k], bank.scale[LENGTH2], features)
    axes, weight = upkeep(bank.built, place, bank.scale[PENALTY], most, keep, features)
    return turn, keep, axes, weight


@remember_constant.of(Bank)
def _remember_constant(bank: Bank, k: int) -> None:
    c, last, penalty = bank.features, len(bank.keep) - 1, bank.scale[PENALTY]
    known = 1.0 / max(bank.matrix[last, METRIC, c, c], 1e-12 / penalty)
    known = min(max(known, penalty), penalty + REMEMBERED * bank.scale[CONSTANT] ** 2)
    bank.matrix[k, V, c, c], bank.matrix[k, METRIC, c, c] = known, 1.0 / known
    bank.vector[k, THETA, c] = bank.vector[last, THETA, c]
    bank.vector[k, B, c] = bank.vector[last, THETA, c] * known


@size.of(Bank)
def _size(bank: Bank) -> int:
    return len(bank.x)


@foresee.of(Bank)
def _foresee(bank: Bank, place: int, k: int, n: int, x: Floats, r: float) -> tuple[float, float]:
    ridge, features = member(bank, place), bank.features
    turn, keep, axes, weight = due_upkeep(bank, place, k, n)
    for i in range(axes):
        fade(ridge, keep if i == 0 else 1.0, features, (turn * axes + i) % features, weight)
    return predict_and_learn(ridge, x, r)


@empty.of(Bank)
def _empty(bank: Bank, k: int) -> None:
    empty_whole(bank, k)


@duplicate.of(Bank)
def _duplicate(bank: Bank, source: int, target: int) -> None:
    duplicate_whole(bank, source, target)


@length2.of(Bank)
def _length2(bank: Bank, x: Floats) -> float:
    total = 0.0
    for i in range(bank.features):
        total += x[i] * x[i]
    return total


@trace.of(Bank)
def _trace(bank: Bank, k: int) -> float:
    total = 0.0
    for i in range(len(bank.x)):
        total += bank.matrix[k, V, i, i]
    return total


@located.of(Bank)
def _located(bank: Bank, x: Floats) -> tuple[int, int, int]:
    return 0, bank.features, 0


@unseen.of(Bank)
def _unseen(bank: Bank, k: int) -> float:
    total = 0.0
    for i in range(bank.features):
        total += bank.scale[PENALTY] / bank.matrix[k, V, i, i]
    return total


@summary.of(Bank)
def _summary(bank: Bank, k: int) -> tuple[float, float, float]:
    signal = unknown = length = 0.0
    for i in range(bank.features):
        signal += bank.vector[k, THETA, i] ** 2
        unknown += bank.matrix[k, METRIC, i, i]
        length += bank.x[i] ** 2
    return signal, unknown, length


@describe.of(Bank)
def _describe(bank: Bank, k: int, radius: float, novelty: float, theta: Floats, widths: Floats) -> None:
    for i in range(bank.features):
        theta[i] = bank.vector[k, THETA, i]
        widths[i] = width(radius, novelty, bank.matrix[k, METRIC, i, i])


@lean_to.of(Bank)
def _lean_to(bank: Bank, k: int, share: float, theta: Floats) -> None:
    for i in range(len(theta)):  # with the intercept, if the estimate has it
        theta[i] += share * (bank.vector[k, THETA, i] - theta[i])


@play.of(Ridge)
def _play(ridge: Ridge, bank: Bank, main: int, share: float, played: int) -> None:
    dim = len(bank.x)
    for i in range(dim):
        ridge.vector[THETA, i] = bank.vector[main, THETA, i]  # in a probe too: it is guided by what is known
        for j in range(dim):
            ridge.matrix[METRIC, i, j] = bank.matrix[played, METRIC, i, j]
    if share > 0.0:
        lean_to(bank, main - 1, share, ridge.vector[THETA])
    if dim > bank.features:
        measure_constant(ridge, bank.scale[CONSTANT])
    rescore(ridge)


@kernel
def measure_constant(ridge: Ridge, constant: float) -> None:
    """Make the last feature, a constant of this size, one of 1, as it is in every table of arms."""
    last = len(ridge.columns) - 1
    ridge.vector[THETA, last] *= constant
    for i in range(last + 1):
        ridge.matrix[METRIC, i, last] *= constant
        ridge.matrix[METRIC, last, i] *= constant
