"""The journal for others: as a table, checked from end to end, and made shorter."""

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import msgspec

from driftbandit.core.extras import needed_for
from driftbandit.core.files import write_atomically
from driftbandit.live.disk import snapshot
from driftbandit.live.disk.journal import Journal
from driftbandit.live.disk.sqlite import MINE
from driftbandit.live.disk.state import State, recover, tail, with_advice
from driftbandit.live.errors import Damaged, Mismatch
from driftbandit.live.fold import records as r
from driftbandit.live.fold.players import rows
from driftbandit.live.service import Service

if TYPE_CHECKING:
    import polars as pl

CHUNK = 100_000  # rows made into a frame at a time


def export(journal: Journal, path: str | Path, first: int | None = None, end: int | None = None) -> int:
    """Write the records from ``first`` on, up to ``end``, to a Parquet file, one row each; how many."""
    with needed_for("driftbandit.live export"):
        import polars as pl
    frames = list(frames_of(journal, journal.start if first is None else first, journal.end if end is None else end))
    table = pl.concat(frames) if frames else pl.DataFrame(schema=schema())

    def write(file: BinaryIO) -> None:
        os.chmod(file.name, MINE)  # as the journal's
        table.write_parquet(file)

    write_atomically(path, write)
    return table.height


def frames_of(journal: Journal, first: int, end: int) -> "Iterator[pl.DataFrame]":
    import polars as pl

    held: list[dict[str, Any]] = []
    for number, record in islice(tail(journal, first), max(0, end - first)):
        held.append(row(number, record))
        if len(held) == CHUNK:
            yield pl.DataFrame(held, schema=schema())
            held = []
    if held:
        yield pl.DataFrame(held, schema=schema())


def schema() -> "dict[str, Any]":
    import polars as pl

    return {
        "record": pl.Int64,
        "at": pl.Float64,
        "kind": pl.String,
        "experiment": pl.Int64,
        "id": pl.String,
        "round": pl.Int64,
        "index": pl.Int64,
        "chosen": pl.Int64,
        "action": pl.String,
        "chance": pl.Float64,
        "baseline": pl.Int64,
        "deferred": pl.Boolean,
        "set": pl.String,
        "arms": pl.List(pl.List(pl.Float64)),
        "value": pl.Float64,
        "key": pl.String,
        "ids": pl.List(pl.String),
        "rest": pl.String,  # what only some have, as JSON: fields, exclude, labels, features, settings, name
    }


REST = ("name", "settings", "labels", "fields", "exclude", "features", "mismatch", "release")


def row(number: int, record: Any) -> dict[str, Any]:
    told = msgspec.structs.asdict(record)
    arms = told.get("arms")
    if isinstance(record, r.SetPut):
        told["arms"] = rows(record.arms, record.shape[0]).tolist()
    elif arms is not None:
        told["arms"] = rows(arms[1], arms[0]).tolist()
    rest = {name: told[name] for name in REST if told.get(name)}
    kept = {name: told.get(name) for name in schema()}
    kind = type(record).__name__
    more = {"record": number, "kind": kind, "experiment": told.get("of"), "rest": None}
    if rest:
        more["rest"] = json.dumps(msgspec.to_builtins(rest), sort_keys=True)
    return kept | more


class Verified(NamedTuple):
    """What a journal holds, once all of it was folded."""

    first: int  # record from which it was folded: 0, or the oldest snapshot's place where older records were dropped
    records: int
    witnesses: int
    digests: dict[str, str]  # of each experiment's state


def verify(journal: Journal) -> Verified:
    """Fold all that is there and check every witness, and the snapshots against the fold. Raises Damaged or Mismatch."""
    state = State() if journal.start == 0 else snapshot_from(journal, journal.start)
    first, witnesses = state.place, 0
    while state.place < journal.end:
        for number, record in tail(journal, state.place):
            if isinstance(record, r.Adopted):  # what was folded so far is not what was gone on with
                state = snapshot_from(journal, number + 1)
                break
            try:
                state.apply(record)
            except Mismatch as error:
                state = adopted_after(journal, error)
                first = state.place
                break
            witnesses += isinstance(record, r.Witness)
    if state.freeze().encode() != recover(journal).freeze().encode():
        raise Damaged(f"{journal.name}: its latest snapshot is not what its records make: remove the snapshot")
    digests = {name: each.digest().hex() for name, each in state.names.items()}
    return Verified(first, state.place, witnesses, digests)


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


def compact(service: Service, keep: float = 0.0) -> int:
    """Drop groups that neither of two snapshots needs and that are older than ``keep`` seconds; how many records.

    Export them first.
    """
    secure(service)
    journal = service.journal
    dropped = journal.start
    journal.drop(droppable(journal, service.now() - keep))
    return journal.start - dropped


def secure(service: Service) -> None:
    """Have a snapshot of the state as it is, so that most records are not needed any more."""
    if service.commits.next > service.keeper.place:
        service.snapshot()
    service.keeper.wait()


def droppable(journal: Journal, limit: float, most: int | None = None) -> int:
    """The first record that must stay, whole groups being dropped.

    Those stay that the older of two snapshots needs, and those written after ``limit``; and all beyond the first ``most``.
    """
    needed, place = [*journal.snapshots(), 0, 0][1], journal.start
    for group in journal.read(place):
        end = group.first + len(group.records)
        enough = most is not None and place > journal.start and end - journal.start > most
        if end > needed or enough or r.decode(group.records[-1]).at > limit:
            break
        place = end
    return place
