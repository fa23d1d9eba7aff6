"""Work beside an event loop: what is long, in a thread that does not keep the process from ending; what comes again."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger("driftbandit.live")


async def aside(function: Callable[P, T], *args: P.args, **settings: P.kwargs) -> T:
    """As asyncio.to_thread, whose threads are waited for when a loop ends."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(give: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop ended meanwhile
            loop.call_soon_threadsafe(lambda: None if future.done() else give())

    def work() -> None:
        try:
            result = function(*args, **settings)
        except BaseException as error:  # raised again by who awaits it
            failure = error
            settle(lambda: future.set_exception(failure))
        else:
            settle(lambda: future.set_result(result))

    threading.Thread(target=work, name="driftbandit aside", daemon=True).start()
    return await future


async def again(seconds: float, work: Callable[[], Awaitable[object]], failure: str) -> None:
    """Without end. What goes wrong once is logged, and is tried again."""
    while True:
        try:
            await work()
        except Exception:
            log.exception(failure)
        await asyncio.sleep(seconds)
