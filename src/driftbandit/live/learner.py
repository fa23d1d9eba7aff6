"""A durable policy in the process: what it has answered, it has written."""

import threading
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from numpy.typing import ArrayLike

from driftbandit.contexts.chooser import Chooser
from driftbandit.core.arms import FixedArms
from driftbandit.live.answers import Answer, Ask, Explanation, Exported, Found, Preview, Receipt, Status
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.errors import Conflict, NotFound
from driftbandit.live.export import compact, export
from driftbandit.live.fold.ids import new_id
from driftbandit.live.fold.make import described
from driftbandit.live.service import Service
from driftbandit.live.settings import Settings
from driftbandit.policies._base.policy import Policy

NAME = "default"  # of its one experiment
Arms = ArrayLike | FixedArms | Mapping[str, Any] | str | None


class Learner:
    """One policy, or one Chooser, in one file. Threads may share it; processes may not.

    >>> import tempfile
    >>> from driftbandit import RestartUCB
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Learner.open(f"{folder.name}/shop.db", RestartUCB(2, period=100)) as shop:
    ...     choice = shop.decide([[1.0, 0.0], [0.0, 1.0]], id="order-17")
    ...     shop.reward("order-17", 1.0).outcome
    'learnt'
    >>> with Learner.open(f"{folder.name}/shop.db") as shop:  # later, or after a crash
    ...     shop.decide([[1.0, 0.0], [0.0, 1.0]], id="order-17").index == choice.index
    True
    >>> folder.cleanup()
    """

    def __init__(self, service: Service, name: str = NAME) -> None:
        self.service, self.name = service, name
        self._fixed: tuple[FixedArms, str] | None = None  # the set met last, and its name
        self._lock = threading.Lock()  # one decides at a time; commits are grouped outside it

    @classmethod
    def open(
        cls,
        path: str | Path,
        policy: Policy | Chooser | None = None,
        *,
        adopt: bool = False,
        clock: Callable[[], float] | None = None,
        **settings: Any,
    ) -> Self:
        """Create, or recover to the last acknowledged bit.

        Parameters:
            path: an SQLite file; its log and its snapshots lie beside it.
            policy: what is to decide. For a file that exists it may be left out; one that is given must be as it was made.
            adopt: go on with the state as it is found here, where the fold of the journal differs from its witnesses.
            clock: seconds since 1970, if not the computer's own.
            settings: see ``Settings``: wait, default, learn, gather, late, explore, most_waiting, remember, most_remembered.
        """
        if policy is None and not Path(path).exists():
            raise NotFound(f"{path} does not exist: give the policy that is to decide, to create it")
        told = Settings(**settings)
        journal = SqliteJournal(path)
        try:
            learner = cls(Service.open(journal, clock=clock, adopt=adopt))
            learner._begin(path, policy, told if settings else None)
            return learner
        except BaseException:
            journal.close()
            raise

    def _begin(self, path: str | Path, policy: Policy | Chooser | None, settings: Settings | None) -> None:
        known = self.service.state.names.get(self.name)
        if known is None:
            if policy is None:
                raise NotFound(f"{path} holds {self._others()}: give the one that is to decide")
            self.service.commits.through(self.service.create(self.name, policy, settings))
        elif policy is not None and described(policy) != known.origin:
            raise Conflict(f"{path} was made with another policy, {known.origin}, got {described(policy)}: take another file")
        elif settings is not None and settings != known.settings:
            raise Conflict(f"{path} was made with other settings, {known.settings}, got {settings}: take another file")

    def _others(self) -> str:
        names = ", ".join(map(repr, self.service.names))
        served = f"the experiments of a service ({names}), which `driftbandit serve` serves, and no policy of a Learner"
        return served if names else "no policy yet"

    def decide(
        self,
        arms: Arms = None,
        *,
        id: str | None = None,
        exclude: Sequence[str] = (),
        baseline: int | str | None = None,
        deferred: bool = False,
    ) -> Answer:
        """Decide; durable when this returns. The same id gives the same answer.

        Parameters:
            arms: (n, dim) numbers, the name of a set that was put, FixedArms, or a visitor's fields if a Chooser decides.
            id: yours, so that a decision can be asked for again after a crash; one is made if none is given.
            exclude, baseline, deferred: see ``Ask``.
        """
        ask = self._ask(arms, exclude=exclude, baseline=baseline, deferred=deferred)
        with self._lock:
            self.service.tick()
            answer = self.service.decide(self.name, new_id() if id is None else id, ask)
        self.service.commits.through(answer.ticket)
        return answer

    def reward(self, id: str, value: float, key: str | None = None) -> Receipt:
        """The reward of a decision: once; the same again is harmless. Durable when this returns."""
        with self._lock:
            receipt = self.service.reward(self.name, id, value, key)
        self.service.commits.through(receipt.ticket)
        return receipt

    def shown(self, id: str) -> Receipt:
        """A deferred decision was shown: its wait begins."""
        with self._lock:
            receipt = self.service.shown(self.name, id)
        self.service.commits.through(receipt.ticket)
        return receipt

    def put_set(self, name: str, arms: ArrayLike, labels: Sequence[str] | None = None) -> None:
        """Name an arm set: a decision on it is faster, and its record shorter, than one on arms given each time."""
        self._durably(lambda: self.service.put_set(self.name, name, arms, labels))

    def add(self, action: str, features: Sequence[float] | None = None) -> None:
        """Offer a new action, or one again that was removed, where a Chooser decides."""
        self._durably(lambda: self.service.add_action(self.name, action, features))

    def remove(self, action: str) -> None:
        """Offer an action no more."""
        self._durably(lambda: self.service.remove_action(self.name, action))

    def expire(self) -> int:
        """End the waits that are over (each decision does so too); how many records that made."""
        with self._lock:
            made = self.service.tick()
            ticket = self.service.commits.next - 1
        self.service.commits.through(ticket)
        return made

    def preview(self, arms: Arms = None, *, exclude: Sequence[str] = ()) -> Preview:
        """What would be decided now, and why; nothing is kept."""
        ask = self._ask(arms, exclude=exclude)
        with self._lock:
            return self.service.preview(self.name, ask)

    def explain(self, id: str) -> Explanation:
        """A decision, and what is thought now of what was on offer."""
        with self._lock:
            return self.service.explain(self.name, id)

    def find(self, id: str) -> Found:
        """What is known of an id."""
        with self._lock:
            return self.service.find(self.name, id)

    def status(self) -> Status:
        with self._lock:
            return self.service.status(self.name)

    def export(self, path: str | Path, *, drop: bool = False) -> Exported:
        """Write what the journal holds to a Parquet file, one row per record, numbers exact; how many rows.

        drop: let the journal forget then what the older snapshot does not need, so that it does not grow without end; how
            many records is in the answer. From then on each export needs a new name, since an older file may be the only
            copy of what was dropped.
        """
        with self._lock:
            if self.service.journal.start > 0 and Path(path).exists():
                raise Conflict(f"{path} exists, and may be the only copy of records that were dropped: take another name")
            self.service.commits.through(self.service.commits.next - 1)
            rows = export(self.service.journal, path)
            return Exported(rows, compact(self.service) if drop else 0)

    def close(self) -> None:
        """Write a snapshot, and let others have the file."""
        with self._lock:
            self.service.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _durably(self, command: Callable[[], int]) -> None:
        with self._lock:
            ticket = command()
        self.service.commits.through(ticket)

    def _set_of(self, arms: FixedArms) -> str:
        """The name of a set that is known by its arms; it is put when it is first met."""
        if self._fixed is None or self._fixed[0] is not arms:
            name = f"fixed-{blake2b(arms.rows.tobytes(), digest_size=8).hexdigest()}"
            self.put_set(name, arms.rows)
            self._fixed = arms, name
        return self._fixed[1]

    def _ask(self, arms: Arms, **more: Any) -> Ask:
        if isinstance(arms, FixedArms):
            return Ask(set=self._set_of(arms), **more)
        if isinstance(arms, str):
            return Ask(set=arms, **more)
        if arms is None or isinstance(arms, Mapping):
            return Ask(fields=arms, **more)
        return Ask(arms=arms, **more)
