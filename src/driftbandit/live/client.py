"""The service from code that does not await."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, Self

import httpx

from driftbandit.live.async_client import AsyncClient
from driftbandit.live.calls import TO_CREATE, Actions, ContextLike, PolicyLike, SettingsLike, Told
from driftbandit.live.outbox import Refusal
from driftbandit.live.replies import Decided, ServiceError
from driftbandit.live.threaded import Threaded

__all__ = ["AsyncClient", "Client", "Decided", "ServiceError"]


class Client:
    """Talk to ``driftbandit serve``; threads may share it.

    Parameters:
        url: of the service, as "http://127.0.0.1:8000".
        token: what ``driftbandit token make`` printed.
        timeout: seconds until ``decide`` gives up: the fallback if there is one, else a ServiceError.
        patience: seconds for everything else, but for ``create``, which has a timeout of its own.
        fallback: an action's name or an arm's index to show when the service does not answer.
        room: how many rewards may wait to be acknowledged; past it the oldest is given up (``given_up`` counts them).
        batch: how many rewards are sent at once.

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
        make = partial(
            AsyncClient, url, token, timeout=timeout, patience=patience, fallback=fallback, room=room, batch=batch,
            transport=transport,
        )  # fmt: skip
        self._threaded = Threaded(make)
        self._wait = self._threaded.wait

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
        return self._threaded.client.refused

    @property
    def given_up(self) -> int:
        """Rewards lost because the queue was full."""
        return self._threaded.client.given_up

    def close(self, timeout: float | None = 5.0) -> None:
        """Send what waits, for ``timeout`` seconds at most."""
        self._threaded.close(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
