"""A service to talk to: in this process, or in a process of its own."""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx

from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.door.app import App
from driftbandit.live.door.server import bind, serve
from driftbandit.live.errors import Broken

EXPERIMENT: dict[str, Any] = {"policy": "StaticUCB", "dim": 2, "parameters": {"noise": 0.1}}
ARMS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]]
AT = "/v1/experiments/shop"


def new_app(folder: Path, **settings: Any) -> App:
    return App(lambda: SqliteJournal(folder / "live.db"), folder, **settings)


@contextlib.asynccontextmanager
async def running(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """The application without a socket."""
    await app.start()
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app.door), base_url="http://localhost") as client:
            yield client
    finally:
        await app.stop()


@contextlib.asynccontextmanager
async def shop(folder: Path, **settings: Any) -> AsyncIterator[tuple[App, httpx.AsyncClient]]:
    """The same with an experiment "shop" that has a set "all"."""
    app = new_app(folder, **settings)
    async with running(app) as client:
        if "shop" not in app.host.service.names:
            await made(client)
        yield app, client


async def made(client: httpx.AsyncClient, **more: Any) -> None:
    assert (await client.put(AT, json={**EXPERIMENT, **more})).status_code == 200
    assert (await client.put(f"{AT}/sets/all", json={"arms": ARMS})).status_code == 200


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def make_token(client: httpx.AsyncClient, admin: str | None, **wanted: Any) -> dict[str, Any]:
    said = await client.post("/v1/tokens", json=wanted, headers=bearer(admin) if admin else {})
    assert said.status_code == 200, said.text
    told: dict[str, Any] = said.json()
    return told


class Gate(SqliteJournal):
    """A journal whose commits can be held up, or made to fail."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.open, self.fails = threading.Event(), False
        self.open.set()

    def append(self, first: int, records: Any) -> None:
        self.open.wait(20)
        if self.fails:
            raise Broken("no space left on this device")
        super().append(first, records)


def gated(folder: Path) -> tuple[App, Gate]:
    """An application whose journal takes nothing while the gate is shut."""
    app, gate = new_app(folder), Gate(folder / "live.db")
    app._journal = lambda: gate
    return app, gate


@contextlib.contextmanager
def served(app: App) -> Iterator[str]:
    """The application at a real address, in a thread."""
    bound, ready = bind("127.0.0.1", 0), threading.Event()
    url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    stop: list[Any] = []

    async def main() -> None:
        leaving = asyncio.Event()
        stop.append((asyncio.get_running_loop(), leaving))

        async def announce() -> None:
            ready.set()

        serving = asyncio.create_task(serve(app, bound, announce, leaving))
        await serving

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield url
    finally:
        loop, leaving = stop[0]
        loop.call_soon_threadsafe(leaving.set)
        thread.join(20)
        assert not thread.is_alive()


class Process:
    """``driftbandit serve`` itself."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "driftbandit.cli", "serve", str(folder / "live.db"), "--port", "0", *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        assert self.process.stdout is not None
        self.said = [self.process.stdout.readline()]
        while self.said[-1] and "/readyz" not in self.said[-1]:  # the demo may say first that it runs without the compiler
            self.said.append(self.process.stdout.readline())
        self.url = self.said[-1].rpartition("; ")[2].partition("/readyz")[0]
        assert self.url.startswith("http://"), self.said

    def ready(self) -> "Process":
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/readyz").status_code == 200:
                    return self
            assert self.process.poll() is None, self.rest()
            time.sleep(0.05)
        raise AssertionError("it never was ready")

    def rest(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.read()

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()
