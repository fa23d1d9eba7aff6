"""A copy of a journal that a running service has open: of SQLite's file, its log, and the snapshots beside it."""

import glob
import shutil
import tempfile
from pathlib import Path

from driftbandit.live.disk.sqlite import SqliteJournal, sync_folder
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
    for left in (to, to.with_name(f"{to.name}-wal"), *snapshots(to)):  # an old log would be taken for that of the copy
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
    for snapshot in snapshots(path):  # first, so that none is ahead of the records
        shutil.copy2(snapshot, place.with_name(place.name + snapshot.name.removeprefix(path.name)))
    log, begun = path.with_name(f"{path.name}-wal"), head(path)
    shutil.copy2(path, place)
    if log.exists():
        shutil.copy2(log, place.with_name(f"{place.name}-wal"))
    return head(path) == begun


def snapshots(path: Path) -> list[Path]:
    return list(path.parent.glob(f"{glob.escape(path.name)}.*.snapshot"))


def head(path: Path) -> bytes:
    """Of the log; nothing if there is none."""
    try:
        with open(path.with_name(f"{path.name}-wal"), "rb") as log:
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
