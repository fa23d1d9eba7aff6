"""A bank's calls: for how many calls to staff the five minutes after next?"""

from functools import partial

import polars as pl

from driftbandit.replay.real.table import RealTable, by_action, read, shortfall, within

DAY = 169  # intervals of five minutes, from 7:00 to 21:05
WEEK = 5 * DAY  # there are only weekdays
STAFF = (60, 120, 180, 240, 300)  # calls that can be taken
WORST = 300.0  # the cost in calls from which the reward is 0

load = partial(read, "fpp2", "calls", ["x"])


def prepare(raw: pl.DataFrame) -> pl.DataFrame:
    """A round is an interval, decided when the one before it begins: counts are known up to two intervals before it."""
    table = raw.with_row_index("number").select(
        pl.col("x").cast(pl.Float64).alias("calls"),
        day=pl.col("number") // DAY,
        time=pl.col("number") % DAY / DAY,
        decided=pl.col("number").cast(pl.Int64) - 1,
        known=pl.col("number").cast(pl.Int64) + 1,
    )
    context = {
        "last week": within(0, 500, pl.col("calls").shift(WEEK)),
        "yesterday": within(0, 500, pl.col("calls").shift(DAY)),
        "last but one": within(0, 500, pl.col("calls").shift(2)),
        "time of day": pl.col("time"),
    }
    return by_action(table, context, {str(n): 1 - shortfall("calls", n, 1.0, 0.4) / WORST for n in STAFF}, "day")


TABLE = RealTable(
    "a bank's calls in five minutes, 2003: staff for 60, 120, 180, 240 or 300 of them; a call missed costs 1, idle staff 0.4",
    lambda: prepare(load()), "calls", WORST, "day", together=5,
)  # fmt: skip
