"""What all policies have in common: parameters, select and update, and being values that print, compare and copy."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftbandit import _check
from driftbandit._chance import Seed, luck
from driftbandit._compile import bind
from driftbandit._types import Floats
from driftbandit.arms import Ball, Ellipsoid, FixedArms
from driftbandit.policies.decision import Decision, Estimate
from driftbandit.policies.entry import SLACK, decide_convex, decide_kept, decide_rows, take
from driftbandit.policies.value import Value
from driftbandit.policies.verbs import begin
from driftbandit.ridge import METRIC, THETA, Ridge, keep_arms

LUCK_ROUNDS = 1024  # rounds of luck drawn at a time
MOST_WAITING = 100_000  # decisions remembered until their reward comes; then the oldest are given up
CONVEX = (Ball, Ellipsoid)
FLOAT64 = np.dtype(np.float64)


@dataclass(repr=False, eq=False, kw_only=True)
class Policy(Value, ABC):
    """An optimist: choose argmax ⟨x, θ̂⟩ + β‖x‖, learn from the reward, forget in its own way.

    Parameters, with the paper's symbols:
        dim: the number of features (d).
        arm_norm: a bound on the length of an arm (L); a longer one is an error.
        seed: fixes how ties are broken, and all that a policy draws.

    A policy belongs to one thread at a time. Parameters are fixed when it is made.
    """

    dim: int = field(kw_only=False)
    arm_norm: float = 1.0
    seed: Seed = 0

    fixed_only: ClassVar[bool] = False  # it cannot play arms that change
    by_arrival: ClassVar[bool] = False  # rewards count in the order in which they come, not in that of their rounds

    def __post_init__(self) -> None:
        given = [f.name for f in fields(self) if not same(getattr(self, f.name), f.default)]
        self.dim = _check.whole("dim", self.dim)
        self.arm_norm = _check.positive("arm_norm", self.arm_norm)
        self.seed = _check.seed(self.seed)
        self._settle()
        self.state = self._new_state()
        self._given = {name: getattr(self, name) for name in given}
        self.rounds = 0
        self._waiting: dict[int, Decision] = {}
        self._kept: FixedArms | None = None
        self._no_scratch()

    def _settle(self) -> None:
        """Check and complete the parameters that a kind of policy adds."""

    @abstractmethod
    def _new_state(self) -> Any:
        """The state for the compiled loop, empty; settles the policy's own parameters."""

    # --- deciding and learning ---------------------------------------------------------------------------------

    def select(self, arms: ArrayLike | FixedArms | Ball | Ellipsoid) -> Decision:
        """Decide the next round: ``arms`` is an (n, dim) array, new each time or not, or an arm set."""
        t = self.rounds
        place = t - self._luck_from
        if place >= LUCK_ROUNDS:
            place = self._draw_luck()
        index: int | None
        if arms.__class__ is FixedArms:
            if arms is not self._kept:
                self.keep(arms)
            index = self._decide_kept(self.state, t, self._luck, place)
            arm = arms.arms[index]
        elif isinstance(arms, CONVEX):
            self.check_length(arms.longest)
            index, arm = None, np.empty(self.dim)
            self._decide_convex(self.state, t, self._luck, place, arms.factor(self.dim), arm)
            arm.flags.writeable = False
        else:
            if arms.__class__ is not np.ndarray or arms.shape != self._shape or not is_plain(arms):
                arms = self._as_rows(cast(ArrayLike, arms))
            arm = np.empty(self.dim)
            index = self._decide_rows(self.state, t, self._luck, place, arms, self.arm_norm, self._columns, self._score, arm)
            if index < 0:
                longest = _check.longest_row("arms", _check.array("arms", arms, 2))
                raise ValueError(f"arms must not be longer than arm_norm = {self.arm_norm:g}, got {longest:.17g}")
            arm.flags.writeable = False
        self.rounds = t + 1
        self._waiting[t] = decision = Decision(t, index, arm)
        return decision

    def update(self, decision: Decision, reward: float) -> None:
        """Learn the reward of a decision: once, now or much later, in any order."""
        known = self._waiting.get(decision._round) if isinstance(decision, Decision) else None
        if known is None or (known is not decision and known != decision):
            raise ValueError(f"decision must be one that still waits for its reward, got {decision!r}")
        if not (isinstance(reward, float) and -_check.LARGEST <= reward <= _check.LARGEST):
            reward = _check.real("reward", reward)
        self._take(self.state, known._round, known._arm, reward)
        del self._waiting[known._round]

    def estimate(self) -> Estimate:
        """The estimate and the radius as the next ``select`` will see them; changes nothing."""
        state = copy.deepcopy(self.state)
        beta = begin(state, self.rounds, luck(self.seed, self.rounds, 1)[0])
        return Estimate(state.ridge.vector[THETA], state.ridge.matrix[METRIC], float(beta))

    def keep(self, arms: FixedArms) -> None:
        """Keep this set's scores up to date from now on: what makes ``select`` on a fixed set fast."""
        if arms != self._kept:
            if arms.dim != self.dim:
                raise ValueError(f"arms must have {self.dim} columns, got {arms.dim}")
            self.check_length(arms.longest)
            self.state = self._with_ridge(self.state, keep_arms(self.state.ridge, arms.columns))
        self._kept = arms

    def _no_scratch(self) -> None:
        """What a policy can do without: luck drawn ahead, space for the arms of a round."""
        self._luck_from = -LUCK_ROUNDS
        self._shape: tuple[int, ...] = (-1,)

    def _draw_luck(self) -> int:
        place = self.rounds % LUCK_ROUNDS
        self._luck_from = self.rounds - place
        self._luck = luck(self.seed, self._luck_from, LUCK_ROUNDS)
        while len(self._waiting) > MOST_WAITING:  # here, so that it costs nothing in most rounds
            del self._waiting[next(iter(self._waiting))]
        return place

    def _as_rows(self, arms: ArrayLike) -> Floats:
        """The arms as the kernel wants them, and scratch space for as many."""
        rows = _check.array("arms", arms, 2)
        if rows.shape[1] != self.dim:
            raise ValueError(f"arms must have shape (n, {self.dim}), got {rows.shape}")
        if rows.shape != self._shape:
            self._shape = rows.shape
            self._columns, self._score = np.empty((self.dim, len(rows))), np.empty((3, len(rows)))
        return rows

    def check_length(self, longest: float) -> None:
        """Refuse arms of this length if they are longer than ``arm_norm``."""
        if longest > self.arm_norm * SLACK:
            raise ValueError(f"arms must not be longer than arm_norm = {self.arm_norm:g}, got {longest:g}")

    def spawn(self, replicate: int) -> Self:
        """A fresh policy with these settings and tie-breaking of its own: one for each replicate of a study."""
        base = (self.seed,) if isinstance(self.seed, int) else self.seed
        return type(self)(**{**self._given, "seed": (*base, replicate)})

    def _with_ridge(self, state: Any, ridge: Ridge) -> Any:
        return state._replace(ridge=ridge)

    # Entries compiled for this kind of state, looked up once.

    @cached_property
    def _decide_rows(self) -> Callable[..., int]:
        square = np.empty((1, 1))
        return bind(decide_rows, self.state, 0, np.empty((1, 4)), 0, square, 1.0, square, square, np.empty(1))

    @cached_property
    def _decide_kept(self) -> Callable[..., int]:
        return bind(decide_kept, self.state, 0, np.empty((1, 4)), 0)

    @cached_property
    def _decide_convex(self) -> Callable[..., None]:
        return bind(decide_convex, self.state, 0, np.empty((1, 4)), 0, np.empty((1, 1)), np.empty(1))

    @cached_property
    def _take(self) -> Callable[..., None]:
        return bind(take, self.state, 0, np.empty(1), 1.0)


def same(value: object, default: object) -> bool:
    """Whether a parameter was left at its default; an array never was."""
    return value is default or (type(value) is type(default) and bool(value == default))


def is_plain(array: NDArray[Any]) -> bool:
    """Laid out as kernels expect: native float64, contiguous."""
    return array.dtype is FLOAT64 and array.flags.c_contiguous
