"""Figures to files. No global setting of matplotlib stays changed, so threads may draw."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from threading import Lock

import matplotlib
from matplotlib.figure import Figure

from driftbandit.figures.look import DARK, LIGHT, Theme

_svg_settings = Lock()


def as_svg(figure: Figure) -> str:
    """The figure as an <svg> element, with text kept as text; the same figure gives the same characters."""
    written = StringIO()
    with _svg_settings, matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "driftbandit"}):
        figure.savefig(written, format="svg", dpi=160, metadata={"Date": None, "Creator": None})
    text = written.getvalue()
    return text[text.index("<svg") :]


def save(figure: Figure, folder: str | Path, name: str) -> None:
    """Write name.png and name.svg: ``save(study.draw(), "out", "regret")`` writes out/regret.png and out/regret.svg."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", dpi=160)
    (folder / f"{name}.svg").write_text(as_svg(figure), encoding="utf-8")


def save_both(draw: Callable[[Theme], Figure], folder: Path, name: str) -> None:
    """The figure in both themes: name.png, name.svg, name-dark.png, name-dark.svg."""
    save(draw(LIGHT), folder, name)
    save(draw(DARK), folder, f"{name}-dark")
