"""Rewards on their way: a bounded queue that is sent in batches, and kept until the service has acknowledged them."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from itertools import count, islice
from typing import NamedTuple

log = logging.getLogger("driftbandit.live")


class Told(NamedTuple):
    """A reward on its way."""

    experiment: str
    id: str
    reward: float
    key: str | None = None

    @property
    def of(self) -> tuple[str, str, str | None]:
        """Of what it is the reward."""
        return self.experiment, self.id, self.key


class Refusal(NamedTuple):
    """A reward that the service will never take."""

    experiment: str
    id: str
    reward: float
    status: int
    detail: str
    key: str | None = None


Send = Callable[[str, list[Told]], Awaitable[list[tuple[int, str]] | None]]


class Outbox:
    """Holds at most ``room`` rewards; where one more comes, the oldest is given up, counted and logged.

    Parameters:
        send: takes an experiment and a batch of its rewards, returns what was said of each (status, detail), or None
            where the service could not be reached or asked to come again.
    """

    def __init__(self, send: Send, room: int, batch: int) -> None:
        self.send, self.room, self.batch = send, room, batch
        self.waiting: dict[int, Told] = {}  # by number, in the order in which they came
        self._latest: dict[tuple[str, str, str | None], int] = {}  # the number of the last that waits for the same
        self._numbers = count()
        self.refused: list[Refusal] = []  # the last hundred
        self.given_up = 0
        self._news, self._empty = asyncio.Event(), asyncio.Event()
        self._empty.set()
        self._task: asyncio.Task[None] | None = None

    def put(self, told: Told) -> None:
        """Another value than the last goes after it: which counts is for the service to say. The same is not sent twice."""
        latest = self._latest.get(told.of)
        if latest is not None and self.waiting[latest] == told:
            return
        if len(self.waiting) >= self.room:
            self._give_up(next(iter(self.waiting)))
        number = self._latest[told.of] = next(self._numbers)
        self.waiting[number] = told
        self._empty.clear()
        self._news.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._deliver())

    def _give_up(self, number: int) -> None:
        told = self.waiting[number]
        self._remove(number)
        self.given_up += 1
        log.warning("the queue holds %d rewards and the service takes none: %s was given up", self.room, told)

    def _remove(self, number: int) -> None:
        told = self.waiting.pop(number, None)  # it may have been given up on its way
        if told is not None and self._latest[told.of] == number:
            del self._latest[told.of]

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
        experiment = next(iter(self.waiting.values())).experiment
        mine = (item for item in self.waiting.items() if item[1].experiment == experiment)
        batch = list(islice(mine, self.batch))
        said = await self.send(experiment, [told for _, told in batch])
        for (number, told), (status, detail) in zip(batch, said or (), strict=False):
            if status >= 500:
                continue
            self._remove(number)
            if status >= 400:
                self._note(Refusal(experiment, told.id, told.reward, status, detail, told.key))

    def _note(self, refusal: Refusal) -> None:
        self.refused = [*self.refused[-99:], refusal]
        log.warning("the reward of %s was refused (%d): %s", refusal.id, refusal.status, refusal.detail)
