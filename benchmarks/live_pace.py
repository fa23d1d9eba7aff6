"""Latency at a given rate: requests are sent when they are due, whether or not earlier ones have been answered.

One thread that waits in ``select``, whose clock is fine: asyncio's and uvloop's timers keep whole milliseconds, by which half
of all requests would be late before they were sent.
"""

import gc
import os
import select
import socket
import sys
import time
from collections import deque
from pathlib import Path
from urllib.parse import urlsplit

CONNECTIONS = 64


def request(url: str, kind: str, id: str) -> bytes:
    host = urlsplit(url).netloc
    if kind == "empty":
        return f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    body = f'{{"id":"{id}","set":"all"}}'
    head = f"POST /v1/experiments/bench/decisions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def receive(line: socket.socket) -> None:
    """A whole answer."""
    head, _, body = line.recv(1 << 16).partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError((head + body).decode("latin-1"))
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += line.recv(1 << 16)


def latencies(url: str, kind: str, rate: float, seconds: float) -> list[float]:
    """How long each took, in ms, from when it was due: what waits for a free connection, or for this client, counts too."""
    where, count = urlsplit(url), int(rate * seconds)
    requests = [request(url, kind, f"{os.getpid()}-{kind}-{number}") for number in range(count)]
    lines = [socket.create_connection((where.hostname, where.port)) for _ in range(CONNECTIONS)]
    gc.disable()  # here, or its pauses would count as the server's
    try:
        return paced(lines, requests, rate)
    finally:
        gc.enable()
        for line in lines:
            line.close()


def paced(lines: list[socket.socket], requests: list[bytes], rate: float) -> list[float]:
    free, asked, taken = deque(lines), dict[socket.socket, float](), list[float]()  # asked: since when it was due
    sent, begin = 0, time.perf_counter()
    while len(taken) < len(requests):
        while free and sent < len(requests) and (due := begin + sent / rate) <= time.perf_counter():
            line = free.popleft()
            asked[line] = due
            line.sendall(requests[sent])
            sent += 1
        more = free and sent < len(requests)
        pause = max(begin + sent / rate - time.perf_counter(), 0.0) if more else None
        for line in select.select(list(asked), [], [], pause)[0]:
            receive(line)
            taken.append(1e3 * (time.perf_counter() - asked.pop(line)))
            free.append(line)
    return taken


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
