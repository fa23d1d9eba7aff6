"""uvicorn's side of a connection, with a limit to how long the head of a request may be, of which it knows none."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 1 << 16  # bytes


class Wire(HttpToolsProtocol):
    _head = 0  # bytes that have come of a head which is not whole yet

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        cycle = self.cycle
        if cycle is not None and cycle.scope is self.scope:
            self._head = 0
            return
        self._head += len(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The head of a request may hold {MOST_HEAD} bytes.")
