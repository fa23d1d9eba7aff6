"""The service from code that does not await: an AsyncClient in a thread of its own, so that a deadline holds to the letter."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Self, TypeVar

from driftbandit.live.async_client import AsyncClient
from driftbandit.live.outbox import Refusal
from driftbandit.live.replies import Decided, ServiceError

__all__ = ["AsyncClient", "Client", "Decided", "ServiceError"]

T = TypeVar("T")


class Client:
    """Talk to ``driftbandit serve``; threads may share it.

    Parameters are those of AsyncClient: url, token, timeout, patience, fallback, room, batch. ::

        with Client("http://127.0.0.1:8000", timeout=0.05, fallback="plain") as service:
            choice = service.decide("shop", context={"device": "phone"})
            ...  # show choice.action
            service.reward("shop", choice.id, 1.0)
    """

    def __init__(self, url: str, token: str | None = None, **settings: Any) -> None:
        self._settings = {"url": url, "token": token, **settings}
        self._lock = threading.Lock()
        self._process = -1
        self._start()

    def _start(self) -> None:
        """The thread, again in a process that was forked: threads do not follow there."""
        with self._lock:
            if self._process == os.getpid():
                return
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="driftbandit client", daemon=True)
            self._thread.start()
            self._process = os.getpid()

            async def make() -> AsyncClient:
                return AsyncClient(**self._settings)

            self._client = asyncio.run_coroutine_threadsafe(make(), self._loop).result()

    def _wait(self, call: Callable[[AsyncClient], Coroutine[Any, Any, T]]) -> T:
        if self._process != os.getpid():
            self._start()
        if self._loop.is_closed():
            raise ServiceError(None, "this client was closed: make another")
        return asyncio.run_coroutine_threadsafe(call(self._client), self._loop).result()

    def decide(
        self,
        experiment: str,
        *,
        id: str | None = None,
        timeout: float | None = None,
        fallback: str | int | None = None,
        **request: Any,
    ) -> Decided:
        """Which arm or action? ``request``: ``set=``, ``context=`` or ``arms=``; ``exclude=``, ``baseline=``, ``deferred=``."""
        return self._wait(lambda it: it.decide(experiment, id=id, timeout=timeout, fallback=fallback, **request))

    def reward(self, experiment: str, id: str, reward: float) -> None:
        """Put a reward into the queue; it is sent with others, and again until it is acknowledged."""
        self._wait(lambda it: it.reward(experiment, id, reward))

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all rewards are acknowledged; whether they were within ``timeout`` seconds."""
        return self._wait(lambda it: it.flush(timeout))

    def shown(self, experiment: str, id: str) -> Any:
        """A deferred decision was shown: from now on it waits for its reward."""
        return self._wait(lambda it: it.shown(experiment, id))

    def preview(self, experiment: str, **request: Any) -> Any:
        """What would be chosen now and why; nothing is kept."""
        return self._wait(lambda it: it.preview(experiment, **request))

    def create(self, experiment: str, **settings: Any) -> Any:
        """Make an experiment; again with the same settings is harmless."""
        return self._wait(lambda it: it.create(experiment, **settings))

    def put_set(self, experiment: str, name: str, arms: Sequence[Sequence[float]]) -> Any:
        """Give a name to a set of arms, or a new version of it."""
        return self._wait(lambda it: it.put_set(experiment, name, arms))

    def status(self, experiment: str) -> Any:
        return self._wait(lambda it: it.status(experiment))

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Any request below /v1/."""
        return self._wait(lambda it: it.ask(method, path, body))

    @property
    def refused(self) -> list[Refusal]:
        """Rewards that the service will never take: the last hundred."""
        return self._client.refused

    @property
    def given_up(self) -> int:
        """Rewards lost because the queue was full."""
        return self._client.given_up

    def close(self, timeout: float | None = 5.0) -> None:
        """Send what waits, for ``timeout`` seconds at most."""
        if not self._loop.is_closed():
            self._wait(lambda it: it.close(timeout))
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
