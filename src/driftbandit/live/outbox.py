"""Rewards on their way: a bounded queue that is sent in batches, and kept until the service has acknowledged them."""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from itertools import islice
from typing import NamedTuple

log = logging.getLogger("driftbandit.live")

Key = tuple[str, str]  # experiment, id


class Refusal(NamedTuple):
    """A reward that the service will never take."""

    experiment: str
    id: str
    reward: float
    status: int
    detail: str


class Outbox:
    """Holds at most ``room`` rewards; where one more comes, the oldest is given up, counted and logged.

    Parameters:
        send: takes an experiment and a batch of (id, reward), returns what was said of each (status, detail), or None
            where the service could not be reached or asked to come again.
    """

    def __init__(self, send: Callable[..., Awaitable[list[tuple[int, str]] | None]], room: int, batch: int) -> None:
        self.send, self.room, self.batch = send, room, batch
        self.waiting: OrderedDict[Key, float] = OrderedDict()
        self.refused: list[Refusal] = []  # the last hundred
        self.given_up = 0
        self._news, self._empty = asyncio.Event(), asyncio.Event()
        self._empty.set()
        self._task: asyncio.Task[None] | None = None

    def put(self, experiment: str, id: str, reward: float) -> None:
        if (experiment, id) not in self.waiting and len(self.waiting) >= self.room:
            key, _ = self.waiting.popitem(last=False)
            self.given_up += 1
            log.warning("the queue holds %d rewards and the service takes none: that of %s was given up", self.room, key)
        self.waiting.setdefault((experiment, id), reward)  # the first counts, here as there
        self._empty.clear()
        self._news.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._deliver())

    async def flush(self, timeout: float | None) -> bool:
        """Wait until all are acknowledged; whether they were in time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._empty.wait()
        return not self.waiting

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _deliver(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            while self.waiting:
                await self._deliver_one()
            self._empty.set()

    async def _deliver_one(self) -> None:
        experiment = next(iter(self.waiting))[0]
        mine = (item for item in self.waiting.items() if item[0][0] == experiment)
        batch = list(islice(mine, self.batch))
        said = await self.send(experiment, [(id, reward) for (_, id), reward in batch])
        for (key, reward), (status, detail) in zip(batch, said or (), strict=False):
            if status in (429, 503):
                continue
            if self.waiting.get(key) == reward:
                del self.waiting[key]
            if status >= 400:
                self._note(Refusal(experiment, key[1], reward, status, detail))

    def _note(self, refusal: Refusal) -> None:
        self.refused = [*self.refused[-99:], refusal]
        log.warning("the reward of %s was refused (%d): %s", refusal.id, refusal.status, refusal.detail)
