"""One policy seen from inside: its restarts, its choices, its history."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from driftbandit.figures import marks as draw
from driftbandit.figures.look import LIGHT, Theme, with_commas


def restarts(frame: pl.DataFrame, restarts: Sequence[int], changes: Sequence[int], *, theme: Theme = LIGHT) -> Figure:
    """One run of RestartUCB: the error of its estimate, its epochs, the world's changes. Columns: round, error."""
    figure, (axes,) = draw.panels([""], theme)
    rounds, error = frame["round"].to_numpy(), frame["error"].to_numpy()
    edges = [rounds[0], *restarts, rounds[-1]]
    shaded = [(start, stop - start) for start, stop in zip(edges[1::2], edges[2::2], strict=False)]
    height = axes.get_xaxis_transform()
    axes.broken_barh(shaded, (0, 1), color=theme.shade, transform=height, label="every other epoch")
    axes.vlines(restarts, 0, 0.05, color=theme.muted, linewidth=1, transform=height, label="restart")
    axes.vlines(changes, 0, 1, color=theme.text, linewidth=2.5, transform=height, label="the world changes")
    axes.plot(rounds, error, color=theme.palette[1], linewidth=1.5, label="error of the estimate")
    axes.set_xlim(rounds[0], rounds[-1])
    axes.set_ylim(0, 1.08 * error.max())
    axes.grid(visible=False)
    draw.thousands(axes)
    draw.caption(axes, "round", "distance from estimate to truth", theme)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, **draw.legend_style(theme))
    return draw.settled(figure)


def meta_choices(frame: pl.DataFrame, pool: Sequence[int], *, theme: Theme = LIGHT) -> Figure:
    """One run of BanditOverBandit. Columns: episode, start, stop, choice, memory, chance, reward."""
    titles = ["Probability of each memory (shade) and the one chosen (dots)", "Reward of each episode"]
    figure, (upper, lower) = draw.panels(titles, theme, height=3.0, across=1, ratios=[2.5, 1])
    edges = [*frame["start"], frame["stop"][-1]]
    draw.heat_map(upper, edges, np.array(frame["chance"].to_list()).T, theme)
    upper.stairs(frame["choice"], edges, baseline=None, color=theme.palette[1], linewidth=0.8, alpha=0.5)
    upper.plot((frame["start"] + frame["stop"]) / 2, frame["choice"], "o", color=theme.palette[1], markersize=4)
    upper.set_yticks(range(len(pool)), [with_commas(memory) for memory in pool])
    lower.stairs(frame["reward"], edges, baseline=None, color=theme.palette[3], linewidth=1.5)
    lower.set_ylim(0, 1)
    for axes, name in ((upper, "memory (rounds)"), (lower, "scaled to [0, 1]")):
        axes.set_xlim(edges[0], edges[-1])
        draw.thousands(axes)
        draw.caption(axes, "round", name, theme)
    return draw.settled(figure)


def history(table: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """The course of AdaptiveUCB or DetectUCB: rewards and, below them, the memory in use, with a mark at each restart.

    ``table``: what ``policy.history()`` returns. Columns: round, reward, memory, restarts.
    """
    figure, (upper, lower) = draw.panels(["mean reward", "memory in use"], theme, height=2.6, across=1, ratios=[1, 1])
    rounds = table["round"].to_numpy()
    restarted = rounds[1:][np.diff(table["restarts"].to_numpy()) > 0]
    upper.plot(rounds, table["reward"], color=theme.palette[0], linewidth=1.5)
    lower.step(rounds, table["memory"], where="post", color=theme.palette[1], linewidth=1.5)
    for axes, name in ((upper, "reward"), (lower, "rewards remembered")):
        for place in restarted:
            axes.axvline(place, color=theme.muted, linewidth=0.8, linestyle=":")
        axes.set_xlim(rounds[0], rounds[-1])
        draw.thousands(axes)
        draw.caption(axes, "round (dotted: a restart)", name, theme)
    draw.logarithmic(lower, "y")
    return draw.settled(figure)
