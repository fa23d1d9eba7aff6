"""Options that several commands share."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class Defaults(argparse.ArgumentDefaultsHelpFormatter):
    """Shows a default where there is one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return action.help if action.default in (None, False) else super()._get_help_string(action)


class Examples(argparse.HelpFormatter):
    """Wraps a single paragraph, and keeps the line breaks of anything longer."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


def add_run_options(command: argparse.ArgumentParser, out: str) -> None:
    command.add_argument("--out", help=f"folder to write to; work already finished there is not repeated (default: {out})",
                         default=argparse.SUPPRESS, type=Path, metavar="FOLDER")  # fmt: skip
    command.add_argument(
        "--engine", choices=("threads", "processes", "dask", "ray"), default="threads", help="what runs the replicates"
    )
    command.add_argument(
        "--workers", type=at_least(1), help="how many to run at once (default: one per processor)", metavar="N"
    )
    command.add_argument("--address", help="address of a running Dask or Ray cluster", metavar="ADDRESS")


def at_least(least: int) -> Callable[[str], int]:
    """A type for argparse: a whole number of at least ``least``."""

    def whole_number(text: str) -> int:
        number = int(text.replace(",", ""))
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {number}")
        return number

    return whole_number
