"""The site's pages, as far as the build does not check them: what is shown is run, or can be."""

import re
import shlex
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import cast

import pytest

from driftbandit.cli.commands import parser

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(DOCS.glob("*.md")) + sorted(DOCS.glob("[a-z]*/*.md"))
FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
NOT_RUN = {"bash", "bibtex", "json"}  # what needs a cluster, a service, hours or a reader

pytestmark = pytest.mark.plain


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> Callable[[set[str]], list[str]]:
    """The check that the build makes, with what it finds in the pages' directives alone."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return cast(Callable[[set[str]], list[str]], import_module("completeness").missing)


def documented() -> set[str]:
    found = set()
    for page in sorted((DOCS / "api").glob("*.rst")):
        module = ""
        for kind, name in re.findall(
            r"^\.\. (currentmodule|auto\w+|py:\w+):: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE
        ):
            module = name if kind == "currentmodule" else module
            found.add(f"{module}.{name}")
    return found


def test_the_reference_has_every_public_name(missing: Callable[[set[str]], list[str]]) -> None:
    found = documented()
    assert missing(found) == [], "add each to a page of docs/api"
    assert missing(found - {"driftbandit.RestartUCB", "driftbandit.checks.check_chooser"}) == [
        "driftbandit.RestartUCB",
        "driftbandit.checks.check_chooser",
    ]


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
