"""``--print-completion``: a script, made by shtab, that lets a shell complete our commands and options."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from driftbandit.cli.characters import write_utf8
from driftbandit.core.extras import needed_for

SHELLS = ("bash", "zsh", "tcsh")


class PrintCompletion(argparse.Action):
    """Prints the script and exits, as ``--help`` does."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: Any = None) -> None:
        with needed_for("--print-completion"):
            import shtab
        for action in every_action(parser):
            if action.type is Path:
                action.complete = shtab.DIRECTORY if action.metavar == "FOLDER" else shtab.FILE  # type: ignore[attr-defined]
        write_utf8(shtab.complete(parser, shell=values) + "\n")
        parser.exit()


def every_action(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The actions of the parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from every_action(command)


def add_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--print-completion",
        action=PrintCompletion,
        choices=SHELLS,
        help='print a completion script for this shell and exit; in bash: eval "$(driftbandit --print-completion bash)"',
        metavar="SHELL",
    )
