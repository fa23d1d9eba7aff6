"""Policies as values: they print as the call that makes them, compare, copy, pickle, save and load."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np

from driftbandit.core.arms import FixedArms
from driftbandit.core.types import Floats
from driftbandit.policies._base import saved as store
from driftbandit.policies._base.decision import Decision

STATE = ("_given", "state", "rounds", "_waiting", "_kept")
ALONE = "a policy belongs to one thread at a time, and another is using this one: share it under a lock, or give each its own"


class Value:
    """What makes a policy a value: the parameters it was given, its state, and the decisions that wait for a reward."""

    dim: int
    state: Any
    rounds: int
    most_waiting: int
    _busy: bool
    _given: dict[str, Any]
    _waiting: dict[int, Decision]
    _kept: FixedArms | None

    kinds: ClassVar[dict[str, type["Value"]]] = {}

    def __init_subclass__(cls) -> None:
        Value.kinds[cls.__name__] = cls

    def keep(self, arms: FixedArms) -> None:
        raise NotImplementedError

    def _no_scratch(self) -> None:
        """Forget what a policy can do without."""

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Refuse to work while another thread does. Not a lock: that would cost a fifth of a round on fixed arms."""
        if self._busy:
            raise RuntimeError(ALONE)
        self._busy = True  # Python changes threads only at calls and loops, so not between the question and this
        try:
            yield
        finally:
            self._busy = False

    def _is_sound(self) -> bool:
        """Whether a state that was read from a file can be played."""
        return True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._given.items())})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Value)
        mine, theirs = store.leaves(self.state), store.leaves(other.state)
        return (
            (self._given, self.rounds, self._waiting) == (other._given, other.rounds, other._waiting)
            and mine.keys() == theirs.keys()
            and all(np.array_equal(mine[name], theirs[name]) for name in mine)
        )

    def __getstate__(self) -> dict[str, Any]:
        names = [*(field.name for field in fields(cast(Any, self))), *STATE]
        with self._alone():  # what is handed out must not change while it is written
            own = {name: getattr(self, name) for name in names}
            return own | {"state": copy.deepcopy(self.state), "_waiting": self._waiting.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._no_scratch()

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def save(self, path: str | Path) -> None:
        """Write a versioned data file from which ``load`` makes a policy that goes on exactly as this one would."""
        with self._alone():
            self._write(path)

    def _write(self, path: str | Path) -> None:
        waiting = list(self._waiting.values())
        arrays = {
            "waiting.origin": np.array([d.origin for d in waiting], np.int64),
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
        kind = Value.kinds.get(str(header.get("policy")))
        if kind is None or not issubclass(kind, cls):
            raise ValueError(f"{path} holds a {header.get('policy')}, not a {cls.__name__}")
        try:
            return kind._restored(header, arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is not a saved policy, or is damaged ({error})") from None

    @classmethod
    def _restored(cls, header: dict[str, Any], arrays: store.Arrays) -> Self:
        policy = cls(**header["given"])
        if "kept" in arrays:
            policy.keep(FixedArms(arrays["kept"]))
        store.restore(policy.state, arrays)
        if not policy._is_sound():
            raise ValueError("its state is not sound")
        policy.rounds = int(header["rounds"])
        t, index, arm = (arrays[f"waiting.{part}"] for part in ("round", "index", "arm"))
        origin = np.zeros_like(t) if header["version"] == 1 else arrays["waiting.origin"]
        for decision in zip(t.tolist(), index.tolist(), arm, origin.tolist(), strict=True):
            policy._await(*decision)
        return policy

    def _await(self, t: int, index: int, arm: Floats, origin: int) -> None:
        """Wait for the reward of a decision that a file remembers."""
        if t >= self.rounds - self.most_waiting:  # version 1 waited for more
            arm = np.array(arm, np.float64).reshape(self.dim)
            arm.flags.writeable = False
            self._waiting[t] = Decision(t, None if index < 0 else index, arm, origin)
