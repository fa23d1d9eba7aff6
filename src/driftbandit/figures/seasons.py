"""The share captured so far in a shop where tastes change with the season."""

from itertools import pairwise

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from driftbandit.figures import marks as draw
from driftbandit.figures.look import LIGHT, Theme, curves_of, names_in, pens_of

SETTLED = 0.02  # of the decisions: before, a share of very little jumps about


def captured(table: pl.DataFrame, changes: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """Per cent captured so far, with the seasons marked; one panel per shop.

    Columns of the table: seed, policy, decision, captured; of the changes: seed, decision.
    """
    pens, seeds = pens_of(names_in(table, "policy"), theme), table["seed"].unique(maintain_order=True).to_list()
    figure, panels = draw.panels([f"shop with seed {seed}" for seed in seeds], theme, across=1, lines=len(pens))
    for axes, seed in zip(panels, seeds, strict=True):
        drawn_from = pl.col("decision") >= SETTLED * pl.col("decision").max()
        part = table.filter(pl.col("seed") == seed).filter(drawn_from).with_columns(pl.col("captured") * 100)
        curves = curves_of(part, "decision", "captured")
        axes.set_xlim(0, float(curves[0].x[-1]))
        lowest, highest = (end([end(curve.mean) for curve in curves]) for end in (np.min, np.max))
        axes.set_ylim(min(1.1 * lowest, 0.0), max(1.15 * highest, 1.0))  # room for the seasons' names
        mark_seasons(axes, changes.filter(pl.col("seed") == seed)["decision"].to_list(), theme)
        drawn = {curve.policy: draw.line(axes, curve, pens, theme) for curve in curves}
        draw.thousands(axes)
        draw.caption(axes, "decision", "% captured so far\n(0: random choice, 100: an oracle)", theme)
        draw.name(axes, drawn, theme)
    return draw.settled(figure)


def mark_seasons(axes: Axes, changes: list[int], theme: Theme) -> None:
    """Shade every other season, and name each where there is room."""
    first, last = axes.get_xlim()
    edges, height = [first, *changes, last], axes.get_xaxis_transform()
    spans = list(pairwise(edges))
    shaded = [(start, stop - start) for start, stop in spans[1::2]]
    axes.broken_barh(shaded, (0, 1), color=theme.shade, transform=height, zorder=0)  # below the grid
    axes.vlines(changes, 0, 1, color=theme.muted, linewidth=1, transform=height)
    for number, (start, stop) in enumerate(spans, 1):
        if stop - start > 0.12 * (last - first):
            note = axes.text((start + stop) / 2, 0.97, f"season {number}", transform=height, color=theme.muted, fontsize=9)
            note.set(horizontalalignment="center", verticalalignment="top")
