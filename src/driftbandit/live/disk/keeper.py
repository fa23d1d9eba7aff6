"""When snapshots are due, and the thread that writes them."""

import logging
import threading
import time

from driftbandit.live.disk.committer import Commits
from driftbandit.live.disk.journal import Journal
from driftbandit.live.disk.snapshot import Frozen

log = logging.getLogger("driftbandit.live")

EVERY_RECORDS, EVERY_SECONDS = 50_000, 60.0  # as many records as the last one held entries, if those are more
REST = 0.001  # seconds after each page, or a thread that only computes would keep others waiting for 5 ms at a time


class Keeper:
    """One snapshot at a time. One that cannot be written is no harm: the journal has everything."""

    def __init__(self, journal: Journal, commits: Commits) -> None:
        self.journal, self.commits = journal, commits
        self.place = max((place for place in journal.snapshots() if place <= journal.end), default=0)
        self.trouble: str | None = None  # why the last one could not be written
        self._since, self._held = time.monotonic(), 0
        self._thread: threading.Thread | None = None
        self._hurry = threading.Event()  # someone waits for it

    def due(self, place: int) -> bool:
        if self._thread is not None and self._thread.is_alive():
            return False
        fresh = place - self.place
        return fresh >= max(EVERY_RECORDS, self._held) or (fresh > 0 and time.monotonic() - self._since >= EVERY_SECONDS)

    def begin(self, frozen: Frozen) -> None:
        """Write this one in a thread, when all that is in it is durable."""
        self.wait()
        self._hurry.clear()
        self.place, self._since, self._held = frozen.snapshot.place, time.monotonic(), frozen.held
        self._thread = threading.Thread(target=self.keep, args=(frozen,), name="snapshot", daemon=True)
        self._thread.start()

    def keep(self, frozen: Frozen) -> None:
        place = frozen.snapshot.place
        try:
            self.commits.through(place - 1)
            self.journal.keep_snapshot(place, frozen.encode(lambda: self._hurry.wait(REST)))
            self.trouble = None
        except Exception as error:
            self.trouble = f"the snapshot at record {place} could not be written: {type(error).__name__}: {error}"
            log.warning(self.trouble)

    def wait(self) -> None:
        if self._thread is not None:
            self._hurry.set()
            self._thread.join()
