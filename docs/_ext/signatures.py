"""Docstrings as they are written in the code, read as reStructuredText; signatures with the short names of types."""

import re
from collections.abc import Callable
from typing import Any

from sphinx.application import Sphinx

Rules = list[tuple[str, str | Callable[[re.Match[str]], str]]]

ANY, NUMPY = r"~?(?:typing\.)?Any", r"~?(?:numpy\.)?"
ARRAY = rf"{NUMPY}ndarray\[tuple\[{ANY}, \.\.\.\], {NUMPY}dtype\[{NUMPY}%s\[{ANY}\]\]\]"
SHORTER: Rules = [
    (ARRAY % "floating", "Floats"),
    (ARRAY % "integer", "Ints"),
    (r"(?:numpy\._typing\._array_like\.)?_Buffer \| .*?_NestedSequence\[complex \| bytes \| str\]", "ArrayLike"),
    (r"\b(?:driftbandit|collections|typing|numpy|polars|matplotlib|pathlib)\.(?:\w+\.)*(?=[A-Z])", ""),
    (r" = <factory>", " = …"),
    (r"3\.141592653589793", "π"),
]
MARKUP: Rules = [
    (r"(``[^`]+``(?=[\s.,;:!?)\]}'\"/-]|$))|(``[^`]+``)", lambda found: found[1] or found[2] + r"\ "),  # ``discount``^k
    (r"\|", r"\\|"),  # |x|, no substitution
    (r"^(\s*)Parameters, with the paper's symbols:$", r"\1Parameters:"),
]


def substitute(rules: Rules, text: str) -> str:
    for pattern, replacement in rules:
        text = re.sub(pattern, replacement, text)
    return text


def sign(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    silent = returns in (None, "None") or what == "class"
    return signature and substitute(SHORTER, signature), None if silent else substitute(SHORTER, returns or "")


def mark_up(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    marked = [substitute(MARKUP, line) for line in lines]
    if what in ("property", "attribute") and marked:
        marked[0] = marked[0].replace(": ", " – ")  # or Napoleon takes what stands before for a type
    lines[:] = "\n".join(marked).replace(" Its columns:\n", "\n\nIts columns:\n").split("\n")


def skip(app: Sphinx, what: str, name: str, thing: Any, skipped: bool, options: Any) -> bool | None:
    """The fields of a named tuple stand in its signature."""
    return True if (getattr(thing, "__doc__", None) or "").startswith("Alias for field number") else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-signature", sign)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", mark_up, priority=100)  # before Napoleon reads the sections
    return {"parallel_read_safe": True, "parallel_write_safe": True}
