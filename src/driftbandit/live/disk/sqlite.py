"""A journal in one SQLite file: write-ahead log, every commit synced, one row per group; snapshots in files beside it."""

import os
import re
import sqlite3
import stat
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from driftbandit.core.files import write_atomically
from driftbandit.live.disk.journal import Group, checked, checksum, join
from driftbandit.live.errors import Broken, Damaged, JournalError, Locked

APPLICATION, VERSION = 0x64726674, 1  # "drft"
MINE = stat.S_IRUSR | stat.S_IWUSR
KEPT = 2  # snapshots
AT_A_TIME = 100  # groups read at a time
LOG = 1000 * (24 + 4096)  # bytes of the log when SQLite begins it anew: 1,000 pages, each after a head
TIDY = 100  # pages after which ``tidy`` has it begun anew sooner: in 0.4 ms, where 1,000 take 2 and more
TABLE = """
    CREATE TABLE IF NOT EXISTS journal (
        first INTEGER PRIMARY KEY, count INTEGER NOT NULL, crc INTEGER NOT NULL, body BLOB NOT NULL
    )
"""


class SqliteJournal:
    """Opened by one process at a time; the lock goes with the process, however it ends."""

    def __init__(self, path: str | Path, connect: Any = sqlite3.connect) -> None:
        self.path = Path(path)
        self.name = str(path)
        self._broken: str | None = None
        self._laid_out = False  # the log
        self._untidy = 0  # pages since it was begun anew, about
        self._lock = threading.Lock()  # the connection is one thread's at a time
        self._database = self._open(connect)
        self.start, self.end = self._extent()

    def _open(self, connect: Any) -> sqlite3.Connection:
        """``connect``: for tests, which have it fail."""
        try:
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, MINE))  # its log gets the same rights
                sync_folder(self.path)
            database: sqlite3.Connection = connect(self.path, timeout=0.0, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise JournalError(f"{self.name} cannot be opened: {error}") from error
        try:
            database.execute("PRAGMA locking_mode = EXCLUSIVE")
            (mode,) = database.execute("PRAGMA journal_mode = WAL").fetchone()
            database.execute("PRAGMA synchronous = FULL")
            database.execute("BEGIN IMMEDIATE")
            self._prepare(database)
            database.execute("COMMIT")
        except sqlite3.OperationalError as error:
            database.close()
            if "locked" in str(error) or "busy" in str(error):
                raise Locked(
                    f"{self.name} is open already, here or in another process: close it there, or ask that one"
                ) from None
            raise JournalError(f"{self.name} cannot be opened: {error}") from error
        except sqlite3.DatabaseError as error:
            database.close()
            raise Damaged(f"{self.name} is no journal, or is damaged: {error}") from error
        if mode != "wal":
            raise JournalError(f"{self.name} cannot have a write-ahead log here (mode {mode}): keep it on a local disk")
        return database

    def _prepare(self, database: sqlite3.Connection) -> None:
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and application != APPLICATION:
            raise sqlite3.DatabaseError("it is a database of something else")
        if version > VERSION:
            raise sqlite3.DatabaseError(f"it has version {version}; this release reads versions up to {VERSION}")
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {VERSION}")
        database.execute(TABLE)

    def _extent(self) -> tuple[int, int]:
        """Where it begins and ends; ends are all there is to look at, since a row is there whole or not at all."""
        ends = "SELECT first, count FROM journal ORDER BY first"
        first = self._database.execute(f"{ends} LIMIT 1").fetchone()
        last = self._database.execute(f"{ends} DESC LIMIT 1").fetchone()
        if first is None:
            latest = self.snapshots()
            return (latest[0], latest[0]) if latest else (0, 0)
        return first[0], last[0] + last[1]

    def append(self, first: int, records: Sequence[bytes]) -> None:
        if self._broken is not None:
            raise Broken(self._broken)
        try:
            if first != self.end:
                raise ValueError(f"record {first} does not follow record {self.end - 1}")
            body = join(records)
            row = first, len(records), checksum(first, len(records), body), body
            with self._lock:
                if not self._laid_out:  # who only reads needs no room
                    lay_out(log_of(self.path), LOG)
                    self._laid_out = True
                self._database.execute("INSERT INTO journal VALUES (?, ?, ?, ?)", row)  # a transaction of its own
        except BaseException as error:
            self._broken = (
                f"{self.name}: record {first} could not be committed ({type(error).__name__}: {error}): memory is ahead of the "
                "journal, so this process must stop; see to the disk, then open the journal again, which recovers"
            )
            raise Broken(self._broken) from error
        self.end = first + len(records)
        self._untidy += 1 + len(body) // 4096

    def tidy(self) -> bool:
        if self._untidy < TIDY:
            return False
        self._untidy = 0
        try:
            with self._lock:
                self._database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:
            self._broken = f"{self.name}: its log could not be moved into it ({error}): see to the disk, then open it again"
            raise Broken(self._broken) from error
        return True

    def read(self, first: int) -> Iterator[Group]:
        if first < self.start:
            raise Damaged(f"{self.name}: record {first} was dropped; the journal begins with record {self.start}")
        if first >= self.end:
            return
        (at,) = self._rows("SELECT max(first) FROM journal WHERE first <= ?", first)[0]
        expected = first if at is None else at
        while rows := self._rows(f"SELECT * FROM journal WHERE first >= ? ORDER BY first LIMIT {AT_A_TIME}", expected):
            for row in rows:
                if row[0] != expected:
                    advice = "restore the journal from a backup"
                    raise Damaged(f"{self.name}: records {expected} to {row[0] - 1} are missing: {advice}")
                yield checked(self.name, *row)
                expected = row[0] + row[1]

    def _rows(self, query: str, place: int) -> list[Any]:
        try:
            with self._lock:
                return self._database.execute(query, (place,)).fetchall()
        except sqlite3.DatabaseError as error:
            advice = "restore the journal from a backup"
            raise Damaged(f"{self.name} cannot be read from record {place} on ({error}): {advice}") from error

    def keep_snapshot(self, place: int, body: bytes) -> None:
        path = snapshot_path(self.path, place)
        crc = checksum(place, len(body), body).to_bytes(4)

        def write(file: BinaryIO) -> None:
            os.chmod(file.name, MINE)
            file.write(crc)
            file.write(body)

        write_atomically(path, write)
        sync_folder(path)  # before older records are dropped on its account
        for old in self.snapshots()[KEPT:]:
            snapshot_path(self.path, old).unlink(missing_ok=True)

    def snapshots(self) -> list[int]:
        return sorted(snapshots_of(self.path), reverse=True)

    def snapshot(self, place: int) -> bytes:
        path = snapshot_path(self.path, place)
        try:
            framed = path.read_bytes()
        except OSError as error:
            raise Damaged(f"{path} cannot be read: {error}") from error
        if framed[:4] != checksum(place, len(framed) - 4, framed[4:]).to_bytes(4):
            raise Damaged(f"{path} is damaged (its checksum is wrong)")
        return framed[4:]

    def drop(self, before: int) -> None:
        with self._lock:
            self._database.execute("DELETE FROM journal WHERE first < ?1 AND first + count <= ?1", (before,))
            self.start = self._extent()[0]

    def close(self) -> None:
        with self._lock:
            self._database.close()


def log_of(path: Path) -> Path:
    """SQLite's write-ahead log, beside the journal."""
    return path.with_name(f"{path.name}-wal")


def snapshot_path(path: Path, place: int) -> Path:
    return path.with_name(f"{path.name}.{place}.snapshot")


def snapshots_of(path: Path) -> list[int]:
    """The places of the snapshots beside a journal."""
    mine = re.compile(re.escape(path.name) + r"\.(\d+)\.snapshot")
    found = (mine.fullmatch(name) for name in os.listdir(path.parent))
    return [int(match[1]) for match in found if match]


def lay_out(log: Path, size: int) -> None:
    """Give the log its full size before the first commit: those that overwrite take up to 40 % less time than those that make
    a file grow.

    SQLite reads a log up to the first page that is not of its last use, so zeros are as good as what an earlier use left.
    """
    before = log.stat().st_size
    if before >= size:
        return
    try:
        with open(log, "ab") as file:
            file.write(bytes(size - before))
            file.flush()
            os.fsync(file.fileno())
    except OSError:  # a full disk, most likely: what is left of it is for records
        os.truncate(log, before)


def sync_folder(path: Path) -> None:
    """So that a new file's name outlives a power cut too."""
    if sys.platform == "win32":
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
