"""Latency at a given rate: requests are sent when they are due, whether or not earlier ones have been answered."""

import asyncio
import gc
import os
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import uvloop

CONNECTIONS = 64


def request(url: str, kind: str, id: str) -> bytes:
    host = urlsplit(url).netloc
    if kind == "empty":
        return f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    body = f'{{"id":"{id}","set":"all"}}'
    head = f"POST /v1/experiments/bench/decisions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


async def answered(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(head.decode("latin-1"))
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)


async def paced(url: str, kind: str, rate: float, seconds: float) -> list[float]:
    """How long each took, in ms, from when it was due."""
    where = urlsplit(url)
    free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(CONNECTIONS):
        free.put_nowait(await asyncio.open_connection(where.hostname, where.port))
    taken: list[float] = []

    async def one(number: int, due: float) -> None:
        reader, writer = await free.get()
        writer.write(request(url, kind, f"{os.getpid()}-{kind}-{number}"))
        await answered(reader)
        taken.append(1e3 * (time.perf_counter() - due))
        free.put_nowait((reader, writer))

    begin, tasks = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        due = begin + number / rate
        if (pause := due - time.perf_counter()) > 0:
            await asyncio.sleep(pause)
        tasks.append(asyncio.create_task(one(number, due)))
    await asyncio.gather(*tasks)
    return taken


def latencies(url: str, kind: str, rate: float, seconds: float) -> list[float]:
    gc.disable()  # here, or its pauses of 40 ms would count as the server's
    try:
        return uvloop.run(paced(url, kind, rate, seconds))
    finally:
        gc.enable()


def fsyncs(folder: Path, count: int = 300) -> list[float]:
    """How long each took, in ms: an append of 4 KiB, made durable."""
    taken = []
    with open(folder / "bare", "ab", buffering=0) as file:
        for _ in range(count):
            began = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            taken.append(1e3 * (time.perf_counter() - began))
    return taken


if __name__ == "__main__":
    print(max(latencies(sys.argv[1], sys.argv[2], float(sys.argv[3]), 3.0)))
