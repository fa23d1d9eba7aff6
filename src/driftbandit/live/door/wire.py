"""uvicorn's side of a connection: head and body go out in one write, and the head of a request has a limit."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 1 << 16  # bytes


class Gathering:
    """A transport whose writes wait for the end of the loop's turn. A system call costs more than most of a request."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._soon, self._parts = transport, loop.call_soon, list[bytes]()
        self.is_closing, self.get_extra_info = transport.is_closing, transport.get_extra_info

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts and not self._transport.is_closing():
            self._transport.write(b"".join(self._parts))
        self._parts.clear()


class Wire(HttpToolsProtocol):
    _head = 0  # bytes that have come of a head which is not whole yet

    def connection_made(self, transport: Any) -> None:
        super().connection_made(Gathering(transport, self.loop))  # type: ignore[arg-type]

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.scope["body"] = self.cycle.body  # type: ignore[typeddict-unknown-key]  # most are whole before anyone asks

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        cycle = self.cycle
        if cycle is not None and cycle.scope is self.scope:
            self._head = 0
            return
        self._head += len(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The head of a request may hold {MOST_HEAD} bytes.")
