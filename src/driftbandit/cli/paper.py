"""The paper put to the test: ``reproduce`` runs its experiment, ``verify`` its mathematics."""

import argparse
import time
from pathlib import Path
from typing import NoReturn

from driftbandit.cli.options import Commands, Defaults, add_run_options, at_least


def add_reproduce(commands: Commands) -> None:
    command = commands.add_parser(
        "reproduce",
        help="the paper's experiment: regret, figures, and a verdict on each claim",
        description="Play the paper's two worlds, abrupt and gradual, every policy on the same rounds. Prints the regret of "
        "each policy and a verdict on each claim of the paper, and writes a folder with a page (index.html), figures (PNG, "
        "SVG), the tables (Parquet, CSV) and the settings (JSON). To change anything else, such as d, the noise or the factor: "
        "`driftbandit example paper > FILE.toml`, edit it, `driftbandit compare FILE.toml`.",
        formatter_class=Defaults,
    )
    command.add_argument("--repetitions", type=at_least(2), help="draws of each world (default: 50)", metavar="N")
    command.add_argument("--horizon", type=at_least(1000), help="number of rounds (default: 50,000)", metavar="T")
    command.add_argument(
        "--quick", action="store_true", help="for a first look: the defaults become 5 repetitions and 20,000 rounds"
    )
    command.add_argument(
        "--claims-only", action="store_true", help="print tables and verdicts only; draw no figures, write no page"
    )
    command.add_argument("--seed", type=at_least(0), default=0, help="same seed, same numbers", metavar="S")
    for fixed in ("--dim", "--arms", "--noise", "--factor"):  # what people try first
        command.add_argument(fixed, type=in_the_example, help=argparse.SUPPRESS)
    add_run_options(command, out="out/reproduce")
    command.set_defaults(run=reproduce)


def in_the_example(value: str) -> NoReturn:
    raise argparse.ArgumentTypeError(
        f"is the paper's here; for {value}: `driftbandit example paper > FILE.toml`, edit it, `driftbandit compare FILE.toml`"
    )


def reproduce(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit.cli.screen import print_grid, print_verdicts, run_studies
    from driftbandit.paper.reproduce import judge, studies, write_folder
    from driftbandit.paper.settings import WORLDS
    from driftbandit.studies.summary import summaries

    console = Console()
    folder = getattr(chosen, "out", Path("out/reproduce"))
    began = time.perf_counter()
    horizon = chosen.horizon or (20_000 if chosen.quick else 50_000)
    done = studies(horizon, chosen.repetitions or (5 if chosen.quick else 50), chosen.seed)
    if chosen.claims_only:
        done = {name: done[name] for name in WORLDS}
    run_studies(console, done, folder, chosen)
    for name in WORLDS:
        for grid in summaries(done[name]):
            print_grid(console, grid)
    verdicts = judge(done)
    print_verdicts(console, "the paper's claims", verdicts)
    if not chosen.claims_only:
        with console.status("drawing"):
            write_folder(folder, done, verdicts)
        console.print(f"written: {folder / 'index.html'}", soft_wrap=True)
    wall = time.perf_counter() - began
    rounds = sum(study.rounds() for study in done.values())
    console.print(f"the whole command: {wall:.1f} s, {rounds / wall:,.0f} rounds per second", soft_wrap=True)


def add_verify(commands: Commands) -> None:
    command = commands.add_parser(
        "verify",
        help="test every statement of the paper's mathematics",
        description="Test every numbered statement of the paper against exact algebra or simulation that tries to break it, "
        "and print for each what was tested, the worst ratio to its bound or the frequency of violations, and a verdict. "
        "Under a minute on two cores.",
        formatter_class=Defaults,
    )
    command.add_argument("--seed", type=at_least(0), default=0, help="same seed, same instances", metavar="S")
    command.add_argument("--thorough", action="store_true", help="ten times as many instances; takes several minutes")
    command.set_defaults(run=verify)


def verify(chosen: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import Progress

    from driftbandit.cli.screen import print_verdicts
    from driftbandit.paper.verify.lemmas import Effort
    from driftbandit.paper.verify.theorems import CHECKS
    from driftbandit.paper.verify.theorems import verify as run_checks

    console = Console()
    effort = Effort(instances=100_000 if chosen.thorough else 10_000, seed=chosen.seed)
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("verifying", total=len(CHECKS))
        verdicts = run_checks(effort, lambda: bar.advance(task))
    print_verdicts(console, "the paper's statements", verdicts)
    surprising = [verdict.statement for verdict in verdicts if verdict.surprising]
    if surprising:
        console.print(f"not as expected: {'; '.join(surprising)}", markup=False)
        return 1
    console.print(
        "As expected. The statements that fail are false: two claims of earlier work, one lemma outside the condition that "
        "its proof needs, and one line of a proof whose lemma still holds."
    )
    return 0
