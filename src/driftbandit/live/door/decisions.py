"""Routes of decisions and rewards: each is durable before it is answered."""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from driftbandit.live.answers import Answer, Ask, Explanation, Found, Preview, Receipt
from driftbandit.live.door import api
from driftbandit.live.door.host import Host
from driftbandit.live.door.http import LINES, Call, Reply, decode
from driftbandit.live.door.problems import Refused, refusal_of
from driftbandit.live.door.router import Route
from driftbandit.live.errors import LiveError

T = TypeVar("T")

encode = msgspec.json.Encoder().encode
DECIDE = msgspec.json.Decoder(api.Decide)
DECIDE_BATCH = msgspec.json.Decoder(api.DecideBatch)
OFFER = msgspec.json.Decoder(api.Offer)
REWARD = msgspec.json.Decoder(api.Reward)
REWARD_OF = msgspec.json.Decoder(api.RewardOf)
REWARD_BATCH = msgspec.json.Decoder(api.RewardBatch)
EMPTY = msgspec.json.Decoder(api.Empty)

AT = "/v1/experiments/{name}"


class Decisions:
    def __init__(self, host: Host) -> None:
        self.host = host

    def routes(self) -> tuple[Route, ...]:
        one, known = f"{AT}/decisions", f"{AT}/decisions/{{id}}"
        return (
            Route("POST", one, self.decide, "Decide", "decide", api.Decide, Answer, (404, 409, 429)),
            Route("POST", f"{one}:batch", self.decide_batch, "Decide several times", "decide", api.DecideBatch, api.Results,
                  (404, 429), lines=True),
            Route("GET", known, self.find, "What is known of a decision", "read", None, Found, (404,)),
            Route("GET", f"{known}/explanation", self.explain, "A decision, and what is thought now of each arm that was on "
                  "offer", "read", None, Explanation, (404, 410)),
            Route("POST", f"{known}/reward", self.reward, "Tell the reward of a decision", "reward", api.Reward, Receipt,
                  (404, 409)),
            Route("POST", f"{known}/shown", self.shown, "Tell that a deferred decision was shown", "reward", api.Empty,
                  Receipt, (404, 409)),
            Route("POST", f"{AT}/rewards:batch", self.reward_batch, "Tell the rewards of several decisions", "reward",
                  api.RewardBatch, api.Results, (404,), lines=True),
            Route("POST", f"{AT}/preview", self.preview, "What would be decided now; nothing is kept", "read", api.Offer,
                  Preview, (404,)),
        )  # fmt: skip

    async def decide(self, call: Call) -> Reply:
        name = call.params[0]
        asked = decode(DECIDE, await call.body())
        self.host.admit_decisions(name)
        return Reply(encode(await self.host.decide(name, asked.id, ask(asked))))

    async def decide_batch(self, call: Call) -> Reply:
        name = call.params[0]
        wanted = await several(call, DECIDE, lambda body: decode(DECIDE_BATCH, body).decisions)
        self.host.admit_decisions(name, len(wanted))
        sound = [asked for asked in wanted if not isinstance(asked, Refused)]
        made = iter(self.host.service.decide_all(name, [asked.id for asked in sound], list(map(ask, sound))))
        return await self.answers(call, [result(asked if isinstance(asked, Refused) else next(made)) for asked in wanted])

    async def reward(self, call: Call) -> Reply:
        told = decode(REWARD, await call.body())
        receipt = self.host.service.reward(call.params[0], call.params[1], told.reward, told.key)
        await self.host.commit(receipt.ticket)
        return Reply(encode(receipt))

    async def reward_batch(self, call: Call) -> Reply:
        name = call.params[0]
        wanted = await several(call, REWARD_OF, lambda body: decode(REWARD_BATCH, body).rewards)
        self.known(name)

        def one(told: api.RewardOf) -> api.Result:
            return api.Result(status=200, receipt=self.host.service.reward(name, told.id, told.reward, told.key))

        return await self.answers(call, [each(told, one) for told in wanted])

    async def shown(self, call: Call) -> Reply:
        decode(EMPTY, await call.body() or b"{}")
        receipt = self.host.service.shown(*call.params)
        await self.host.commit(receipt.ticket)
        return Reply(encode(receipt))

    async def find(self, call: Call) -> Reply:
        entry = self.host.service.entry(*call.params)
        await self.host.commit(entry.last)  # what is told is durable
        return Reply(encode(entry.found()))

    async def explain(self, call: Call) -> Reply:
        service, (name, id) = self.host.service, call.params
        entry = service.entry(name, id)
        await self.host.commit(entry.last)
        record = await asyncio.to_thread(service.record_of, entry)  # the disk may be busy
        return Reply(encode(service.explained(name, entry, record)))

    async def preview(self, call: Call) -> Reply:
        return Reply(encode(self.host.service.preview(call.params[0], ask(decode(OFFER, await call.body())))))

    def known(self, name: str) -> None:
        """404 for the whole batch, rather than for each of it."""
        self.host.service.learner(name)

    async def answers(self, call: Call, results: list[api.Result]) -> Reply:
        """When the last of them is durable."""
        tickets = [made.ticket for result in results if (made := result.decision or result.receipt)]
        if tickets:
            await self.host.commit(max(tickets))
        if call.lines:
            return Reply(b"".join([encode(result) + b"\n" for result in results]), LINES)
        return Reply(encode(api.Results(results)))


def ask(asked: api.Offer) -> Ask:
    if isinstance(asked, api.Decide):
        if asked.arms is None and asked.context is None and asked.baseline is None and not asked.exclude:
            return ask_of_set(asked.set, asked.deferred)
        return Ask(
            arms=asked.arms,
            set=asked.set,
            fields=asked.context,
            exclude=asked.exclude,
            baseline=asked.baseline,
            deferred=asked.deferred,
        )
    return Ask(arms=asked.arms, set=asked.set, fields=asked.context, exclude=asked.exclude)


@lru_cache(maxsize=1000)
def ask_of_set(name: str | None, deferred: bool) -> Ask:
    """One for all who ask the same."""
    return Ask(set=name, deferred=deferred)


async def several(call: Call, line: "msgspec.json.Decoder[T]", whole: Callable[[bytes], list[T]]) -> list[T | Refused]:
    """Of a batch: from a JSON document, or line by line, where a wrong line spoils only itself."""
    body = await call.body()
    if not call.lines:
        return list(whole(body))
    lines = [part for part in body.split(b"\n") if part.strip()]
    if not 1 <= len(lines) <= api.MOST_BATCH:
        raise Refused(422, f"a batch must hold 1 to {api.MOST_BATCH} lines, got {len(lines)}")
    return [decoded_line(line, part) for part in lines]


def decoded_line(decoder: "msgspec.json.Decoder[Any]", line: bytes) -> Any:
    """What it says, or what is wrong with it."""
    try:
        return decode(decoder, line)
    except Refused as refused:
        return refused


def each(wanted: T | Refused, do: Callable[[T], api.Result]) -> api.Result:
    """One of a batch: what is wrong with it is said of it alone."""
    if isinstance(wanted, Refused):
        return said(wanted)
    try:
        return do(wanted)
    except LiveError as error:
        return said(refusal_of(error))


def result(made: Answer | Exception) -> api.Result:
    if isinstance(made, Answer):
        return api.Result(status=200, decision=made)
    refused = refusal_of(made) if isinstance(made, LiveError) else made
    if not isinstance(refused, Refused):
        raise refused
    return said(refused)


def said(refused: Refused) -> api.Result:
    return api.Result(status=refused.status, detail=refused.detail, field=refused.field)
