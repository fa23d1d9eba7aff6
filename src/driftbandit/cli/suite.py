"""``suite``: many worlds, and every contender compared with hindsight."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from driftbandit.cli.options import Commands, Defaults, add_run_options, at_least

if TYPE_CHECKING:
    from rich.progress import Progress


def add_suite(commands: Commands) -> None:
    command = commands.add_parser(
        "suite",
        help="compare policies with the best in hindsight, over many worlds",
        description="Play many worlds and compare every contender with hindsight: `tuned`, the best forgetting policy over "
        "many memories; `oracle`, which is told the change points; `best`, the lowest regret of these over several widths of "
        "the confidence radius as well. Prints the ratios of mean final regret (below 1: better than hindsight; geometric "
        "mean / worst over each group of worlds), and writes a folder with the table (Parquet, CSV, Markdown), the figure "
        "(PNG, SVG, light and dark) and the settings (JSON). If it is interrupted, rerun the same command to resume.",
        epilog="To try a policy of your own: `driftbandit example suite > FILE.toml`, add a table for it, and run "
        "`driftbandit suite FILE.toml`. While designing, do not use --judge: a seed you have looked at is a seed you have "
        "tuned to. For a first look: `driftbandit suite --worlds 'walk-0.001-*' --replicates 2`. With --real: gains over "
        "choosing at random and over the best in hindsight of six ways to forget, over many memories and widths, with "
        "intervals from resampling days, months or years; one page per table; `driftbandit example real` prints the policies.",
        formatter_class=Defaults,
    )
    command.add_argument(
        "file", nargs="?", type=Path, help="study to run (default: the one shipped with the package)", metavar="FILE.toml"
    )
    command.add_argument(
        "--judge",
        action="store_true",
        help="use the seed reserved for judging, with 30 replicates unless --replicates is given",
    )
    command.add_argument("--replicates", type=at_least(1), help="draws of each world (default: as in the file)", metavar="N")
    command.add_argument("--worlds", default="*", help="only worlds whose names match, for example 'walk-*'", metavar="PATTERN")
    command.add_argument("--policies", help="only these contenders (default: all)", metavar="NAME,...")
    command.add_argument("--real", action="store_true", help="play real tables instead (pip install 'driftbandit[real]'); "
                         "--worlds selects them, and the default folder is out/real")  # fmt: skip
    command.add_argument(
        "--ablation", action="store_true", help="compare AdaptiveUCB with versions that each lack one of its parts"
    )
    add_run_options(command, out="out/suite")
    command.set_defaults(run=suite)


def suite(chosen: argparse.Namespace) -> None:
    (real if chosen.real else simulated)(chosen)


def names(chosen: argparse.Namespace) -> list[str] | None:
    return None if chosen.policies is None else [name.strip() for name in chosen.policies.split(",")]


def stages(bar: "Progress") -> Callable[[str, int], Callable[[int], None]]:
    """One progress line per stage."""

    def stage(name: str, rounds: int) -> Callable[[int], None]:
        task = bar.add_task(name, total=rounds)
        return lambda finished: bar.advance(task, finished)

    return stage


def real(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit.cli.screen import print_grid, progress_bar
    from driftbandit.replay.suite import load, run, summaries, write

    if chosen.judge or chosen.ablation:
        raise ValueError("--judge and --ablation are for simulated worlds: leave them out, or leave out --real")
    console = Console()
    study = load(chosen.file, tables=chosen.worlds, policies=names(chosen), replicates=chosen.replicates)
    folder = getattr(chosen, "out", Path("out/real"))
    with progress_bar(console) as bar:
        table = run(study, folder, stage=stages(bar), engine=chosen.engine, workers=chosen.workers, address=chosen.address)
    for grid in summaries(table):
        print_grid(console, grid)
    write(folder, table, study)
    console.print(f"written: {folder}, with one folder per table", soft_wrap=True)


def simulated(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit.cli.screen import print_grid, progress_bar
    from driftbandit.studies import hindsight as ratios
    from driftbandit.studies.suite import load, run, write

    console = Console()
    study = load(
        chosen.file,
        judge=chosen.judge,
        replicates=chosen.replicates,
        worlds=chosen.worlds,
        policies=names(chosen),
        ablation=chosen.ablation,
    )
    folder = getattr(chosen, "out", Path("out/suite"))
    with progress_bar(console) as bar:
        table = run(study, folder, engine=chosen.engine, workers=chosen.workers, address=chosen.address, stage=stages(bar))
    worlds = ratios.by_world(table)
    for grid in [worlds] * (console.width >= 45 + 12 * len(worlds.headings)) + ratios.summaries(table):
        print_grid(console, grid)
    write(folder, table, study)
    console.print(f"written: {folder}; world by world: {folder / 'suite.md'}", soft_wrap=True)
