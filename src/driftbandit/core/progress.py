"""Progress reports: a bar, in a terminal or a notebook, or a function of the caller's that gets the rounds just played."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from driftbandit.core.compile import when_compiling
from driftbandit.core.extras import needed_for

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Tick = Callable[[int], None]
COMPILING = "driftbandit: compiling, once for this version of the package; it may take some minutes"


@contextmanager
def reported(progress: Tick | bool | None, total: int) -> Iterator[Tick | None]:
    """What to call with the number of rounds just played: the caller's own function, or for True a bar of ours."""
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield None
    else:
        with needed_for("progress=True"):
            from rich.console import Console
        console = Console()
        if console.is_jupyter:
            with needed_for("progress=True in a notebook"):
                import_module("ipywidgets")  # or rich would warn
        with progress_bar(console) as bar:
            task = bar.add_task("playing (the first run compiles)", total=total)
            yield lambda rounds: bar.advance(task, rounds)


@cache
def say_compiling() -> None:
    """Once per process."""
    print(COMPILING, file=sys.stderr, flush=True)


def progress_bar(console: "Console") -> "Progress":
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    if not (console.is_terminal or console.is_jupyter):
        when_compiling(say_compiling)  # no bar is seen there
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console, transient=True)
