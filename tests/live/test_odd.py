"""Odd requests: each is refused with the field that is wrong, none is a failure of the service, none leaves anything behind."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
import pytest

from live_door import ARMS, AT, EXPERIMENT, new_app, served, shop

pytestmark = pytest.mark.plain

FIELDS = [
    {"name": "device", "kind": "category", "levels": ["phone", "desktop"]},
    {"name": "age", "kind": "number", "low": 0, "high": 100},
]
NAMED = {"policy": "StaticUCB", "actions": ["red", "green"], "context": {"version": 1, "fields": FIELDS}, "places": 3}
AT_NAMED = "/v1/experiments/named"
VISITOR = {"device": "phone", "age": 30}


def play(folder: Path, story: Callable[..., Awaitable[None]], **settings: Any) -> None:
    async def whole() -> None:
        async with shop(folder, **settings) as (app, client):
            (await client.put(AT_NAMED, json=NAMED)).raise_for_status()
            await story(app, client)

    asyncio.run(whole())


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"context": VISITOR, "exclude": ["red", "green"]}, "exclude"),
        ({"context": VISITOR, "exclude": ["red", "green", "red"]}, "exclude"),
        ({"context": VISITOR, "exclude": ["nobody"]}, "exclude"),
        ({"context": VISITOR, "exclude": [""]}, "exclude[0]"),
        ({"context": {"device": "phone"}}, "context"),
        ({"context": {"device": "phone", "age": 30, "hat": 1}}, "context"),
        ({"context": {"device": 3, "age": 30}}, "context"),
        ({"context": {"device": "phone", "age": [30]}}, "context[...]"),
        ({}, "context"),
        ({"arms": ARMS}, "arms"),
        ({"set": "all"}, "arms"),
    ],
)
def test_what_is_wrong_with_a_choice_among_actions_is_named(tmp_path: Path, body: dict[str, Any], field: str) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        before = app.host.service.commits.next
        asked = [
            await client.post(f"{AT_NAMED}/decisions", json={"id": "a", **body}),
            await client.post(f"{AT_NAMED}/preview", json=body),
        ]
        assert [(said.status_code, said.json().get("field")) for said in asked] == [(422, field)] * 2, asked[0].text
        assert app.host.service.commits.next == before

    play(tmp_path, story)


def test_an_explanation_where_nothing_of_what_was_on_offer_is_left(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        await client.put(f"{AT_NAMED}/actions/blue", json={})
        for id, exclude in (("a", ["blue"]), ("b", ["red", "green"])):
            said = await client.post(f"{AT_NAMED}/decisions", json={"id": id, "context": VISITOR, "exclude": exclude})
            assert said.status_code == 200
        for action in ("red", "green"):
            assert (await client.delete(f"{AT_NAMED}/actions/{action}")).status_code == 200
        explained = [await client.get(f"{AT_NAMED}/decisions/{id}/explanation") for id in "ab"]
        assert [said.status_code for said in explained] == [200, 200]
        assert [[one["action"] for one in said.json()["opinions"]] for said in explained] == [[], ["blue"]]

    play(tmp_path, story)


def test_an_action_that_is_offered_again_as_it_is_changes_nothing(tmp_path: Path) -> None:
    """So that a PUT that got no answer may be sent again."""

    async def story(app: Any, client: httpx.AsyncClient) -> None:
        first = await client.put(f"{AT_NAMED}/actions/blue", json={})
        again = await client.put(f"{AT_NAMED}/actions/blue", json={})
        assert (first.status_code, again.status_code) == (200, 200)
        assert app.host.service.commits.next == first.json()["record"] + 1
        assert (await client.put(f"{AT_NAMED}/actions/blue", json={"features": [0.5]})).status_code == 422

    play(tmp_path, story)


@pytest.mark.parametrize("parameters", [{"seed": ""}, {"seed": []}, {"seed": -1}, {"noise": -1}, {"noise": "x"}, {"hat": 1}])
def test_a_policy_that_cannot_be_made(tmp_path: Path, parameters: dict[str, Any]) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        said = await client.put("/v1/experiments/odd", json={**EXPERIMENT, "parameters": parameters})
        assert (said.status_code, said.json()["field"]) == (422, "parameters"), said.text

    play(tmp_path, story)


def test_a_context_that_cannot_be_made(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        for context in ({}, {"version": 1, "fields": [{"name": "x"}]}, {"version": 1, "fields": 3}, {"version": [1]}):
            said = await client.put("/v1/experiments/odd", json={**NAMED, "context": context})
            assert (said.status_code, said.json()["field"]) == (422, "context"), said.text

    play(tmp_path, story)


@pytest.mark.parametrize("seed", [7, [7, 2]])
def test_whole_numbers_stay_whole(tmp_path: Path, seed: Any) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        body = {"policy": "RestartUCB", "dim": 2, "parameters": {"period": 100, "noise": 1, "seed": seed}}
        for _ in range(2):  # the same again is harmless
            said = await client.put("/v1/experiments/restarting", json=body)
            assert said.status_code == 200, said.text
        made = app.host.service.learner("restarting")
        assert (made.period, made.seed) == (100, tuple(seed) if isinstance(seed, list) else seed)
        await client.delete("/v1/experiments/restarting")
        said = await client.put("/v1/experiments/restarting", json={**body, "parameters": {"period": 100.5}})
        assert (said.status_code, said.json()["field"]) == (422, "parameters")

    play(tmp_path, story)


def test_a_rate_is_kept_for_experiments_alone(tmp_path: Path) -> None:
    """Else names that nobody made would gather."""

    async def story(app: Any, client: httpx.AsyncClient) -> None:
        for k in range(20):
            said = await client.post(f"/v1/experiments/none{k}/decisions", json={"id": "a", "arms": ARMS})
            assert said.status_code == 404
        await client.put("/v1/experiments/brief", json=EXPERIMENT)
        await client.post("/v1/experiments/brief/decisions", json={"id": "a", "arms": ARMS})
        assert len(app.host._spent) == 1
        await client.delete("/v1/experiments/brief")
        await client.post(f"{AT}/decisions", json={"id": "a", "set": "all"})
        assert len(app.host._spent) == 1

    play(tmp_path, story, rate=5)


def test_paths_that_are_known_by_heart_are_few_and_short(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        known = app.door.router.known
        for k in range(1500):
            await client.get(f"/v1/experiments/none{k}")
        await client.get(f"/v1/experiments/{'x' * 2000}")
        await client.get(AT)
        assert len(known) <= 1000
        assert ("GET", AT.encode()) in known  # whatever strangers asked for before
        assert max(len(path) for _, path in known) < 300

    play(tmp_path, story)


def test_requests_in_a_row_in_pieces_and_with_heads_too_long(tmp_path: Path) -> None:
    with served(new_app(tmp_path)) as url:
        httpx.put(f"{url}{AT}", json=EXPERIMENT).raise_for_status()
        httpx.put(f"{url}{AT}/sets/all", json={"arms": ARMS}).raise_for_status()
        where = urlsplit(url)

        def open_socket() -> socket.socket:
            return socket.create_connection((where.hostname or "", where.port or 0), timeout=30)

        def asking(body: bytes) -> bytes:
            head = f"POST {AT}/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            return head.encode() + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)

        with open_socket() as many:
            many.sendall(b"".join(asking(b'{"id": "p%d", "set": "all"}' % k) for k in range(5)) + asking(b"{") + asking(b"[]"))
            answers = b""
            while answers.count(b"HTTP/1.1 ") < 7:
                answers += many.recv(1 << 16)
        statuses = [int(answer[:3]) for answer in answers.split(b"HTTP/1.1 ")[1:]]
        assert statuses == [200] * 5 + [400, 422]
        said = httpx.post(
            f"{url}{AT}/decisions",
            content=iter([b'{"id": "c"', b', "set": "all"}']),
            headers={"content-type": "application/json"},
        )
        assert said.json()["id"] == "c"
        with open_socket() as endless:
            endless.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ")
            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                endless.sendall(b"y" * (1 << 28))
        assert httpx.get(f"{url}/healthz").status_code == 200


def test_methods_that_are_not_there(tmp_path: Path) -> None:
    async def story(app: Any, client: httpx.AsyncClient) -> None:
        assert (await client.head(f"{AT}/status")).status_code == 200
        for method in ("OPTIONS", "TRACE", "PATCH"):
            said = await client.request(method, f"{AT}/decisions")
            assert (said.status_code, said.headers["allow"]) == (405, "POST")
            assert msgspec.json.decode(said.content)["status"] == 405

    play(tmp_path, story)


def test_waits_end_though_the_disk_cannot_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(folder: Path) -> None:
        raise OSError("no such folder")

    monkeypatch.setattr("driftbandit.live.door.host.shutil.disk_usage", fails)

    async def story(app: Any, client: httpx.AsyncClient) -> None:
        await client.put("/v1/experiments/brief", json={**EXPERIMENT, "settings": {"wait": 0.01}})
        async with asyncio.timeout(30):
            for id in "abc":
                await client.post("/v1/experiments/brief/decisions", json={"id": id, "arms": ARMS})
                while (await client.get(f"/v1/experiments/brief/decisions/{id}")).json()["state"] != "expired":
                    await asyncio.sleep(0.05)

    play(tmp_path, story)
