"""From a visitor's named fields to an action and back, ours, VowpalWabbit and River: the same visitors, one table."""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from clerks import BY_HAND, OURS, PASSES, PEERS, find
from counters import COUNTERS, Counter

AIM = 5.0  # times as fast as the fastest peer
BOUNDS = {"RestartUCB": 15.0, "AdaptiveUCB": 40.0}  # µs, in the first problem
MOST_COLUMNS = 6000


@dataclass
class Row:
    """The time of one contender in each problem, in µs, or why there is none."""

    name: str
    micros: dict[str, float] = field(default_factory=dict)
    trouble: dict[str, str] = field(default_factory=dict)


def columns_of(name: str, counter: Counter) -> int:
    """The columns of one of ours, all actions together."""
    return (counter.actions + ("hybrid" in name)) * counter.columns


def measure(name: str, places: Sequence[str], most: int) -> Row:
    row, package = Row(name), find(name)[0]
    one_core = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    for place in places:
        counter = COUNTERS[place]
        if name in OURS and columns_of(name, counter) > most:
            row.trouble[place] = f"not tried: {columns_of(name, counter):,} columns"
            continue
        try:
            metadata.version(package)
        except metadata.PackageNotFoundError:
            row.trouble[place] = "not installed"
            continue
        script = str(Path(__file__).with_name("clerks.py"))
        done = subprocess.run([sys.executable, script, name, place], env=one_core, capture_output=True, text=True)
        if done.returncode:
            row.trouble[place] = "failed: " + (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1][:120]
        else:
            row.micros[place] = json.loads(done.stdout.splitlines()[-1])
    return row


def ratios(rows: Sequence[Row], places: Sequence[str]) -> list[str]:
    """Each of ours compared with the fastest peer in each problem, from this run."""
    lines = []
    for place in places:
        peers = [row for row in rows if row.name in PEERS and row.name not in BY_HAND and place in row.micros]
        peer = min(peers, key=lambda row: row.micros[place], default=None)
        for row in rows:
            if peer and row.name in OURS and place in row.micros:
                times = peer.micros[place] / row.micros[place]
                word = "met" if times >= AIM else "missed"
                bound = BOUNDS.get(row.name.split(",")[0]) if place == next(iter(COUNTERS)) else None
                more = f"; of {bound:g} µs, {'met' if row.micros[place] <= bound else 'missed'}" if bound else ""
                lines.append(
                    f"{place}: {row.name} {times:.1f}× as fast as the fastest peer ({peer.name}); the aim of {AIM:g}× is "
                    f"{word}{more}."
                )
        lines += [
            f"{place}: {row.name}, a bandit written by hand on a peer's regression, takes {row.micros[place]:.1f} µs."
            for row in rows
            if row.name in BY_HAND and place in row.micros
        ]
    return lines


def cell(row: Row, place: str) -> str:
    if place not in row.micros:
        return row.trouble.get(place, "–")
    return f"{row.micros[place]:,.1f}" if row.micros[place] < 100 else f"{row.micros[place]:,.0f}"


def page(rows: Sequence[Row], places: Sequence[str]) -> str:
    headings = ["", *(f"µs at {place}" for place in places)]
    table = [headings, ["---", *["---:"] * len(places)], *([row.name, *(cell(row, place) for place in places)] for row in rows)]
    versions = {find(row.name)[0] for row in rows if row.micros}
    named = ", ".join(f"{package} {metadata.version(package)}" for package in sorted(versions))
    machine = f"{os.cpu_count()} cores ({platform.machine()}, {platform.system()}), Python {platform.python_version()}"
    return f"""# From named fields to an action

Written by `make peers`, from one run on {machine}, {named}; one core each.

{chr(10).join(f"- {line}" for line in ratios(rows, places)) or "- Nothing to compare."}

{chr(10).join(f"| {' | '.join(line)} |" for line in table)}

How it was measured. *6 × 20*: six actions, and a visitor with country, device, channel, hour, basket and whether they have been
here before, as a dictionary, which a declared context turns into 20 columns; *100 × 50* adds countries, a weekday and a page.
*µs*: processor time in Python of everything that belongs to a decision and its update, from the dictionary to the name of an
action, and then the reward; median of {PASSES} passes of about a second, each contender in its own process, after a warm-up.
Ours play through `Chooser`, with separate parameters for each action (*disjoint*), or also shared ones (*hybrid*, the default).
VowpalWabbit gets the same information as text, with interactions of visitor and action: *text* is parsed for the decision and
again for the update, *examples* are parsed once and labelled. River gets it as a dictionary of features. Its regressions with a
loop by hand (gradient steps, no confidence, a random action in 1 of 20 rounds) show how little a round can cost.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[*OURS, *PEERS], help="only these")
    parser.add_argument("--counters", nargs="+", choices=COUNTERS, default=list(COUNTERS), help="actions × columns of context")
    parser.add_argument(
        "--most-columns", type=int, default=MOST_COLUMNS, help="of ours, all actions together; beyond it they are skipped"
    )
    parser.add_argument("--out", type=Path, default=Path("benchmarks/chooser.md"))
    options = parser.parse_args(arguments)
    rows = []
    for name in options.only:
        rows.append(measure(name, options.counters, options.most_columns))
        print(" | ".join([name, *(cell(rows[-1], place) for place in options.counters)]), flush=True)
    options.out.write_text(page(rows, options.counters))
    print(*ratios(rows, options.counters), sep="\n")


if __name__ == "__main__":
    main()
