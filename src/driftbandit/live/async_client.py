"""The service from asyncio: safe retries, a deadline with a fallback, rewards that are not lost on the way."""

import asyncio
import random
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote

import httpx
import msgspec

from driftbandit.live.fold.ids import new_id
from driftbandit.live.outbox import Outbox, Refusal
from driftbandit.live.replies import Decided, ServiceError, understood

FIRST_PAUSE, LONGEST_PAUSE = 0.005, 2.0  # seconds between tries, before chance shortens them
AGAIN = (429, 502, 503, 504)  # what a later try may cure
MOST_OFFLINE = 100_000


class AsyncClient:
    """Talk to ``driftbandit serve``.

    Parameters:
        url: of the service, as "http://127.0.0.1:8000".
        token: what ``driftbandit token make`` printed.
        timeout: seconds until ``decide`` gives up: the fallback if there is one, else a ServiceError.
        patience: seconds for everything else.
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
            said = await self._ask("POST", f"experiments/{part(experiment)}/decisions", body, timeout or self.timeout)
            return msgspec.convert(said, Decided)
        except ServiceError as error:
            if fallback is None or (error.status is not None and error.status not in AGAIN and error.status < 500):
                raise  # a request that is wrong stays wrong
            return self._fall_back(experiment, body["id"], fallback)

    def _fall_back(self, experiment: str, id: str, fallback: str | int) -> Decided:
        """The service may yet have decided something else, so the reward of what is shown must not reach it."""
        self._offline[experiment, id] = None
        if len(self._offline) > MOST_OFFLINE:
            self._offline.popitem(last=False)
        named = {"action": fallback} if isinstance(fallback, str) else {"index": fallback}
        return Decided(id=id, offline=True, **named)

    async def reward(self, experiment: str, id: str, reward: float) -> None:
        """Put a reward into the queue; it is sent with others, and again until it is acknowledged."""
        if self._offline.pop((experiment, id), self) is self:
            self.outbox.put(experiment, id, float(reward))

    async def flush(self, timeout: float | None = None) -> bool:
        """Wait until all rewards are acknowledged; whether they were within ``timeout`` seconds."""
        return await self.outbox.flush(timeout)

    async def shown(self, experiment: str, id: str) -> Any:
        """A deferred decision was shown: from now on it waits for its reward."""
        return await self.ask("POST", f"experiments/{part(experiment)}/decisions/{part(id)}/shown", {})

    async def preview(self, experiment: str, **request: Any) -> Any:
        """What would be chosen now and why; nothing is kept."""
        return await self.ask("POST", f"experiments/{part(experiment)}/preview", request)

    async def create(self, experiment: str, **settings: Any) -> Any:
        """Make an experiment (``policy=``, ``dim=`` or ``actions=`` and ``context=``); again with the same is harmless."""
        return await self.ask("PUT", f"experiments/{part(experiment)}", settings)

    async def put_set(self, experiment: str, name: str, arms: Sequence[Sequence[float]]) -> Any:
        """Give a name to a set of arms, or a new version of it."""
        rows = [[float(x) for x in row] for row in arms]
        return await self.ask("PUT", f"experiments/{part(experiment)}/sets/{part(name)}", {"arms": rows})

    async def status(self, experiment: str) -> Any:
        return await self.ask("GET", f"experiments/{part(experiment)}/status")

    async def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Any request below /v1/, tried again until ``patience`` is over."""
        return await self._ask(method, path, body, self.patience)

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
        last = "no answer"
        try:
            async with asyncio.timeout(seconds):
                for attempt in range(1_000_000):
                    last, answer = await self._try(method, path, content)
                    if answer is not None:
                        return understood(answer)
                    await asyncio.sleep(random.random() * min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(attempt, 20)))
        except TimeoutError:
            raise ServiceError(None, f"the service at {self.http.base_url} gave no answer in {seconds:g} s: {last}") from None

    async def _try(self, method: str, path: str, content: bytes | None) -> tuple[str, httpx.Response | None]:
        headers = {} if content is None else {"content-type": "application/json"}
        try:
            answer = await self.http.request(method, path, content=content, headers=headers)
        except httpx.TransportError as error:
            return f"{type(error).__name__} {error}", None
        if answer.status_code in AGAIN:
            if later := answer.headers.get("retry-after", "").strip():
                await asyncio.sleep(float(later) if later.replace(".", "", 1).isdigit() else 1.0)
            return f"{answer.status_code} {answer.text[:200]}", None
        return "", answer

    async def _send_rewards(self, experiment: str, batch: list[tuple[str, float]]) -> list[tuple[int, str]] | None:
        body = {"rewards": [{"id": id, "reward": reward} for id, reward in batch]}
        try:
            said = await self._ask("POST", f"experiments/{part(experiment)}/rewards:batch", body, self.patience)
            return [(one["status"], one.get("detail") or "") for one in said["results"]]
        except ServiceError as error:
            return None if error.status is None or error.status >= 500 else [(error.status, error.detail)] * len(batch)

    async def close(self, timeout: float | None = 5.0) -> None:
        """Send what waits, for ``timeout`` seconds at most."""
        await self.flush(timeout)
        await self.outbox.close()
        await self.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def part(name: str) -> str:
    """One part of a path."""
    return quote(name, safe="")
