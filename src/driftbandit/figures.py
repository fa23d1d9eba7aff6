"""Tables to figures. Nothing global to matplotlib is left changed, so threads may draw."""

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from threading import Lock

import matplotlib
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter

from driftbandit import _draw as draw
from driftbandit._look import (
    DARK,
    LIGHT,
    Curve,
    Theme,
    curves_by_world,
    curves_of,
    kin_pens,
    names_in,
    pens_of,
    with_commas,
    worth_seeing,
)

__all__ = [
    "DARK",
    "LIGHT",
    "Figure",
    "Theme",
    "as_svg",
    "gains",
    "history",
    "labelled_lines",
    "memory_growth",
    "meta_choices",
    "real",
    "regret_by_factor",
    "regret_over_time",
    "restarts",
    "running_time",
    "save",
    "scaling",
    "suite",
]

_svg_settings = Lock()


def regret_over_time(table: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """Mean regret with a band of one standard deviation. Columns: world, policy, replicate, round, regret."""
    pens = pens_of(names_in(table, "policy"), theme)
    worlds = curves_by_world(table, "round", "regret")
    figure, panels = draw.panels(list(worlds), theme, lines=max(map(len, worlds.values())))
    for axes, curves in zip(panels, worlds.values(), strict=True):
        opacity = min(0.15, 1 / len(curves))
        for curve in curves:
            colour = pens[curve.policy].colour
            axes.fill_between(curve.x, curve.low(), curve.mean + curve.std, color=colour, alpha=opacity, linewidth=0)
        drawn = {curve.policy: draw.line(axes, curve, pens, theme) for curve in curves}
        axes.set_xlim(0, max(curve.x[-1] for curve in curves))
        draw.thousands(axes)
        axes.set_ylim(*worth_seeing(curves))
        draw.logarithmic(axes, "y")
        draw.caption(axes, "round", "dynamic regret", theme)
        draw.name(axes, drawn, theme)
    return draw.settled(figure)


def regret_by_factor(final: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """Final regret against the factor on the theory's memory. Columns: world, policy, factor, replicate, regret."""
    pens = pens_of(names_in(final, "policy"), theme)
    worlds = curves_by_world(final, "factor", "regret")
    figure, axes_of = draw.panels(list(worlds), theme, lines=max(map(len, worlds.values())))
    for axes, curves in zip(axes_of, worlds.values(), strict=True):
        drawn = {}
        for curve in curves:
            draw.points(axes, curve, pens[curve.policy])
            drawn[curve.policy] = draw.line(axes, curve, pens, theme, marked=False)
        draw.logarithmic(axes, "x")
        draw.logarithmic(axes, "y")
        axes.set_xticks(curves[0].x, [f"{factor:g}" for factor in curves[0].x])
        draw.caption(axes, "factor on Theorem 2's memory", "final dynamic regret", theme)
        draw.name(axes, drawn, theme)
    return draw.settled(figure)


def running_time(timing: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """Mean time of a round, with its standard deviation. Columns: world, policy, replicate, seconds, rounds."""
    pens = pens_of(names_in(timing, "policy"), theme)
    cost = timing.with_columns(pl.lit(0).alias("x"), nanoseconds=1e9 * pl.col("seconds") / pl.col("rounds"))
    worlds = curves_by_world(cost, "x", "nanoseconds")
    figure, panels = draw.panels(list(worlds), theme, height=1.2 + 0.36 * len(pens))
    for axes, bars in zip(panels, worlds.values(), strict=True):
        for row, bar in enumerate(bars):
            draw.bar(axes, row, bar, pens[bar.policy].colour, theme)
        axes.set_yticks(range(len(bars)), [bar.policy for bar in bars])
        axes.set_ylim(len(pens) - 0.5, -0.5)
        axes.set_xlim(0, 1.2 * max(bar.mean[0] + bar.std[0] for bar in bars))
        axes.grid(visible=False)
        draw.thousands(axes)
        draw.caption(axes, "nanoseconds a round", "", theme)
    return draw.settled(figure)


def memory_growth(frame: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """The size of each policy's state as the horizon grows. Columns: policy, horizon, bytes."""
    pens = pens_of(names_in(frame, "policy"), theme)
    curves = curves_of(frame, "horizon", "bytes")
    figure, (axes,) = draw.panels([""], theme, lines=len(curves))
    drawn = {}
    for curve in curves:
        grows = curve.mean[-1] > 1.1 * curve.mean[0]
        drawn[f"{curve.policy}: {'grows with w' if grows else 'constant'}"] = draw.line(axes, curve, pens, theme)
    draw.logarithmic(axes, "x")
    draw.logarithmic(axes, "y")
    axes.yaxis.set_major_formatter(EngFormatter(unit="B"))
    draw.caption(axes, "horizon (rounds)", "memory (bytes)", theme)
    draw.name(axes, drawn, theme)
    return draw.settled(figure)


def labelled_lines(frame: pl.DataFrame, x: str, y: str, *, theme: Theme = LIGHT) -> Figure:
    """Lines on logarithmic axes, named at their ends. Columns: name, x, y; the last two arguments name the axes."""
    curves = curves_of(frame.rename({"name": "policy"}), "x", "y")
    pens = pens_of([curve.policy for curve in curves], theme)
    figure, (axes,) = draw.panels([""], theme, lines=len(curves))
    drawn = {curve.policy: draw.line(axes, curve, pens, theme) for curve in curves}
    draw.logarithmic(axes, "x")
    draw.logarithmic(axes, "y")
    draw.caption(axes, x, y, theme)
    draw.name(axes, drawn, theme)
    return draw.settled(figure)


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
    draw.caption(axes, "round", "distance of estimate and truth", theme)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, **draw.legend_style(theme))
    return draw.settled(figure)


def meta_choices(frame: pl.DataFrame, pool: Sequence[int], *, theme: Theme = LIGHT) -> Figure:
    """One run of bandits over bandits. Columns: episode, start, stop, choice, memory, chance, reward."""
    titles = ["Chance of each memory (shade) and the one chosen (dots)", "Reward of each episode"]
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


def scaling(table: pl.DataFrame, fits: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """Final regret as the horizon grows, and the fitted power of it.

    Columns of the table: world, policy, replicate, horizon, regret; of the fits: world, policy, exponent, low, high.
    """
    pens = pens_of(names_in(table, "policy"), theme)
    powers = {(row["world"], row["policy"]): row for row in fits.iter_rows(named=True)}
    worlds = curves_by_world(table, "horizon", "regret")
    figure, panels = draw.panels(list(worlds), theme, lines=2 + 2 * max(map(len, worlds.values())))
    for axes, (world, curves) in zip(panels, worlds.items(), strict=True):
        drawn = draw.guides(axes, curves, theme)
        for curve in curves:
            fit, label = powers.get((world, curve.policy)), curve.policy
            draw.points(axes, curve, pens[curve.policy])
            if fit:
                label += f"\n{fit['exponent']:.2f} [{fit['low']:.2f}, {fit['high']:.2f}]"
                curve = curve.fitted(fit["exponent"])
            drawn[label] = draw.line(axes, curve, pens, theme, marked=False)
        draw.logarithmic(axes, "x")
        draw.logarithmic(axes, "y")
        draw.caption(axes, "horizon (rounds)", "final dynamic regret", theme)
        draw.name(axes, drawn, theme)
    return draw.settled(figure)


def suite(table: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """Ratios to hindsight: a row a world, a column a policy, groups apart, each with its geometric mean and its worst.

    Columns: group, world, policy, ratio (null where a policy does not play).
    """
    policies = names_in(table, "policy")
    rows: list[tuple[str, list[float | None]]] = []
    for group in names_in(table, "group"):
        part = table.filter(pl.col("group") == group)
        wide = part.pivot(on="policy", index="world", values="ratio", maintain_order=True)
        rows += [(group, []), *((str(world), list(ratios)) for world, *ratios in wide.select("world", *policies).iter_rows())]
        if len(wide) > 1:
            foot = part.group_by("policy").agg(mean=pl.col("ratio").log().mean().exp(), worst=pl.col("ratio").max())
            by_policy = {name: feet for name, *feet in foot.iter_rows()}
            rows += [(name, [by_policy[policy][k] for policy in policies]) for k, name in enumerate(draw.FEET)]
    figure, (axes,) = draw.panels([""], theme, height=1.8 + 0.24 * len(rows))
    figure.set_figwidth(3.6 + 0.62 * len(policies))
    draw.ratio_table(axes, rows, policies, theme)
    return draw.settled(figure)


def gains(table: pl.DataFrame, *, unit: str, theme: Theme = LIGHT) -> Figure:
    """What policies have gained so far on another, with its interval, and a panel for each other.

    Columns: over (the panel's title), policy, a block of time (its name, a date or a number), gain, low, high.
    """
    block = table.columns[2]
    pens = kin_pens(names_in(table, "policy"), theme)
    figure, panels = draw.panels(names_in(table, "over"), theme, height=4.8, across=1, lines=len(pens))
    for axes, (_, part) in zip(panels, table.group_by("over", maintain_order=True), strict=True):
        drawn = {}
        for (name,), curve in part.group_by("policy", maintain_order=True):
            x, gain, low, high = (curve[key].to_numpy() for key in (block, "gain", "low", "high"))
            if not gain.any():
                continue  # a policy's gain on itself
            axes.fill_between(x, low, high, color=pens[str(name)].colour, alpha=0.08, linewidth=0)
            drawn[str(name)] = draw.line(axes, Curve(str(name), x, gain, high - low), pens, theme)
        axes.axhline(0, color=theme.muted, linewidth=1)
        axes.margins(x=0)
        if table[block].dtype.is_temporal():
            draw.dates(axes)
        else:
            draw.thousands(axes)
        axes.yaxis.set_major_formatter(FuncFormatter(with_commas))
        draw.caption(axes, block, f"{unit} gained so far", theme)
        draw.name(axes, drawn, theme)
    return draw.settled(figure)


def real(table: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """Gains on the best in hindsight with their intervals: a panel for each table, a row for each policy.

    Columns: table, unit, policy, hindsight (whether it was tuned so), difference, least, most. The axis is for the better three
    quarters; what lies further below is a number at its edge.
    """
    table = table.with_columns(name=pl.col("policy").str.extract(r"^(\S+)"))
    pens = pens_of(names_in(table, "name"), theme)
    figure, panels = draw.panels(names_in(table, "table"), theme, height=1.2 + 0.26 * len(pens), across=2)
    for axes, (_, part) in zip(panels, table.group_by("table", maintain_order=True), strict=True):
        kept = part.filter(pl.col("difference") >= pl.col("difference").quantile(0.25, "lower"))
        ends = np.array([kept["least"].min(), max(0.0, float(kept["most"].to_numpy().max()))])
        axes.set_xlim(*(ends + 0.08 * (ends[1] - ends[0]) * np.array([-1, 1])))
        for row, one in enumerate(part.iter_rows(named=True)):
            draw.interval(axes, row, [one[key] for key in ("difference", "least", "most")], pens[one["name"]], theme)
        names = [f"{name} (hindsight)" if tuned else name for name, tuned in part.select("name", "hindsight").iter_rows()]
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.axvline(0, color=theme.muted, linewidth=1)
        draw.thousands(axes)
        draw.caption(axes, f"{part['unit'][0]}, gained on the best in hindsight", "", theme)
    return draw.settled(figure)


def history(table: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """How a policy led by evidence went: its rewards, and below them the memory in use, with a mark at each restart.

    ``table``: what ``policy.history()`` gives. Columns: round, reward, memory, restarts.
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


def as_svg(figure: Figure) -> str:
    """The figure as an <svg> element, its text as text; the same figure gives the same characters."""
    written = StringIO()
    with _svg_settings, matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "driftbandit"}):
        figure.savefig(written, format="svg", dpi=160, metadata={"Date": None, "Creator": None})
    text = written.getvalue()
    return text[text.index("<svg") :]


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write name.png and name.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", dpi=160)
    (folder / f"{name}.svg").write_text(as_svg(figure), encoding="utf-8")
