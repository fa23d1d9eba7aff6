"""The command line, a file for each family of commands.

Nothing heavy is imported before it is needed, so that ``--help`` answers at once.
"""

import argparse
import sqlite3
import sys
from collections.abc import Sequence

from driftbandit import __version__
from driftbandit.cli.characters import spell_out
from driftbandit.cli.logs import add_flights, add_replay
from driftbandit.cli.paper import add_reproduce, add_verify
from driftbandit.cli.studies import add_compare, add_example
from driftbandit.cli.suite import add_suite
from driftbandit.core.extras import needed_for


def main(arguments: Sequence[str] | None = None) -> int:
    spell_out()
    try:
        chosen = parser().parse_args(arguments)
        with needed_for(f"the command {chosen.command!r}"):
            return int(chosen.run(chosen) or 0)
    except KeyboardInterrupt:
        print("driftbandit: interrupted; to resume a study, run the same command again", file=sys.stderr)
        return 130
    except (ValueError, OSError, ModuleNotFoundError, sqlite3.DatabaseError) as error:
        print(f"driftbandit: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="driftbandit",
        description="Linear bandits for a world that changes.",
        epilog="Start with `driftbandit reproduce --quick`: the paper's experiment, smaller, in seconds.",
    )
    top.add_argument("--version", action="version", version=f"driftbandit {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for add in (add_reproduce, add_verify, add_compare, add_suite, add_flights, add_replay, add_example):
        add(commands)
    return top
