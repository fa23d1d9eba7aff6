"""A simulated shop, played by ours through ``Chooser`` and by VowpalWabbit from the same fields: who captures how much?"""

import argparse
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))
from takings import HEADINGS, Score, Scores, page, ranked, verdicts

from driftbandit import AdaptiveUCB, DetectUCB, DiscountedTS, StaticUCB
from driftbandit.contexts.chooser import Chooser
from driftbandit.policies._evidence.bank import RESTARTS
from driftbandit.shop import Shop
from driftbandit.shop.keepers import Keeper, Ours, Theirs, keep
from driftbandit.shop.storefront import SOON, TIMEOUT, open_shop, share
from driftbandit.shop.vowpal import INTERACTIONS, installed

WIDTHS = (1.0, 0.3, 0.1, 0.03)
MEMORIES = (3000, 10_000, 30_000)  # decisions
NOISE = 0.25  # about the standard deviation of a click
PAIRS = INTERACTIONS + " --interactions ccb"  # pairs of what is known about the visitor, for each banner
SQUARE = "--squarecb --gamma_scale 100"  # explores less than by default, since clicks are rare
EXPLORERS = (
    *("--epsilon 0.05", "--squarecb", SQUARE, "--bag 5 --greedify", "--cover 3 --nounif", "--rnd 3 --epsilon 0.02"),
    "--regcbopt --mellowness 0.01 --cb_min_cost -1 --cb_max_cost 0",
)
RATES = ("", "--power_t 0", "--power_t 0 -l 0.05")  # of learning: one that decreases, the default, and two that do not


def vowpal_settings() -> Iterator[Theirs]:
    for explorer in EXPLORERS:
        for rate in RATES:
            yield Theirs(f"{explorer} {rate}".strip())
    for rate in RATES:
        yield Theirs(f"{SQUARE} {rate}".strip(), PAIRS)
    yield Theirs(f"{SQUARE} --power_t 0 -l 0.02")
    yield Theirs(f"{SQUARE} --power_t 0 -l 0.1")
    yield Theirs("--squarecb --power_t 0", "")


def vowpal_name(setting: Theirs) -> str:
    extra = {INTERACTIONS: "", PAIRS: ", pairs", "": ", no interactions"}[setting.interactions]
    return f"VowpalWabbit {setting.told.replace('--', '')}{extra}"


PLAYERS: dict[str, Ours | Theirs] = {
    "AdaptiveUCB": Ours(AdaptiveUCB),
    "DetectUCB": Ours(DetectUCB),
    **{f"StaticUCB, width {width:g}": Ours(StaticUCB, settings={"noise": 0.5, "width": width}) for width in (*WIDTHS, 0.01)},
    **{
        f"DiscountedTS, memory {memory:,}, width {width:g}": Ours(
            DiscountedTS, settings={"discount": 1 - 1 / memory, "noise": NOISE, "width": width}
        )
        for memory in MEMORIES
        for width in WIDTHS[1:]
    },
    **{vowpal_name(setting): setting for setting in vowpal_settings()},
}


@cache
def warm_up(name: str) -> None:
    """Compile first, so that it is not timed."""
    keep(PLAYERS[name].keeper(0), Shop(0), 2)


def play(name: str, seed: int, decisions: int, late: bool) -> Score:
    warm_up(name)
    keeper = PLAYERS[name].keeper(seed)
    kept = keep(keeper, Shop(seed, late), decisions)
    return Score(share(open_shop(seed, decisions, late), kept.chosen), restarts_of(keeper), kept.seconds, decisions)


def restarts_of(keeper: Keeper) -> int:
    bank = getattr(keeper.policy.state, "bank", None) if isinstance(keeper, Chooser) else None
    return int(bank.clock[RESTARTS]) if bank else 0


def play_all(names: Sequence[str], seeds: Sequence[int], decisions: int, late: bool, workers: int) -> Scores:
    console = Console(stderr=True)
    with ProcessPoolExecutor(workers) as pool:
        futures = {(seed, name): pool.submit(play, name, seed, decisions, late) for seed in seeds for name in names}
        for future in track(futures.values(), "playing (a first run compiles for minutes)", console=console, transient=True):
            future.result()
    return {name: [futures[seed, name].result() for seed in seeds] for name in names}


def print_scores(console: Console, scores: Scores, remarks: Sequence[str]) -> None:
    table = Table(HEADINGS[0])
    for heading in HEADINGS[1:]:
        table.add_column(heading, justify="right")
    for line in ranked(scores):
        table.add_row(*line)
    console.print(table, *verdicts(scores), *remarks, sep="\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument(
        "--players", nargs="+", default=argparse.SUPPRESS, metavar="NAME", help="only those whose names begin with one of these"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2], metavar="SEED", help="one shop per seed")
    parser.add_argument("--decisions", type=int, default=20_000, help="visitors per shop")
    parser.add_argument("--late", action="store_true", help=f"tell a click within {SOON} decisions, no click after {TIMEOUT}")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="how many players run at once")
    parser.add_argument("--out", type=Path, default=argparse.SUPPRESS, help="write a page of Markdown here")
    options = parser.parse_args(arguments)
    names = [name for name in PLAYERS if name.startswith(tuple(getattr(options, "players", PLAYERS)))]
    if not names:
        parser.error(f"--players must be the beginning of one of {'; '.join(PLAYERS)}; got {' '.join(options.players)}")
    remarks = []
    if not installed() and any(name.startswith("VowpalWabbit") for name in names):
        remarks.append("VowpalWabbit is not installed (`make shop` installs it), so it did not play.")
        names = [name for name in names if not name.startswith("VowpalWabbit")]
    scores = play_all(names, options.seeds, options.decisions, options.late, options.workers)
    print_scores(Console(), scores, remarks)
    if "out" in options:
        only = ["python", "benchmarks/shop.py", "--players", *getattr(options, "players", [])]
        command = shlex.join(only) if "players" in options else "make shop"
        options.out.write_text(page(scores, remarks, options.seeds, options.decisions, options.late, command))


if __name__ == "__main__":
    main()
