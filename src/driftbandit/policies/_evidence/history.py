"""A policy's notes on its own course: a limited number, ever farther apart, so that their size stays constant."""

from typing import NamedTuple

import numpy as np

from driftbandit.core.compile import kernel
from driftbandit.core.types import Floats, Ints

MOST_NOTES = 512
COLUMNS = ("round", "memory", "evidence", "noise", "restarts", "trust", "reward")  # of a note; then …
ROUND, MEMORY, EVIDENCE, NOISE, RESTARTS, TRUST, REWARD = range(7)
ESTIMATE = 7  # … θ̂ from here on, and after it the widths of its coordinates
FILLED, STRIDE, WAITED = range(3)


class Diary(NamedTuple):
    notes: Floats  # (MOST_NOTES, ESTIMATE + 2d)
    clock: Ints  # notes taken; rewards per note; rewards since the last note
    total: Floats  # (1,): their sum


def new_diary(dim: int) -> Diary:
    return Diary(np.zeros((MOST_NOTES, ESTIMATE + 2 * dim)), np.array([0, 1, 0]), np.zeros(1))


@kernel
def due(diary: Diary, reward: float) -> bool:
    """Count a reward, and say whether it is time for a note."""
    diary.total[0] += reward
    diary.clock[WAITED] += 1
    return bool(diary.clock[WAITED] == diary.clock[STRIDE])


@kernel
def note(diary: Diary, t: int) -> None:
    """Complete a note, the rest of which the caller has written, with its round and the mean reward."""
    row, clock = diary.notes[diary.clock[FILLED]], diary.clock
    row[ROUND] = t
    row[REWARD] = diary.total[0] / clock[WAITED]
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
