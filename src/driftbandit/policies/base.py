"""What all policies have in common: parameters, select and update, and being values that print, compare and copy."""

import copy
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftbandit import _check
from driftbandit._chance import Seed, luck
from driftbandit._compile import bind
from driftbandit._types import Floats
from driftbandit.arms import Ball, Ellipsoid, FixedArms
from driftbandit.policies import store
from driftbandit.policies.entry import SLACK, decide_convex, decide_kept, decide_rows, take
from driftbandit.policies.verbs import begin
from driftbandit.ridge import METRIC, THETA, Confidence, Ridge, keep_arms

LUCK_ROUNDS = 1024  # rounds of luck drawn at a time
MOST_WAITING = 1_000_000  # decisions remembered until their reward comes
CONVEX = (Ball, Ellipsoid)
FLOAT64 = np.dtype(np.float64)


@dataclass(slots=True, eq=False)
class Decision:
    """What ``select`` chose: show ``arm`` (or item ``index`` of the set), then ``update`` with this decision."""

    round: int
    index: int | None  # None where arms have no number: a ball, an ellipsoid
    arm: Floats

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Decision)
            and (self.round, self.index) == (other.round, other.index)
            and np.array_equal(self.arm, other.arm)
        )


class Estimate(NamedTuple):
    """What the next ``select`` will go by: ⟨x, theta⟩ + radius·√(xᵀ·metric·x)."""

    theta: Floats
    metric: Floats
    radius: float


@dataclass(repr=False, eq=False, kw_only=True)
class Policy(ABC):
    """An optimist on a ridge estimate: choose argmax ⟨x, θ̂⟩ + β‖x‖, learn from the reward, forget in its own way.

    Parameters, with the paper's symbols:
        dim: the number of features (d).
        ridge: the regulariser (λ).
        delta: the probability that a confidence bound may fail (δ); 1/T when the horizon is given, else 0.01.
        theta_norm: a bound on the length of the hidden parameter (S).
        arm_norm: a bound on the length of an arm (L); a longer one is an error.
        noise: the sub-Gaussian scale of the rewards' noise (R).
        width: a factor on the radius β; 1 is the theory's, less explores less.
        horizon: the number of rounds, where known (T).
        seed: fixes how ties are broken.
    """

    dim: int = field(kw_only=False)
    ridge: float = 1.0
    delta: float | None = None
    theta_norm: float = 1.0
    arm_norm: float = 1.0
    noise: float = 1.0
    width: float = 1.0
    horizon: int | None = None
    seed: Seed = 0

    kinds: ClassVar[dict[str, type["Policy"]]] = {}

    def __init_subclass__(cls) -> None:
        Policy.kinds[cls.__name__] = cls

    def __post_init__(self) -> None:
        self._given = {f.name: v for f in fields(self) if (v := getattr(self, f.name)) != f.default}
        self.dim = _check.whole("dim", self.dim)
        self.ridge = _check.positive("ridge", self.ridge)
        self.theta_norm = _check.positive("theta_norm", self.theta_norm)
        self.arm_norm = _check.positive("arm_norm", self.arm_norm)
        self.noise = _check.not_negative("noise", self.noise)
        self.width = _check.not_negative("width", self.width)
        self.horizon = None if self.horizon is None else _check.whole("horizon", self.horizon)
        known = max(self.horizon or 100, 2)
        self.delta = _check.fraction("delta", 1.0 / known if self.delta is None else self.delta)
        self.seed = _check.seed(self.seed)
        if self.arm_norm**2 > 1e12 * self.ridge:
            raise ValueError(f"ridge must be at least 1e-12·arm_norm² for float64 to solve it, got {self.ridge:g}")
        if self.arm_norm**2 > self.ridge:
            warnings.warn("arm_norm² exceeds ridge: the regret bounds are proved for ‖x‖² ≤ λ only", stacklevel=4)
        self.state = self._new_state()
        self.rounds = 0
        self._waiting: dict[int, Decision] = {}
        self._kept: FixedArms | None = None
        self._no_scratch()

    @abstractmethod
    def _new_state(self) -> Any:
        """The state for the compiled loop, empty; settles the policy's own parameters."""

    def confidence(self) -> Confidence:
        assert self.delta is not None
        return Confidence(
            bias=self.width * math.sqrt(self.ridge) * self.theta_norm,
            scale=self.width * self.noise,
            log_term=2.0 * math.log(1.0 / self.delta),
            dim=float(self.dim),
            rate=self.arm_norm**2 / (self.ridge * self.dim),
        )

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
            self._check_length(arms.longest)
            index, arm = None, np.empty(self.dim)
            self._decide_convex(self.state, t, self._luck, place, arms.factor(self.dim), arm)
        else:
            if arms.__class__ is not np.ndarray or arms.shape != self._shape or not is_plain(arms):
                arms = self._as_rows(cast(ArrayLike, arms))
            arm = np.empty(self.dim)
            index = self._decide_rows(
                self.state, t, self._luck, place, arms, self.arm_norm, self._columns, self._score, arm
            )
            if index < 0:
                self._check_length(_check.longest_row("arms", _check.array("arms", arms, 2)))
        self.rounds = t + 1
        self._waiting[t] = decision = Decision(t, index, arm)
        return decision

    def update(self, decision: Decision, reward: float) -> None:
        """Learn the reward of a decision: once, now or much later, in any order."""
        known = self._waiting.get(decision.round) if isinstance(decision, Decision) else None
        if known is None or (known is not decision and known != decision):
            raise ValueError(f"decision must be one that still waits for its reward, got {decision!r}")
        if not (isinstance(reward, float) and -_check.LARGEST <= reward <= _check.LARGEST):
            reward = _check.real("reward", reward)
        self._take(self.state, decision.round, known.arm, reward)
        del self._waiting[decision.round]

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
            self._check_length(arms.longest)
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

    def _check_length(self, longest: float) -> None:
        if longest > self.arm_norm * SLACK:
            raise ValueError(f"arms must not be longer than arm_norm = {self.arm_norm:g}, got {longest:g}")

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

    # --- being a value -----------------------------------------------------------------------------------------

    def spawn(self, replicate: int) -> Self:
        """A fresh policy with these settings and tie-breaking of its own: one for each replicate of a study."""
        base = (self.seed,) if isinstance(self.seed, int) else self.seed
        return type(self)(**{**self._given, "seed": (*base, replicate)})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._given.items())})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = store.leaves(self.state), store.leaves(other.state)
        return (
            (self._given, self.rounds, self._waiting) == (other._given, other.rounds, other._waiting)
            and mine.keys() == theirs.keys()
            and all(np.array_equal(mine[name], theirs[name]) for name in mine)
        )

    def __getstate__(self) -> dict[str, Any]:
        own = {f.name for f in fields(self)} | {"_given", "state", "rounds", "_waiting", "_kept"}
        return {name: value for name, value in self.__dict__.items() if name in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._no_scratch()

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def save(self, path: str | Path) -> None:
        """Write a versioned data file from which ``load`` makes a policy that goes on exactly as this one would."""
        waiting = list(self._waiting.values())
        arrays = {
            "waiting.round": np.array([d.round for d in waiting], np.int64),
            "waiting.index": np.array([-1 if d.index is None else d.index for d in waiting], np.int64),
            "waiting.arm": np.array([d.arm for d in waiting]).reshape(-1, self.dim),
            **({} if self._kept is None else {"kept": self._kept.rows}),
        }
        header = {"policy": type(self).__name__, "given": self._given, "rounds": self.rounds}
        store.write(path, header, {**store.leaves(self.state), **arrays})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The policy that ``save`` wrote, with its decisions that still wait for a reward."""
        header, arrays = store.read(path)
        kind = Policy.kinds.get(header["policy"])
        if kind is None or not issubclass(kind, cls):
            raise ValueError(f"{path} holds a {header['policy']}, not a {cls.__name__}")
        policy: Self = kind(**header["given"])
        if "kept" in arrays:
            policy.keep(FixedArms(arrays["kept"]))
        store.restore(policy.state, arrays)
        policy.rounds = header["rounds"]
        for t, index, arm in zip(*(arrays[f"waiting.{part}"] for part in ("round", "index", "arm")), strict=True):
            policy._waiting[int(t)] = Decision(int(t), None if index < 0 else int(index), arm.copy())
        return policy


def is_plain(array: NDArray[Any]) -> bool:
    """Laid out as kernels expect: native float64, contiguous."""
    return array.dtype is FLOAT64 and array.flags.c_contiguous


def tuned(policy: Any, name: str, formula: Callable[[int, int, float], Any]) -> Any:
    """The policy's own parameter as given, or by the theory's formula from horizon and path length."""
    given, path_length = getattr(policy, name), policy.path_length
    if given is not None:
        if path_length is not None:
            raise ValueError(f"give {name}, or horizon and path_length, not both")
        return given
    if policy.horizon is None or path_length is None:
        raise ValueError(f"{name} must be given, or horizon and path_length to tune it by")
    return formula(policy.dim, policy.horizon, path_length)
