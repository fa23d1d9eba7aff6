"""The service from asyncio: safe retries, a deadline with a fallback, rewards that are not lost on the way."""

import asyncio
import random
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Self

import httpx
import msgspec

from driftbandit.core import validate
from driftbandit.live.calls import Calls, at
from driftbandit.live.fold.ids import new_id
from driftbandit.live.outbox import Outbox, Refusal, Told
from driftbandit.live.replies import Decided, ServiceError, understood

FIRST_PAUSE, LONGEST_PAUSE = 0.005, 2.0  # seconds between tries, before chance shortens them
AGAIN = (429, 502, 503, 504)  # what a later try may cure
MOST_OFFLINE = 100_000
UNREACHABLE = "it cannot be reached"


class AsyncClient(Calls):
    """Talk to ``driftbandit serve``.

    Parameters:
        url: of the service, as "http://127.0.0.1:8000".
        token: what ``driftbandit token make`` printed.
        timeout: seconds until ``decide`` gives up: the fallback if there is one, else a ServiceError.
        patience: seconds for everything else, but for ``create``, which has a timeout of its own.
        fallback: an action's name or an arm's index to show when the service does not answer.
        room: how many rewards may wait to be acknowledged; past it the oldest is given up (``given_up`` counts them).
        batch: how many rewards are sent at once.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 1.0,
        patience: float = 10.0,
        fallback: str | int | None = None,
        room: int = 10_000,
        batch: int = 500,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self.http = httpx.AsyncClient(base_url=url.rstrip("/") + "/v1/", headers=headers, timeout=None, transport=transport)
        self.timeout, self.patience, self.fallback = timeout, patience, fallback
        self.outbox = Outbox(self._send_rewards, room, batch)
        self._offline: OrderedDict[tuple[str, str], None] = OrderedDict()

    async def decide(
        self,
        experiment: str,
        *,
        id: str | None = None,
        timeout: float | None = None,
        fallback: str | int | None = None,
        **request: Any,
    ) -> Decided:
        """Which arm or action? ``request``: ``set=``, ``context=`` or ``arms=``; ``exclude=``, ``baseline=``, ``deferred=``.

        Give an ``id`` of your own, as an order's number, or one is made. The same id again gives the same answer.
        """
        body = {"id": id or new_id(), **request}
        fallback = self.fallback if fallback is None else fallback
        try:
            said = await self._ask("POST", at(experiment, "decisions"), body, timeout or self.timeout)
        except ServiceError as error:
            if fallback is None or (error.status is not None and error.status not in AGAIN and error.status < 500):
                raise  # a request that is wrong stays wrong
            return self._fall_back(experiment, body["id"], fallback)
        self._offline.pop((experiment, body["id"]), None)  # this is what is shown now
        return msgspec.convert(said, Decided)

    def _fall_back(self, experiment: str, id: str, fallback: str | int) -> Decided:
        """The service may yet have decided something else, so the reward of what is shown must not reach it."""
        self._offline[experiment, id] = None
        if len(self._offline) > MOST_OFFLINE:
            self._offline.popitem(last=False)
        named = {"action": fallback} if isinstance(fallback, str) else {"index": fallback}
        return Decided(id=id, offline=True, **named)

    async def reward(self, experiment: str, id: str | Decided, reward: float, key: str | None = None) -> None:
        """Put a reward into the queue; it is sent with others, and again until it is acknowledged.

        Parameters:
            id: the decision's, or the answer itself. Of an answer that was ``offline`` nothing is sent; by the id alone this
                is known of the last 100,000.
            key: where the experiment sums rewards (gather = "sum"): by it each is known again, and counts once.
        """
        told = Told(experiment, id if isinstance(id, str) else id.id, validate.reward(reward), key)
        offline = told.of[:2] in self._offline if isinstance(id, str) else id.offline
        if not offline:
            self.outbox.put(told)

    async def flush(self, timeout: float | None = None) -> bool:
        """Wait until all rewards are acknowledged; whether they were within ``timeout`` seconds."""
        return await self.outbox.flush(timeout)

    @property
    def refused(self) -> list[Refusal]:
        """Rewards that the service will never take: the last hundred."""
        return self.outbox.refused

    @property
    def given_up(self) -> int:
        """Rewards lost because the queue was full."""
        return self.outbox.given_up

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None, seconds: float) -> Any:
        content = None if body is None else msgspec.json.encode(body)
        begun, last = time.monotonic(), ""
        try:
            async with asyncio.timeout(seconds):
                for attempt in range(1_000_000):
                    last, answer = await self._try(method, path, content)
                    if answer is not None:
                        return understood(answer)
                    if last.startswith(UNREACHABLE) and time.monotonic() - begun > self.patience:
                        break  # however long it may take to answer
                    await asyncio.sleep(random.random() * min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(attempt, 20)))
        except TimeoutError:
            pass
        why = f"gave no answer in {min(seconds, time.monotonic() - begun):.3g} s" + (f": {last}" if last else "")
        raise ServiceError(None, f"the service at {self.http.base_url} {why}")

    async def _try(self, method: str, path: str, content: bytes | None) -> tuple[str, httpx.Response | None]:
        """The response, or the reason why none has come yet."""
        headers = {} if content is None else {"content-type": "application/json"}
        try:
            answer = await self.http.request(method, path, content=content, headers=headers)
        except httpx.ConnectError as error:
            return f"{UNREACHABLE}: {error}", None
        except httpx.TransportError as error:
            return f"{type(error).__name__} {error}", None
        if answer.status_code in AGAIN:
            if later := answer.headers.get("retry-after", "").strip():
                await asyncio.sleep(float(later) if later.replace(".", "", 1).isdigit() else 1.0)
            return f"{answer.status_code} {answer.text[:200]}", None
        return "", answer

    async def _send_rewards(self, experiment: str, batch: list[Told]) -> list[tuple[int, str]] | None:
        rewards = [{"id": told.id, "reward": told.reward} | ({} if told.key is None else {"key": told.key}) for told in batch]
        try:
            said = await self._ask("POST", f"{at(experiment)}/rewards:batch", {"rewards": rewards}, self.patience)
            return [(one["status"], one.get("detail") or "") for one in said["results"]]
        except ServiceError as error:
            if error.status is None or error.status >= 500:
                return None
            if error.status in (413, 422) and len(batch) > 1:  # one that is wrong must not spoil the others
                halves = batch[: len(batch) // 2], batch[len(batch) // 2 :]
                parts = [await self._send_rewards(experiment, half) for half in halves]
                return None if None in parts else [one for part in parts for one in part or ()]
            return [(error.status, error.detail)] * len(batch)

    async def close(self, timeout: float | None = 5.0) -> None:
        """Send what waits, for ``timeout`` seconds at most."""
        await self.flush(timeout)
        await self.outbox.close()
        await self.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
