"""All experiments and tokens: the fold itself, and where it begins."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from driftbandit.live.disk import snapshot
from driftbandit.live.disk.journal import Journal
from driftbandit.live.errors import Damaged, Mismatch
from driftbandit.live.fold import records as r
from driftbandit.live.fold.experiment import STEPS, Experiment
from driftbandit.live.fold.make import described, player_of, unpacked
from driftbandit.live.fold.running import Runner, run

AT_A_TIME = 10_000  # records folded at a time


class State:
    """What the records up to ``place`` have made."""

    def __init__(self, adopting: bool = False) -> None:
        self.place = 0
        self.at = 0.0  # the latest time in a record
        self.made = 0  # experiments ever made: the next one's number
        self.experiments: dict[int, Experiment] = {}
        self.names: dict[str, Experiment] = {}
        self.tokens: dict[bytes, r.Token] = {}
        self.adopting = adopting

    def apply(self, record: Any) -> Any:
        """One step of the fold. A Decided record without a choice comes back with one, a Witness with its digest."""
        number, done, step = self.place, record, STEPS.get(type(record))
        if step is not None:
            experiment = self.experiments[record.of]
            done = step(experiment, number, record) or record
            experiment.forget(record.at)
        elif isinstance(record, r.Created):
            self._create(record)
        elif isinstance(record, r.Deleted):
            del self.names[self.experiments.pop(record.of).name]
        elif isinstance(record, r.TokenMade):
            self.tokens[record.token.digest] = record.token
        elif isinstance(record, r.TokenRevoked):
            del self.tokens[record.digest]
        self.place, self.at = number + 1, record.at
        return done

    def extend(self, records: Sequence[Any]) -> None:
        """As ``apply`` of each, with runs of records of one experiment taken at once."""
        done = 0
        while done < len(records):
            experiment = self.experiments.get(getattr(records[done], "of", -1))
            taken = 0 if experiment is None else run(experiment, self.place, islice(records, done, None))
            if taken:
                done += taken
                self.place, self.at = self.place + taken, records[done - 1].at
            else:
                self.apply(records[done])
                done += 1

    def decide(self, runner: Runner, at: float, ids: Sequence[str], asked: bytes, deferred: bool) -> list[r.Decided]:
        """As ``apply`` of each of these, new and alike."""
        made = runner.decide(self.place, at, ids, asked, deferred)
        self.place, self.at = self.place + len(made), at
        return made

    def _create(self, record: r.Created) -> None:
        learner = unpacked(record.policy)
        origin, player = described(learner), player_of(learner)
        made = Experiment(record.of, record.name, record.at, origin, player, record.settings)
        made.adopting = self.adopting
        self.experiments[record.of] = self.names[record.name] = made
        self.made = record.of + 1

    @property
    def mismatch(self) -> int | None:
        """The first record that replay did not agree with, where that was to be adopted."""
        found = [each.mismatch for each in self.experiments.values() if each.mismatch is not None]
        return min(found, default=None)

    def freeze(self) -> snapshot.Frozen:
        experiments = list(self.experiments.values())
        return snapshot.freeze(self.place, self.at, self.made, list(self.tokens.values()), experiments)

    @classmethod
    def thaw(cls, found: snapshot.Snapshot, adopting: bool = False) -> "State":
        made = cls(adopting)
        made.place, made.at, made.made = found.place, found.at, found.made
        made.tokens = {token.digest: token for token in found.tokens}
        for each in map(snapshot.thaw, found.experiments):
            each.adopting = adopting
            made.experiments[each.number] = made.names[each.name] = each
        return made


def recover(journal: Journal, *, adopting: bool = False, use_snapshots: bool = True) -> State:
    """The latest good snapshot, and the records after it. Raises Damaged or Mismatch."""
    state = start(journal, adopting, use_snapshots)
    for records in batches(journal, state.place):
        try:
            state.extend(records)
        except Mismatch as error:
            raise with_advice(journal, error) from None
        except Exception as error:
            found = f"record {state.place} does not follow from those before it: {error}"
            raise Damaged(f"{journal.name}: {found}") from error
    if state.place != journal.end:
        raise Damaged(f"{journal.name}: records {state.place} to {journal.end - 1} are missing: restore it from a backup")
    return state


def with_advice(journal: Journal, error: Mismatch) -> Mismatch:
    advice = (
        "open it with the release and on the kind of processor that wrote it, or go on with the state as it is computed here: "
        f"`driftbandit serve {journal.name} --adopt`, or Learner.open(…, adopt=True). No record is lost then, but states of "
        "policies may differ from those that decided, and what was written before cannot be verified here any more"
    )
    return Mismatch(f"{journal.name}: {error}: {advice}", error.record)


def start(journal: Journal, adopting: bool, use_snapshots: bool) -> State:
    """From the latest snapshot that is whole and not ahead of the journal; else from nothing, if all records are there."""
    trouble: list[str] = []
    for place in journal.snapshots() if use_snapshots else []:
        if not journal.start <= place <= journal.end:
            continue
        try:
            return State.thaw(snapshot.read(journal.snapshot(place), place), adopting)
        except ValueError as error:  # of a policy that is not what it was
            trouble.append(str(error))
        except Damaged as error:
            trouble.append(str(error))
    if journal.start > 0:
        found = "; ".join(trouble) or "none was found"
        raise Damaged(
            f"{journal.name} begins with record {journal.start}, since older ones were dropped, so a snapshot from then on is "
            f"needed: {found}; restore journal and snapshots from a backup"
        )
    return State(adopting)


def batches(journal: Journal, place: int) -> Iterator[list[Any]]:
    """The records from this one on, some thousands at a time."""
    decode, records = r.decode, list[Any]()
    for group in journal.read(place) if place < journal.end else ():
        records += [decode(data) for data in group.records[max(place - group.first, 0) :]]
        if len(records) >= AT_A_TIME:
            yield records
            records = []
    yield records


def tail(journal: Journal, place: int) -> Iterator[tuple[int, Any]]:
    """The records from this one on, with their numbers."""
    decode: Callable[[bytes], Any] = r.decode
    if place >= journal.end:
        return
    for group in journal.read(place):
        for number, data in enumerate(group.records, group.first):
            if number >= place:
                yield number, decode(data)
