"""The journal in SQLite: whole groups or none, checked, locked, and dead after a failure."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from driftbandit.live import Ask, Service
from driftbandit.live.disk.snapshot import PAGE
from driftbandit.live.disk.sqlite import LOG, TIDY, SqliteJournal
from driftbandit.live.errors import Broken, Damaged, JournalError, Locked
from live_service import FAST, bits, opened

pytestmark = pytest.mark.plain

STEP = 1 if "DRIFTBANDIT_SOAK" in os.environ else 13


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(dir=FAST) as name:
        yield Path(name)


def written(path: Path, groups: int = 3) -> SqliteJournal:
    journal = SqliteJournal(path)
    for k in range(groups):
        journal.append(2 * k, [f"{2 * k}".encode(), b"x" * (100 * k)])
    return journal


def records(path: Path) -> list[bytes]:
    journal = SqliteJournal(path)
    found = [record for group in journal.read(0) for record in group.records]
    journal.close()
    return found


def test_reads_from_any_record(folder: Path) -> None:
    journal = written(folder / "a")
    for first in range(6):
        groups = list(journal.read(first))
        assert groups[0].first == first - first % 2
        assert sum(len(group.records) for group in groups) == 6 - first + first % 2
    assert list(journal.read(6)) == []
    journal.close()


def test_files_are_their_owners_alone(folder: Path) -> None:
    journal = written(folder / "a")
    journal.keep_snapshot(6, b"all")
    for name in os.listdir(folder):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name
    journal.close()


def test_two_snapshots_are_kept_and_a_damaged_one_is_told(folder: Path) -> None:
    journal = written(folder / "a")
    for place in (1, 2, 6):
        journal.keep_snapshot(place, b"state %d" % place)
    assert journal.snapshots() == [6, 2]
    assert journal.snapshot(6) == b"state 6"
    (folder / "a.6.snapshot").write_bytes(b"?" + (folder / "a.6.snapshot").read_bytes()[1:])
    with pytest.raises(Damaged, match="checksum"):
        journal.snapshot(6)
    journal.close()


def test_a_second_opener_is_refused_by_name(folder: Path) -> None:
    journal = written(folder / "a")
    with pytest.raises(Locked, match="a is open already, here or in another process"):
        SqliteJournal(folder / "a")
    journal.close()
    SqliteJournal(folder / "a").close()


def edit(path: Path, statement: str) -> None:
    database = sqlite3.connect(path)
    database.execute(statement)
    database.commit()
    database.close()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE journal SET body = zeroblob(length(body)) WHERE first = 2", "records 2 to 3 are damaged .*checksum"),
        ("UPDATE journal SET count = 1 WHERE first = 2", "checksum"),
        ("DELETE FROM journal WHERE first = 2", "records 2 to 3 are missing"),
        ("UPDATE journal SET first = 3 WHERE first = 2", "records 2 to 2 are missing"),
    ],
)
def test_what_was_changed_is_refused(folder: Path, statement: str, message: str) -> None:
    written(folder / "a").close()
    edit(folder / "a", statement)
    with pytest.raises(Damaged, match=message):
        records(folder / "a")


def test_other_files_are_refused(folder: Path) -> None:
    (folder / "text").write_text("no database, and long enough to tell" * 99)
    with pytest.raises(Damaged, match="no journal"):
        SqliteJournal(folder / "text")
    edit(folder / "other", "CREATE TABLE cells (a)")
    with pytest.raises(Damaged, match="something else"):
        SqliteJournal(folder / "other")
    with pytest.raises(JournalError):
        SqliteJournal(folder)


@pytest.mark.parametrize("rest", [0, 50_000])
def test_the_log_cut_anywhere_in_its_last_group(folder: Path, monkeypatch: pytest.MonkeyPatch, rest: int) -> None:
    """As a power cut may leave it, at its end or before zeros: the last group is there if all of it is, else none of it."""
    monkeypatch.setattr("driftbandit.live.disk.sqlite.LOG", 0)
    journal = written(folder / "a")
    log, before = folder / "a-wal", (folder / "a-wal").stat().st_size
    journal.append(6, [b"y" * 3000] * 5)
    kept = shutil.copyfile(folder / "a", folder / "kept"), log.read_bytes()
    journal.close()
    whole = [b"0", b"", b"2", b"x" * 100, b"4", b"x" * 200]
    assert len(kept[1]) > before + 3 * 4096
    (folder / "cut").mkdir()
    for length in [*range(before, len(kept[1]), STEP), len(kept[1]) - 1, len(kept[1])]:
        shutil.copyfile(kept[0], folder / "cut" / "a")
        left = kept[1][:length] + bytes(rest)
        (folder / "cut" / "a-wal").write_bytes(left)
        last = [b"y" * 3000] * 5 if left.startswith(kept[1]) else []
        assert records(folder / "cut" / "a") == whole + last


def test_a_journal_that_is_only_read_gets_no_room(folder: Path) -> None:
    written(folder / "a").close()
    journal = SqliteJournal(folder / "a")
    assert list(journal.read(0))
    assert (folder / "a-wal").stat().st_size < LOG
    journal.close()


def test_a_log_that_cannot_be_laid_out_is_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = written(folder / "a")
    assert (folder / "a-wal").stat().st_size >= LOG
    journal.close()

    def full(descriptor: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("driftbandit.live.disk.sqlite.os.fsync", full)
    journal = SqliteJournal(folder / "a")
    assert (folder / "a-wal").stat().st_size < LOG
    journal.append(6, [b"6"])
    assert (folder / "a-wal").stat().st_size < LOG
    journal.close()
    assert records(folder / "a")[-1] == b"6"


def test_a_large_state_is_kept_less_often(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot costs what it holds: as many records come before the next."""
    monkeypatch.setattr("driftbandit.live.disk.keeper.EVERY_RECORDS", 10)
    service = opened(folder / "a")
    for k in range(25):
        service.decide("shop", str(k), Ask(set="shelf"))
    service.snapshot()
    service.keeper.wait()
    place = service.keeper.place
    assert [service.keeper.due(place + fresh) for fresh in (10, 24, 25)] == [False, False, True]
    service.close()


def test_a_tidy_log_has_been_moved_into_the_journal(folder: Path) -> None:
    journal = SqliteJournal(folder / "a")
    for k in range(TIDY):
        assert not journal.tidy()
        journal.append(k, [str(k).encode()])
    assert journal.tidy()
    assert not journal.tidy()
    shutil.copyfile(folder / "a", folder / "without its log")
    journal.append(TIDY, [b"last"])
    journal.close()
    moved = [str(k).encode() for k in range(TIDY)]
    assert records(folder / "without its log") == moved
    assert records(folder / "a") == [*moved, b"last"]


class Failing(sqlite3.Connection):
    """A disk that takes so many more groups."""

    left = 3

    def execute(self, statement: str, *arguments: Any) -> sqlite3.Cursor:
        if statement.startswith(("INSERT", "PRAGMA wal_checkpoint")):
            Failing.left -= 1
            if Failing.left < 0:
                raise sqlite3.OperationalError("disk I/O error")
        return super().execute(statement, *arguments)


def failing(path: Path, **settings: Any) -> sqlite3.Connection:
    return sqlite3.connect(path, factory=Failing, **settings)


def test_the_first_failure_is_the_last(folder: Path) -> None:
    opened(folder / "a").close()
    Failing.left = 3
    journal = SqliteJournal(folder / "a", connect=failing)
    service = Service.open(journal)
    for k in range(3):
        service.commits.through(service.decide("shop", str(k), Ask(set="shelf")).ticket)
    ticket = service.decide("shop", "3", Ask(set="shelf")).ticket
    with pytest.raises(Broken, match=r"could not be committed .OperationalError: disk I/O error.: memory is ahead"):
        service.commits.through(ticket)
    Failing.left = 100  # the disk is well again, but what it made of the failed commit is unknown
    for attempt in (lambda: service.commits.through(ticket), lambda: service.commits.commit()):
        with pytest.raises(Broken):
            attempt()
    with pytest.raises(Broken):
        service.decide("shop", "4", Ask(set="shelf"))
    service.close()
    again = opened(folder / "a")
    assert set(again.state.names["shop"].waiting) == {"0", "1", "2"}
    again.close()


def test_a_log_that_cannot_be_moved_is_the_end_too(folder: Path) -> None:
    """Of what a failed sync left on the disk nothing is known."""
    Failing.left = TIDY
    journal = SqliteJournal(folder / "a", connect=failing)
    for k in range(TIDY):
        journal.append(k, [str(k).encode()])
    with pytest.raises(Broken, match=r"could not be moved into it .disk I/O error"):
        journal.tidy()
    Failing.left = 100
    with pytest.raises(Broken, match="could not be moved"):
        journal.append(TIDY, [b"more"])
    journal.close()
    assert len(records(folder / "a")) == TIDY


def test_a_snapshot_is_the_same_with_rests(folder: Path) -> None:
    service = opened(folder / "a")
    for k in range(2 * PAGE + 1):
        service.decide("shop", str(k), Ask(set="shelf"))
    rests: list[None] = []
    assert service.state.freeze().encode(lambda: rests.append(None)) == bits(service)
    assert len(rests) == 3
    service.close()


def test_a_snapshot_that_cannot_be_written_is_no_harm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = opened(folder / "a")
    service.decide("shop", "0", Ask(set="shelf"))

    def full(place: int, body: bytes) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(service.journal, "keep_snapshot", full)
    service.snapshot()
    service.keeper.wait()
    assert "No space left" in (service.keeper.trouble or "")
    service.commits.through(service.decide("shop", "1", Ask(set="shelf")).ticket)
    before = bits(service)
    service.journal.close()
    again = opened(folder / "a")
    assert bits(again) == before
    again.close()


def test_a_damaged_snapshot_is_passed_over(folder: Path) -> None:
    service = opened(folder / "a")
    for k in range(4):
        service.decide("shop", str(k), Ask(set="shelf"))
        service.snapshot()
        service.keeper.wait()
    before = bits(service)
    service.close()
    for snapshot in folder.glob("*.snapshot"):
        snapshot.write_bytes(snapshot.read_bytes()[:-3])
    again = opened(folder / "a")
    assert bits(again) == before
    again.close()
