"""Policies as values: they print as the call that makes them, compare, copy, pickle, save and load."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self, cast

import numpy as np

from driftbandit import policies
from driftbandit.core import validate
from driftbandit.core.arms import FixedArms
from driftbandit.core.sizes import at_most, demand_room
from driftbandit.policies._base import saved as store
from driftbandit.policies._base.decision import Decision
from driftbandit.policies._base.leaves import Arrays, leaves, restore, twin
from driftbandit.policies._base.sound import cancelled, check_range, check_rows, demand

STATE = ("_given", "state", "rounds", "_waiting", "_kept")
ALONE = "a policy belongs to one thread at a time, and another is using this one: share it under a lock, or give each its own"


class Value:
    """What makes a policy a value: the parameters it was given, its state, and the decisions that wait for a reward."""

    dim: int
    blocks: int
    arm_norm: float
    state: Any
    rounds: int
    most_waiting: int
    _busy: bool
    _entries: int
    _given: dict[str, Any]
    _waiting: dict[int, Decision]
    _kept: FixedArms | None

    kinds: ClassVar[dict[str, type["Value"]]] = {}

    def __init_subclass__(cls) -> None:
        Value.kinds[cls.__name__] = cls

    def keep(self, arms: FixedArms) -> None:
        raise NotImplementedError

    def _keep_none(self) -> None:
        raise NotImplementedError

    def _no_scratch(self) -> None:
        """Drop what a policy can recreate."""

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Refuse to work while another thread does. Not a lock: that would cost a fifth of a round on fixed arms."""
        if self._busy:
            raise RuntimeError(ALONE)
        self._busy = True  # Python changes threads only at calls and loops, so not between the check and this
        try:
            yield
        finally:
            self._busy = False

    def _check_state(self) -> None:
        """Refuse a state that this policy cannot have reached; it was read from a file, finite and of the right shapes."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._given.items())})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Value)
        mine, theirs = leaves(self.state), leaves(other.state)
        return (
            (self._given, self.rounds, self._waiting) == (other._given, other.rounds, other._waiting)
            and mine.keys() == theirs.keys()
            and all(np.array_equal(mine[name], theirs[name]) for name in mine)
        )

    def __getstate__(self) -> dict[str, Any]:
        names = [*(field.name for field in fields(cast(Any, self))), *STATE]
        with self._alone():  # what is handed out must not change while it is written
            own = {name: getattr(self, name) for name in names}
            return own | {"state": twin(self.state), "_waiting": self._waiting.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._no_scratch()

    def __copy__(self) -> Self:
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__())
        return made

    def save(self, path: str | Path) -> None:
        """Write a versioned data file from which ``load`` makes a policy that continues exactly as this one would."""
        with self._alone():
            self._write(path)

    def _write(self, path: str | Path, about: dict[str, Any] | None = None) -> None:
        store.write(path, *self._parts(about))

    def _parts(self, about: dict[str, Any] | None = None) -> tuple[dict[str, Any], Arrays]:
        """Everything, as data. ``about``: what the owner of this policy adds, such as a chooser."""
        waiting = list(self._waiting.values())
        arrays = {
            "waiting.origin": np.array([d.origin for d in waiting], np.int64),
            "waiting.round": np.array([d.round for d in waiting], np.int64),
            "waiting.index": np.array([-1 if d.index is None else d.index for d in waiting], np.int64),
            "waiting.arm": np.array([d.arm for d in waiting]).reshape(-1, self._entries),
            **({} if self._kept is None else {"kept": self._kept.rows}),
        }
        header = {"policy": type(self).__name__, "given": self._given, "rounds": self.rounds, "cancelled": self._is_cancelled()}
        header |= {} if about is None else {"about": about}
        return header, {**leaves(self.state), **arrays}

    def _is_cancelled(self) -> bool:
        """Whether the estimate is so far from what it is solved from that only cancelled rewards can explain it."""
        try:
            self._check_state()
        except ValueError:
            return True
        return False

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The policy that ``save`` wrote, with its decisions that still wait for a reward.

        A file is checked before it is used: a damaged or altered one raises a ValueError.
        """
        with open(path, "rb") as file:
            return cls._read(file, path)

    @classmethod
    def _read(cls, file: BinaryIO, path: str | Path) -> Self:
        with store.naming(path):
            saved = store.Saved(file)
        if not 1 <= saved.version <= store.VERSION:
            raise ValueError(f"{path} has version {saved.version}; this release reads 1 to {store.VERSION}: use a newer one")
        kind = cls._kind(path, saved.header["policy"])
        with store.naming(path):
            return kind._restored(saved)

    @classmethod
    def _kind(cls, path: str | Path, name: str) -> type[Self]:
        if name not in Value.kinds:
            policies.every()  # a fresh process knows only what it has imported
        kind = Value.kinds.get(name)
        if kind is None:
            raise ValueError(
                f"{path} holds a {name}, which this library does not define: import the module that defines it first"
            )
        if not issubclass(kind, cls):
            raise ValueError(f"{path} holds a {name}, not a {cls.__name__}: load it with Policy.load")
        return kind

    @classmethod
    def _restored(cls, saved: store.Saved) -> Self:
        """The policy in a file, every claim of which is checked before memory is allocated for it."""
        given = saved.header["given"]
        with at_most(saved.size, "what the file holds"):
            if "dim" in given:
                dim, blocks, shared = (validate.whole(name, given.get(name, 1)) for name in ("dim", "blocks", "shared"))
                demand_room("dim", 2 * dim, max(dim // blocks, shared))  # V and its inverse
            policy = cls(**given)
        rows = saved.kept(policy.dim)
        if rows is not None:
            policy.keep(FixedArms(rows))
        make = {name: (array.dtype, array.shape) for name, array in leaves(policy.state).items()}
        arrays = saved.arrays(make | policy._waiting_make(saved), {} if rows is None else {"kept": rows})
        restore(policy.state, arrays)
        policy.rounds = validate.whole("rounds", saved.header["rounds"], least=0)
        with cancelled(bool(saved.header.get("cancelled", True))):  # versions 1 and 2 did not say
            policy._check_state()
        policy._await(arrays, saved.version)
        return policy

    def _waiting_make(self, saved: store.Saved) -> dict[str, store.Make]:
        """What a file holds of the waiting decisions."""
        claim = saved.claims.get("waiting.round")
        count = 0 if claim is None else math.prod(claim.shape)
        owned = {} if saved.version == 1 else {"waiting.origin": (np.int64, (count,))}
        return {
            "waiting.round": (np.int64, (count,)),
            "waiting.index": (np.int64, (count,)),
            "waiting.arm": (np.float64, (count, self._entries)),
            **owned,
        }

    def _await(self, arrays: Arrays, version: int) -> None:
        """Wait for the rewards of the decisions that a file remembers."""
        t, index, arms = (arrays[f"waiting.{part}"] for part in ("round", "index", "arm"))
        origin = np.zeros_like(t) if version == 1 else arrays["waiting.origin"]
        check_range("the rounds that wait", t, 0, self.rounds - 1)
        demand((np.diff(t) > 0).all(), "the rounds that wait are not in order")
        check_range("the arms' numbers in the decisions that wait", index, -1, validate.MOST)
        check_range("the origins of the decisions that wait", origin, 0, np.iinfo(np.int64).max)
        check_rows("the arms that wait", arms, self.blocks, self.arm_norm)
        for decision in zip(t.tolist(), index.tolist(), arms, origin.tolist(), strict=True):
            if decision[0] >= self.rounds - self.most_waiting:  # version 1 kept more
                arm = np.array(decision[2])
                arm.flags.writeable = False
                self._waiting[decision[0]] = Decision(decision[0], None if decision[1] < 0 else decision[1], arm, decision[3])
