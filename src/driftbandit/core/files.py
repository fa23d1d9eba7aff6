"""Files that are complete or absent: written next to their place under a temporary name, then moved into it."""

import os
import re
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

PART = r"\.[0-9a-f]{12}\.part"


def write_atomically(path: str | Path, write: Callable[[BinaryIO], object]) -> None:
    """A reader of the path sees the old file or the complete new one; what killed writers left next to it is removed."""
    path = Path(path)
    _clear_leftovers(path)
    file = _new_part(path)
    try:
        with file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if sys.platform == "win32":
                file.close()  # where an open file cannot be moved; elsewhere the lock is held until it has been
            os.replace(file.name, path)
    finally:
        Path(file.name).unlink(missing_ok=True)


def _new_part(path: Path) -> BinaryIO:
    """A new file next to the path, locked for as long as its writer lives."""
    while True:
        file = open(path.with_name(f".{path.name}.{secrets.token_hex(6)}.part"), "xb")  # noqa: SIM115
        if _locked(file, wait=True) and os.fstat(file.fileno()).st_nlink == 0:
            file.close()  # another writer took it for a leftover before it was locked
            continue
        return file


def _clear_leftovers(path: Path) -> None:
    """Remove unfinished files of this path that nobody has locked: their writers are dead."""
    mine = re.compile(re.escape(f".{path.name}") + PART)
    for part in path.parent.glob(".*.part"):
        if mine.fullmatch(part.name):
            with suppress(OSError), open(part, "rb") as file:
                if _locked(file, wait=False):
                    part.unlink()


def _locked(file: BinaryIO, wait: bool) -> bool:
    """Lock a file until it is closed, however its process ends; False if that is not possible."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
