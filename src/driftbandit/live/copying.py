"""A copy of a journal that a running service has open: of SQLite's file, its log, and the snapshots beside it."""

import shutil
import tempfile
from pathlib import Path

from driftbandit.live.disk.sqlite import SqliteJournal, log_of, snapshot_path, snapshots_of, sync_folder
from driftbandit.live.errors import Damaged, JournalError

HEADER = 32  # bytes of the log; they change when it begins anew
TRIES = 5


def copy_journal(path: Path, to: Path) -> int:
    """Copy a journal with its snapshots to a new file, and check every group there; how many records it ends with.

    Nothing is asked of the process that writes it, and nothing in it changes. Never call this in that very process: closing
    a file there would give up the lock that SQLite has on it.

    A page reaches the file by way of the log only, and the log is overwritten only once it has begun anew. So if it has not
    begun anew from before the file is read until after the log is read, whatever changed in the file meanwhile is in the copy
    of the log as well; and a group at its end that is there in part only counts as not written.
    """
    old = [snapshot_path(to, number) for number in snapshots_of(to)]
    for left in (to, log_of(to), *old):  # an old log would be taken for that of the copy
        if left.exists():
            raise FileExistsError(f"{left} exists: choose another name, or move it away")
    with tempfile.TemporaryDirectory(prefix=f".{to.name}.", dir=to.parent) as folder:
        place = Path(folder) / to.name
        end = tried(path, place)
        for each in sorted(Path(folder).iterdir(), reverse=True):  # snapshots first: it is there when all of it is
            each.rename(to.with_name(each.name))
    sync_folder(to)
    return end


def tried(path: Path, place: Path) -> int:
    """As often as needed, within reason."""
    for left in reversed(range(TRIES)):
        try:
            if copied(path, place):
                return checked(place)
        except (Damaged, FileNotFoundError):  # a snapshot or the log may be gone before it is read
            if not left:
                raise
    raise JournalError(f"{path} is written faster than it can be copied: try again, or stop the service first")


def copied(path: Path, place: Path) -> bool:
    """Whether the log went on without beginning anew."""
    for old in place.parent.iterdir():
        old.unlink()
    for number in snapshots_of(path):  # first, so that none is ahead of the records
        shutil.copy2(snapshot_path(path, number), snapshot_path(place, number))
    log, begun = log_of(path), head(path)
    shutil.copy2(path, place)
    if log.exists():
        shutil.copy2(log, log_of(place))
    return head(path) == begun


def head(path: Path) -> bytes:
    """The first bytes of a journal's log; empty if there is no log."""
    try:
        with open(log_of(path), "rb") as log:
            return log.read(HEADER)
    except FileNotFoundError:
        return b""


def checked(place: Path) -> int:
    """Take the log in, and read every group."""
    journal = SqliteJournal(place)
    try:
        if journal.start and not any(journal.start <= each <= journal.end for each in journal.snapshots()):
            raise Damaged(f"{journal.name} begins with record {journal.start}, and no snapshot fits it")
        for group in journal.read(journal.start):
            assert group.records
        for snapshot in journal.snapshots():
            journal.snapshot(snapshot)
        return journal.end
    finally:
        journal.close()
