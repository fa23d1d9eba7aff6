"""What ``live.py`` needs: a server to load, and the load as a script for wrk."""

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from driftbandit.live.answers import Answer, Ask
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.door.app import App
from driftbandit.live.door.server import bind, more_files, run
from driftbandit.live.settings import Settings
from driftbandit.policies.adaptive import AdaptiveUCB

DIM, ARMS = 10, 20
WAIT = 3.0  # seconds: there are no rewards here, so decisions would pile up


def lua(run: str, batch: int = 0) -> str:
    """Decisions with unique ids, ``batch`` per request or single ones."""
    path = "/v1/experiments/bench/decisions" + ":batch" * bool(batch)
    one = '\'{"id":"RUN-\' .. n .. \'","set":"all"}\''.replace("RUN", run)
    many = (
        f"local parts = {{}} for k = 1, {batch} do n = n + 1 parts[k] = {one} end "
        "local body = '{\"decisions\":[' .. table.concat(parts, ',') .. ']}'"
    )
    return f"""
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local n = 0
request = function()
  {many if batch else f"n = n + 1 local body = {one}"}
  return wrk.format(nil, "{path}", nil, body)
end
"""


class Delayed(SqliteJournal):
    """On a disk whose syncs take so many seconds longer: a sleep lets other threads run, as a sync does."""

    def __init__(self, path: Path, delay: float) -> None:
        super().__init__(path)
        self.delay = delay

    def append(self, first: int, records: Sequence[bytes]) -> None:
        super().append(first, records)
        if self.delay:
            time.sleep(self.delay)


def commit_each(app: App) -> None:
    """One commit per request, in the event loop, as in a service without group commits."""
    host = app.host

    def decide(name: str, id: str, ask: Ask) -> "asyncio.Future[Answer]":
        answer = host.service.decide(name, id, ask)
        host.service.commits.through(answer.ticket)
        done: asyncio.Future[Answer] = host.loop.create_future()
        done.set_result(answer)
        return done

    host.decide = decide  # type: ignore[method-assign]


def main(path: Path, mode: str, delay: float) -> None:
    more_files()
    bound = bind("127.0.0.1", 0)
    app = App(lambda: Delayed(path, delay), path.parent.absolute())
    print(f"http://127.0.0.1:{bound.getsockname()[1]}", flush=True)
    start: Any = app.start

    async def begin() -> None:
        await start()
        arms = np.random.default_rng(0).standard_normal((ARMS, DIM))
        arms /= np.linalg.norm(arms, axis=1, keepdims=True)
        app.host.service.create("bench", AdaptiveUCB(DIM), Settings(wait=WAIT, remember=WAIT, most_waiting=1_000_000))
        app.host.service.put_set("bench", "all", arms)
        if mode == "each":
            commit_each(app)

    async def nothing() -> None:
        pass

    app.start = begin  # type: ignore[method-assign]
    run(app, bound, nothing)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
