"""Group commit: many records, one fsync. Whoever needs its record durable commits all that have gathered."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from driftbandit.live.disk.journal import Journal
from driftbandit.live.errors import Broken

MOST = 10_000  # records in a group, so that none grows without end
GATHER = 0.001  # seconds at most for which a group gathers: where there was company last time, as long as that commit took …
LARGE = 32  # … and longer after groups of more records, of which each waits longer anyway


class Commits:
    """Records on their way to the journal."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.next = journal.end  # the number that the next record gets
        self.durable = journal.end  # records before this one are in the journal
        self._gathered: deque[bytes] = deque()  # the owner appends, who commits takes from the other end
        self._failed: BaseException | None = None
        self.failed = False  # whether a commit has failed: nothing will be durable any more
        self._lock = threading.Lock()  # one commits at a time

    def append(self, record: bytes) -> int:
        """Hand over a record; its number, which is its ticket. For the service's owner alone."""
        self._gathered.append(record)
        ticket, self.next = self.next, self.next + 1
        return ticket

    def extend(self, records: Sequence[bytes]) -> None:
        """Hand over several."""
        self._gathered.extend(records)
        self.next += len(records)

    def commit(self) -> int:
        """Commit what has gathered; how many records."""
        with self._lock:
            if self._failed is not None:
                raise Broken(f"{self.journal.name}: a commit failed before ({self._failed}): open it again, which recovers")
            try:
                group = [self._gathered.popleft() for _ in range(min(len(self._gathered), MOST))]
                if group:
                    self.journal.append(self.durable, group)
                self.durable += len(group)
                return len(group)
            except BaseException as error:  # an interrupt too: what was taken is lost
                self._failed, self.failed = error, True
                raise

    def tidy(self) -> bool:
        """Have the journal do what is due now and then; whether anything was."""
        with self._lock:
            try:
                return self.journal.tidy()
            except BaseException as error:
                self._failed, self.failed = error, True
                raise

    def through(self, ticket: int) -> None:
        """Return when this record is durable: by another thread's commit, else by one's own."""
        while self.durable <= ticket:
            self.commit()

    @property
    def waiting(self) -> int:
        """Records that are not durable yet."""
        return self.next - self.durable


class Committer:
    """A thread that commits while the next group gathers: for an event loop, which must not wait.

    Parameters:
        durable: called in that thread with the number of records that are durable now, after each group.
        failed: called in that thread, once, when a commit failed: the process must stop.
    """

    def __init__(self, commits: Commits, durable: Callable[[int], None], failed: Callable[[Broken], None]) -> None:
        self.commits, self._durable, self._failed = commits, durable, failed
        self._wake, self._stopping = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """There is something to commit: call after each command, or once after several."""
        if not self._wake.is_set():  # or each turn of a busy loop would pay for it
            self._wake.set()

    def stop(self) -> None:
        """Commit the rest and end."""
        self._stopping = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        told = self.commits.durable
        try:
            while not self._stopping or told < self.commits.next:
                if told == self.commits.next:  # all is durable, and that was told
                    self._wake.wait()
                    self._wake.clear()
                began = time.perf_counter()
                count = self.commits.commit()
                took = time.perf_counter() - began
                if self.commits.durable > told:  # by this commit or by another thread's
                    told = self.commits.durable
                    self._durable(told)
                tidied = self.commits.tidy()
                if count > 1 and not tidied and not self._stopping:
                    time.sleep(min(took * max(1.0, count / LARGE), GATHER))
        except Broken as error:
            self._failed(error)
