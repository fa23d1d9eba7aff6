"""How close to hindsight: final regrets → ratios to the best choice that could be made knowing the outcome.

Roles: "tuned", a forgetter at width 1 with one of the memories; "oracle", told the change points, at width 1; "wide", either
of them at another width; "contender", what is compared with them.
"""

import polars as pl

from driftbandit.figures.look import short
from driftbandit.report.tables import Grid

MEASURES = {
    "ratio": "to min(tuned, oracle)",
    "ratio_tuned": "to tuned",
    "ratio_best": "to best",
    "worst_run": "worst run to tuned",
}


def ratios(final: pl.DataFrame) -> pl.DataFrame:
    """One row per world and contender, with nulls where it does not play.

    ``final``: columns group, world, policy, role, replicate, regret. ``tuned`` and ``oracle`` are the least mean regret among
    policies of that role, ``best`` among all three roles of hindsight. ``ratio`` divides the contender's mean by the smaller of
    tuned and oracle, ``ratio_tuned`` by tuned, ``ratio_best`` by best; ``worst_run`` divides its greatest regret by tuned.
    """
    regret, is_contender = pl.col("regret"), pl.col("role") == "contender"
    means = final.group_by("group", "world", "policy", "role", maintain_order=True).agg(
        regret=regret.mean(), std=regret.std(), worst=regret.max(), replicates=pl.len()
    )

    def least(of: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
        return regret.filter(of).min(), pl.col("policy").filter(of).sort_by(regret.filter(of)).first()

    tuned, tuned_by = least(pl.col("role") == "tuned")
    best, best_by = least(~is_contender)
    yardstick = means.group_by("group", "world", maintain_order=True).agg(
        tuned=tuned, oracle=least(pl.col("role") == "oracle")[0], best=best, tuned_by=tuned_by, best_by=best_by
    )
    contenders = means.filter(is_contender)
    names = contenders.select(pl.col("policy").unique(maintain_order=True))
    return (
        yardstick.join(names, how="cross")
        .join(contenders.drop("group", "role"), on=["world", "policy"], how="left", maintain_order="left")
        .with_columns(
            ratio=regret / pl.min_horizontal("tuned", "oracle"),
            ratio_tuned=regret / pl.col("tuned"),
            ratio_best=regret / pl.col("best"),
            worst_run=pl.col("worst") / pl.col("tuned"),
        )
    )


def summary(table: pl.DataFrame) -> pl.DataFrame:
    """One row per group and policy: the geometric mean and the worst of each measure over the worlds that it plays."""
    both = [
        (pl.col(name).log().mean().exp().alias(f"{name}_mean"), pl.col(name).max().alias(f"{name}_worst")) for name in MEASURES
    ]
    played = table.drop_nulls("ratio")
    return played.group_by("group", "policy", maintain_order=True).agg(
        pl.len().alias("worlds"), *(e for pair in both for e in pair)
    )


def summaries(table: pl.DataFrame) -> list[Grid]:
    """For each group: every policy's geometric mean / worst, best first."""
    rows = summary(table).sort("ratio_mean", maintain_order=True)
    counts = table.group_by("group", maintain_order=True).agg(pl.col("world").n_unique())
    return [
        Grid(
            ("policy", *MEASURES.values(), "worlds"),
            [
                (
                    row["policy"],
                    *(f"{short(row[f'{m}_mean'])} / {short(row[f'{m}_worst'])}" for m in MEASURES),
                    str(row["worlds"]),
                )
                for row in rows.filter(group=group).iter_rows(named=True)
            ],
            f"{group}: ratio of mean final regret, geometric mean / worst over {count} world{'s' if count > 1 else ''}",
        )
        for group, count in counts.iter_rows()
    ]


def by_world(table: pl.DataFrame) -> Grid:
    """What hindsight gives in each world, and every policy's ratio to it."""
    names = table["policy"].unique(maintain_order=True).to_list()
    yardsticks = ["tuned", "oracle", "best"]
    rows = []
    for (world,), part in table.group_by("world", maintain_order=True):
        regrets = [short(value) if value is None else f"{value:,.0f}" for value in part.select(yardsticks).row(0)]
        ratio = dict(part.select("policy", "ratio").iter_rows())
        rows.append((str(world), *regrets, *(short(ratio[name]) for name in names)))
    return Grid(("world", *yardsticks, *names), rows, "mean final regret in hindsight, and ratios to min(tuned, oracle)")
