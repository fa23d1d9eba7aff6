"""The site's pages, as far as the build does not check them: what is shown is run, or can be."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftbandit.cli.commands import parser

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(DOCS.glob("*.md")) + sorted(DOCS.glob("[a-z]*/*.md"))
FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
NOT_RUN = {"bash", "bibtex", "json"}  # what needs a cluster, a service, hours or a reader

pytestmark = pytest.mark.plain


def commands(text: str) -> Iterator[str]:
    """Every command of ours that a page shows, in a block or in a line."""
    for _, kind, body in FENCE.findall(text):
        if "bash" in kind or body.startswith("%%bash"):
            yield from (line for line in body.splitlines() if line.startswith("driftbandit "))
    yield from re.findall(r"`(driftbandit [^`]+)`", FENCE.sub("", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_block_is_run_or_cannot_be(page: Path) -> None:
    for _, kind, _ in FENCE.findall(page.read_text(encoding="utf-8")):
        directive, _, argument = kind.partition("}")
        assert directive.startswith("{"), f"a block of kind {kind!r} is not run: make it a {{code-cell}}"
        assert directive != "{code-block" or argument.strip() in NOT_RUN, kind


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_command_can_be_typed(page: Path) -> None:
    for command in commands(page.read_text(encoding="utf-8")):
        words = shlex.split(re.split(r" [>&#]", command)[0])[1:]
        if words[0] == "COMMAND" or "--help" in words:
            continue
        parser().parse_args(words)
