"""Results of a study: regret over time and by factor, running time, memory, exponents."""

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from driftbandit.figures import marks as draw
from driftbandit.figures.look import LIGHT, Theme, curves_by_world, curves_of, names_in, pens_of, worth_seeing


def regret_over_time(table: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """Mean regret with a band of one standard deviation. Columns: world, policy, replicate, round, regret."""
    pens = pens_of(names_in(table, "policy"), theme)
    draws = table["replicate"].n_unique()
    said = f"dynamic regret, mean ± std of {draws} draws" if draws > 1 else "dynamic regret of one draw"
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
        draw.caption(axes, f"round (of {curves[0].x[-1]:,.0f})", said, theme)
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
    """Median time per round, with the standard deviation. Columns: world, policy, replicate, seconds, rounds."""
    pens = pens_of(names_in(timing, "policy"), theme)
    cost = timing.with_columns(pl.lit(0).alias("x"), nanoseconds=1e9 * pl.col("seconds") / pl.col("rounds"))
    worlds = curves_by_world(cost, "x", "nanoseconds", middle=pl.Expr.median)
    figure, panels = draw.panels(list(worlds), theme, height=1.2 + 0.36 * len(pens))
    for axes, bars in zip(panels, worlds.values(), strict=True):
        for row, bar in enumerate(bars):
            draw.bar(axes, row, bar, pens[bar.policy].colour, theme)
        axes.set_yticks(range(len(bars)), [bar.policy for bar in bars])
        axes.set_ylim(len(pens) - 0.5, -0.5)
        axes.set_xlim(0, 1.2 * max(bar.mean[0] + bar.std[0] for bar in bars))
        axes.grid(visible=False)
        draw.thousands(axes)
        draw.caption(axes, "time per round (ns)", "", theme)
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
    """Lines on logarithmic axes, named at their ends. Columns: name, x, y; the arguments x and y label the axes."""
    curves = curves_of(frame.rename({"name": "policy"}), "x", "y")
    pens = pens_of([curve.policy for curve in curves], theme)
    figure, (axes,) = draw.panels([""], theme, lines=len(curves))
    drawn = {curve.policy: draw.line(axes, curve, pens, theme) for curve in curves}
    draw.logarithmic(axes, "x")
    draw.logarithmic(axes, "y")
    draw.caption(axes, x, y, theme)
    draw.name(axes, drawn, theme)
    return draw.settled(figure)


def scaling(table: pl.DataFrame, fits: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """Final regret as the horizon grows, with fitted exponents.

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
