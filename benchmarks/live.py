"""The live service under load: durable decisions beside empty requests and beside a commit per request, as ratios of one run.

    python benchmarks/live.py --out benchmarks/live.md

Needs ``wrk`` (Debian: apt-get install wrk). Each round measures everything once, so that what else the machine does
falls on all alike; a ratio is the median over rounds.
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
from collections.abc import Iterator
from pathlib import Path

import httpx
import live_load
import live_pace

BATCH = 100


def measure(command: list[str]) -> tuple[float, float]:
    """Requests per second and the 99th percentile of their latency in ms, by wrk; an error where any was refused."""
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise RuntimeError(f"{' '.join(command)}:\n{said}")
    (rate,) = re.findall(r"Requests/sec:\s+([\d.]+)", said)
    ((number, unit),) = re.findall(r"99%\s+([\d.]+)(us|ms|s)", said)
    return float(rate), float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


class Load:
    """wrk against one server."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds, self.run = folder, seconds, 0

    def empty(self, url: str, connections: int) -> tuple[float, float]:
        return measure([*self._wrk(connections), f"{url}/healthz"])

    def decide(self, url: str, connections: int, batch: int = 0) -> tuple[float, float]:
        self.run += 1
        script = self.folder / f"{self.run}.lua"
        script.write_text(live_load.lua(f"{os.getpid()}-{self.run}", batch))
        return measure([*self._wrk(connections), "-s", str(script), url])

    def _wrk(self, connections: int) -> list[str]:
        return ["wrk", "-t1", f"-c{connections}", f"-d{self.seconds:g}s", "--latency", "--timeout", "20s"]


@contextlib.contextmanager
def serving(folder: Path, mode: str) -> Iterator[str]:
    """A server of its own, in its own process."""
    here = Path(live_load.__file__)
    process = subprocess.Popen([sys.executable, str(here), str(folder / f"{mode}.db"), mode], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        while httpx.get(f"{url}/readyz").status_code != 200:
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def rounds(folder: Path, count: int, seconds: float) -> list[dict[str, tuple[float, float]]]:
    load, results = Load(folder, seconds), []
    with serving(folder, "grouped") as grouped, serving(folder, "each") as each:
        for url in (grouped, each):
            load.decide(url, 8)  # warm
        for _ in range(count):
            results.append(
                {
                    "empty, 64": load.empty(grouped, 64),
                    "durable, 64": load.decide(grouped, 64),
                    "each, 64": load.decide(each, 64),
                    "batch, 8": load.decide(grouped, 8, BATCH),
                    "empty, 256": load.empty(grouped, 256),
                    "durable, 256": load.decide(grouped, 256),
                }
            )
            results[-1] |= at_half_load(folder, grouped, results[-1]["durable, 64"][0] / 2, seconds)
            print({name: f"{rate:,.0f}/s p99 {late:.1f} ms" for name, (rate, late) in results[-1].items()}, flush=True)
    return results


def at_half_load(folder: Path, url: str, rate: float, seconds: float) -> dict[str, tuple[float, float]]:
    """The 99th percentile of what an empty request, a decision and an fsync take, in ms, at this pace."""
    return {
        "paced empty": (rate, p99(live_pace.latencies(url, "empty", rate, seconds))),
        "paced durable": (rate, p99(live_pace.latencies(url, f"durable-{time.time_ns()}", rate, seconds))),
        "fsync": (rate, p99(live_pace.fsyncs(folder))),
    }


def p99(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=100)[98]


def table(results: list[dict[str, tuple[float, float]]]) -> str:
    def ratio(one: str, other: str, factor: float = 1.0) -> str:
        found = sorted(factor * each[one][0] / each[other][0] for each in results)
        return f"{statistics.median(found):.2f} ({found[0]:.2f} to {found[-1]:.2f})"

    def middle(name: str, factor: float = 1.0) -> str:
        return f"{statistics.median(factor * each[name][0] for each in results):,.0f}"

    late, parts = half_load(results)
    lines = [
        "| measured side by side | aim | ratio, median (range) | per second |",
        "| --- | --- | --- | --- |",
        f"| durable decisions / empty requests, 64 connections | ≥ 0.5 | {ratio('durable, 64', 'empty, 64')} | "
        f"{middle('durable, 64')} / {middle('empty, 64')} |",
        f"| the same, 256 connections | ≥ 0.7 | {ratio('durable, 256', 'empty, 256')} | "
        f"{middle('durable, 256')} / {middle('empty, 256')} |",
        f"| durable decisions / one SQLite commit per request, 64 connections | ≥ 25 | {ratio('durable, 64', 'each, 64')} | "
        f"{middle('durable, 64')} / {middle('each, 64')} |",
        f"| {BATCH} decisions per request, 8 connections / single, 64 | ≥ 6 | {ratio('batch, 8', 'durable, 64', BATCH)} | "
        f"{middle('batch, 8', BATCH)} / {middle('durable, 64')} |",
        f"| p99 at half load, ms: a decision / an empty request + 3 × an fsync | ≤ 1 | {late} | {parts} |",
    ]
    return "\n".join(lines)


def half_load(results: list[dict[str, tuple[float, float]]]) -> tuple[str, str]:
    """The ratio, and what it is made of."""
    durable, empty, sync = ([each[name][1] for each in results] for name in ("paced durable", "paced empty", "fsync"))
    ratios = sorted(d / (e + 3 * f) for d, e, f in zip(durable, empty, sync, strict=True))
    parts = f"{statistics.median(durable):.1f} / ({statistics.median(empty):.1f} + 3 × {statistics.median(sync):.1f})"
    return f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", parts


def machine() -> str:
    told = Path("/proc/cpuinfo").read_text().splitlines()
    name = next((line.partition(":")[2].strip() for line in told if "model name" in line), platform.processor())
    return f"{os.cpu_count()} cores ({name}), {platform.system()} {platform.release()}, Python {platform.python_version()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        results = rounds(Path(folder), chosen.rounds, chosen.seconds)
    page = f"""# The live service under load

AdaptiveUCB, d = 10, a named set of 20 arms; uvicorn with uvloop and httptools, one process; SQLite with a write-ahead log and a
sync per commit; wrk with one thread on the same machine. {chosen.rounds} rounds, each measures everything for
{chosen.seconds:g} s. {machine()}. Load average before the run: {busy:.1f}.

{table(results)}

Written by `make bench-live`.
"""
    print(page)
    if chosen.out:
        chosen.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
