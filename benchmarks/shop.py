"""A simulated shop: which banner to show to whom, where one visitor in twenty clicks and tastes change with the season."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))
from shopkeepers import Played, play_shop, serve_plainly, vowpal
from takings import HEADINGS, HINDSIGHT, RIVAL, Score, Scores, page, ranked, verdicts

from driftbandit import AdaptiveUCB, DetectUCB, DiscountedTS, Policy, StaticUCB
from driftbandit.shop.storefront import DIM, SOON, TIMEOUT, open_shop, share

NOISE = 0.25  # about the standard deviation of a click
MEMORIES, WIDTHS = (1000, 3000, 10_000, 30_000, 100_000), (1.0, 0.3, 0.1)

Play = Callable[[int, int, bool, Played], tuple[float, int]]  # (seed, decisions, late, played) → share, restarts


def ours(policy: Policy) -> Play:
    return lambda seed, decisions, late, played: play_shop(policy, seed, decisions, late=late, played=played)


def vowpal_wabbit(options: str) -> Play:
    def play(seed: int, decisions: int, late: bool, played: Played) -> tuple[float, int]:
        shop = open_shop(seed, decisions, late)
        return share(shop, serve_plainly(vowpal(seed, options), shop, played)), 0

    return play


PLAYERS: dict[str, Play] = {
    "AdaptiveUCB": ours(AdaptiveUCB(DIM)),
    "DetectUCB": ours(DetectUCB(DIM)),
    "StaticUCB, width 0.1": ours(StaticUCB(DIM, width=0.1, noise=0.5)),
    "VowpalWabbit": vowpal_wabbit(""),
    "VowpalWabbit, power_t 0": vowpal_wabbit("--power_t 0"),
    "VowpalWabbit squarecb": vowpal_wabbit("--squarecb"),
    RIVAL: vowpal_wabbit("--squarecb --power_t 0"),
    **{
        f"{HINDSIGHT}, memory {memory:,}, width {width:g}": ours(
            DiscountedTS(DIM, discount=1 - 1 / memory, noise=NOISE, width=width)
        )
        for memory in MEMORIES
        for width in WIDTHS
    },
}


def play_all(names: Sequence[str], seeds: Sequence[int], decisions: int, late: bool, workers: int) -> Scores:
    """Seed by seed, so that few shops are open at a time."""
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar, ThreadPoolExecutor(workers) as pool:
        task = bar.add_task("playing (a first run compiles for half a minute)", total=len(names) * len(seeds) * decisions)

        def play(seed: int, name: str) -> Score:
            before = time.thread_time()
            got, restarts = PLAYERS[name](seed, decisions, late, lambda count: bar.advance(task, count))
            return Score(got, restarts, time.thread_time() - before)

        for name in names:
            PLAYERS[name](seeds[0], 1, late, lambda count: None)  # compiles, which is not to be timed
        futures = {(seed, name): pool.submit(play, seed, name) for seed in seeds for name in names}
        return {name: [futures[seed, name].result() for seed in seeds] for name in names}


def print_scores(console: Console, scores: Scores, remarks: Sequence[str]) -> None:
    table = Table(HEADINGS[0])
    for heading in HEADINGS[1:]:
        table.add_column(heading, justify="right")
    for line in ranked(scores):
        table.add_row(*line)
    console.print(table, *verdicts(scores), *remarks, sep="\n")


def main(arguments: Sequence[str] | None = None) -> None:
    known = "; ".join([*(name for name in PLAYERS if not name.startswith(HINDSIGHT)), f"{HINDSIGHT}, memory …, width …"])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument(
        "--players", nargs="+", default=argparse.SUPPRESS, metavar="NAME", help=f"only those whose names begin so: {known}"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="SEED", help="one shop each")
    parser.add_argument("--decisions", type=int, default=200_000, help="visitors of each shop")
    parser.add_argument("--late", action="store_true", help=f"tell a click within {SOON} decisions, its lack after {TIMEOUT}")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="players at a time")
    parser.add_argument("--out", type=Path, default=argparse.SUPPRESS, help="write a page of Markdown here")
    options = parser.parse_args(arguments)
    names = [name for name in PLAYERS if name.startswith(tuple(getattr(options, "players", PLAYERS)))]
    if not names:
        parser.error(f"--players must begin a name of {known}; got {' '.join(options.players)}")
    remarks = []
    if not find_spec("vowpalwabbit") and any(name.startswith("VowpalWabbit") for name in names):
        remarks.append("VowpalWabbit is not installed (`make shop` installs it), so it did not play.")
        names = [name for name in names if not name.startswith("VowpalWabbit")]
    scores = play_all(names, options.seeds, options.decisions, options.late, options.workers)
    print_scores(Console(), scores, remarks)
    if "out" in options:
        options.out.write_text(page(scores, remarks, options.seeds, options.decisions, options.late))


if __name__ == "__main__":
    main()
