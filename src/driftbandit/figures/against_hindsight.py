"""Contenders compared with the best in hindsight: ratios in simulated worlds, gains on real tables."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from driftbandit.figures import marks as draw
from driftbandit.figures.look import LIGHT, Curve, Theme, kin_pens, names_in, pens_of, with_commas


def suite(table: pl.DataFrame, *, theme: Theme = LIGHT) -> Figure:
    """Ratios to hindsight: one row per world, one column per policy; for each group the geometric mean and the worst.

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
    """What policies have gained so far over a baseline policy, with intervals; one panel per baseline.

    Columns: over (the panel's title), policy, the block of time (under any name, a date or a number), gain, low, high.
    """
    block = table.columns[2]
    pens = kin_pens(names_in(table, "policy"), theme)
    figure, panels = draw.panels(names_in(table, "over"), theme, height=4.8, across=1, lines=len(pens))
    for axes, (_, part) in zip(panels, table.group_by("over", maintain_order=True), strict=True):
        drawn = {}
        for (name,), curve in part.group_by("policy", maintain_order=True):
            x, gain, low, high = (curve[key].to_numpy() for key in (block, "gain", "low", "high"))
            if not gain.any():
                continue  # a policy's gain over itself
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
    """Gains over the best in hindsight with their intervals: one panel per table, one row per policy.

    Columns: table, unit, policy, hindsight (whether it was tuned in hindsight), difference, least, most. The axis covers the
    best three quarters; anything further below is a number at its edge.
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
        draw.caption(axes, f"{part['unit'][0]}, gained over the best in hindsight", "", theme)
    return draw.settled(figure)
