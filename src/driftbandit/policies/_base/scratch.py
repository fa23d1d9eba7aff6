"""What a policy recreates when it needs it: compiled entries, luck drawn ahead, space for a round's arms."""

import os
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy import empty, ndarray  # a faster lookup than np.empty
from numpy.typing import ArrayLike, NDArray

from driftbandit.core import validate
from driftbandit.core.arms import Ball, Ellipsoid, FixedArms
from driftbandit.core.compile import bind
from driftbandit.core.linalg import aligned, with_constants
from driftbandit.core.pinned import Pinned, pin
from driftbandit.core.pruning import ROWS, is_large, new_score
from driftbandit.core.random import Seed, luck
from driftbandit.core.spread import Spread
from driftbandit.core.types import Floats
from driftbandit.policies._base.entry import (
    LINE,
    SLACK,
    SQUARE,
    Desk,
    decide_convex,
    decide_fresh,
    decide_kept,
    decide_spread,
    take,
)
from driftbandit.policies._base.large import decide_many, decide_many_kept
from driftbandit.policies._base.value import Value

LUCK_ROUNDS = 1024  # rounds of luck drawn at a time
FLOAT64 = np.dtype(np.float64)
NO_ARMS = np.empty((0, 0))


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

    keeps_scores: ClassVar[bool] = True  # of fixed arms; else every round makes them anew

    @property
    def constants(self) -> int:
        """How many features, each 1, the policy adds to every arm."""
        return 0

    @property
    def _height(self) -> int:
        """Of a table with one arm per column."""
        return self._entries + self.constants

    @property
    def state(self) -> Any:
        """The policy's numbers."""
        return self._state

    @state.setter
    def state(self, state: Any) -> None:
        self._state = state
        self._no_desk()

    def _no_desk(self) -> None:
        """Drop what is bound to this very state."""
        self._desk: Any = None  # pinned; who calls a kernel with its handle also holds it, so that it stays in memory
        self._met: FixedArms | None = None
        self._shape: tuple[int, ...] = (-1,)
        self._pattern: Pinned | None = None
        self._decide_convex: Callable[..., None] | None = None
        self._take: Callable[..., None] | None = None

    def _no_scratch(self) -> None:
        self._no_desk()
        self._busy = False
        own = (self.dim - self.shared) // self.blocks
        self._entries = own if self.blocks == 1 else 1 + self.shared + own  # of an arm
        self._origin = int.from_bytes(os.urandom(8)) >> 1  # tells its decisions from those of its copies, and of all others
        self._luck_from, self._luck = -LUCK_ROUNDS, empty((LUCK_ROUNDS, 4))

    def _draw_luck(self) -> int:
        place = self.rounds % LUCK_ROUNDS
        self._luck_from = self.rounds - place
        self._luck[:] = luck(self.seed, self._luck_from, LUCK_ROUNDS)
        return place

    def _lay_desk(self, columns: Floats = NO_ARMS, score: Floats = NO_ARMS) -> Pinned:
        self._desk = desk = pin(Desk(self.state, self._luck, self.arm_norm, columns, score))
        return desk

    def _bind_take(self) -> Callable[..., None]:
        self._take = bind(take, self._desk or self._lay_desk(), 0, LINE, 1.0)
        return self._take

    def _meet(self, arms: FixedArms) -> None:
        """Before a fixed set is played."""
        if self.keeps_scores or not is_large(*arms.shape):
            self.keep(arms)
            self._decide_kept = bind(decide_kept, self._desk or self._lay_desk(), 0, 0)
        else:
            self._check_set(arms)
            self._keep_none()
            desk, table = self._desk or self._lay_desk(), with_constants(arms.columns, self.constants)
            self._decide_kept = decide_many_kept(desk.value, table)
        self._met, self._rows = arms, list(arms.rows)  # views, kept because making them takes time

    def _select_rows(self, t: int, place: int, arms: ArrayLike) -> tuple[int, Floats]:
        """The number of the chosen row, and a copy of it."""
        if not (arms.__class__ is ndarray and arms.shape == self._shape and arms.dtype is FLOAT64 and arms.flags.c_contiguous):
            arms = self._made_room(arms)  # else is_plain holds; calling it would take as long as the rest
        desk, arm = self._desk, empty(self._entries)
        index = self._decide_rows(desk.handle, t, place, arms, arm)
        if index < 0:
            raise self._refusal(index, validate.array("arms", arms, 2))
        arm.setflags(False)  # type: ignore[call-arg]  # half the time of write=False, a quarter of arm.flags.writeable = False
        return index, arm

    def _select_spread(self, t: int, place: int, arms: Spread) -> tuple[int, Floats]:
        pattern, arm = arms.pattern, empty(self._entries)
        if pattern is not self._pattern:
            self._follow(pattern)
        desk = self._desk
        index = self._decide_spread(desk.handle, pattern.handle, t, place, arms.context, arm)
        if index < 0:
            raise self._refusal(index, desk.value.columns[: len(pattern.value.numbers)])
        arm.setflags(False)  # type: ignore[call-arg]
        return index, arm

    def _follow(self, pattern: Pinned) -> None:
        """Before arms of this pattern are played."""
        n = len(pattern.value.numbers)
        if self._pattern is None or n > len(self._desk.value.columns):
            desk = self._lay_desk(aligned(n, self._entries), aligned(ROWS, n))
            self._decide_spread = bind(decide_spread, desk, pattern, 0, 0, LINE, LINE)
            self._shape = (-1,)
        self._pattern = pattern

    def _refusal(self, index: int, rows: NDArray[np.float64]) -> ValueError:
        """Why the kernel refused these arms."""
        if index == -2:
            return self._no_block(rows[:, 0])
        rows = rows[:, int(self.blocks > 1) :]
        return validate.too_long(self.arm_norm, validate.longest_row("arms", rows), rows)

    def _as_rows(self, arms: ArrayLike) -> Floats:
        """The arms as kernels want them."""
        rows = validate.array("arms", arms, 2)
        if rows.shape[1] != self._entries:
            raise ValueError(f"arms must have shape (n, {self._entries}), got {rows.shape}")
        return rows

    def _made_room(self, arms: ArrayLike) -> Floats:
        """The arms as kernels want them, and scratch space for as many."""
        rows = self._as_rows(arms)
        if rows.shape != self._shape:
            score = new_score(self._height, len(rows)) if self.blocks == 1 else aligned(ROWS, len(rows))
            columns = aligned(self._height, len(rows))
            columns[self._entries :] = 1.0  # constants
            desk = self._lay_desk(columns, score)
            self._decide_rows = decide_many(desk) if len(score) > ROWS else bind(decide_fresh, desk, 0, 0, SQUARE, LINE)
            self._shape, self._pattern = rows.shape, None
        return rows

    def _select_convex(self, t: int, place: int, arms: Ball | Ellipsoid) -> Floats:
        self._demand_whole()
        self.check_length(arms.longest)
        if self._decide_convex is None:
            self._decide_convex = bind(decide_convex, self._desk or self._lay_desk(), 0, 0, SQUARE, LINE)
        desk, arm = self._desk, np.empty(self.dim)
        self._decide_convex(desk.handle, t, place, arms.factor(self.dim), arm)
        arm.setflags(write=False)
        return arm

    def _check_set(self, arms: FixedArms) -> None:
        self._demand_whole()
        if arms.dim != self.dim:
            raise ValueError(f"arms must have {self.dim} columns, got {arms.dim}")
        self.check_length(arms.longest, arms.rows)

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
