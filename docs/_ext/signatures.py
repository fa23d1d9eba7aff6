"""Docstrings as they are written in the code, read as reStructuredText; signatures with the short names of types."""

import re
from typing import Any

from sphinx.application import Sphinx

ARRAY = r"(?:numpy\.)?ndarray\[tuple\[(?:typing\.)?Any, \.\.\.\], (?:numpy\.)?dtype\[(?:numpy\.)?%s\[(?:typing\.)?Any\]\]\]"
SHORTER = [
    (ARRAY % "floating", "Floats"),
    (ARRAY % "integer", "Ints"),
    (r"(?:numpy\._typing\._array_like\.)?_Buffer \| .*?_NestedSequence\[complex \| bytes \| str\]", "ArrayLike"),
    (r"\b(?:driftbandit|collections|typing|numpy|polars|matplotlib|pathlib)\.(?:\w+\.)*(?=[A-Z])", ""),
    (r" = <factory>", " = …"),
    (r"3\.141592653589793", "π"),
]
MARKUP = [
    (r"(``[^`]+``)(?=[^\s.,;:!?)\]}'\"/-])", r"\1\\ "),  # ``discount``^k
    (r"\|", r"\\|"),  # |x|, no substitution
    (r"^(\s*)Parameters, with the paper's symbols:$", r"\1Parameters:"),
]


def substitute(rules: list[tuple[str, str]], text: str) -> str:
    for pattern, replacement in rules:
        text = re.sub(pattern, replacement, text)
    return text


def sign(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    silent = returns in (None, "None") or what == "class"
    return signature and substitute(SHORTER, signature), None if silent else substitute(SHORTER, returns or "")


def mark_up(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [substitute(MARKUP, line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-signature", sign)
    app.connect("autodoc-process-docstring", mark_up, priority=100)  # before Napoleon reads the sections
    return {"parallel_read_safe": True, "parallel_write_safe": True}
