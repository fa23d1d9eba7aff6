"""Other packages compared with ours: the same rounds for all, each in its own process, one table."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import cast

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from contenders import CONTENDERS, OURS, PASSES, find

from driftbandit import Abrupt, Constant, Gaussian, Gradual, UnitArms, World
from driftbandit.core.arms import Kept
from driftbandit.paper.settings import ARMS, DIM, FACTOR, NOISE
from driftbandit.policies import every
from driftbandit.theory.tuning import optimal_period

SHAPES = [(2, 20), (10, 20)]
DRIFTS = {"abrupt": Abrupt, "gradual": Gradual}
AIM = 30  # times as fast as the fastest peer
REHEARSAL = 20  # rounds of an uncounted first run of each, so that code compiled to disk is available to all


@dataclass
class Row:
    """The results of one contender; ``trouble`` says why there are none."""

    name: str
    microseconds: list[float] = field(default_factory=list)  # by shape
    peak: float = 0.0
    regret: dict[str, list[float]] = field(default_factory=dict)
    trouble: str = ""


def write_rounds(file: Path, world: World, replicate: int, memory: int) -> None:
    blocks = list(world.deal(replicate))
    columns = cast(Kept, blocks[0].arms).columns
    means = np.concatenate([block.theta @ columns for block in blocks])
    noise = np.concatenate([block.noise for block in blocks])
    np.savez(file, rows=columns.T.copy(), means=means, noise=noise, scale=NOISE, memory=memory)


def deal(folder: Path, horizon: int, replicates: int, rounds: int) -> Path:
    """One file per shape to time, and one for each of the paper's worlds and replicates."""
    folder.mkdir()
    for dim, n in SHAPES:
        write_rounds(folder / f"time-{dim:02}-{n}.npz", World(Constant(dim), Gaussian(NOISE), rounds, UnitArms(n)), 0, 1000)
    for name, drift in DRIFTS.items():
        world = World(drift(DIM), Gaussian(NOISE), horizon, UnitArms(ARMS))
        for replicate in range(replicates):
            write_rounds(folder / f"{name}-{replicate:03}.npz", world, replicate, memory_of(world, replicate))
    return folder


def memory_of(world: World, replicate: int) -> int:
    return min(FACTOR * int(optimal_period(world.dim, world.horizon, world.path_length(replicate))), world.horizon)


def measure(name: str, rehearsal: Path, folder: Path) -> Row:
    package = find(name).package
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return Row(name, trouble=f"{package} is not installed: it has no build for this Python, or failed to install")
    script = str(Path(__file__).with_name("contenders.py"))
    one_core = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    for rounds in (rehearsal, folder):
        done = subprocess.run([sys.executable, script, name, str(rounds)], env=one_core, capture_output=True, text=True)
        if done.returncode:
            return Row(name, trouble="failed: " + (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1][:120])
    found = json.loads(done.stdout.splitlines()[-1])
    row = Row(name, peak=found["peak"])
    for label, value in found["measured"]:
        world = label.split("-")[0]
        if world == "time":
            row.microseconds.append(value)
        else:
            row.regret.setdefault(world, []).append(value)
    return row


def cells(row: Row) -> list[str]:
    version = "" if row.name in OURS or row.trouble else f" ({metadata.version(find(row.name).package)})"
    if row.trouble:
        return [row.name, *["–"] * (len(SHAPES) + 1 + len(DRIFTS)), row.trouble]
    times = [f"{value:,.1f}" if value < 100 else f"{value:,.0f}" for value in row.microseconds]
    regrets = [f"{np.mean(row.regret[name]):,.0f} ± {deviation(row.regret[name]):,.0f}" for name in DRIFTS]
    return [row.name + version, *times, f"{row.peak:,.0f}", *regrets, find(row.name).encoding]


def deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def ratios(rows: Sequence[Row]) -> list[str]:
    """Ours compared with the fastest peer at each shape, from this run."""
    ours = [row for row in rows if row.name in OURS and not row.trouble]
    peers = [row for row in rows if row.name not in OURS and not row.trouble]
    lines = []
    if ours and peers:
        for k, (dim, n) in enumerate(SHAPES):
            peer = min(peers, key=lambda row: row.microseconds[k])
            slowest = max(ours, key=lambda row: row.microseconds[k])
            lead = next((row for row in ours if row.name == "RestartUCB"), slowest)
            times = [peer.microseconds[k] / row.microseconds[k] for row in (lead, slowest)]
            lines.append(
                f"- ({dim}, {n}): {lead.name} {times[0]:.0f}× as fast as the fastest peer ({peer.name}), our slowest "
                f"({slowest.name}) {times[1]:.0f}×; the aim of {AIM}× is {'met' if times[0] >= AIM else 'missed'} by "
                f"{lead.name}, {'met' if times[1] >= AIM else 'missed'} by our slowest."
            )
    return lines


def page(rows: Sequence[Row], horizon: int, replicates: int, rounds: int) -> str:
    """The table and what it was measured on, as Markdown."""
    headings = ["contender", *(f"µs at ({d}, {n})" for d, n in SHAPES), "peak MB", *(f"{name} regret" for name in DRIFTS)]
    lines = [[*headings, "how it plays the problem"], ["---", *["---:"] * (len(headings) - 1), "---"], *map(cells, rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    machine = f"{os.cpu_count()} cores ({platform.machine()}, {platform.system()}), Python {platform.python_version()}"
    versions = f"NumPy {metadata.version('numpy')}, driftbandit {metadata.version('driftbandit')}"
    speed = "\n".join(ratios(rows)) or "- Nothing to compare."
    return f"""# Compared with other packages

Written by `make peers`, from one run on {machine}, {versions}; one core each.

{table}

Speed, ours compared with the fastest peer:

{speed}

How it was measured. Every contender meets the same arms, expected rewards and noise, through its own public interface, in
its own process, which imports no other contender. *µs*: processor time per decision and update from Python, d features
and n fixed arms, the median of {PASSES} passes of {rounds:,} rounds. *Peak MB*: resident memory of the whole process,
interpreter and imports included (ours load a compiler). *Regret*: final dynamic regret in the paper's two worlds (d = {DIM},
{ARMS} fixed arms, noise variance {NOISE**2:g}) after {horizon:,} rounds, mean ± standard deviation of {replicates} replicates.

Settings are each package's defaults, except what the last column says it was told: the noise, and a memory ({FACTOR} times
Theorem 2's period, as in the paper, which knows the path length), the same for all that take one; *told nothing* means nothing
but d. No exploration was tuned, and a tuned peer may do better. Contenders without arm features regress on a constant, so their
time does not grow with d here.

{alignment(horizon)}
"""


def alignment(horizon: int) -> str:
    """How soon after a change RestartUCB happens to restart in the abrupt world: luck, which depends on the horizon."""
    world = World(Abrupt(DIM), Gaussian(NOISE), horizon)
    memory = memory_of(world, 0)
    waits = [-change % memory for change in world.change_points()]
    return (
        "A restart that happens to follow a change closely flatters RestartUCB. Here its restarts come "
        f"{', '.join(map(str, waits))} rounds after the changes of the abrupt world: {np.mean(waits):.0f} on average, of a "
        f"period of {memory}. Chance would give half a period."
    )


def install() -> None:
    """Install each peer separately, so that a failure does not affect the others."""
    for requirement in metadata.requires("driftbandit") or []:
        wanted, _, marker = requirement.partition(";")
        if "peers" in marker:
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", wanted.strip()])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true", help="install the peers into this environment and exit")
    parser.add_argument("--horizon", type=int, default=10_000)  # at 5,000 restarts happen to follow changes closely
    parser.add_argument("--replicates", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=2000, help="rounds of a timing pass")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these contenders")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/peers.md"))
    options = parser.parse_args(arguments)
    if options.install:
        install()
        return
    names = options.only or [*(name for name in OURS if name in every()), *CONTENDERS]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        rehearsal = deal(Path(folder, "rehearsal"), REHEARSAL, 1, REHEARSAL)
        rounds = deal(Path(folder, "rounds"), options.horizon, options.replicates, options.rounds)
        for name in names:
            rows.append(measure(name, rehearsal, rounds))
            print(" | ".join(cells(rows[-1])), flush=True)
    options.out.write_text(page(rows, options.horizon, options.replicates, options.rounds))
    print("\n".join(ratios(rows)))


if __name__ == "__main__":
    main()
