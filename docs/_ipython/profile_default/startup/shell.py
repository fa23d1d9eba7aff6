"""%%bash for a page: stops at the first command that fails, prints without colours or moving parts, all at once."""

import os
import subprocess

from IPython.core.magic import register_cell_magic

COLOURS = ("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR")


@register_cell_magic
def bash(line: str, cell: str) -> None:
    plain = {name: value for name, value in os.environ.items() if name not in COLOURS} | {"TERM": "dumb"}
    done = subprocess.run(["bash", "-e", "-c", cell], env=plain, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, end="")
    done.check_returncode()
