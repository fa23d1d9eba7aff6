"""How every command ends: its record applied and handed to the journal, both or neither; and how all of it begins and ends."""

from collections.abc import Callable, Sequence
from typing import Any, Self

from driftbandit import __version__
from driftbandit.live.disk.committer import Commits
from driftbandit.live.disk.journal import Journal
from driftbandit.live.disk.keeper import Keeper
from driftbandit.live.disk.state import State, recover
from driftbandit.live.errors import Broken, Invalid, NotFound
from driftbandit.live.fold import records as r
from driftbandit.live.fold.clock import steady
from driftbandit.live.fold.entries import Entry
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.fold.running import Runner


class Writing:
    """The state, the journal, and what keeps them in step."""

    def __init__(self, journal: Journal, state: State, clock: Callable[[], float]) -> None:
        self.journal, self.state, self.clock = journal, state, clock
        self.commits = Commits(journal)
        self.keeper = Keeper(journal, self.commits)
        self._torn = False  # a step broke off half-way

    @classmethod
    def open(cls, journal: Journal, *, clock: Callable[[], float] | None = None, adopt: bool = False) -> Self:
        """Recover: the latest good snapshot, then the records after it, checked against the witnesses.

        adopt: take the state as it is found here, whatever a witness says, and write a snapshot of it.
        """
        state = recover(journal, adopting=adopt)
        service = cls(journal, state, steady() if clock is None else clock)
        if (mismatch := state.mismatch) is not None:
            service._write(r.Adopted(service.now(), mismatch, __version__))
            service.keeper.keep(state.freeze())
        for experiment in state.experiments.values():
            experiment.adopting = False
        return service

    @property
    def broken(self) -> bool:
        """A step broke off half-way, or a commit failed: all commands raise Broken."""
        return self._torn or self.commits.failed

    def now(self) -> float:
        """Never before the last record, whatever the clock says."""
        return max(self.clock(), self.state.at)

    def _write(self, record: Any) -> Any:
        """Apply a record that is known to be right, and hand it to the journal: both, or nothing ever again."""
        if self.broken:
            raise self._ahead()
        place = self.state.place
        self._torn = True  # until it is seen to the end, whatever interrupts
        try:
            record = self.state.apply(record)
            self.commits.append(r.encode(record))
            self._torn = False
        except ValueError as error:  # a policy refuses before it changes anything
            self._torn = not (isinstance(record, r.Decided) and self.state.place == place)
            field = "arms" if getattr(record, "fields", None) is None else "fields"
            raise error if isinstance(error, Invalid) else Invalid(str(error), field) from None
        return record

    def _write_all(self, runner: Runner, ids: Sequence[str], asked: bytes, deferred: bool) -> None:
        """The same of new decisions, of which none can be refused."""
        if self.broken:
            raise self._ahead()
        self._torn = True
        made = self.state.decide(runner, self.now(), ids, asked, deferred)
        self.commits.extend([r.encode(record) for record in made])
        self._torn = False

    def _ahead(self) -> Broken:
        return Broken(f"{self.journal.name}: memory is ahead of the journal since an error: open it again, which recovers")

    @property
    def _last(self) -> int:
        return self.commits.next - 1

    def _experiment(self, name: str) -> Experiment:
        found = self.state.names.get(name)
        if found is None:
            raise NotFound(f"unknown experiment {name!r}: create it first")
        return found

    def _entry(self, name: str, id: str) -> tuple[Experiment, Entry]:
        experiment = self._experiment(name)
        entry = experiment.find(id)
        if entry is None:
            raise NotFound(f"unknown decision {id!r} in {name!r}: it was never made, or is forgotten")
        return experiment, entry

    def _witness(self, experiment: Experiment) -> None:
        self._write(r.Witness(self.now(), experiment.number))

    def snapshot(self) -> None:
        """Have one written, in a thread of its own, as soon as all that is in it is durable."""
        for experiment in self.state.experiments.values():
            self._witness(experiment)
        self.keeper.begin(self.state.freeze())

    def close(self) -> None:
        """Commit the rest, write a snapshot, let the journal go. After Broken it only lets the journal go."""
        try:
            if not self.broken and self.commits.next > self.keeper.place:
                self.snapshot()
            self.keeper.wait()
            if not self.broken:
                self.commits.through(self._last)
        finally:
            self.journal.close()
