"""What a policy recreates when it needs it: compiled entries, luck drawn ahead, space for a round's arms."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import empty, ndarray  # a faster lookup than np.empty
from numpy.typing import ArrayLike, NDArray

from driftbandit.core import validate
from driftbandit.core.arms import Ball, Ellipsoid, FixedArms
from driftbandit.core.compile import bind
from driftbandit.core.linalg import aligned
from driftbandit.core.pruning import ROWS, new_score
from driftbandit.core.random import Seed, luck
from driftbandit.core.types import Floats
from driftbandit.policies._base.entry import LINE, LUCK, SLACK, SQUARE, decide_convex, decide_kept, decide_rows
from driftbandit.policies._base.large import decide_many
from driftbandit.policies._base.value import Value
from driftbandit.policies._base.verbs import learn

LUCK_ROUNDS = 1024  # rounds of luck drawn at a time
FLOAT64 = np.dtype(np.float64)


class Scratch(Value):
    """Attributes that are neither copied nor saved.

    None is a cached_property: that reads __dict__, after which every attribute of the policy costs several times as much
    (Python 3.11).
    """

    dim: int
    blocks: int
    shared: int
    arm_norm: float
    seed: Seed

    def _no_scratch(self) -> None:
        self._busy = False
        own = (self.dim - self.shared) // self.blocks
        self._entries = own if self.blocks == 1 else 1 + self.shared + own  # of an arm
        self._origin = int.from_bytes(os.urandom(8)) >> 1  # tells its decisions from those of its copies, and of all others
        self._luck_from = -LUCK_ROUNDS
        self._met: FixedArms | None = None
        self._shape: tuple[int, ...] = (-1,)
        self._decide_convex: Callable[..., None] | None = None
        self._take: Callable[..., None] | None = None

    def _draw_luck(self) -> int:
        place = self.rounds % LUCK_ROUNDS
        self._luck_from = self.rounds - place
        self._luck = luck(self.seed, self._luck_from, LUCK_ROUNDS)
        return place

    def _bind_take(self) -> Callable[..., None]:
        self._take = bind(learn.kernel_for(self.state), self.state, 0, LINE, 1.0)
        return self._take

    def _meet(self, arms: FixedArms) -> None:
        """Before a fixed set is played."""
        self.keep(arms)
        self._decide_kept = bind(decide_kept, self.state, 0, LUCK, 0)
        self._met, self._rows = arms, list(arms.rows)  # views, kept because making them takes time

    def _select_rows(self, t: int, place: int, arms: ArrayLike) -> tuple[int, Floats]:
        """The number of the chosen row, and a copy of it."""
        if not (arms.__class__ is ndarray and arms.shape == self._shape and arms.dtype is FLOAT64 and arms.flags.c_contiguous):
            arms = self._as_rows(arms)  # else is_plain holds; calling it would take as long as the rest
        arm = empty(self._entries)
        index = self._decide_rows(self.state, t, self._luck, place, arms, self.arm_norm, self._columns, self._score, arm)
        if index < 0:
            rows = validate.array("arms", arms, 2)
            if index == -2:
                raise self._no_block(rows[:, 0])
            rows = rows[:, int(self.blocks > 1) :]
            raise validate.too_long(self.arm_norm, validate.longest_row("arms", rows), rows)
        arm.setflags(False)  # type: ignore[call-arg]  # half the time of write=False, a quarter of arm.flags.writeable = False
        return index, arm

    def _as_rows(self, arms: ArrayLike) -> Floats:
        """The arms as the kernel wants them, and scratch space for as many."""
        rows = validate.array("arms", arms, 2)
        if rows.shape[1] != self._entries:
            raise ValueError(f"arms must have shape (n, {self._entries}), got {rows.shape}")
        if rows.shape != self._shape:
            self._columns = aligned(self._entries, len(rows))
            self._score = new_score(self.dim, len(rows)) if self.blocks == 1 else aligned(ROWS, len(rows))
            if len(self._score) > ROWS:
                self._decide_rows = decide_many(self.state)
            else:
                self._decide_rows = bind(decide_rows, self.state, 0, LUCK, 0, SQUARE, 1.0, SQUARE, SQUARE, LINE)
            self._shape = rows.shape
        return rows

    def _select_convex(self, t: int, place: int, arms: Ball | Ellipsoid) -> Floats:
        self._demand_whole()
        self.check_length(arms.longest)
        if self._decide_convex is None:
            self._decide_convex = bind(decide_convex, self.state, 0, LUCK, 0, SQUARE, LINE)
        arm = np.empty(self.dim)
        self._decide_convex(self.state, t, self._luck, place, arms.factor(self.dim), arm)
        arm.setflags(write=False)
        return arm

    def _demand_whole(self) -> None:
        if self.blocks > 1:
            raise ValueError(f"arms must be an array where blocks = {self.blocks}: arm sets have no blocks")

    def _no_block(self, numbers: Floats) -> ValueError:
        wrong = numbers[~((numbers >= 0) & (numbers < self.blocks) & (numbers == np.floor(numbers)))]
        return ValueError(f"an arm must begin with the number of its block, 0 to {self.blocks - 1}, got {wrong[0]:g}")

    def check_length(self, longest: float, rows: Floats | None = None) -> None:
        """Refuse arms of this length if they are longer than ``arm_norm``."""
        if longest > self.arm_norm * SLACK:
            raise validate.too_long(self.arm_norm, longest, rows)


def is_plain(array: NDArray[Any]) -> bool:
    """Laid out as kernels expect: native float64, contiguous."""
    return array.dtype is FLOAT64 and array.flags.c_contiguous
