"""The door: an ASGI application that finds the route, asks for the token, reads the body and answers. It knows no policy."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs

import msgspec

from driftbandit.live.door.problems import MEDIA_TYPE, Headers, Refused, refusal_of, wrong_shape
from driftbandit.live.door.router import Route, Router
from driftbandit.live.errors import LiveError
from driftbandit.live.fold.records import Token

log = logging.getLogger("driftbandit.live")

Message = MutableMapping[str, Any]
Scope = Message
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
T = TypeVar("T")

JSON, LINES, TEXT = b"application/json", b"application/x-ndjson", b"text/plain; charset=utf-8"
MOST_BYTES = 1 << 20
STALLED = 30.0  # seconds in which a part of a stream must be taken
SAFE: Headers = (  # for what a browser shows
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
START, BODY = "http.response.start", "http.response.body"


class Reply(NamedTuple):
    """An answer as it goes out."""

    body: bytes
    media: bytes = JSON
    status: int = 200
    headers: Headers = ()


class Stream(NamedTuple):
    """An answer that does not end by itself."""

    parts: AsyncGenerator[bytes, None]
    media: bytes


class Left(Exception):
    """The client went away before it was answered."""


class Call:
    """One request: its path's open parts, its query and its body."""

    __slots__ = ("params", "receive", "route", "scope", "token")

    def __init__(self, scope: Scope, receive: Receive, route: Route, params: list[str]) -> None:
        self.scope, self.receive, self.route, self.params = scope, receive, route, params
        self.token: Token | None = None  # whose call it is, where there are tokens

    def header(self, name: bytes) -> bytes | None:
        for known, value in self.scope["headers"]:
            if known == name:
                return bytes(value)
        return None

    @property
    def media(self) -> bytes:
        return (self.header(b"content-type") or b"").partition(b";")[0].strip().lower()

    @property
    def lines(self) -> bool:
        """Whether it is NDJSON."""
        return self.media == LINES

    async def body(self) -> bytes:
        """All of it, if it is of a type that a browser would not send for a stranger's page, and not too long."""
        media = self.header(b"content-type")
        if media != JSON and (media := self.media) != JSON and not (media == LINES and self.route.lines):
            allowed = "application/json" + " or application/x-ndjson" * self.route.lines
            raise Refused(
                415, f"the body must be {allowed}, said in Content-Type; got {(media or b'nothing').decode('latin-1')}"
            )
        body = self.scope.get("body")  # see wire.py
        if body is None:
            body = await self._received()
        if len(body) > MOST_BYTES:
            raise too_large()
        return bytes(body)

    async def _received(self) -> bytes:
        if int(self.header(b"content-length") or 0) > MOST_BYTES:
            raise too_large()
        body, more = bytearray(), True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Left
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > MOST_BYTES:
                raise too_large()
        return bytes(body)

    def query(self, name: str) -> str | None:
        found = parse_qs(self.scope["query_string"].decode("latin-1"), keep_blank_values=True).get(name)
        return found[-1] if found else None


def too_large() -> Refused:
    advice = f"a body may hold {MOST_BYTES} bytes: send less at once"
    return Refused(413, advice, headers=((b"connection", b"close"),))


def decode(decoder: "msgspec.json.Decoder[T]", body: bytes) -> T:
    """400 where it is no JSON, 422 where it is not of the right shape."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise wrong_shape(error, decoder.type) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(400, f"the body is not JSON: {error}") from None


class Door:
    """The ASGI application.

    Parameters:
        admit: says by an exception that a call may not be made.
    """

    def __init__(self, routes: tuple[Route, ...], admit: Callable[[Call], None]) -> None:
        self.router, self.admit = Router(routes), admit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            route, params = self.router.find(scope["method"], scope["raw_path"])
            call = Call(scope, receive, route, params)
            self.admit(call)
            reply = await route.handler(call)
            if type(reply) is Stream:
                await pour(reply, receive, send)
                return
        except Left:
            return
        except Refused as refused:
            reply = refusal(refused)
        except LiveError as error:
            reply = refusal(refusal_of(error))
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            reply = refusal(Refused(500, "the service failed at this; its log says how"))
        await send({"type": START, "status": reply.status, "headers": headers_of(reply)})
        await send({"type": BODY, "body": reply.body})


def headers_of(reply: Reply) -> list[tuple[bytes, bytes]]:
    length = (b"content-length", b"%d" % len(reply.body))
    if reply.media is JSON and not reply.headers:
        return [(b"content-type", JSON), length]
    return [(b"content-type", reply.media), *SAFE, *reply.headers, length]


def refusal(refused: Refused) -> Reply:
    return Reply(msgspec.json.encode(refused.problem()), MEDIA_TYPE, refused.status, refused.headers)


async def pour(stream: Stream, receive: Receive, send: Send) -> None:
    """Until the client leaves or the stream ends."""
    await send({"type": START, "status": 200, "headers": [(b"content-type", stream.media), *SAFE]})
    leaving = asyncio.ensure_future(left(receive))
    try:
        async for part in stream.parts:
            async with asyncio.timeout(STALLED):
                await send({"type": BODY, "body": part, "more_body": True})
            if leaving.done():
                return
        await send({"type": BODY, "body": b""})
    except TimeoutError:
        return  # he does not read, and keeps others from looking on
    finally:
        leaving.cancel()
        await stream.parts.aclose()


async def left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
