"""All records of a journal folded once more, while someone looks on."""

from collections.abc import Callable
from typing import Any, NamedTuple

from driftbandit.live.disk import snapshot
from driftbandit.live.disk.journal import Journal
from driftbandit.live.disk.state import State, tail, with_advice
from driftbandit.live.errors import Damaged, Mismatch
from driftbandit.live.fold import records as r


class Replayed(NamedTuple):
    first: int  # the record from which it was folded
    witnesses: int  # that agreed
    state: State  # at the end


def replay(journal: Journal, look: Callable[[State, Any], None] = lambda state, record: None) -> Replayed:
    """Fold all that is there. Raises Damaged or Mismatch.

    look: is shown each record, and the state to which it is about to be applied.
    """
    state = beginning(journal)
    first, witnesses = state.place, 0
    while state.place < journal.end:
        for number, record in tail(journal, state.place):
            if isinstance(record, r.Adopted):  # what was folded so far is not what was gone on with
                state = snapshot_from(journal, number + 1)
                break
            look(state, record)
            try:
                state.apply(record)
            except Mismatch as error:
                state = adopted_after(journal, error)
                first = state.place
                break
            witnesses += isinstance(record, r.Witness)
    return Replayed(first, witnesses, state)


def beginning(journal: Journal) -> State:
    """Before the first record; where records were dropped, at the oldest snapshot."""
    return State() if journal.start == 0 else snapshot_from(journal, journal.start)


def adopted_after(journal: Journal, error: Mismatch) -> State:
    """Where it was gone on with, though this did not agree; else the mismatch stands."""
    for number, record in tail(journal, error.record):
        if isinstance(record, r.Adopted) and record.mismatch <= error.record:
            return snapshot_from(journal, number + 1)
    raise with_advice(journal, error) from None


def snapshot_from(journal: Journal, first: int) -> State:
    """The state at the oldest snapshot from this record on."""
    places = [place for place in journal.snapshots() if first <= place <= journal.end]
    if not places:
        raise Damaged(f"{journal.name}: verifying it needs a snapshot from record {first} on, and none was found")
    return State.thaw(snapshot.read(journal.snapshot(min(places)), min(places)))
