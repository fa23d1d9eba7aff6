"""An AsyncClient in a thread of its own, so that a deadline holds to the letter."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from driftbandit.live.async_client import AsyncClient
from driftbandit.live.replies import ServiceError

T = TypeVar("T")


class Threaded:
    """Threads may share it."""

    def __init__(self, make: Callable[[], AsyncClient]) -> None:
        self._make = make
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
                return self._make()

            self.client = asyncio.run_coroutine_threadsafe(make(), self._loop).result()

    def wait(self, call: Callable[[AsyncClient], Coroutine[Any, Any, T]]) -> T:
        if self._process != os.getpid():
            self._start()
        if self._loop.is_closed():
            raise ServiceError(None, "this client was closed: make another")
        return asyncio.run_coroutine_threadsafe(call(self.client), self._loop).result()

    def close(self, timeout: float | None) -> None:
        if not self._loop.is_closed():
            self.wait(lambda it: it.close(timeout))
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
