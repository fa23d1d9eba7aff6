"""What can be asked of a service besides decisions and rewards: one small method per request."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from driftbandit.contexts.context import Context
from driftbandit.live.settings import Settings
from driftbandit.policies._base.policy import Policy

TO_CREATE = 300.0  # seconds: a policy's kernels are compiled when it is first made, which takes minutes
Told = dict[str, Any]  # an answer, as /openapi.json describes it
Actions = Sequence[str] | Mapping[str, Sequence[float]]
ContextLike = Context | Mapping[str, Any]
SettingsLike = Settings | Mapping[str, Any]
PolicyLike = str | type[Policy]


class Calls(ABC):
    """Each needs the right that the table of requests in the documentation names."""

    patience: float

    @abstractmethod
    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None, seconds: float) -> Any:
        """One request, tried again until it is answered or the seconds are over."""

    async def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Any request, tried again until ``patience`` is over; its answer, decoded.

        Parameters:
            path: what follows /v1/, as "experiments/shop/status"; /v1/ itself may be there too. Names and ids in it must be
                quoted, as ``urllib.parse.quote(id, safe="")`` does.
            body: to be sent as JSON; for PUT and POST {} if none is given.
        """
        method, path = method.upper(), path.removeprefix("/").removeprefix("v1/")
        body = {} if body is None and method in ("PUT", "POST") else body
        return await self._ask(method, path, body, self.patience)

    async def create(
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
        """Make an experiment; again with the same is harmless.

        Parameters:
            policy: a policy of the library, or its name; ``parameters`` are its own.
            dim: the number of features, where arms are rows of numbers.
            actions: the names of actions instead, or their features by name.
            context: what is known of a visitor, where there are actions: a ``Context``, or what its ``to_dict`` gives.
            model, places: see ``Chooser``.
            settings: see ``Settings``: wait, default, learn, gather and so on.
            timeout: seconds. More than for other requests, since a policy is compiled when it is first made, which takes
                minutes; a service that cannot even be reached is given up after ``patience``.
        """
        wanted = {
            "policy": policy if isinstance(policy, str) else policy.__name__,
            "dim": dim,
            "parameters": parameters,
            "actions": actions,
            "context": context.to_dict() if isinstance(context, Context) else context,
            "model": model,
            "places": places,
            "settings": settings,
        }
        body = {name: value for name, value in wanted.items() if value is not None}
        return dict(await self._ask("PUT", at(experiment), body, timeout))

    async def delete(self, experiment: str) -> Told:
        """End an experiment; the journal keeps what happened."""
        return dict(await self.ask("DELETE", at(experiment)))

    async def put_set(
        self, experiment: str, name: str, arms: Sequence[Sequence[float]], labels: Sequence[str] | None = None
    ) -> Told:
        """Give a name to a set of arms, or a new version of it; ``labels`` name its arms."""
        body: Told = {"arms": [[float(x) for x in row] for row in arms]}
        if labels is not None:
            body["labels"] = list(labels)
        return dict(await self.ask("PUT", at(experiment, "sets", name), body))

    async def add_action(self, experiment: str, action: str, features: Sequence[float] | None = None) -> Told:
        """Offer an action, new or removed before; the same again is harmless."""
        body = {} if features is None else {"features": [float(x) for x in features]}
        return dict(await self.ask("PUT", at(experiment, "actions", action), body))

    async def remove_action(self, experiment: str, action: str) -> Told:
        """Offer an action no more; what is known of it stays."""
        return dict(await self.ask("DELETE", at(experiment, "actions", action)))

    async def shown(self, experiment: str, id: str) -> Told:
        """A deferred decision was shown: from now on it waits for its reward."""
        return dict(await self.ask("POST", at(experiment, "decisions", id, "shown")))

    async def find(self, experiment: str, id: str) -> Told:
        """What is known of a decision: its answer, state and reward."""
        return dict(await self.ask("GET", at(experiment, "decisions", id)))

    async def explain(self, experiment: str, id: str) -> Told:
        """A decision, what is thought now of what was on offer, and what the choice hung on."""
        return dict(await self.ask("GET", at(experiment, "decisions", id, "explanation")))

    async def preview(self, experiment: str, **request: Any) -> Told:
        """What would be chosen now and why; nothing is kept. ``request``: as for ``decide``."""
        return dict(await self.ask("POST", at(experiment, "preview"), request))

    async def status(self, experiment: str) -> Told:
        """How an experiment goes, as the page shows it: counts, rates, actions, features, the last decisions."""
        return dict(await self.ask("GET", at(experiment, "status")))

    async def history(self, experiment: str, span: Literal["30m", "7d"] = "30m") -> Told:
        """How it went over the last 30 minutes or 7 days, in buckets: decisions, rewards, means, restarts."""
        return dict(await self.ask("GET", f"{at(experiment, 'history')}?span={span}"))


def at(experiment: str, *parts: str) -> str:
    """The path of an experiment, or of something below it."""
    return "/".join(["experiments", *(quote(part, safe="") for part in (experiment, *parts))])
