"""The process: a socket, uvicorn, signals. SIGTERM finishes what was begun, writes a snapshot and ends within seconds."""

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from types import FrameType
from typing import Any

import uvicorn

from driftbandit.live.door.app import App
from driftbandit.live.door.wire import Wire

log = logging.getLogger("driftbandit.live")

GRACE = 2  # seconds for requests under way when it is told to stop
MOST_CONNECTIONS = 5_000
IDLE = 75  # seconds for which a connection may wait for its next request
SLOW = 10  # seconds in which a body must have come


class Server(uvicorn.Server):
    """Ends with status 0 when told to, and lets no slow client hold a connection for long."""

    def __init__(self, app: App, leave: asyncio.Event | None = None) -> None:
        super().__init__(
            uvicorn.Config(
                app.door,
                http=Wire,
                proxy_headers=False,  # nobody here asks who the client is
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_keep_alive=IDLE,
                timeout_graceful_shutdown=GRACE,
                limit_concurrency=MOST_CONNECTIONS,
                backlog=2048,
            )
        )
        self.app, self._leave = app, leave
        self._since: dict[Any, tuple[object, float]] = {}

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {sign: signal.signal(sign, self.handle_exit) for sign in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for sign, handler in before.items():
                signal.signal(sign, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True
        self.app.host.leave()

    async def on_tick(self, counter: int) -> bool:
        if self._leave is not None and self._leave.is_set():
            self.handle_exit(signal.SIGTERM, None)
        if counter % 10 == 0:
            self._close_slow(time.monotonic())
        return await super().on_tick(counter)

    def _close_slow(self, now: float) -> None:
        """Connections that have waited for a request, or for its body, for too long. uvicorn knows no such limits."""
        since: dict[Any, tuple[object, float]] = {}
        open_now: set[Any] = {*self.server_state.connections}
        for connection in open_now:
            cycle = connection.cycle
            between = cycle is None or cycle.response_complete
            if not between and not cycle.more_body:
                continue  # it is our turn
            known, begun = self._since.get(connection, (self, now))
            since[connection] = (cycle, begun) if known is cycle else (cycle, now)
            if now - since[connection][1] > (IDLE if between else SLOW):
                connection.transport.close()
        self._since = since


Ready = Callable[[], Awaitable[None]]


async def serve(app: App, bound: socket.socket, ready: Ready, leave: asyncio.Event | None = None) -> None:
    """Until SIGTERM or SIGINT or ``leave``, or until the journal fails, which is raised.

    ``ready`` is awaited beside it once it can serve.
    """
    server = Server(app, leave)

    def end(*_: object) -> None:
        server.should_exit = True

    async def begin() -> None:
        await app.start()
        calm_collector()
        await ready()

    app.host.failed = end
    beginning = asyncio.create_task(begin())
    beginning.add_done_callback(lambda task: end() if not task.cancelled() and task.exception() else None)
    await server.serve(sockets=[bound])
    beginning.cancel()
    await asyncio.wait([beginning])
    await app.stop()
    if app.host.fault is not None:
        raise app.host.fault
    if not beginning.cancelled():
        beginning.result()


def run(app: App, bound: socket.socket, ready: Ready) -> None:
    if sys.platform == "win32":
        asyncio.run(serve(app, bound, ready))
        return
    import uvloop

    uvloop.run(serve(app, bound, ready))


def calm_collector() -> None:
    """Have Python look for cycles seldom, and never again in what is there now: kernels, modules, the recovered state.

    A fifth of the time of a decision otherwise, and pauses. What requests leave behind is freed without it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there; an OSError that says what is wrong."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise OSError(f"cannot listen at {host}:{port}: {error.strerror or error}; choose another --host or --port") from None


def more_files() -> None:
    """As many connections as the system lets one process have."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 2 * MOST_CONNECTIONS
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, wanted), hard), hard))
