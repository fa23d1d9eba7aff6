"""What retention has dropped is gone, not damaged."""

from collections.abc import Iterator
from contextlib import contextmanager

from driftbandit.live.disk.journal import Journal
from driftbandit.live.errors import Damaged, Gone


@contextmanager
def dropped(journal: Journal, first: int) -> Iterator[None]:
    """Where records from this one on are read: Gone, rather than Damaged, if it was dropped, be it meanwhile."""
    try:
        yield
    except Damaged:
        if first < journal.start:
            raise Gone(f"record {first} was dropped from the journal, which begins with record {journal.start}") from None
        raise
