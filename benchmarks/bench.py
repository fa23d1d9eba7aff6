"""Every policy compared with its naive NumPy twin, in one run: the compiled loop, and select + update from Python."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the twin's BLAS on one core, like ours

import numpy as np
from rich.console import Console
from rich.table import Table

from driftbandit import (
    AdaptiveUCB,
    BanditOverBandit,
    Constant,
    DetectUCB,
    FixedArms,
    Gaussian,
    OracleRestartUCB,
    Policy,
    RestartUCB,
    StaticUCB,
    UnitArms,
    WeightUCB,
    WindowUCB,
    World,
)
from driftbandit.core.types import Floats
from driftbandit.simulate.loop import CompiledRun

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from naive import twin_of

SHAPES = [(2, 20), (10, 20), (10, 100), (50, 100), (100, 1000)]
NOISE = 0.1


def policies(dim: int) -> list[Policy]:
    return [
        RestartUCB(dim, period=1000, noise=NOISE),
        StaticUCB(dim, noise=NOISE),
        OracleRestartUCB(dim, change_points=[1000, 2000, 3000], noise=NOISE),
        WindowUCB(dim, window=1000, noise=NOISE),
        WeightUCB(dim, discount=0.999, noise=NOISE),
        BanditOverBandit(dim, horizon=50_000, noise=NOISE),
        DetectUCB(dim),
        AdaptiveUCB(dim),
    ]


def fastest(measure: Callable[[], float], repeats: int = 5) -> float:
    """The least disturbed of several measurements, after one to warm up."""
    measure()
    return min(measure() for _ in range(repeats))


def loop_seconds(policy: Policy, world: World) -> float:
    block = next(world.deal(0, world.horizon))

    def measure() -> float:
        run = CompiledRun(policy.spawn(0), world)
        run.meet(block)
        before = time.perf_counter()
        run.play(block)
        return (time.perf_counter() - before) / world.horizon

    return fastest(measure)


def api_seconds(policy: Policy, arms: FixedArms | Floats, rounds: int) -> float:
    def measure() -> float:
        player = policy.spawn(0)
        player.update(player.select(arms), 0.5)
        before = time.perf_counter()
        for _ in range(rounds):
            player.update(player.select(arms), 0.5)
        return (time.perf_counter() - before) / rounds

    return fastest(measure)


def twin_seconds(policy: Policy, rows: Floats, rounds: int) -> float:
    """The twin sums over all it has seen, so its cost grows: it is measured over its first rounds, in its favour."""

    def measure() -> float:
        twin = twin_of(policy)
        before = time.perf_counter()
        for t in range(rounds):
            twin.select(rows)
            twin.update(t, 0.5)
        return (time.perf_counter() - before) / rounds

    return fastest(measure, repeats=3)


def main() -> None:
    table = Table(title="per round, on fixed arms; ratios are the naive twin's time over ours, same run")
    for heading in "policy", "d", "n", "loop", "select+update", "plain array", "twin", "loop ×", "select+update ×":
        table.add_column(heading, justify="left" if heading == "policy" else "right")
    loop: dict[tuple[str, int, int], float] = {}
    aims: list[tuple[str, bool]] = []
    for dim, n in SHAPES:
        large = dim * n > 10_000
        world = World(Constant(dim), Gaussian(NOISE), 400 if large else 4096, UnitArms(n))
        rows = np.ascontiguousarray(next(world.deal()).arms[0].T)
        for policy in policies(dim):
            name = type(policy).__name__
            loop[name, dim, n] = in_loop = loop_seconds(policy, world)
            rounds = 100 if large else 2000
            fixed, plain = (api_seconds(policy, arms, rounds) for arms in (FixedArms(rows), rows))
            twin = twin_seconds(policy, rows, 20 if large else 300)
            table.add_row(
                name, str(dim), str(n), f"{1e9 * in_loop:,.0f} ns", f"{1e6 * fixed:,.2f} µs", f"{1e6 * plain:,.2f} µs",
                f"{1e6 * twin:,.0f} µs", f"{twin / in_loop:,.0f}", f"{twin / fixed:,.1f}",
            )  # fmt: skip
            if name == "RestartUCB" and n == 20:
                aims.append((f"loop at ({dim}, {n}) at least 100 × the twin", twin >= 100 * in_loop))
            if name == "RestartUCB" and (dim, n) == (10, 20):
                bound = min(3e-6, twin / 4)
                aims.append((f"select+update at (10, 20) at most {1e6 * bound:.2f} µs", max(fixed, plain) <= bound))
        table.add_section()
    bank = loop["AdaptiveUCB", 10, 20] / loop["RestartUCB", 10, 20]
    aims.append((f"AdaptiveUCB's loop at (10, 20) takes {bank:.1f} of RestartUCB's rounds, at most 12", bank <= 12))
    growth = loop["RestartUCB", 100, 1000] / loop["RestartUCB", 10, 100]
    aims.append((f"loop from (10, 100) to (100, 1000) grows {growth:.0f}-fold, at most 150", growth <= 150))
    console = Console(width=130)
    console.print(table)
    for aim, met in aims:
        console.print(f"{'met   ' if met else 'MISSED'}  {aim}")


if __name__ == "__main__":
    main()
