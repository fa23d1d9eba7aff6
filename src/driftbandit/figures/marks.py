"""Drawing in a theme: panels, lines, bars, axes and names."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import matplotlib.dates
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_hex
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from driftbandit.core.types import Floats
from driftbandit.figures.look import Curve, Pen, Theme, contrast, ink, power_of_ten, short, spread, with_commas

WRAP = 3  # panels in a row
WIDTHS = {1: 8.5, 2: 12.0, 3: 14.0}  # inches, by panels in a row
FEET = ("geometric mean", "worst")  # at the foot of a group of rows
STRONGEST = 10.0  # the ratio, or its inverse, beyond which a colour gets no deeper
MOST_LINES = 12  # of text that fit beside a panel


def panels(
    titles: Sequence[str],
    theme: Theme,
    *,
    height: float = 4.2,
    lines: int = 0,
    across: int = WRAP,
    ratios: Sequence[float] | None = None,
) -> tuple[Figure, list[Axes]]:
    columns = 2 if len(titles) == 4 else min(len(titles), across)
    rows = math.ceil(len(titles) / columns)
    legend = 0.13 * lines if lines > MOST_LINES else 0.0
    size = (WIDTHS[columns], rows * (height + legend))
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1), facecolor=theme.page)
    grid = figure.add_gridspec(rows, columns, height_ratios=ratios)
    panels = [figure.add_subplot(grid[divmod(place, columns)]) for place in range(len(titles))]
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(plain(title), loc="left", color=theme.text, fontsize=12, fontweight="bold")
        axes.set_facecolor(theme.page)
        axes.set_axisbelow(True)
        axes.grid(visible=True, color=theme.grid, linewidth=0.8)
        axes.tick_params(which="both", colors=theme.muted, labelsize=10, length=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(theme.muted)
    return figure, panels


def plain(text: str) -> str:
    """The text with dollar signs escaped, which would otherwise start a formula."""
    return text.replace("$", r"\$")


def line(axes: Axes, curve: Curve, pens: Mapping[str, Pen], theme: Theme, *, marked: bool = True) -> Line2D:
    """A policy's line, with a few markers placed away from those of the next policy."""
    colour, dash, marker = pens[curve.policy]
    step = max(len(curve.x) // 6, 1)
    first = list(pens).index(curve.policy) * step // len(pens)
    (line,) = axes.plot(curve.x, curve.mean, color=colour, linestyle=dash, linewidth=1.8)
    line.set(marker=marker if marked else "", markevery=(first, step), markersize=5.5, markerfacecolor=theme.page)
    return line


def bar(axes: Axes, row: int, bar: Curve, colour: str, theme: Theme) -> None:
    mean, std = float(bar.mean[0]), float(bar.std[0])
    axes.barh(row, mean, height=0.62, color=colour, alpha=0.6)
    axes.errorbar(mean, row, xerr=std, color=theme.text, capsize=3, linewidth=1.2)
    number = axes.annotate(with_commas(round(mean)), (mean + std, row), (6, 0), textcoords="offset points")
    number.set(verticalalignment="center", color=theme.text, fontsize=10)


def points(axes: Axes, curve: Curve, pen: Pen) -> None:
    error = [curve.mean - curve.low(), curve.std]
    axes.errorbar(curve.x, curve.mean, error, fmt=pen.marker, color=pen.colour, capsize=2.5, markersize=5, linewidth=1)


def interval(axes: Axes, row: int, ends: Sequence[float], pen: Pen, theme: Theme) -> None:
    """A mean and the ends of its interval, or a number at the edge if it lies beyond."""
    mean, low, high = ends
    if mean < axes.get_xlim()[0]:
        note = axes.text(0.01, row, f"← {mean:,.3g}", transform=axes.get_yaxis_transform(), color=theme.text, fontsize=9)
        note.set_verticalalignment("center")
        return
    axes.plot([low, high], [row, row], color=pen.colour, linewidth=2)
    axes.plot([mean], [row], marker=pen.marker, color=pen.colour, markersize=6)


def heat_map(axes: Axes, edges: Sequence[int], chance: Floats, theme: Theme) -> None:
    """One row per choice, one column per episode; as an image, since viewers show seams between vector tiles."""
    shades = LinearSegmentedColormap.from_list("chance", [theme.page, theme.palette[2]])
    rows = np.arange(len(chance) + 1) - 0.5
    heat = axes.pcolormesh(edges, rows, chance, cmap=shades, vmin=0, rasterized=True)
    axes.grid(visible=False)
    bar = axes.figure.colorbar(heat, ax=axes, pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=theme.muted, labelsize=10, length=0)
    bar.set_label("chance", color=theme.text, fontsize=11)


def ratio_table(axes: Axes, rows: Sequence[tuple[str, Sequence[float | None]]], names: Sequence[str], theme: Theme) -> None:
    """A number and a colour in each cell, equally strong for a factor and its inverse; a row without numbers is a heading."""
    shades = LinearSegmentedColormap.from_list(
        "ratio", [theme.palette[2], theme.page, theme.palette[1]], N=257
    )  # odd: 1 is the page
    norm = LogNorm(1 / STRONGEST, STRONGEST, clip=True)
    for y, (name, ratios) in enumerate(rows):
        for x, ratio in enumerate(ratios):
            colour = theme.page if ratio is None else to_hex(shades(norm(ratio)))
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor=theme.page, linewidth=1.5))
            text = max("#000000", "#ffffff", key=lambda ink: contrast(ink, colour))
            note = axes.text(x, y, short(ratio), color=theme.muted if ratio is None else text, fontsize=8.5)
            note.set(horizontalalignment="center", verticalalignment="center")
        weight = "bold" if not ratios or name in FEET else "normal"
        axes.text(-0.6, y, plain(name), color=theme.text, fontsize=9, fontweight=weight, ha="right", va="center")
    axes.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(rows) - 0.5, -0.5), yticks=[])
    axes.set_xticks(
        range(len(names)), list(map(plain, names)), rotation=40, rotation_mode="anchor", ha="left", color=theme.text
    )
    axes.xaxis.tick_top()
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    bar = axes.figure.colorbar(ScalarMappable(norm, shades), ax=axes, location="bottom", fraction=0.02, pad=0.01, extend="both")
    bar.outline.set_visible(False)
    bar.set_ticks([0.1, 0.2, 0.5, 1, 2, 5, 10], labels=["0.1", "0.2", "0.5", "1", "2", "5", "10"], minor=False)
    bar.ax.tick_params(which="both", colors=theme.muted, labelsize=10, length=0)
    bar.set_label("mean final regret as a multiple of hindsight's: min(tuned, oracle)", color=theme.text, fontsize=11)


def guides(axes: Axes, curves: Sequence[Curve], theme: Theme) -> dict[str, Line2D]:
    """Thin lines of slopes 2/3 and 3/4, starting above the first points."""
    x = np.array([min(curve.x[0] for curve in curves), max(curve.x[-1] for curve in curves)])
    start = 1.5 * max(curve.mean[0] for curve in curves)
    slopes = {"slope 2/3": 2 / 3, "slope 3/4": 3 / 4}
    return {
        name: axes.plot(x, start * (x / x[0]) ** slope, color=theme.muted, linewidth=0.8)[0] for name, slope in slopes.items()
    }


def thousands(axes: Axes) -> None:
    grid = axes.get_gridspec()
    narrow = grid is not None and grid.ncols >= WRAP
    axes.xaxis.set_major_locator(MaxNLocator(3 if narrow else 5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(with_commas))


def dates(axes: Axes) -> None:
    scale = matplotlib.dates.AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(scale)
    axes.xaxis.set_major_formatter(matplotlib.dates.ConciseDateFormatter(scale))  # type: ignore[no-untyped-call]


def logarithmic(axes: Axes, name: Literal["x", "y"]) -> None:
    """Powers of ten where there are many; 1, 2, 5, 10 and thousands separators where there are few."""
    axes.set(**{f"{name}scale": "log"})
    axis = axes.xaxis if name == "x" else axes.yaxis
    low, high = axes.get_xlim() if name == "x" else axes.get_ylim()
    wide = high > 300 * low
    axis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(power_of_ten if wide and name == "x" else with_commas))


def caption(axes: Axes, x: str, y: str, theme: Theme) -> None:
    axes.set_xlabel(x, color=theme.text, fontsize=11)
    axes.set_ylabel(y, color=theme.text, fontsize=11)


def legend_style(theme: Theme) -> dict[str, Any]:
    return {"frameon": False, "fontsize": 10, "labelcolor": theme.text}


def name(axes: Axes, drawn: Mapping[str, Line2D], theme: Theme) -> None:
    """Names at the right end of their lines, or in a legend below if there are too many."""
    if sum(1 + name.count("\n") for name in drawn) > MOST_LINES:
        names = [plain(name).replace("\n", " ") for name in drawn]
        style = {"bbox_to_anchor": (0.5, -0.14), "ncols": 2, "handlelength": 4, **legend_style(theme)}
        axes.legend(list(drawn.values()), names, loc="upper center", **style)
        return
    bottom, _ = axes.get_ylim()
    for name, line in drawn.items():
        colour = ink(str(line.get_color()), theme)
        x, y = np.asarray(line.get_xydata(), dtype=np.float64)[-1]
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 1, "shrinkB": 1, "relpos": (0, 0.5)}
        end = (x, max(y, bottom))
        note = axes.annotate(plain(name), end, (1.05, 0.5), textcoords="axes fraction", arrowprops=leader, color=colour)
        note.set(verticalalignment="center", fontsize=10.5)


def settled(figure: Figure) -> Figure:
    """Lay the figure out once, then move the names at the lines' ends apart by their true size."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        names = [text for text in axes.texts if isinstance(text, Annotation) and text.anncoords == "axes fraction"]
        if names:
            height = max(Text.get_window_extent(name).height for name in names) / axes.bbox.height
            ends = axes.transAxes.inverted().transform(axes.transData.transform([name.xy for name in names]))
            for name, y in zip(names, spread(ends[:, 1].tolist(), 1.08 * height), strict=True):
                name.set_y(y)
    return figure
