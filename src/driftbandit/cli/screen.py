"""What the commands show: progress, tables, verdicts. Brings in rich, so import it when a command runs."""

import argparse
import time
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from driftbandit.report.tables import Grid, Verdict

if TYPE_CHECKING:
    from driftbandit.studies.study import Study

COLOURS = {"holds": "green", "fails": "red", "undecided": "yellow", "not tested": "dim"}


def run_studies(console: Console, todo: "Mapping[str, Study]", folder: Path, chosen: argparse.Namespace) -> None:
    """Run the studies together into the folder's ledger under one progress bar; say what it will cost, and what it did."""
    from driftbandit.studies.study import run_together

    cost = reduce(add, (study.cost for study in todo.values()))
    total = cost.rounds
    console.print(f"{cost.on(chosen.workers)}, less what is found finished", soft_wrap=True)
    wall, processor = time.perf_counter(), time.process_time()
    with progress_bar(console) as bar:
        task = bar.add_task("playing (a first run compiles for half a minute)", total=total)
        run_together(
            list(todo.values()), folder, engine=chosen.engine, workers=chosen.workers, address=chosen.address,
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


def progress_bar(console: Console) -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console, transient=True)


def print_grid(console: Console, grid: Grid) -> None:
    table = Table(title=escape(grid.caption))
    for place, heading in enumerate(grid.headings):
        table.add_column(heading, justify="right" if place else "left")
    for row in grid.rows:
        table.add_row(*map(escape, row))
    console.print(table)


def print_verdicts(console: Console, title: str, verdicts: Sequence[Verdict]) -> None:
    table = Table(title=title, show_lines=True)
    for heading in ("claim", "measured", "verdict"):
        table.add_column(heading)
    for verdict in verdicts:
        colour = COLOURS[verdict.word]
        measured = "\n".join(filter(None, [verdict.measured, verdict.remark]))
        table.add_row(escape(verdict.statement), escape(measured), f"[{colour}]{verdict.word}[/{colour}]")
    console.print(table)
