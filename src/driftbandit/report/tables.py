"""Tables of text and verdicts, shown both on the page and in the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """A table; the first cell of each row names it."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@dataclass(frozen=True)
class Verdict:
    """A claim and what was measured; ``holds`` is None if the claim was not tested, or if it remains undecided."""

    statement: str
    measured: str
    holds: bool | None
    remark: str = ""
    expected: bool = True  # False for a statement that is known to be false
    undecided: bool = False  # tested, but chance alone could have made the difference

    @property
    def word(self) -> str:
        return {True: "holds", False: "fails", None: "undecided" if self.undecided else "not tested"}[self.holds]

    @property
    def surprising(self) -> bool:
        """Decided, and not as expected."""
        return self.holds is not None and self.holds != self.expected


def signed(number: float, form: str) -> str:
    """A number with a plus or a true minus sign: signed(-2, ".1f") is "−2.0"."""
    return f"{number:+{form}}".replace("-", "−")


def as_markdown(grid: Grid) -> str:
    """The caption, and the table with numbers aligned right."""
    lines = [grid.headings, ["---", *["---:"] * (len(grid.headings) - 1)], *grid.rows]
    return "\n".join([f"**{grid.caption}**", "", *(f"| {' | '.join(line)} |" for line in lines), ""])
