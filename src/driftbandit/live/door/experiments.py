"""Routes of experiments, their arm sets and actions, and of tokens: what an admin does."""

import asyncio
import logging
import re

import msgspec

from driftbandit.live.answers import Status
from driftbandit.live.door import api, tokens
from driftbandit.live.door.aside import aside
from driftbandit.live.door.decisions import AT, encode
from driftbandit.live.door.host import Host
from driftbandit.live.door.http import Call, Reply, decode
from driftbandit.live.door.problems import Refused
from driftbandit.live.door.router import Route
from driftbandit.live.door.warm import warm
from driftbandit.live.errors import Conflict, Invalid
from driftbandit.live.fold.asking import refused
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.fold.make import Spec, make
from driftbandit.live.fold.records import Token
from driftbandit.live.service import Service

NEW_EXPERIMENT = msgspec.json.Decoder(api.NewExperiment)
NEW_SET = msgspec.json.Decoder(api.NewSet)
NEW_ACTION = msgspec.json.Decoder(api.NewAction)
NEW_TOKEN = msgspec.json.Decoder(api.NewToken)

NAME = re.compile(api.NAME)
SOON = 3.0  # seconds in which kernels are loaded, if they were compiled before
log = logging.getLogger("driftbandit.live")


class Experiments:
    def __init__(self, host: Host) -> None:
        self.host = host
        self.one_at_a_time = asyncio.Lock()

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", "/v1/experiments", self.list_experiments, "All experiments that the token may read", "read", None,
                  api.Experiments, whole=False),
            Route("PUT", AT, self.create, "Make an experiment; the same again is harmless", "admin", api.NewExperiment,
                  api.Done, (409, 429)),
            Route("GET", AT, self.show, "An experiment", "read", None, Status, (404,)),
            Route("DELETE", AT, self.delete, "End an experiment; the journal keeps what happened", "admin", None, api.Done,
                  (404,)),
            Route("PUT", f"{AT}/sets/{{set}}", self.put_set, "Name a set of arms, or replace it from now on", "admin",
                  api.NewSet, api.Done, (404, 429)),
            Route("PUT", f"{AT}/actions/{{action}}", self.add_action, "Offer an action, new or removed before; the same again "
                  "is harmless", "admin", api.NewAction, api.Done, (404,)),
            Route("DELETE", f"{AT}/actions/{{action}}", self.remove_action, "Offer an action no more; what is known of it "
                  "stays", "admin", None, api.Done, (404, 422)),
            Route("GET", "/v1/tokens", self.list_tokens, "All tokens, by their keys", "admin", None, api.Tokens),
            Route("POST", "/v1/tokens", self.make_token, "Make a token; it is told this once", "admin", api.NewToken,
                  api.TokenInfo, (429,)),
            Route("DELETE", "/v1/tokens/{key}", self.revoke_token, "Revoke a token", "admin", None, api.Done, (404, 409)),
        )  # fmt: skip

    async def list_experiments(self, call: Call) -> Reply:
        return Reply(listed(self.host.service, call.token))

    async def create(self, call: Call) -> Reply:
        """Its kernels are compiled in a thread, before it is there: others are served meanwhile."""
        name = checked(call.params[0])
        asked = decode(NEW_EXPERIMENT, await call.body())
        spec = Spec(**{part: getattr(asked, part) for part in Spec.__struct_fields__})
        async with self.one_at_a_time:
            learner = make(spec)
            word = f"compiling {spec.policy} for experiment {name!r}: the first time takes one to three minutes"
            late = asyncio.get_running_loop().call_later(SOON, log.warning, word)
            try:
                with refused("parameters"):
                    await aside(warm, make(spec))
            finally:
                late.cancel()
            return await self.done(self.host.service.create(name, learner, asked.settings))

    async def show(self, call: Call) -> Reply:
        return Reply(encode(self.host.service.status(call.params[0])))

    async def delete(self, call: Call) -> Reply:
        return await self.done(self.host.service.delete(call.params[0]))

    async def put_set(self, call: Call) -> Reply:
        asked = decode(NEW_SET, await call.body())
        name, arms = call.params
        return await self.done(self.host.service.put_set(name, checked(arms, "set"), asked.arms, asked.labels))

    async def add_action(self, call: Call) -> Reply:
        asked = decode(NEW_ACTION, await call.body())
        return await self.done(self.host.service.add_action(call.params[0], call.params[1], asked.features))

    async def remove_action(self, call: Call) -> Reply:
        return await self.done(self.host.service.remove_action(*call.params))

    async def list_tokens(self, call: Call) -> Reply:
        return Reply(encode(api.Tokens([info(token) for token in self.host.service.tokens.values()])))

    async def make_token(self, call: Call) -> Reply:
        asked = decode(NEW_TOKEN, await call.body())
        if not self.host.service.tokens and ("admin" not in asked.rights or asked.experiments is not None):
            raise Invalid("the first token must give the right to admin everything, or nobody could make another", "rights")
        text, token = tokens.draw(asked.rights, asked.experiments, asked.note)
        await self.host.commit(self.host.service.make_token(token))
        return Reply(encode(info(token, text)))

    async def revoke_token(self, call: Call) -> Reply:
        known = self.host.service.tokens
        token = tokens.find(known, call.params[0])
        if not any(each is not token and tokens.allows(each, "admin", None) for each in known.values()):
            raise Conflict("this is the last token that gives the right to admin everything: make another before it is revoked")
        return await self.done(self.host.service.revoke_token(token.digest))

    async def done(self, ticket: int) -> Reply:
        await self.host.commit(ticket)
        return Reply(encode(api.Done(ticket)))


def checked(name: str, what: str = "name") -> str:
    if not NAME.fullmatch(name) or len(name) > 64:
        raise Refused(422, f"{what} must be 1 to 64 letters, digits and . _ -, beginning with a letter or digit", field=what)
    return name


def listed(service: Service, token: Token | None) -> bytes:
    """The experiments that this token may read; without tokens, all."""
    found = service.state.names.items()
    return encode(
        api.Experiments([summary(each) for name, each in found if token is None or tokens.allows(token, "read", name)])
    )


def summary(experiment: Experiment) -> api.Summary:
    policy, counts = experiment.player.policy, experiment.counts
    return api.Summary(
        name=experiment.name,
        policy=repr(policy),
        kind=experiment.player.kind,
        dim=policy.dim,
        decisions=counts.decisions,
        rewards=counts.rewards,
        waiting=len(experiment.waiting),
    )


def info(token: Token, text: str | None = None) -> api.TokenInfo:
    named = None if token.experiments is None else list(token.experiments)
    return api.TokenInfo(key=tokens.key_of(token), rights=list(token.rights), experiments=named, note=token.note, token=text)
