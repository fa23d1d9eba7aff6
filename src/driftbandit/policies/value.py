"""Policies as values: they print as the call that makes them, compare, copy, pickle, save and load."""

import copy
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np

from driftbandit.arms import FixedArms
from driftbandit.policies import store
from driftbandit.policies.decision import Decision

STATE = ("_given", "state", "rounds", "_waiting", "_kept")


class Value:
    """What makes a policy a value: the parameters it was given, its state, and the decisions that wait for a reward."""

    dim: int
    state: Any
    rounds: int
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
        names = {field.name for field in fields(cast(Any, self))} | set(STATE)
        return {name: value for name, value in self.__dict__.items() if name in names}

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
        for t, index, arm in zip(*(arrays[f"waiting.{part}"] for part in ("round", "index", "arm")), strict=True):
            arm = np.array(arm, np.float64).reshape(policy.dim)
            arm.flags.writeable = False
            policy._waiting[int(t)] = Decision(int(t), None if index < 0 else int(index), arm)
        return policy
