"""The service from code that does not await: an AsyncClient in a thread of its own, so that a deadline holds to the letter."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Self, TypeVar

import httpx

from driftbandit.live.async_client import AsyncClient
from driftbandit.live.calls import TO_CREATE, Actions, ContextLike, PolicyLike, SettingsLike, Told
from driftbandit.live.outbox import Refusal
from driftbandit.live.replies import Decided, ServiceError

__all__ = ["AsyncClient", "Client", "Decided", "ServiceError"]

T = TypeVar("T")


class Client:
    """Talk to ``driftbandit serve``; threads may share it.

    Parameters:
        url, token, timeout, patience, fallback, room, batch: see ``AsyncClient``.

    ::

        with Client("http://127.0.0.1:8000", timeout=0.05, fallback="plain") as service:
            choice = service.decide("shop", context={"device": "phone"})
            ...  # show choice.action
            service.reward("shop", choice, 1.0)
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
        self._make = partial(
            AsyncClient, url, token, timeout=timeout, patience=patience, fallback=fallback, room=room, batch=batch,
            transport=transport,
        )  # fmt: skip
        self._lock = threading.Lock()
        self._process = -1
        self._start()

    def _start(self) -> None:
        """The thread, again in a process that was forked: threads do not follow there."""
        with self._lock:
            if self._process == os.getpid():
                return
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="driftbandit client", daemon=True)
            self._thread.start()
            self._process = os.getpid()

            async def make() -> AsyncClient:
                return self._make()

            self._client = asyncio.run_coroutine_threadsafe(make(), self._loop).result()

    def _wait(self, call: Callable[[AsyncClient], Coroutine[Any, Any, T]]) -> T:
        if self._process != os.getpid():
            self._start()
        if self._loop.is_closed():
            raise ServiceError(None, "this client was closed: make another")
        return asyncio.run_coroutine_threadsafe(call(self._client), self._loop).result()

    def decide(
        self,
        experiment: str,
        *,
        id: str | None = None,
        timeout: float | None = None,
        fallback: str | int | None = None,
        **request: Any,
    ) -> Decided:
        """Which arm or action? ``request``: ``set=``, ``context=`` or ``arms=``; ``exclude=``, ``baseline=``, ``deferred=``."""
        return self._wait(lambda it: it.decide(experiment, id=id, timeout=timeout, fallback=fallback, **request))

    def reward(self, experiment: str, id: str | Decided, reward: float, key: str | None = None) -> None:
        """Put a reward into the queue; it is sent with others, and again until it is acknowledged.

        Parameters:
            id: the decision's, or the answer itself. Of an answer that was ``offline`` nothing is sent; by the id alone this
                is known of the last 100,000.
            key: where the experiment sums rewards (gather = "sum"): by it each is known again, and counts once.
        """
        self._wait(lambda it: it.reward(experiment, id, reward, key))

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all rewards are acknowledged; whether they were within ``timeout`` seconds."""
        return self._wait(lambda it: it.flush(timeout))

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Any request, tried again until ``patience`` is over; its answer, decoded.

        Parameters:
            path: what follows /v1/, as "experiments/shop/status"; /v1/ itself may be there too. Names and ids in it must be
                quoted, as ``urllib.parse.quote(id, safe="")`` does.
            body: to be sent as JSON; for PUT and POST {} if none is given.
        """
        return self._wait(lambda it: it.ask(method, path, body))

    def create(
        self,
        experiment: str,
        *,
        policy: PolicyLike = "AdaptiveUCB",
        dim: int | None = None,
        parameters: Mapping[str, Any] | None = None,
        actions: Actions | None = None,
        context: ContextLike | None = None,
        model: Literal["disjoint", "shared", "hybrid"] | None = None,
        places: int | None = None,
        settings: SettingsLike | None = None,
        timeout: float = TO_CREATE,
    ) -> Told:
        """Make an experiment; again with the same is harmless. ``AsyncClient.create`` says what each part is.

        Parameters:
            timeout: seconds. More than for other requests, since a policy is compiled when it is first made, which takes
                minutes; a service that cannot even be reached is given up after ``patience``.
        """
        return self._wait(lambda it: it.create(
            experiment, policy=policy, dim=dim, parameters=parameters, actions=actions, context=context, model=model,
            places=places, settings=settings, timeout=timeout,
        ))  # fmt: skip

    def delete(self, experiment: str) -> Told:
        """End an experiment; the journal keeps what happened."""
        return self._wait(lambda it: it.delete(experiment))

    def put_set(self, experiment: str, name: str, arms: Sequence[Sequence[float]], labels: Sequence[str] | None = None) -> Told:
        """Give a name to a set of arms, or a new version of it; ``labels`` name its arms."""
        return self._wait(lambda it: it.put_set(experiment, name, arms, labels))

    def add_action(self, experiment: str, action: str, features: Sequence[float] | None = None) -> Told:
        """Offer an action, new or removed before; the same again is harmless."""
        return self._wait(lambda it: it.add_action(experiment, action, features))

    def remove_action(self, experiment: str, action: str) -> Told:
        """Offer an action no more; what is known of it stays."""
        return self._wait(lambda it: it.remove_action(experiment, action))

    def shown(self, experiment: str, id: str) -> Told:
        """A deferred decision was shown: from now on it waits for its reward."""
        return self._wait(lambda it: it.shown(experiment, id))

    def find(self, experiment: str, id: str) -> Told:
        """What is known of a decision: its answer, state and reward."""
        return self._wait(lambda it: it.find(experiment, id))

    def explain(self, experiment: str, id: str) -> Told:
        """A decision, what is thought now of what was on offer, and what the choice hung on."""
        return self._wait(lambda it: it.explain(experiment, id))

    def preview(self, experiment: str, **request: Any) -> Told:
        """What would be chosen now and why; nothing is kept. ``request``: as for ``decide``."""
        return self._wait(lambda it: it.preview(experiment, **request))

    def status(self, experiment: str) -> Told:
        """How an experiment goes, as the page shows it: counts, rates, actions, features, the last decisions."""
        return self._wait(lambda it: it.status(experiment))

    def history(self, experiment: str, span: Literal["30m", "7d"] = "30m") -> Told:
        """How it went over the last 30 minutes or 7 days, in buckets: decisions, rewards, means, restarts."""
        return self._wait(lambda it: it.history(experiment, span))

    @property
    def refused(self) -> list[Refusal]:
        """Rewards that the service will never take: the last hundred."""
        return self._client.refused

    @property
    def given_up(self) -> int:
        """Rewards lost because the queue was full."""
        return self._client.given_up

    def close(self, timeout: float | None = 5.0) -> None:
        """Send what waits, for ``timeout`` seconds at most."""
        if not self._loop.is_closed():
            self._wait(lambda it: it.close(timeout))
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
