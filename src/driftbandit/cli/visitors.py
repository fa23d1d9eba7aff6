"""Visitors for ``serve --demo``: the simulated shop, sped up so that the page has something to show at once."""

import asyncio
import random
import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftbandit.live.door.host import Host
    from driftbandit.shop import Visit

NAME = "shop"
FIELDS = ("device", "returning")  # a small context, so that it can be played without the compiler
PER_SECOND = 8.0
LEAP = 20  # only every 20th visitor comes, so that seasons change within minutes
KEEN = 6.0  # times as likely to click, so that there is something to see
WAIT = 6.0  # seconds: without a click by then, there will be none
SEED, VISITS = 1, 400_000


def open_shop(host: "Host") -> None:
    """Create the experiment, unless it exists from last time."""
    from driftbandit.contexts.chooser import Chooser
    from driftbandit.contexts.context import Context
    from driftbandit.live.settings import Settings
    from driftbandit.policies.adaptive import AdaptiveUCB
    from driftbandit.shop import VISITOR, Shop

    if NAME not in host.service.names:
        context = Context({name: VISITOR.fields[name] for name in FIELDS})
        chooser = Chooser(AdaptiveUCB, actions=Shop.banners, context=context)
        host.service.create(NAME, chooser, Settings(wait=WAIT, default=0.0))


def visits(done: int) -> Iterator["Visit"]:
    """The visits from where the shop left off, shop after shop."""
    from driftbandit.shop import Shop

    each = VISITS // LEAP
    seed, place = SEED + done // each, done % each
    while True:
        yield from islice(Shop(seed).visits(VISITS), place * LEAP, None, LEAP)
        seed, place = seed + 1, 0


async def play(host: "Host", per_second: float = PER_SECOND) -> None:
    """Send visitors until cancelled; clicks come a little later."""
    from driftbandit.live.answers import Ask
    from driftbandit.live.fold.ids import new_id

    chance = random.Random()
    for visit in visits(host.service.status(NAME).counts.decisions):
        began = time.monotonic()
        fields = {name: visit.fields[name] for name in FIELDS}
        answer = host.service.decide(NAME, new_id(), Ask(fields=fields))
        await host.commit(answer.ticket)
        if visit.luck < KEEN * visit.chances[answer.action or ""]:
            asyncio.get_running_loop().call_later(chance.expovariate(1.0), click, host, answer.id)
        await asyncio.sleep(max(0.0, chance.expovariate(per_second) - (time.monotonic() - began)))


def click(host: "Host", id: str) -> None:
    if not host.stopping and host.service.find(NAME, id).state == "waiting":
        host.commit(host.service.reward(NAME, id, 1.0).ticket)
