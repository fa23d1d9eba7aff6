"""The live service under load: durable decisions compared with empty requests and with one commit per request, in one run.

    python benchmarks/live.py --out benchmarks/live.md

Needs ``wrk`` (Debian: apt-get install wrk). Each round measures everything once, so that other load on the machine affects
all alike; a ratio is the median over rounds. On a busy machine requests per second say little, so the processor time that
the server spends per request is reported too.
"""

import argparse
import contextlib
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import live_load
import live_pace

from driftbandit import AdaptiveUCB
from driftbandit.live.door.warm import warm

BATCH = 100
DELAY = 0.004  # seconds that a sync takes on a cloud's disk, more or less
FORGOTTEN = 2 * live_load.WAIT + 1.0  # seconds until all decisions have expired and their ids are forgotten
TICK = os.sysconf("SC_CLK_TCK")


class Measured(NamedTuple):
    rate: float  # requests per second
    cpu: float  # of the server per request, in µs


Round = dict[str, Measured]


class Server:
    """A server in its own process, with wrk as its load."""

    def __init__(self, folder: Path, mode: str, seconds: int, delay: float) -> None:
        self.folder, self.seconds, self.runs, self.name = folder, seconds, 0, f"{mode}-{delay:g}"
        command = [sys.executable, live_load.__file__, str(folder / f"{self.name}.db"), mode, str(delay)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        while httpx.get(f"{self.url}/v1/experiments/bench/status").status_code != 200:
            time.sleep(0.1)

    def empty(self, connections: int) -> Measured:
        return self._measure(connections, f"{self.url}/healthz")

    def decide(self, connections: int, batch: int = 0) -> Measured:
        self.runs += 1
        script = self.folder / f"{self.name}-{self.runs}.lua"
        script.write_text(live_load.lua(f"{self.name}-{self.runs}", batch))
        return self._measure(connections, "-s", str(script), self.url)

    def _measure(self, connections: int, *what: str) -> Measured:
        command = ["wrk", "-t1", f"-c{connections}", f"-d{self.seconds}s", "--timeout", "20s", *what]
        before = self._cpu()
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in said or "Socket errors" in said:
            raise RuntimeError(f"{' '.join(command)}:\n{said}")
        (rate,), (count,) = re.findall(r"Requests/sec:\s+([\d.]+)", said), re.findall(r"(\d+) requests in", said)
        return Measured(float(rate), 1e6 * (self._cpu() - before) / int(count))

    def _cpu(self) -> float:
        """Processor seconds so far."""
        parts = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / TICK

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


@contextlib.contextmanager
def serving(folder: Path, mode: str, seconds: int, delay: float = 0.0) -> Iterator[Server]:
    server = Server(folder, mode, seconds, delay)
    try:
        yield server
    finally:
        server.stop()


def rounds(folder: Path, count: int, seconds: int) -> list[Round]:
    results: list[Round] = []
    with contextlib.ExitStack() as stack:
        grouped, each = (stack.enter_context(serving(folder, mode, seconds)) for mode in ("grouped", "each"))
        grouped_late, each_late = (stack.enter_context(serving(folder, mode, seconds, DELAY)) for mode in ("grouped", "each"))
        for server in (grouped, each, grouped_late, each_late):
            server.decide(8)  # warm
        for _ in range(count):
            time.sleep(FORGOTTEN)  # or an empty request pays for the batches before it
            found: Round = {"empty, 64": grouped.empty(64), "durable, 64": grouped.decide(64)}
            time.sleep(FORGOTTEN)  # half load means no more than half
            found |= at_half_load(folder, grouped.url, found["durable, 64"].rate / 2, seconds)
            found |= {
                "each, 64": each.decide(64),
                "durable and late, 64": grouped_late.decide(64),
                "each and late, 64": each_late.decide(64),
                "empty, 256": grouped.empty(256),
                "durable, 256": grouped.decide(256),
                "batch, 8": grouped.decide(8, BATCH),
            }
            results.append(found)
            print({name: f"{one.rate:,.0f}/s {one.cpu:.0f} µs" for name, one in found.items()}, flush=True)
    return results


def at_half_load(folder: Path, url: str, rate: float, seconds: int) -> Round:
    """The 99th percentile of the time of an empty request, a decision and an fsync, in µs, at this rate."""
    return {
        "paced empty": Measured(rate, p99(live_pace.latencies(url, "empty", rate, seconds))),
        "paced durable": Measured(rate, p99(live_pace.latencies(url, f"durable-{time.time_ns()}", rate, seconds))),
        "fsync": Measured(rate, p99(live_pace.fsyncs(folder))),
    }


def p99(taken: list[float]) -> float:
    return 1e3 * statistics.quantiles(taken, n=100)[98]


def spread(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def table(results: list[Round]) -> str:
    def row(what: str, aim: str, one: str, other: str, factor: float = 1.0) -> str:
        rates = spread([factor * each[one].rate / each[other].rate for each in results])
        work = spread([factor * each[other].cpu / each[one].cpu for each in results])
        seen = f"{middle(one, 'rate', factor)} / {middle(other, 'rate')}"
        return f"| {what} | {aim} | {rates} | {work} | {seen} | {middle(one, 'cpu', 1 / factor)} / {middle(other, 'cpu')} |"

    def middle(name: str, part: str, factor: float = 1.0) -> str:
        return f"{statistics.median(factor * getattr(each[name], part) for each in results):,.0f}"

    durable, empty, sync = ([each[name].cpu for each in results] for name in ("paced durable", "paced empty", "fsync"))
    late = spread([d / (e + 3 * f) for d, e, f in zip(durable, empty, sync, strict=True)])
    ms: Callable[[list[float]], str] = lambda taken: f"{statistics.median(taken) / 1e3:.1f}"  # noqa: E731
    return "\n".join(
        [
            "| measured side by side | aim | by requests per second | by processor time | per second | µs of the server |",
            "| --- | --- | --- | --- | --- | --- |",
            row("durable decisions / empty requests, 64 connections", "≥ 0.5", "durable, 64", "empty, 64"),
            row("the same, 256 connections", "≥ 0.7", "durable, 256", "empty, 256"),
            row("durable decisions / one SQLite commit per request, 64 connections", "≥ 25", "durable, 64", "each, 64"),
            row(
                f"the same on a disk whose syncs take {1e3 * DELAY:g} ms longer",
                "≥ 25",
                "durable and late, 64",
                "each and late, 64",
            ),
            row(f"{BATCH} decisions per request / single", "≥ 6", "batch, 8", "durable, 64", BATCH),
            f"| p99 at half load: a decision / (an empty request + 3 × an fsync) | ≤ 1 | {late} | | "
            f"{middle('paced durable', 'rate')} | {ms(durable)} ms / "
            f"({ms(empty)} ms + 3 × {ms(sync)} ms) |",
        ]
    )


def machine() -> str:
    told = Path("/proc/cpuinfo").read_text().splitlines()
    name = next((line.partition(":")[2].strip() for line in told if "model name" in line), platform.processor())
    return f"{os.cpu_count()} cores ({name}), {platform.system()} {platform.release()}, Python {platform.python_version()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=1, help="length of each measurement")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    busy = os.getloadavg()[0]
    warm(AdaptiveUCB(10))  # so that no server compiles while it is measured
    with tempfile.TemporaryDirectory(dir=".") as folder:
        results = rounds(Path(folder), chosen.rounds, chosen.seconds)
    page = f"""# The live service under load

AdaptiveUCB, d = 10, a named set of 20 arms; uvicorn with uvloop and httptools, one process; SQLite with a write-ahead log and a
sync per commit; wrk with one thread on the same machine; an empty request is `GET /healthz`; decisions get no
reward and are forgotten after {live_load.WAIT:g} s; the slower disk is the same one with a sleep after each commit, in both
servers; half load is half of the durable decisions per second at 64 connections just measured, sent one by one by a client
on the same machine to a server that has forgotten all before, and a request's time counts from when it was due.
{chosen.rounds} rounds, each with {chosen.seconds} s per
measurement; medians over rounds, with their range. {machine()}.
Load average before the run: {busy:.1f} (other programs; the aims are for an idle machine).

{table(results)}

Written by `make bench-live`.
"""
    print(page)
    if chosen.out:
        chosen.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
