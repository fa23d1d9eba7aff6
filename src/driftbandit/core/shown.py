"""How values are shown: arms cut short, and for notebooks a small table and a sparkline in HTML that fetches nothing."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from driftbandit.core.types import Floats

MOST, KEPT = 8, 6  # a longer arm is printed with its first KEPT features
WIDTH, HEIGHT = 120, 20  # of a line, in pixels
MOST_ROWS = 50  # of a table
CAPTION = "text-align:left;font-weight:bold;white-space:nowrap"


def shortened(values: Sequence[Any], most: int = MOST) -> str:
    """A list as Python prints it, cut short if it is long."""
    if len(values) <= most:
        return str(list(values))
    return f"[{', '.join(map(repr, values[:KEPT]))}, … {len(values) - KEPT:,} more]"


class Html(str):
    """Text that is HTML already, so that it is not escaped again."""


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table whose rows are named by their first cell; one of many rows is cut short, and says so."""
    every = list(rows)
    lines = [line("th", headings)] if headings else []
    lines += [line("td", row) for row in every[:MOST_ROWS]]
    if len(every) > MOST_ROWS:
        lines.append(line("td", [f"… {len(every) - MOST_ROWS:,} more"]))
    body = "".join(lines)
    return f'<table><caption style="{CAPTION}">{escape(caption)}</caption>{body}</table>'


def line(tag: str, cells: Sequence[object]) -> str:
    inner = (cell if isinstance(cell, Html) else escape(str(cell)) for cell in cells)
    return "<tr>" + "".join(f'<{tag} style="text-align:left">{text}</{tag}>' for text in inner) + "</tr>"


def spread(sample: Floats) -> str:
    """The mean and the standard deviation of a sample."""
    return f"{sample.mean():,.4g} ± {sample.std(ddof=min(1, len(sample) - 1)):,.3g}"


def sparkline(values: Floats) -> Html:
    """The values as a line, from left to right; those that are not finite are left out."""
    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known)]
    if len(known) < 2:
        return Html("")
    known = known[np.linspace(0, len(known) - 1, min(len(known), WIDTH)).astype(int)]
    x = np.linspace(1, WIDTH - 1, len(known))
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, heights(known), strict=True))
    return svg(f'<polyline points="{points}" fill="none" stroke="currentColor"/>')


def bars(values: Floats) -> Html:
    """One bar per value, up or down from zero: the shape of an arm, or of θ̂."""
    known = np.nan_to_num(np.asarray(values, np.float64)[:WIDTH], posinf=0.0, neginf=0.0)
    *tops, zero = heights(np.append(known, 0.0))
    wide = WIDTH / max(len(tops), 1)
    shapes = (
        f'<rect x="{k * wide:.1f}" y="{min(top, zero):.1f}" width="{0.8 * wide:.1f}" height="{abs(top - zero):.1f}"/>'
        for k, top in enumerate(tops)
    )
    return svg(f'<g fill="currentColor">{" ".join(shapes)}</g>')


def heights(values: Floats) -> list[float]:
    """The height of each value in the picture."""
    low, high = float(values.min()), float(values.max())
    share = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    scaled: list[float] = (HEIGHT - 1 - (HEIGHT - 2) * share).tolist()
    return scaled


def svg(inner: str) -> Html:
    return Html(f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{inner}</svg>')
