"""Who owns the service: the event loop. It asks, a thread commits, and whoever asked waits for the commit of his own record."""

import asyncio
import logging
import math
import shutil
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from driftbandit.live.answers import Answer, Ask
from driftbandit.live.disk.committer import Committer
from driftbandit.live.door.aside import again
from driftbandit.live.door.problems import come_again
from driftbandit.live.errors import Broken
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.service import Service

log = logging.getLogger("driftbandit.live")

PULSE = 0.1  # seconds between looks at waits that are over, and at how far the journal is behind
BEHIND = 0.5  # seconds by which the journal may be behind before decisions are refused
RESERVE = 64 << 20  # bytes of disk that are kept for rewards
STOPPED = "the service is stopping: try again, here or where it starts next"

Futures = Sequence["asyncio.Future[Any]"]


class Host:
    """The service, its committer, and the futures of those who wait.

    Parameters:
        rate: decisions per second of each experiment, and as many at once; None for no limit but their own.
        failed: called once, in the loop, when the journal cannot be written any more: the process must end.
    """

    service: Service

    def __init__(self, folder: Path, rate: float | None = None) -> None:
        self.folder, self.rate = folder, rate
        self.not_ready: str | None = "the service is recovering its journal and compiling its kernels"
        self.failed: Callable[[], None] = lambda: None
        self.behind = self.full = self.stopping = self._waking = False
        self.fault: Broken | None = None
        self._asked: dict[str, tuple[list[str], list[Ask], list[asyncio.Future[Answer]]]] = {}  # by experiment, in this turn
        self._waiting: deque[tuple[int, Futures, Sequence[Any]]] = deque()  # until which record, who, and for what
        self._looked = -math.inf  # at the disk
        self._marks: deque[tuple[float, int]] = deque()
        self._spent: WeakKeyDictionary[Experiment, tuple[float, float]] = WeakKeyDictionary()

    def start(self, service: Service) -> None:
        """Take over a service that has recovered."""
        self.loop, self.service = asyncio.get_running_loop(), service
        self.committer = Committer(self.service.commits, self._committed, self._broke)
        self.pulse = self.loop.create_task(again(PULSE, self._beat, "waits could not be ended"))
        self.not_ready = None

    # --- durable answers -----------------------------------------------------------------------------------------

    def decide(self, name: str, id: str, ask: Ask) -> "asyncio.Future[Answer]":
        """What to await for a durable answer. All that a turn of the loop brings is decided at its end, at once."""
        future = self.loop.create_future()
        if not self._asked:
            self.loop.call_soon(self._decide)
        ids, asks, futures = self._asked.get(name) or self._asked.setdefault(name, ([], [], []))
        ids.append(id)
        asks.append(ask)
        futures.append(future)
        return future

    def _decide(self) -> None:
        asked, self._asked, self._waking = self._asked, {}, True
        for name, (ids, asks, futures) in asked.items():
            try:
                made = self.service.decide_all(name, ids, asks)
            except Exception as error:
                made = [error] * len(ids)
            last = max([answer.ticket for answer in made if isinstance(answer, Answer)], default=-1)
            self._when_durable(last, futures, made)
        self._wake()  # at once: another turn may take milliseconds

    def commit(self, ticket: int) -> "asyncio.Future[None]":
        """What to await until this record is durable; a repeat that names an earlier one waits no longer than the last."""
        future = self.loop.create_future()
        self._when_durable(ticket, (future,), (None,))
        return future

    def _when_durable(self, ticket: int, futures: Futures, results: Sequence[Any]) -> None:
        if ticket < self.service.commits.durable:
            settle(futures, results)
        elif self.fault:
            settle(futures, [come_again(503, str(self.fault), 5)] * len(futures))
        else:
            self._waiting.append((ticket, futures, results))
            if not self._waking:
                self._waking = True
                self.loop.call_soon(self._wake)  # once for all that this turn of the loop brings

    def _wake(self) -> None:
        self._waking = False
        self.committer.wake()

    def _committed(self, durable: int) -> None:
        """In the committer's thread."""
        self.loop.call_soon_threadsafe(self._release, durable)

    def _release(self, durable: int) -> None:
        waiting = self._waiting
        while waiting and waiting[0][0] < durable:
            settle(*waiting.popleft()[1:])

    def _broke(self, fault: Broken) -> None:
        """In the committer's thread. Memory is ahead of the journal: nobody is answered, and the process must end."""
        log.critical("the journal cannot be written: %s", fault)
        self.loop.call_soon_threadsafe(self._give_up, fault)

    def _give_up(self, fault: Broken) -> None:
        self.fault = fault
        for _, futures, _ in self._waiting:
            settle(futures, [come_again(503, str(fault), 5)] * len(futures))
        self._waiting.clear()
        self.failed()

    # --- limits --------------------------------------------------------------------------------------------------

    def admit_decisions(self, experiment: str, count: int = 1) -> None:
        """Refuse where the disk is nearly full or too many are asked for; rewards are taken even then."""
        if self.full:
            raise come_again(503, "the disk is nearly full: decisions are refused, rewards are still taken", 30)
        known = self.service._experiment(experiment)
        own, common = known.settings.rate, self.rate
        if own is not None or common is not None:
            self._spend(known, count, min(own or math.inf, common or math.inf))

    def admit(self, writing: bool) -> None:
        if self.not_ready is not None:
            raise come_again(503, self.not_ready, 1)
        if writing and self.behind:
            raise come_again(503, f"the journal is more than {BEHIND} s behind", 1)

    def _spend(self, experiment: Experiment, count: int, rate: float) -> None:
        now = self.loop.time()
        left, since = self._spent.get(experiment, (rate, now))
        left = min(rate, left + (now - since) * rate)
        if left < min(count, rate):
            raise come_again(429, f"experiment {experiment.name!r} takes {rate:g} decisions per second", (count - left) / rate)
        self._spent[experiment] = left - count, now

    # --- what time brings ----------------------------------------------------------------------------------------

    async def _beat(self) -> None:
        self._mark()
        for _ in self.service.ticking():
            await asyncio.sleep(0.001)  # so that no decision waits for all of it
        if self.service.commits.waiting:
            self.committer.wake()
        if time.monotonic() - self._looked > 1.0:
            self._looked = time.monotonic()
            self.full = shutil.disk_usage(self.folder).free < RESERVE

    def _mark(self) -> None:
        """Behind, if what was asked half a second ago is not durable yet."""
        now, marks = time.monotonic(), self._marks
        marks.append((now, self.service.commits.next))
        while marks and marks[0][1] <= self.service.commits.durable:
            marks.popleft()
        self.behind = bool(marks) and now - marks[0][0] > BEHIND

    async def second(self) -> None:
        """Wait for a second, or for the end."""
        for _ in range(10):
            if not self.stopping:
                await asyncio.sleep(PULSE)

    def leave(self) -> None:
        """Take no more requests."""
        self.stopping, self.not_ready = True, STOPPED

    async def stop(self) -> None:
        """Commit the rest, write a snapshot, let the journal go."""
        self.leave()
        self.pulse.cancel()
        await asyncio.to_thread(self.committer.stop)
        await asyncio.to_thread(self.service.close)


def settle(futures: Futures, results: Sequence[Any]) -> None:
    for future, result in zip(futures, results, strict=True):
        if future.done():
            continue  # who asked went away
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
