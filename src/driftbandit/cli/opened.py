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
def opened_journal(path: str | Path) -> "Iterator[SqliteJournal]":
    from driftbandit.live.disk.sqlite import SqliteJournal

    with plainly():
        journal = SqliteJournal(path)
        try:
            yield journal
        finally:
            journal.close()


def must_exist(path: Path) -> None:
    if not path.exists():
        raise FileNotFoundError(f"there is no journal at {path}: check the path")


@contextmanager
def read_journal(path: Path) -> "Iterator[SqliteJournal]":
    """A journal that exists, only to be read, so that a copy of it would do."""
    from driftbandit.live.errors import Locked

    must_exist(path)
    try:
        with opened_journal(path) as journal:
            yield journal
    except OSError as error:
        if isinstance(error.__cause__, Locked):
            raise OSError(f"{error}; or work on a copy: `driftbandit journal copy {path} NEW`") from None
        raise


@contextmanager
def opened(path: str | Path) -> "Iterator[Service]":
    """The service, recovered from the journal; a snapshot is written at the end."""
    from driftbandit.live.service import Service

    with opened_journal(path) as journal:
        service = Service.open(journal)
        try:
            yield service
        finally:
            service.close()
