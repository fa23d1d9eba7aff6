"""What is written in one turn of the loop goes out at once, and nothing of it is lost."""

import asyncio
from typing import Any

from driftbandit.live.door.wire import Gathering


class Transport:
    """One that remembers."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, name: str) -> str:
        return name


async def talked() -> tuple[Transport, list[list[bytes]]]:
    under, seen = Transport(), list[list[bytes]]()
    made: Any = Gathering(under, asyncio.get_running_loop())  # type: ignore[arg-type]
    for turn in ((b"head", b"body"), (b"more",)):
        for part in turn:
            made.write(part)
        seen.append(list(under.written))
        await asyncio.sleep(0)
    made.write(b"last")
    made.close()
    made.write(b"too late")
    await asyncio.sleep(0)
    return under, seen


def test_one_write_per_turn() -> None:
    under, seen = asyncio.run(talked())
    assert seen == [[], [b"headbody"]]
    assert under.written == [b"headbody", b"more", b"last"]
    assert under.closed
