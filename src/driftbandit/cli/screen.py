"""What the commands print: progress, tables, verdicts. It imports rich, so import it only when a command runs."""

import argparse
import time
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from driftbandit.cli.characters import encodable
from driftbandit.core.progress import progress_bar as progress_bar
from driftbandit.report.tables import Grid, Verdict

if TYPE_CHECKING:
    from driftbandit.studies.study import Study

STYLES = {"holds": "green", "fails": "red", "undecided": "yellow", "not tested": "dim"}
MOST_COLUMNS = 10_000  # wider than any table


def run_studies(console: Console, todo: "Mapping[str, Study]", folder: Path, chosen: argparse.Namespace) -> None:
    """Run the studies together into the folder's ledger under one progress bar; print the estimated and the actual cost."""
    from driftbandit.studies.study import run_together

    cost = reduce(add, (study.cost for study in todo.values()))
    total = cost.rounds
    console.print(f"{cost.on(chosen.workers)}, less what is already finished", soft_wrap=True)
    wall, processor = time.perf_counter(), time.process_time()
    ticks: list[int] = []  # rounds: first those already finished, then those played, piece by piece

    def tick(rounds: int) -> None:
        ticks.append(rounds)
        bar.advance(task, rounds)

    with progress_bar(console) as bar:
        task = bar.add_task("playing (a first run compiles for half a minute)", total=total)
        run_together(
            list(todo.values()), folder, engine=chosen.engine, workers=chosen.workers, address=chosen.address, progress=tick
        )  # fmt: skip
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    inside = sum(float(study.timing()["seconds"].sum()) for study in todo.values())
    found = f"{ticks[0]:,} found finished{'' if len(todo) == 1 else ' or shared'}, " if ticks[0] else ""
    words = f"{total:,} rounds: {found}{sum(ticks[1:]):,} played in {wall:.1f} s"
    if chosen.engine == "threads":  # elsewhere, this process does not know
        words += f"; processor time {processor:.1f} s" + ("" if found else f", of which {inside:.1f} s inside policies")
    console.print(words, soft_wrap=True)


def print_grid(console: Console, grid: Grid) -> None:
    print_table(console, grid.caption, grid.headings, grid.rows, justify="right")


def print_verdicts(console: Console, title: str, verdicts: Sequence[Verdict]) -> None:
    def row(verdict: Verdict) -> Sequence[str]:
        return verdict.statement, "\n".join(filter(None, [verdict.measured, verdict.remark])), verdict.word

    print_table(console, title, ("claim", "measured", "verdict"), [row(verdict) for verdict in verdicts], show_lines=True)


def print_table(
    console: Console,
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    justify: JustifyMethod = "left",
    show_lines: bool = False,
) -> None:
    """Print a table, first column flush left. If words would be cut: one line per cell on a terminal, full width in a file."""

    def text(words: str) -> Text:
        return Text(encodable(words, console.encoding), STYLES.get(words, ""))

    table = Table(title=text(title), show_lines=show_lines)
    wide = console.options.update(max_width=MOST_COLUMNS)
    for place, column in enumerate(zip(headings, *rows, strict=True)):
        longest_word = max(console.measure(text(cell), options=wide).minimum for cell in column)
        table.add_column(text(column[0]), justify=justify if place else "left", min_width=longest_word)
    for row in rows:
        table.add_row(*map(text, row))
    least, natural = console.measure(table, options=wide)
    if least > console.width and console.is_terminal:
        print_cells(console, title, headings, rows)
        return
    if least > console.width:
        table.width = natural
    console.print(table, crop=False)


def print_cells(console: Console, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    console.print(title, style="table.title", markup=False, soft_wrap=True)
    for first, *others in rows:
        console.print(first, markup=False, soft_wrap=True)
        for heading, cell in zip(headings[1:], others, strict=True):
            console.print(f"  {heading}: {cell}", markup=False, soft_wrap=True)
