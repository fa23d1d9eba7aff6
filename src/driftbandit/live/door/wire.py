"""The wire: what is said to a client in one turn of the loop goes out in one write, head and body together."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class Gathering:
    """A transport whose writes wait for the end of the loop's turn. A call of the system is dearer than most of a request."""

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


class Protocol(HttpToolsProtocol):
    """uvicorn's, with such a transport."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(Gathering(transport, self.loop))  # type: ignore[arg-type]
