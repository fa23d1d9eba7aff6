"""A journal opened in this process for the duration of a command, with its errors as one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftbandit.live.disk.sqlite import SqliteJournal
    from driftbandit.live.service import Service


@contextmanager
def plainly() -> Iterator[None]:
    """Turn errors of ``driftbandit.live`` into errors of a command."""
    from driftbandit.live.errors import LiveError

    try:
        yield
    except LiveError as error:
        raise OSError(str(error)) from error


@contextmanager
def opened_journal(path: str | Path, must_exist: bool = True) -> "Iterator[SqliteJournal]":
    from driftbandit.live.disk.sqlite import SqliteJournal
    from driftbandit.live.errors import Locked

    if must_exist and not Path(path).exists():
        raise FileNotFoundError(f"there is no journal at {path}: check the path")
    with plainly():
        try:
            journal = SqliteJournal(path)
        except Locked as error:
            raise Locked(f"{error}; or work on a copy: `driftbandit journal copy {path} NEW`") from None
        try:
            yield journal
        finally:
            journal.close()


@contextmanager
def opened(path: str | Path) -> "Iterator[Service]":
    """The service, recovered from the journal; a snapshot is written at the end."""
    from driftbandit.live.service import Service

    with opened_journal(path, must_exist=False) as journal:
        service = Service.open(journal)
        try:
            yield service
        finally:
            service.close()
