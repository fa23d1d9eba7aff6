"""Routes of those who look on: how it goes, how it went, the journal, live, in numbers, and the page."""

import asyncio
from collections.abc import AsyncGenerator
from itertools import islice
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta

from driftbandit.live.disk.dropped import dropped
from driftbandit.live.disk.journal import Journal
from driftbandit.live.disk.state import tail
from driftbandit.live.door import api, tokens
from driftbandit.live.door.board import History
from driftbandit.live.door.decisions import AT, encode
from driftbandit.live.door.experiments import listed
from driftbandit.live.door.host import Host
from driftbandit.live.door.http import LINES, Call, Reply, Stream
from driftbandit.live.door.metrics import MEDIA, Metrics
from driftbandit.live.door.page import page, page_file
from driftbandit.live.door.problems import Refused, come_again
from driftbandit.live.door.router import Route
from driftbandit.live.door.status import Live
from driftbandit.live.door.watch import Watch
from driftbandit.live.fold.records import Token

EVENTS = b"text/event-stream"
MOST_STREAMS = 100
MOST_RECORDS, MOST_READ = 1000, 20_000  # told, and looked at, at a time
SPAN = Literal["30m", "7d"]
FROM = Annotated[int, Meta(ge=0, lt=2**62)]


class Views:
    def __init__(self, host: Host) -> None:
        self.host, self.streams = host, 0
        self.watch: Watch
        self.description = b""

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", f"{AT}/status", self.status, "How an experiment goes: what the page shows", "read", None, Live,
                  (404,)),
            Route("GET", f"{AT}/history", self.history, "How it went, over the last 30 minutes or 7 days", "read", None,
                  History, (404, 422), query={"span": SPAN}),
            Route("GET", f"{AT}/journal", self.journal, f"Its records from one on, at most {MOST_RECORDS}, as NDJSON",
                  "read", None, LINES.decode(), (404, 410, 422), query={"from": FROM}),
            Route("GET", "/live", self.live, "Every second, as server-sent events: the status of an experiment, or a list of "
                  "all", "read", None, EVENTS.decode(), (404,), query={"experiment": api.Name}, whole=False),
            Route("GET", "/metrics", self.metrics, "For Prometheus", "read", None, "text/plain"),
            Route("GET", "/healthz", self.healthz, "Whether the process answers", answer=api.Health),
            Route("GET", "/readyz", self.readyz, "Whether requests are served: the journal is recovered, kernels are compiled",
                  answer=api.Health),
            Route("GET", "/openapi.json", self.openapi, "This description", answer=dict[str, Any]),
            Route("GET", "/", page, "The page", answer="text/html", refusals=(404,)),
            Route("GET", "/page/{file}", page_file, "A part of the page", answer="text/html", refusals=(404,)),
        )  # fmt: skip

    async def status(self, call: Call) -> Reply:
        return Reply(self.watch.document(call.params[0]))

    async def history(self, call: Call) -> Reply:
        return Reply(self.watch.history(call.params[0], wanted(call, "span", SPAN, "30m")))

    async def journal(self, call: Call) -> Reply:
        """Records of this experiment alone; ``next`` in the last line says where to go on."""
        first = wanted(call, "from", FROM, self.watch.journal.start)
        number = self.watch.number(call.params[0])
        return Reply(await asyncio.to_thread(self._records, first, number), LINES)

    def _records(self, first: int, number: int) -> bytes:
        lines: list[bytes] = []
        last = first
        journal = cast(Journal, self.watch.journal)
        with dropped(journal, first):
            for at, record in islice(tail(journal, first), MOST_READ):
                if len(lines) == MOST_RECORDS:
                    break
                last = at + 1
                if getattr(record, "of", None) == number:
                    told = {"record": at, "kind": type(record).__name__.lower(), **msgspec.structs.asdict(record)}
                    lines.append(encode(told))
        return b"\n".join([*lines, encode({"next": last}), b""])

    async def live(self, call: Call) -> Stream | Reply:
        name = call.query("experiment")
        if name is not None and call.token is not None and not tokens.allows(call.token, "read", name):
            raise Refused(403, f"this token does not give the right to read experiment {name!r}")
        number = None if name is None else self.watch.number(name)
        if self.streams >= MOST_STREAMS:
            raise come_again(503, f"{MOST_STREAMS} streams are open, which is the limit: close one, or try again later", 10)
        if call.scope["method"] == "HEAD":
            return Reply(b"", EVENTS)
        return Stream(self._events(call, name, number), EVENTS)

    async def _events(self, call: Call, name: str | None, number: int | None) -> AsyncGenerator[bytes, None]:
        self.streams += 1
        try:
            yield b"retry: 2000\n\n"
            while self._goes_on(call.token, number):
                service = self.host.service
                kind, body = (
                    (b"experiments", listed(service, call.token)) if name is None else (b"status", self.watch.document(name))
                )
                yield b"event: %b\ndata: %b\n\n" % (kind, body)
                await self.host.second()
        finally:
            self.streams -= 1

    def _goes_on(self, token: Token | None, number: int | None) -> bool:
        """Nobody looks on for longer than he may, nor at another experiment that was given the same name."""
        state, known = self.host.service.state, self.host.service.tokens
        admitted = known.get(token.digest) == token if token is not None else not known
        return admitted and not self.host.stopping and (number is None or number in state.experiments)

    async def metrics(self, call: Call) -> Reply:
        return Reply(Metrics(self.host, self.watch).text(), MEDIA)

    async def healthz(self, call: Call) -> Reply:
        return Reply(b'{"status":"ok"}')

    async def readyz(self, call: Call) -> Reply:
        self.host.admit(writing=False)
        return Reply(b'{"status":"ready"}')

    async def openapi(self, call: Call) -> Reply:
        return Reply(self.description)


def wanted(call: Call, name: str, kind: Any, otherwise: Any) -> Any:
    """A part of the query, checked."""
    given = call.query(name)
    if given is None:
        return otherwise
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refused(422, str(error), field=name) from None
