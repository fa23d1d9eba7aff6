"""All commands under one name: what is typed → what is run, with errors printed as one line."""

import argparse
import sqlite3
import sys
from collections.abc import Sequence

from driftbandit import __version__
from driftbandit.cli.characters import spell_out
from driftbandit.cli.completion import add_completion
from driftbandit.cli.doctor import add_doctor
from driftbandit.cli.journal import add_journal
from driftbandit.cli.live import add_serve
from driftbandit.cli.paper import add_reproduce, add_verify
from driftbandit.cli.replay import add_flights, add_replay
from driftbandit.cli.shop import add_shop
from driftbandit.cli.studies import add_compare, add_example
from driftbandit.cli.suite import add_suite
from driftbandit.cli.token import add_token
from driftbandit.core.extras import needed_for


def run(arguments: Sequence[str] | None) -> int:
    spell_out()
    if "" not in sys.path:
        sys.path.append("")  # a user's own policy may be a file in the current directory
    try:
        chosen = parser().parse_args(arguments)
        with needed_for(f"the command {chosen.command!r}"):
            return int(chosen.run(chosen) or 0)
    except (ValueError, OSError, ModuleNotFoundError, sqlite3.DatabaseError) as error:
        print(f"driftbandit: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="driftbandit",
        description="Linear bandits for a world that changes.",
        epilog="Start with `driftbandit reproduce --quick`: a smaller version of the paper's experiment, in seconds "
        "once its policies are compiled.",
    )
    top.add_argument("--version", action="version", version=f"driftbandit {__version__}")
    add_completion(top)
    commands = top.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for add in (
        *(add_reproduce, add_verify, add_compare, add_suite, add_flights, add_replay, add_shop, add_example),
        *(add_serve, add_token, add_journal, add_doctor),
    ):
        add(commands)
    return top
