"""Those who look on: for as long as they may, at what is durable, and at no cost to each other."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from live_door import ARMS, AT, EXPERIMENT, bearer, gated, made, running, shop
from live_door import make_token as make

pytestmark = pytest.mark.plain


class Stream:
    """A stream at /live, without a socket: what has come so far, and whether it has ended."""

    def __init__(self, app: Any, query: str, token: str | None, method: str) -> None:
        self.body, self.status, self.reads = b"", 0, True
        headers = [(b"host", b"localhost")]
        if token is not None:
            headers.append((b"authorization", f"Bearer {token}".encode()))
        scope = {"type": "http", "method": method, "path": "/live", "raw_path": b"/live", "query_string": query.encode()}
        self.task = asyncio.create_task(app.door({**scope, "headers": headers}, self.receive, self.send))

    async def receive(self) -> dict[str, Any]:
        await asyncio.Event().wait()  # this client never leaves by itself
        raise AssertionError

    async def send(self, message: dict[str, Any]) -> None:
        if not self.reads and "body" in message:
            await asyncio.Event().wait()
        self.status = message.get("status", self.status)
        self.body += message.get("body", b"")

    async def events(self, count: int) -> None:
        while self.body.count(b"event:") < count:
            await asyncio.sleep(0.02)

    async def ended(self) -> None:
        await asyncio.wait_for(self.task, 10)


@contextlib.asynccontextmanager
async def stream(app: Any, query: str = "", token: str | None = None, method: str = "GET") -> AsyncIterator[Stream]:
    opened = Stream(app, query, token, method)
    try:
        yield opened
    finally:
        opened.task.cancel()
        await asyncio.wait([opened.task])


@pytest.mark.parametrize("query", ["experiment=shop", ""])
def test_a_stream_ends_with_its_token(tmp_path: Path, query: str) -> None:
    async def story() -> None:
        async with shop(tmp_path) as (app, client):
            admin = (await make(client, None, rights=["admin"]))["token"]
            reader = await make(client, admin, rights=["read"], experiments=["shop"])
            async with stream(app, query, reader["token"]) as mine, stream(app, query, admin) as other:
                await asyncio.gather(mine.events(1), other.events(1))
                (await client.delete(f"/v1/tokens/{reader['key']}", headers=bearer(admin))).raise_for_status()
                before = mine.body.count(b"event:")
                await mine.ended()
                assert mine.body.count(b"event:") == before
                await other.events(3)

    asyncio.run(story())


def test_a_stream_that_needed_no_token_ends_with_the_first_one(tmp_path: Path) -> None:
    async def story() -> None:
        async with shop(tmp_path) as (app, client), stream(app, "experiment=shop") as mine:
            await mine.events(1)
            await make(client, None, rights=["admin"])
            await mine.ended()

    asyncio.run(story())


def test_a_stream_ends_with_its_experiment_though_the_name_is_given_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with shop(tmp_path) as (app, client), stream(app, "experiment=shop") as mine:
            await mine.events(1)
            await client.delete(AT)
            await client.put(AT, json={**EXPERIMENT, "dim": 3})
            await mine.ended()
            assert b'"dim":3' not in mine.body

    asyncio.run(story())


def test_a_list_tells_only_what_its_token_may_read(tmp_path: Path) -> None:
    async def story() -> None:
        async with shop(tmp_path) as (app, client):
            await client.put("/v1/experiments/secret", json=EXPERIMENT)
            admin = (await make(client, None, rights=["admin"]))["token"]
            reader = (await make(client, admin, rights=["read"], experiments=["shop"]))["token"]
            async with stream(app, "", reader) as mine:
                await mine.events(2)
                assert b"shop" in mine.body
                assert b"secret" not in mine.body

    asyncio.run(story())


def test_the_head_of_a_stream_is_all_that_head_asks_for(tmp_path: Path) -> None:
    async def story() -> None:
        async with shop(tmp_path) as (app, _), stream(app, "experiment=shop", method="HEAD") as mine:
            await mine.ended()
            assert (mine.status, mine.body) == (200, b"")
            assert app.views.streams == 0

    asyncio.run(story())


def test_who_does_not_read_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else he would keep a place among those who may look on."""
    monkeypatch.setattr("driftbandit.live.door.http.STALLED", 0.05)

    async def story() -> None:
        async with shop(tmp_path) as (app, _), stream(app, "experiment=shop") as mine:
            mine.reads = False
            await mine.ended()
            assert app.views.streams == 0

    asyncio.run(story())


def test_the_history_is_made_once_however_many_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from driftbandit.live.door import board

    made_ones: list[str] = []
    history = board.Board.history

    def counted(self: Any, span: str, *rest: Any) -> Any:
        made_ones.append(span)
        return history(self, span, *rest)

    monkeypatch.setattr(board.Board, "history", counted)

    async def story() -> None:
        async with shop(tmp_path) as (app, client):
            app.views.watch.interval = 3600.0
            asked = [client.get(f"{AT}/history?span={span}") for span in ("30m", "7d") for _ in range(20)]
            said = await asyncio.gather(*asked)
            assert {one.status_code for one in said} == {200}
            assert sorted(made_ones) == ["30m", "7d"]
            assert {one.json()["span"] for one in said} == {"30m", "7d"}
            app.views.watch.interval = 0.0
            await client.get(f"{AT}/history")
            assert made_ones.count("30m") == 2

    asyncio.run(story())


def test_while_the_journal_is_behind_what_is_durable_can_be_read(tmp_path: Path) -> None:
    async def story() -> None:
        app, gate = gated(tmp_path)
        async with running(app) as client:
            await made(client)
            known = (await client.post(f"{AT}/decisions", json={"id": "old", "set": "all"})).json()
            await client.post(f"{AT}/decisions", json={"id": "older", "set": "all"})
            durable = (await client.get(AT)).json()["records"]
            gate.open.clear()
            deciding = asyncio.create_task(client.post(f"{AT}/decisions", json={"id": "new", "set": "all"}))
            rewarding = asyncio.create_task(client.post(f"{AT}/decisions/old/reward", json={"reward": 1}))
            while not app.host.behind:
                await asyncio.sleep(0.02)
            for path in ("status", "history", "journal", "decisions/older", "decisions/older/explanation"):
                assert (await client.get(f"{AT}/{path}")).status_code == 200, path
            for path in ("/v1/experiments", "/metrics", "/"):
                assert (await client.get(path)).status_code == 200, path
            assert (await client.post(f"{AT}/preview", json={"arms": ARMS})).status_code == 200
            assert (await client.post(f"{AT}/decisions/old/shown", json={})).status_code == 503
            assert (await client.get(AT)).json()["records"] == durable
            assert '"new"' not in (await client.get(f"{AT}/journal")).text
            reads = [asyncio.create_task(client.get(f"{AT}/decisions/{id}")) for id in ("old", "new", "new/explanation")]
            done, _ = await asyncio.wait(reads, timeout=0.2)
            assert not done  # what is not durable yet is not told
            gate.open.set()
            assert [(await each).status_code for each in (deciding, rewarding, *reads)] == [200] * 5
            assert (await reads[0]).json()["answer"]["index"] == known["index"]

    asyncio.run(story())
