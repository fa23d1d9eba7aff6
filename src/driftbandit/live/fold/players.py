"""What decides in an experiment, behind one face: a policy here, a Chooser in choosing.py."""

import copy
from abc import ABC, abstractmethod
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from driftbandit.core.arms import FixedArms
from driftbandit.core.types import Floats
from driftbandit.live.answers import Kind, Opinion
from driftbandit.live.errors import Invalid
from driftbandit.live.fold.entries import Entry
from driftbandit.live.fold.records import Decided
from driftbandit.policies._base.outlook import Outlook
from driftbandit.policies._base.policy import Policy


class Played(msgspec.Struct, frozen=True, gc=False):
    """What the policy chose, of how many, and what has to be kept to learn from any of them."""

    round: int
    chosen: int
    offered: Any  # a sequence: the arms, or the names of actions
    context: bytes | None = None


class ArmSet(msgspec.Struct, array_like=True):
    """Arms by a name; ``number`` is that of the record that put it, so that an older version is another set."""

    number: int
    name: str
    dim: int
    arms: bytes
    labels: tuple[str, ...] | None

    @property
    def count(self) -> int:
        return len(self.arms) // (8 * self.dim)

    def fixed(self) -> FixedArms:
        return FixedArms(np.frombuffer(self.arms).reshape(-1, self.dim))


class Player(ABC):
    kind: Kind

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.entries = policy._entries  # of an arm: fewer than features where there are blocks
        self.whole = policy.blocks == 1
        if hasattr(policy, "_warned"):
            policy._warned = True  # its status tells; a warning made an error would break off a step

    @abstractmethod
    def play(self, record: Decided) -> Played:
        """Choose; a ValueError, with nothing changed, if what was asked is wrong."""

    @abstractmethod
    def kept(self, record: Decided, played: Played, index: int) -> tuple[bytes | int | None, str | None]:
        """What an entry keeps to learn from this choice, and its name."""

    @abstractmethod
    def learn(self, entry: Entry, reward: float) -> None:
        """Teach the policy a reward."""

    @abstractmethod
    def opinions(self, record: Decided, outlook: Outlook) -> list[Opinion]:
        """What is thought of everything on offer, in order."""

    @abstractmethod
    def chances(self, record: Decided, draws: int) -> list[float]:
        """With what chance each of what is on offer would be chosen now, in order; see ``Policy.chances``."""

    @abstractmethod
    def twin(self) -> "Player":
        """A copy, to try something on or to write."""

    @abstractmethod
    def offered(self) -> list[str]: ...

    @abstractmethod
    def columns(self) -> list[str]: ...

    @abstractmethod
    def to_bytes(self) -> bytes: ...


class PolicyPlayer(Player):
    """Arms as they come, or by the name of their set."""

    kind: Kind = "policy"

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self.sets: dict[str, ArmSet] = {}  # as they are now
        self.versions: dict[int, ArmSet] = {}  # these, and older ones of which decisions still wait
        self._fixed: dict[int, tuple[FixedArms, list[Floats]]] = {}  # with the rows one by one, which take time to make

    def put(self, made: ArmSet, needed: set[int]) -> None:
        """Name a set; of older versions those needed stay."""
        self.sets[made.name] = made
        needed = needed | {each.number for each in self.sets.values()}
        self.versions = {number: each for number, each in self.versions.items() if number in needed} | {made.number: made}
        self._fixed = {number: each for number, each in self._fixed.items() if number in self.versions}

    def fixed(self, number: int) -> tuple[FixedArms, list[Floats]]:
        known = self._fixed.get(number)
        if known is None:
            made = self.versions[number].fixed()
            known = self._fixed[number] = made, list(made.rows)
        return known

    @property
    def lone(self) -> bool:
        """A lone set is played as fixed arms, whose scores the policy keeps; where there are several, that would not pay."""
        return (self.whole and len(self.sets) == 1) or self.policy.fixed_only

    def _arms(self, record: Decided) -> Any:
        if record.arms is not None:
            if self.policy.fixed_only:
                raise Invalid(f"{type(self.policy).__name__} plays one fixed set: put it by a name, and name it", "arms")
            return rows(record.arms[1], record.arms[0])
        if record.set is None:
            raise Invalid("arms or set must be given, got neither", "arms")
        made = self.sets.get(record.set)
        if made is None:
            raise Invalid(f"unknown set {record.set!r}: put it first", "set")
        fixed, _ = self.fixed(made.number)
        return fixed if self.lone else fixed.rows

    def play(self, record: Decided) -> Played:
        if record.fields is not None or record.exclude:
            raise Invalid("fields and exclude are for a Chooser; here a policy decides: give arms or set", "fields")
        arms, policy = self._arms(record), self.policy
        if arms.__class__ is FixedArms:
            return Played(policy.rounds, policy._choose(arms), arms)
        decision = policy.select(arms)
        policy.release(decision)
        assert decision.index is not None
        return Played(decision.round, decision.index, arms)

    def kept(self, record: Decided, played: Played, index: int) -> tuple[bytes | int | None, str | None]:
        if record.set is None:
            return played.offered[index].tobytes(), None
        made = self.sets[record.set]
        return made.number, None if made.labels is None else made.labels[index]

    def learn(self, entry: Entry, reward: float) -> None:
        assert entry.arm is not None
        arm = self.fixed(entry.arm)[1][entry.index] if isinstance(entry.arm, int) else np.frombuffer(entry.arm)
        self.policy._teach(entry.round, arm, reward, entry.index == entry.chosen)  # all was checked when it was decided

    def opinions(self, record: Decided, outlook: Outlook) -> list[Opinion]:
        made = None if record.set is None else self.sets.get(record.set)
        names = None if made is None else made.labels
        means, widths = outlook.appraise(np.asarray(self._arms(record)))
        parts = enumerate(zip(means.tolist(), widths.tolist(), strict=True))
        return [opinion(outlook, i, None if names is None else names[i], m, w) for i, (m, w) in parts]

    def chances(self, record: Decided, draws: int) -> list[float]:
        return list(map(float, self.policy.chances(self._arms(record), draws)))

    def twin(self) -> "PolicyPlayer":
        made = PolicyPlayer(copy.copy(self.policy))
        made.sets, made.versions, made._fixed = self.sets.copy(), self.versions.copy(), self._fixed.copy()
        return made

    def offered(self) -> list[str]:
        return list(self.sets)

    def columns(self) -> list[str]:
        return [f"x{k}" for k in range(self.policy.dim)]

    def to_bytes(self) -> bytes:
        return self.policy.to_bytes()


def opinion(outlook: Outlook, index: int, action: str | None, estimate: float, width: float) -> Opinion:
    """Without a radius nothing is learnt yet, or chance stands for the width: zero would read as certain."""
    return Opinion(index, action, estimate, width if outlook.radius > 0.0 else None, estimate + width)


def rows(arms: bytes, count: int) -> NDArray[np.float64]:
    return np.frombuffer(arms, np.float64).reshape(count, -1)
