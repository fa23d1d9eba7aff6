"""The door of the service, asked in this process: what each route answers, and what it refuses."""

import asyncio
import random
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.door import page as page_files
from live_door import ARMS, AT, EXPERIMENT, gated, made, new_app, running, shop

pytestmark = pytest.mark.plain


def play(folder: Path, story: Callable[..., Awaitable[None]], **settings: Any) -> None:
    async def whole() -> None:
        async with shop(folder, **settings) as (app, client):
            await story(app, client)

    asyncio.run(whole())


async def decide(client: httpx.AsyncClient, id: str, **more: Any) -> httpx.Response:
    return await client.post(f"{AT}/decisions", json={"id": id, **(more or {"set": "all"})})


async def reward(client: httpx.AsyncClient, id: str, value: float) -> httpx.Response:
    return await client.post(f"{AT}/decisions/{id}/reward", json={"reward": value})


def test_a_decision_and_its_reward(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        first = (await decide(client, "a")).json()
        assert first["repeat"] is False
        assert first["index"] in range(3)
        again = (await decide(client, "a")).json()
        assert again["repeat"] is True
        assert {**again, "repeat": False, "ticket": 0} == {**first, "ticket": 0}
        assert (await decide(client, "a", arms=ARMS)).status_code == 409
        assert (await reward(client, "a", 1.0)).json()["outcome"] == "learnt"
        assert (await reward(client, "a", 1.0)).json()["outcome"] == "duplicate"
        assert (await reward(client, "a", 0.5)).status_code == 409
        found = (await client.get(f"{AT}/decisions/a")).json()
        assert (found["state"], found["reward"]) == ("rewarded", 1.0)
        explained = (await client.get(f"{AT}/decisions/a/explanation")).json()
        assert [opinion["index"] for opinion in explained["opinions"]] == [0, 1, 2]

    play(tmp_path, story)


def test_a_preview_keeps_nothing(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        before = app.host.service.commits.next
        said = (await client.post(f"{AT}/preview", json={"arms": ARMS})).json()
        assert len(said["opinions"]) == 3
        assert app.host.service.commits.next == before

    play(tmp_path, story)


def test_a_deferred_decision_waits_to_be_shown(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        await decide(client, "a", set="all", deferred=True)
        assert (await client.get(f"{AT}/decisions/a")).json()["shown"] is False
        assert (await client.post(f"{AT}/decisions/a/shown", json={})).status_code == 200
        assert (await client.get(f"{AT}/decisions/a")).json()["shown"] is True

    play(tmp_path, story)


def test_named_actions_in_a_context(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        fields = [{"name": "device", "kind": "category", "levels": ["phone", "desktop"]}]
        body = {"policy": "StaticUCB", "actions": ["red", "green"], "context": {"version": 1, "fields": fields}}
        named = {**body, "parameters": {"noise": 0.1}, "places": 3}
        assert (await client.put("/v1/experiments/named", json=named)).status_code == 200
        at = "/v1/experiments/named"
        said = await client.post(f"{at}/decisions", json={"id": "a", "context": {"device": "phone"}, "exclude": ["red"]})
        assert said.json()["action"] == "green"
        wrong = await client.post(f"{at}/decisions", json={"id": "b", "context": {"divice": "phone"}})
        assert wrong.status_code == 422
        assert "device" in wrong.json()["detail"]
        assert (await client.put(f"{at}/actions/blue", json={})).status_code == 200
        assert (await client.delete(f"{at}/actions/red")).status_code == 200
        assert (await client.get(at)).json()["offered"] == ["green", "blue"]
        mine = await client.post(f"{at}/decisions", json={"id": "c", "context": {"device": "phone"}, "baseline": "blue"})
        assert mine.json()["action"] == "blue"

    play(tmp_path, story)


def test_in_a_batch_each_has_its_own_status(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        asked = [{"id": "a", "set": "all"}, {"id": "b", "set": "none"}, {"id": "a", "set": "all"}, {"id": "a", "arms": ARMS}]
        said = (await client.post(f"{AT}/decisions:batch", json={"decisions": asked})).json()["results"]
        assert [one["status"] for one in said] == [200, 422, 200, 409]
        assert [one["decision"]["repeat"] for one in (said[0], said[2])] == [False, True]
        told = [{"id": "a", "reward": 1}, {"id": "z", "reward": 1}, {"id": "a", "reward": 1}]
        receipts = (await client.post(f"{AT}/rewards:batch", json={"rewards": told})).json()["results"]
        assert [one["status"] for one in receipts] == [200, 404, 200]
        assert receipts[2]["receipt"]["outcome"] == "duplicate"

    play(tmp_path, story)


def test_of_those_who_ask_at_once_each_has_its_own_answer(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        def ask(name: str, id: str, set: str) -> Awaitable[httpx.Response]:
            return client.post(f"/v1/experiments/{name}/decisions", json={"id": id, "set": set})

        shop, fresh = AT.rpartition("/")[2], [str(k) for k in range(20)]
        alike = await asyncio.gather(*(ask(shop, id, "all") for id in fresh))
        assert [said.json()["id"] for said in alike] == fresh
        assert sorted(said.json()["round"] for said in alike) == list(range(20))
        asked = [(shop, "a", "all"), (shop, "a", "none"), ("other", "b", "all"), (shop, "c", "none"), (shop, "0", "all")]
        said = await asyncio.gather(*(ask(*each) for each in asked))
        assert [each.status_code for each in said] == [200, 409, 404, 422, 200]
        assert [said[0].json()["repeat"], said[4].json()["repeat"]] == [False, True]

    play(tmp_path, story)


def test_what_fails_for_one_does_not_fail_for_others(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        service, whole = app.host.service, app.host.service.decide

        def failing(name: str, id: str, ask: Any) -> Any:
            if id == "b":
                raise RuntimeError("by mistake")
            return whole(name, id, ask)

        service.decide = failing
        said = await asyncio.gather(*(decide(client, id, set=set) for id, set in (("a", "all"), ("b", "all"), ("c", "none"))))
        assert [each.status_code for each in said] == [200, 500, 422]

    play(tmp_path, story)


def test_a_batch_line_by_line(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        lines = b'{"id": "a", "set": "all"}\n{"id": 7}\nno JSON\n\n{"id": "b", "set": "all"}\n'
        headers = {"content-type": "application/x-ndjson"}
        said = await client.post(f"{AT}/decisions:batch", content=lines, headers=headers)
        assert said.headers["content-type"] == "application/x-ndjson"
        statuses = [msgspec.json.decode(line)["status"] for line in said.content.splitlines()]
        assert statuses == [200, 422, 400, 200]

    play(tmp_path, story)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b"{", 400, None),
        (b"\xff\xfe", 400, None),
        (b"[" * 100_000, 422, None),
        (b"{}", 422, None),
        (b'{"id": "a", "set": "all", "armz": 1}', 422, None),
        (b'{"id": "a", "arms": [[1, "x"]]}', 422, "arms[0][1]"),
        (b'{"id": "a", "arms": [[1, 2], [1]]}', 422, "arms"),
        (b'{"id": "a", "arms": [[1, 2, 3]]}', 422, "arms"),
        (b'{"id": "a", "arms": []}', 422, "arms"),
        (b'{"id": "a", "arms": [[1e999, 0]]}', 422, "arms[0][0]"),
        (b'{"id": "a", "arms": [[NaN, 0]]}', 400, None),
        (b'{"id": "a", "arms": [[1e300, 0]]}', 422, "arms[0][0]"),
        (b'{"id": "", "set": "all"}', 422, "id"),
        (b'{"id": "' + b"x" * 129 + b'", "set": "all"}', 422, "id"),
        (b'{"id": "a"}', 422, None),
        (b'{"id": "a", "set": "other"}', 422, "set"),
        (b'{"id": "a", "set": "all", "arms": [[1, 0]]}', 422, None),
        (b'{"id": "a", "set": "all", "baseline": 3}', 422, "baseline"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(tmp_path: Path, body: bytes, status: int, field: str | None) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        before = app.host.service.commits.next
        said = await client.post(f"{AT}/decisions", content=body, headers={"content-type": "application/json"})
        assert said.status_code == status, said.text
        assert said.headers["content-type"] == "application/problem+json"
        problem = said.json()
        assert problem["status"] == status
        assert problem["detail"]
        if field is not None:
            assert problem["field"] == field
        assert app.host.service.commits.next == before

    play(tmp_path, story)


def test_what_cannot_be_found_or_is_of_the_wrong_kind(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        assert (await client.get("/v1/experiments/none")).status_code == 404
        assert (await client.get(f"{AT}/decisions/none")).status_code == 404
        assert (await reward(client, "none", 1.0)).status_code == 404
        assert (await client.get("/v1/nothing")).status_code == 404
        assert (await client.get("/v1/experiments/")).status_code == 404
        wrong = await client.patch(AT, json={})
        assert wrong.status_code == 405
        assert wrong.headers["allow"] == "PUT, GET, DELETE"
        form = await client.post(f"{AT}/decisions", data={"id": "a"})
        assert form.status_code == 415
        large = await client.post(f"{AT}/decisions", json={"id": "a", "context": {"x": "y" * (1 << 20)}})
        assert large.status_code == 413
        conflict = await client.put(AT, json={**EXPERIMENT, "dim": 3})
        assert conflict.status_code == 409
        unknown = await client.put("/v1/experiments/other", json={"policy": "Nobody", "dim": 2})
        assert unknown.status_code == 422
        assert (await client.put("/v1/experiments/-x", json=EXPERIMENT)).status_code == 422
        assert (await client.delete(AT)).status_code == 200
        assert (await client.get(AT)).status_code == 404

    play(tmp_path, story)


def test_without_tokens_only_this_machine_is_served(tmp_path: Path) -> None:
    """Else a page anywhere could have a browser here call the service, by a name that leads here."""

    async def story(app: Any, client: httpx.AsyncClient) -> None:
        assert (await client.get(AT, headers={"host": "evil.example"})).status_code == 403
        assert (await client.get(AT, headers={"host": "localhost:8000"})).status_code == 200
        assert (await client.get(AT, headers={"host": "[::1]:8000"})).status_code == 200

    play(tmp_path, story)


def test_more_than_its_rate_is_told_to_come_again(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        said = [await decide(client, f"a{k}") for k in range(30)]
        refused = [one for one in said if one.status_code == 429]
        assert refused
        assert int(refused[0].headers["retry-after"]) >= 1
        assert [one.status_code for one in said[:3]] == [200, 200, 200]

    play(tmp_path, story, rate=3)


class Still:
    """An event loop for which no time passes."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def time(self) -> float:
        return 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loop, name)


def test_each_experiment_has_a_rate_of_its_own(tmp_path: Path) -> None:
    """Of its own rate and that of the service, the lesser; the others are not held up by it."""

    async def story(app: Any, client: httpx.AsyncClient) -> None:
        app.host.loop = Still(app.host.loop)
        for name, rate in {"slow": 2, "fast": 50, "any": None}.items():
            body = {**EXPERIMENT, "settings": {"rate": rate}}
            assert (await client.put(f"/v1/experiments/{name}", json=body)).status_code == 200
        allowed = {"slow": 2, "fast": 5, "any": 5}
        for name, most in allowed.items():
            at = f"/v1/experiments/{name}/decisions"
            said = [(await client.post(at, json={"id": str(k), "arms": ARMS})).status_code for k in range(most + 1)]
            assert said == [200] * most + [429]
        assert (await client.get("/v1/experiments/slow")).json()["settings"]["rate"] == 2
        wrong = await client.put("/v1/experiments/none", json={**EXPERIMENT, "settings": {"rate": 0}})
        assert (wrong.status_code, wrong.json()["field"]) == (422, "settings")

    play(tmp_path, story, rate=5)


def test_as_many_wait_as_may(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        await client.put("/v1/experiments/small", json={**EXPERIMENT, "settings": {"most_waiting": 2}})
        for id, status in (("a", 200), ("b", 200), ("c", 429), ("a", 200)):
            said = await client.post("/v1/experiments/small/decisions", json={"id": id, "arms": ARMS})
            assert said.status_code == status
        await client.post("/v1/experiments/small/decisions/a/reward", json={"reward": 0})
        said = await client.post("/v1/experiments/small/decisions", json={"id": "c", "arms": ARMS})
        assert said.status_code == 200

    play(tmp_path, story)


def test_on_a_full_disk_rewards_are_still_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        await decide(client, "a")
        app.host.full = True
        refused = await decide(client, "b")
        assert refused.status_code == 503
        assert "retry-after" in refused.headers
        assert (await reward(client, "a", 1.0)).status_code == 200

    play(tmp_path, story)


def test_it_is_not_ready_before_it_has_recovered(tmp_path: Path) -> None:
    async def story() -> None:
        gate = threading.Event()

        def slow() -> SqliteJournal:
            gate.wait(20)
            return SqliteJournal(tmp_path / "live.db")

        app = new_app(tmp_path)
        app._journal = slow
        transport = httpx.ASGITransport(app.door)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            starting = asyncio.create_task(app.start())
            await asyncio.sleep(0)
            assert (await client.get("/healthz")).status_code == 200
            for path in ("/readyz", "/v1/experiments"):
                said = await client.get(path)
                assert said.status_code == 503
                assert "retry-after" in said.headers
            gate.set()
            await starting
            assert (await client.get("/readyz")).status_code == 200
        await app.stop()

    asyncio.run(story())


def test_nobody_is_answered_before_the_commit_of_his_own_record(tmp_path: Path) -> None:
    async def story() -> None:
        app, gate = gated(tmp_path)
        async with running(app) as client:
            await made(client)
            gate.open.clear()
            first = asyncio.create_task(decide(client, "a"))
            await asyncio.sleep(0.05)
            again = asyncio.create_task(decide(client, "a"))
            other = asyncio.create_task(decide(client, "b"))
            done, _ = await asyncio.wait({first, again, other}, timeout=0.2)
            assert not done
            gate.open.set()
            assert [(await task).json()["repeat"] for task in (first, again, other)] == [False, True, False]

    asyncio.run(story())


def test_a_journal_that_falls_behind_refuses_more(tmp_path: Path) -> None:
    async def story() -> None:
        app, gate = gated(tmp_path)
        async with running(app) as client:
            await made(client)
            gate.open.clear()
            first = asyncio.create_task(decide(client, "a"))
            while not app.host.behind:
                await asyncio.sleep(0.05)
            refused = await decide(client, "b")
            assert refused.status_code == 503
            assert (await client.get(AT)).status_code == 200  # looking on costs the journal nothing
            gate.open.set()
            assert (await first).status_code == 200
            while app.host.behind:
                await asyncio.sleep(0.05)
            assert (await decide(client, "b")).status_code == 200

    asyncio.run(story())


def test_a_commit_that_fails_ends_the_service(tmp_path: Path) -> None:
    async def story() -> None:
        (app, gate), ended = gated(tmp_path), []
        async with running(app) as client:
            await made(client)
            app.host.failed = lambda: ended.append(True)
            gate.fails = True
            said = await decide(client, "a")
            assert said.status_code == 503
            assert "space" in said.json()["detail"]
            assert (await decide(client, "b")).status_code == 503
            assert ended == [True]

    asyncio.run(story())


def test_the_page_and_what_machines_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_files, "contents", lambda: {"index.html": b"<!doctype html>"})

    async def story(app: Any, client: httpx.AsyncClient) -> None:
        for k in range(5):
            await decide(client, f"a{k}")
        await reward(client, "a0", 1.0)
        page = await client.get("/")
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert (await client.get("/page/..%2Fhttp.py")).status_code == 404
        families = {each.name: each for each in text_string_to_metric_families((await client.get("/metrics")).text)}
        assert families["driftbandit_decisions"].samples[0].value == 5
        assert families["driftbandit_decisions"].samples[0].labels == {"experiment": "shop"}
        described = (await client.get("/openapi.json")).json()
        assert described["openapi"] == "3.1.0"
        assert described["paths"]["/v1/experiments/{name}/decisions"]["post"]["requestBody"]["required"]

    play(tmp_path, story)


def test_what_the_page_shows_is_there_again_after_a_restart(tmp_path: Path) -> None:
    async def first(app: Any, client: httpx.AsyncClient) -> None:
        for k in range(20):
            chosen = (await decide(client, f"a{k}")).json()["index"]
            if k < 10:
                await reward(client, f"a{k}", float(chosen == 1))
        check(app, await look(app, client))

    async def second(app: Any, client: httpx.AsyncClient) -> None:
        check(app, await look(app, client))

    async def look(app: Any, client: httpx.AsyncClient) -> tuple[Any, Any]:
        for _ in app.views.watch.read():
            pass
        return (await client.get(f"{AT}/status")).json(), (await client.get(f"{AT}/history?span=7d")).json()

    def check(app: Any, seen: tuple[Any, Any]) -> None:
        status, history = seen
        assert sum(history["decisions"]) == 20
        assert sum(history["rewards"]) == 10
        assert sum(one["decisions"] for one in status["actions"]) == 20
        assert sum(one["rewards"] for one in status["actions"]) == 10
        assert sum(status["delays"]["counts"]) == 10
        assert [one["id"] for one in status["recent"]] == [f"a{k}" for k in reversed(range(20))]
        assert all([opinion["index"] for opinion in one["opinions"]] == [0, 1, 2] for one in status["recent"])
        assert len(status["features"]) == 2
        assert status["experiment"]["counts"]["decisions"] == 20

    play(tmp_path, first)
    play(tmp_path, second)


def test_the_journal_page_by_page(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        asked = [{"id": f"a{k}", "set": "all"} for k in range(1000)]
        for batch in (asked, [{**one, "id": one["id"] + "b"} for one in asked]):
            assert (await client.post(f"{AT}/decisions:batch", json={"decisions": batch})).status_code == 200
        ids, first = [], 0
        while True:
            *records, last = [msgspec.json.decode(line) for line in (await page(client, first)).splitlines()]
            ids += [record["id"] for record in records if record["kind"] == "decided"]
            if last["next"] == first:
                break
            first = last["next"]
        assert len(ids) == len(set(ids)) == 2000
        assert (await client.get(f"{AT}/journal?from=x")).status_code == 422

    async def page(client: httpx.AsyncClient, first: int) -> bytes:
        return (await client.get(f"{AT}/journal?from={first}")).content

    play(tmp_path, story)


def test_a_snapshot_that_cannot_be_written_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        async def failing() -> float:
            families = text_string_to_metric_families((await client.get("/metrics")).text)
            return next(each for each in families if each.name == "driftbandit_snapshot_failing").samples[0].value

        keeper, journal = app.host.service.keeper, app.host.service.journal
        assert await failing() == 0
        journal.keep_snapshot = lambda place, body: (_ for _ in ()).throw(OSError("no space"))
        keeper.keep(app.host.service.state.freeze())
        assert await failing() == 1
        assert "no space" in caplog.text
        del journal.keep_snapshot
        keeper.keep(app.host.service.state.freeze())
        assert await failing() == 0

    play(tmp_path, story)


def test_what_retention_dropped_is_gone(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        for id in ("a", "b"):
            kept = (await decide(client, id)).json()["ticket"]
        app.host.service.journal.drop(kept)
        for path in ("decisions/a/explanation", "journal?from=0"):
            said = await client.get(f"{AT}/{path}")
            assert said.status_code == 410, said.text
            assert f"begins with record {kept}" in said.json()["detail"]
        assert (await client.get(f"{AT}/decisions/a")).status_code == 200  # its id is still remembered
        assert (await client.get(f"{AT}/decisions/b/explanation")).status_code == 200
        first = msgspec.json.decode((await client.get(f"{AT}/journal")).content.splitlines()[0])
        assert first["record"] == kept

    play(tmp_path, story)


def test_ten_thousand_malformed_requests(tmp_path: Path) -> None:
    """None is a failure of the service, none changes anything."""
    chance = random.Random(0)
    pieces = [
        b"{",
        b"}",
        b"[",
        b"]",
        b'"id"',
        b'"a"',
        b":",
        b",",
        b"1e400",
        b"-",
        b"null",
        b"\x00",
        b"\xff",
        b'"set"',
        b'"all"',
    ]
    paths = [AT, f"{AT}/decisions", f"{AT}/decisions:batch", f"{AT}/rewards:batch", f"{AT}/preview", f"{AT}/sets/all"]
    paths += [f"{AT}/decisions/%00", f"{AT}/decisions/%FF/reward", f"{AT}/journal?from=-1", "/v1/tokens", "//", "/%2e%2e/"]

    async def story(app: Any, client: httpx.AsyncClient) -> None:
        before = app.host.service.commits.next
        for _ in range(10_000):
            body = b"".join(chance.choices(pieces, k=chance.randrange(12)))
            path, method = chance.choice(paths), chance.choice(["POST", "PUT", "PATCH"])
            media = chance.choice([b"application/json", b"application/x-ndjson", b"text/plain"])
            status = await raw(app, method, path, body, media)
            assert status in range(400, 500), (method, path, body, status) if status != 200 else nested(path, media)
        assert app.host.service.commits.next == before

    def nested(path: str, media: bytes) -> bool:
        """Line by line, each wrong line has its own status, and the whole is answered."""
        return path.endswith(":batch") and media == b"application/x-ndjson"

    async def raw(app: Any, method: str, path: str, body: bytes, media: bytes) -> int:
        where, _, query = path.partition("?")
        scope = {
            **{"type": "http", "method": method, "path": where, "raw_path": where.encode(), "query_string": query.encode()},
            "headers": [(b"host", b"localhost"), (b"content-type", media)],
        }
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await app.door(scope, receive, send)
        status: int = sent[0]["status"]
        return 400 if status == 200 and nested(path, media) else status

    play(tmp_path, story)
