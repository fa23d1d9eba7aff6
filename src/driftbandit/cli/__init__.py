"""The command line: one file per family of commands.

Nothing heavy is imported before it is needed, so that ``--help`` answers at once.
"""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        from driftbandit.cli.commands import run  # in here, so that Ctrl-C is answered from the first moment

        return run(arguments)
    except KeyboardInterrupt:
        print("driftbandit: interrupted; to resume a study, run the same command again", file=sys.stderr)
        return 130
