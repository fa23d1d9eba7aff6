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
from driftbandit.live.disk.journal import Journal
from driftbandit.live.disk.sqlite import MINE
from driftbandit.live.disk.state import recover, tail
from driftbandit.live.errors import Damaged
from driftbandit.live.fold import records as r
from driftbandit.live.fold.players import rows
from driftbandit.live.propensity import recomputed
from driftbandit.live.replaying import replay
from driftbandit.live.service import Service

if TYPE_CHECKING:
    import polars as pl

CHUNK = 100_000  # rows made into a frame at a time


def export(
    journal: Journal, path: str | Path, first: int | None = None, end: int | None = None, draws: int | None = None
) -> int:
    """Write the records from ``first`` on, up to ``end``, to a Parquet file, one row each; how many.

    draws: add the column ``recomputed_chance``, for which all is replayed; see ``recomputed``.
    """
    with needed_for("driftbandit.live export"):
        import polars as pl
    frames = list(frames_of(journal, journal.start if first is None else first, journal.end if end is None else end))
    table = pl.concat(frames) if frames else pl.DataFrame(schema=schema())
    if draws is not None:
        found = recomputed(journal, draws)
        chances = [found.get(number) for number in table["record"]]
        table = table.with_columns(pl.Series("recomputed_chance", chances, pl.Float64))
    save(table, path)
    return table.height


def save(table: "pl.DataFrame", path: str | Path) -> None:
    """To a Parquet or CSV file that is its owner's alone, as the journal is."""

    def write(file: BinaryIO) -> None:
        os.chmod(file.name, MINE)
        if Path(path).suffix == ".csv":
            table.write_csv(file)
        else:
            table.write_parquet(file)

    write_atomically(path, write)


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
    first, witnesses, state = replay(journal)
    if state.freeze().encode() != recover(journal).freeze().encode():
        raise Damaged(f"{journal.name}: its latest snapshot is not what its records make: remove the snapshot")
    digests = {name: each.digest().hex() for name, each in state.names.items()}
    return Verified(first, state.place, witnesses, digests)


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
