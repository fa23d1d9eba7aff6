"""What a policy remembers of its own course: at most so many notes, ever farther apart, so that memory stays constant."""

from typing import NamedTuple

import numpy as np

from driftbandit._compile import kernel
from driftbandit._types import Floats, Ints
from driftbandit.ridge import METRIC, THETA, Ridge

MOST_NOTES = 512
COLUMNS = ("round", "memory", "evidence", "noise", "restarts", "reward")  # of a note; then …
ROUND, MEMORY, EVIDENCE, NOISE, RESTARTS, REWARD = range(6)
ESTIMATE = 6  # … θ̂ from here on, and after it the variances of its coordinates
FILLED, STRIDE, WAITED = range(3)


class Diary(NamedTuple):
    notes: Floats  # (MOST_NOTES, ESTIMATE + 2d)
    clock: Ints  # notes taken; rewards to a note; rewards since the last
    total: Floats  # (1,): their sum


def new_diary(dim: int) -> Diary:
    return Diary(np.zeros((MOST_NOTES, ESTIMATE + 2 * dim)), np.array([0, 1, 0]), np.zeros(1))


@kernel
def due(diary: Diary, reward: float) -> bool:
    """Count a reward; whether it is time for a note."""
    diary.total[0] += reward
    diary.clock[WAITED] += 1
    return bool(diary.clock[WAITED] == diary.clock[STRIDE])


@kernel
def note(diary: Diary, t: int, memory: float, evidence: float, noise: float, restarts: int, ridge: Ridge) -> None:
    notes, clock, d = diary.notes, diary.clock, len(ridge.vector[THETA])
    row = notes[clock[FILLED]]
    row[ROUND], row[MEMORY], row[EVIDENCE], row[NOISE], row[RESTARTS] = t, memory, evidence, noise, restarts
    row[REWARD] = diary.total[0] / clock[WAITED]
    for i in range(d):
        row[ESTIMATE + i] = ridge.vector[THETA, i]
        row[ESTIMATE + d + i] = ridge.matrix[METRIC, i, i]
    clock[FILLED] += 1
    clock[WAITED] = 0
    diary.total[0] = 0.0
    if clock[FILLED] == MOST_NOTES:
        thin(diary)


@kernel
def thin(diary: Diary) -> None:
    """Keep every second note; the rewards of a pair are averaged."""
    notes = diary.notes
    for k in range(MOST_NOTES // 2):
        reward = 0.5 * (notes[2 * k, REWARD] + notes[2 * k + 1, REWARD])
        for i in range(notes.shape[1]):
            notes[k, i] = notes[2 * k + 1, i]
        notes[k, REWARD] = reward
    diary.clock[FILLED] = MOST_NOTES // 2
    diary.clock[STRIDE] *= 2
