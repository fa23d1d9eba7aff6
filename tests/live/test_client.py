"""The clients: retries that are safe, a deadline that holds, rewards that are not lost on the way."""

import asyncio
import inspect
import json
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from driftbandit import Category, Context, StaticUCB
from driftbandit.live import Settings
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
        for told in ("a", "a", decided):  # of what the service never showed: not sent, however often
            await client.reward("shop", told, 1.0)
            assert await client.flush(0.0)
        await client.close()
        without = AsyncClient("http://service", timeout=0.05, transport=httpx.MockTransport(never))
        with pytest.raises(ServiceError, match=r"gave no answer in 0\.05 s$"):
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


def test_what_a_proxy_says_is_an_error_too() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404, html="<h1>Nothing here</h1>")

    async def story() -> None:
        async with client_of(answer) as client:
            with pytest.raises(ServiceError, match="Not Found") as caught:
                await client.status("shop")
            assert caught.value.status == 404

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


def test_a_wrong_reward_does_not_spoil_the_batch(tmp_path: Path) -> None:
    with served(new_app(tmp_path)) as url, Client(url, timeout=10.0) as client:
        client.create("shop", **EXPERIMENT)
        for k in range(5):
            client.decide("shop", id=f"a{k}", arms=ARMS)
        for id in ("a0", "a1", "x" * 200, "a2", "a3", "a4"):
            client.reward("shop", id, 1.0)
        assert client.flush(10)
        assert [(one.id, one.status) for one in client.refused] == [("x" * 200, 422)]
        assert client.status("shop")["experiment"]["counts"]["rewards"] == 5


def test_a_full_queue_gives_up_the_oldest_and_counts_it() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody there")

    async def story() -> None:
        client = client_of(answer, room=3)
        for k in range(5):
            await client.reward("shop", f"a{k}", 1.0)
        assert [told.id for told in client.outbox.waiting.values()] == ["a2", "a3", "a4"]
        assert client.given_up == 2
        assert not await client.flush(0.05)
        await client.close(timeout=0.0)

    asyncio.run(story())


def all_taken(sent: list[Any]) -> Callable[[httpx.Request], httpx.Response]:
    """A service that takes every reward, and notes it."""

    def answer(request: httpx.Request) -> httpx.Response:
        batch = json.loads(request.content)["rewards"]
        sent.extend((one["id"], one["reward"], one.get("key")) for one in batch)
        return httpx.Response(200, json={"results": [{"status": 200} for _ in batch]})

    return answer


def test_another_value_is_sent_after_the_first_and_the_same_is_not() -> None:
    sent: list[Any] = []

    async def story() -> None:
        async with client_of(all_taken(sent)) as client:
            for value in (1.0, 1.0, 0.5, 1.0):
                await client.reward("shop", "a", value)
            for key in ("x", "y", "y"):
                await client.reward("shop", "b", 2.0, key=key)
            assert await client.flush(20)
            await client.reward("shop", "a", 1.0)  # the first was acknowledged: the service knows it again
            assert await client.flush(20)

    asyncio.run(story())
    a, b = [("a", value, None) for value in (1.0, 0.5, 1.0)], [("b", 2.0, "x"), ("b", 2.0, "y")]
    assert sent == [*a, *b, a[0]]


def test_an_answer_that_came_after_all_has_its_reward_sent() -> None:
    sent: list[Any] = []
    there = False

    def answer(request: httpx.Request) -> httpx.Response:
        if not there:
            raise httpx.ConnectError("nobody there")
        return all_taken(sent)(request) if request.url.path.endswith("batch") else httpx.Response(200, json=DECIDED)

    async def story() -> None:
        nonlocal there
        async with client_of(answer, timeout=0.05, fallback=0) as client:
            shown = await client.decide("shop", id="a", set="all")
            there = True
            later = await client.decide("shop", id="a", set="all", timeout=20)
            assert (shown.offline, later.offline) == (True, False)
            await client.reward("shop", shown, 0.25)  # the answer itself knows
            await client.reward("shop", "a", 1.0)
            assert await client.flush(20)

    asyncio.run(story())
    assert sent == [("a", 1.0, None)]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_reward_that_is_no_number_does_not_reach_the_queue(value: float) -> None:
    async def story() -> None:
        async with client_of(all_taken([])) as client:
            with pytest.raises(ValueError, match="reward must be finite"):
                await client.reward("shop", "a", value)

    asyncio.run(story())


def test_a_sum_that_is_full_is_refused_rather_than_tried_for_ever() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"results": [{"status": 429, "detail": "'a' has 1000 rewards"}]})

    async def story() -> None:
        async with client_of(answer) as client:
            await client.reward("shop", "a", 1.0, key="x")
            assert await client.flush(20)
            assert [(one.key, one.status) for one in client.refused] == [("x", 429)]

    asyncio.run(story())


def test_creating_has_more_patience_but_not_with_nobody() -> None:
    async def slow(request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.2)  # it compiles
        return httpx.Response(200, json={"record": 0})

    def nobody(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody there")

    async def story() -> None:
        async with AsyncClient("http://service", patience=0.02, transport=httpx.MockTransport(slow)) as client:
            assert await client.create("shop", dim=2) == {"record": 0}
            with pytest.raises(ServiceError, match=r"no answer in 0\.02 s$"):
                await client.status("shop")
            with pytest.raises(ServiceError, match=r"no answer in 0\.03 s$"):
                await client.create("shop", dim=2, timeout=0.03)
        async with client_of(nobody, patience=0.05) as client:
            with pytest.raises(ServiceError, match="cannot be reached: nobody there"):
                await client.create("shop", dim=2)

    asyncio.run(story())


@pytest.mark.parametrize(
    "path", ["experiments/a/preview", "/experiments/a/preview", "/v1/experiments/a/preview", "v1/experiments/a/preview"]
)
def test_any_request_is_named_with_or_without_its_beginning(path: str) -> None:
    seen: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((request.method, request.url.path, request.content))
        return httpx.Response(200, json={})

    async def story() -> None:
        async with client_of(answer) as client:
            await client.ask("post", path)
            await client.ask("GET", path)

    asyncio.run(story())
    assert seen == [("POST", "/v1/experiments/a/preview", b"{}"), ("GET", "/v1/experiments/a/preview", b"")]


def test_both_clients_have_the_same_methods_and_settings() -> None:
    def public(kind: type) -> dict[str, Any]:
        found = {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}
        return {name: inspect.signature(each) for name, each in found.items() if callable(each)}

    assert public(Client) == public(AsyncClient)
    assert inspect.signature(Client) == inspect.signature(AsyncClient)
    undocumented = [name for name in dir(Client) if not name.startswith("_") and not getattr(Client, name).__doc__]
    assert not undocumented


def test_an_experiment_from_objects_and_what_can_be_done_with_it(tmp_path: Path) -> None:
    context = Context({"device": Category(["phone", "desktop"])})
    with served(new_app(tmp_path)) as url, Client(url, timeout=10.0) as client:
        made: dict[str, Any] = {"policy": StaticUCB, "actions": ["red", "green"], "context": context, "places": 3}
        client.create("shop", **made, settings=Settings(gather="sum", learn="deadline", wait=600))
        plain: dict[str, Any] = {**made, "policy": "StaticUCB", "context": context.to_dict()}
        client.create("shop", **plain, settings={"gather": "sum", "learn": "deadline", "wait": 600})  # the same
        client.add_action("shop", "blue")
        client.remove_action("shop", "red")
        choice = client.decide("shop", id="a", context={"device": "phone"})
        assert choice.action in ("green", "blue")
        for key, value in (("book", 1.0), ("pen", 0.5), ("pen", 0.5)):
            client.reward("shop", choice, value, key=key)
        client.reward("shop", "a", 1.0)
        assert client.flush(10)
        assert [(one.status, one.key) for one in client.refused] == [(422, None)]  # a sum needs keys
        assert client.find("shop", "a")["reward"] == 1.5
        assert {one["action"] for one in client.explain("shop", "a")["opinions"]} == {"green", "blue"}
        records = client.ask("GET", "/v1/experiments/shop/journal")
        assert [one["kind"] for one in records[:-1]][:4] == ["created", "actionadded", "actionremoved", "decided"]
        assert client.history("shop", "7d")["span"] == "7d"
        client.delete("shop")
        with pytest.raises(ServiceError, match="unknown experiment"):
            client.status("shop")


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
