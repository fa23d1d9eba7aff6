"""The clients: retries that are safe, a deadline that holds, rewards that are not lost on the way."""

import asyncio
import json
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from driftbandit.live.client import AsyncClient, Client, ServiceError
from driftbandit.live.fold.ids import new_id
from live_door import ARMS, EXPERIMENT, new_app, served

pytestmark = pytest.mark.plain

DECIDED = {"id": "a", "index": 1, "action": None, "round": 0, "repeat": False}


def client_of(answer: Callable[[httpx.Request], httpx.Response], **settings: Any) -> AsyncClient:
    return AsyncClient("http://service", transport=httpx.MockTransport(answer), **settings)


def test_ids_sort_by_time_and_differ() -> None:
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    first = uuid.UUID(new_id())
    time.sleep(0.003)
    assert (first.version, first.variant) == (7, uuid.RFC_4122)
    assert str(first) < new_id()


def test_a_retry_carries_the_same_id_and_body() -> None:
    bodies: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        if len(bodies) == 1:
            raise httpx.ConnectError("refused")
        if len(bodies) == 2:
            return httpx.Response(503, json={"detail": "recovering"})
        return httpx.Response(200, json=DECIDED)

    async def story() -> None:
        async with client_of(answer, timeout=20.0) as client:
            decided = await client.decide("shop", set="all")
            assert decided.index == 1
            assert not decided.offline

    asyncio.run(story())
    assert len(bodies) == 3
    assert len(set(bodies)) == 1
    assert uuid.UUID(json.loads(bodies[0])["id"]).version == 7


def test_past_its_deadline_it_falls_back_and_says_so() -> None:
    asked: list[str] = []

    async def never(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        await asyncio.sleep(60)
        raise AssertionError

    async def story() -> None:
        client = AsyncClient("http://service", timeout=0.05, fallback="plain", transport=httpx.MockTransport(never))
        decided = await client.decide("shop", id="a", context={})
        assert decided.offline
        assert (decided.action, decided.index, decided.id) == ("plain", None, "a")
        assert (await client.decide("shop", set="all", fallback=2)).index == 2
        await client.reward("shop", "a", 1.0)  # of what the service never showed: not sent
        assert await client.flush(0.0)
        await client.close()
        without = AsyncClient("http://service", timeout=0.05, transport=httpx.MockTransport(never))
        with pytest.raises(ServiceError, match="gave no answer in 0"):
            await without.decide("shop", set="all")
        await without.close()

    asyncio.run(story())
    assert all(path.endswith("/decisions") for path in asked)


def test_a_wrong_request_is_an_error_whatever_the_fallback() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(422, json={"detail": "unknown set 'x'", "field": "set"})

    async def story() -> None:
        async with client_of(answer, fallback=0) as client:
            with pytest.raises(ServiceError, match="unknown set") as caught:
                await client.decide("shop", set="x")
            assert (caught.value.status, caught.value.field) == (422, "set")

    asyncio.run(story())


def test_rewards_go_in_batches_and_again_until_they_are_acknowledged() -> None:
    batches: list[list[str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        batches.append([one["id"] for one in json.loads(request.content)["rewards"]])
        if len(batches) == 1:
            raise httpx.ReadError("cut off")
        return httpx.Response(200, json={"results": [{"status": 200} for _ in batches[-1]]})

    async def story() -> None:
        async with client_of(answer, batch=4) as client:
            for k in range(10):
                await client.reward("shop", f"a{k}", 1.0)
            assert await client.flush(20)

    asyncio.run(story())
    assert batches[0] == batches[1] == ["a0", "a1", "a2", "a3"]
    assert [id for batch in batches[1:] for id in batch] == [f"a{k}" for k in range(10)]


def test_what_the_service_will_never_take_is_told_and_not_sent_again() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        ids = [one["id"] for one in json.loads(request.content)["rewards"]]
        return httpx.Response(200, json={"results": [{"status": 409 if id == "b" else 200, "detail": "was 0.5"} for id in ids]})

    async def story() -> None:
        async with client_of(answer) as client:
            for id in "abc":
                await client.reward("shop", id, 1.0)
            assert await client.flush(20)
            assert [(one.id, one.status, one.detail) for one in client.refused] == [("b", 409, "was 0.5")]

    asyncio.run(story())


def test_a_full_queue_gives_up_the_oldest_and_counts_it() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody there")

    async def story() -> None:
        client = client_of(answer, room=3)
        for k in range(5):
            await client.reward("shop", f"a{k}", 1.0)
        assert [id for _, id in client.outbox.waiting] == ["a2", "a3", "a4"]
        assert client.given_up == 2
        assert not await client.flush(0.05)
        await client.close(timeout=0.0)

    asyncio.run(story())


def test_against_the_service_itself(tmp_path: Path) -> None:
    with served(new_app(tmp_path)) as url, Client(url, timeout=10.0) as client:
        client.create("shop", **EXPERIMENT)
        client.put_set("shop", "all", ARMS)
        first = client.decide("shop", id="order/17 ü", set="all")
        assert client.decide("shop", id="order/17 ü", set="all").index == first.index
        client.reward("shop", "order/17 ü", 1)
        assert client.flush(10)
        client.reward("shop", "order/17 ü", 0)
        client.reward("shop", "never", 1)
        assert client.flush(10)
        assert [(one.id, one.status) for one in client.refused] == [("order/17 ü", 409), ("never", 404)]
        assert client.preview("shop", set="all")["opinions"]
        assert client.status("shop")["experiment"]["counts"]["decisions"] == 1
        client.decide("shop", id="later", set="all", deferred=True)
        assert client.shown("shop", "later")["outcome"] == "kept"
        with pytest.raises(ServiceError, match="unknown experiment"):
            client.decide("none", set="all")
    with pytest.raises(ServiceError, match="closed"):
        client.decide("shop", set="all")


def test_a_service_that_is_not_there(tmp_path: Path) -> None:
    with Client("http://127.0.0.1:9", timeout=0.2, fallback=0) as client:
        assert client.decide("shop", set="all").offline
