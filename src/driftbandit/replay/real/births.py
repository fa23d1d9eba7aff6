"""Births in the United States: for how many births to staff a day, a week ahead?"""

from functools import partial
from math import pi

import polars as pl

from driftbandit.replay.real.table import RealTable, by_action, read, shortfall, within

STAFF = (8000, 9000, 10_000, 11_000, 12_000)
WORST = 4000.0  # the cost in births from which the reward is 0
AHEAD = 7  # days

load = partial(read, "mosaicData", "Births", ["date", "births"])


def prepare(raw: pl.DataFrame) -> pl.DataFrame:
    """A round is a day, decided on the morning a week before it and told when it is over. Births are known up to eight days
    before it."""
    number = pl.col("number").cast(pl.Int64)
    table = raw.with_row_index("number").with_columns(
        pl.col("date").str.to_date(), pl.col("births").cast(pl.Float64), decided=number - AHEAD, known=number + 1
    )
    table = table.with_columns(month=pl.col("date").dt.truncate("1mo"))
    turn = 2 * pi * pl.col("date").dt.ordinal_day() / 366
    context = {
        "Saturday": pl.col("date").dt.weekday() == 6,
        "Sunday": pl.col("date").dt.weekday() == 7,
        "two weeks ago": within(6000, 14_000, pl.col("births").shift(14)),
        "four weeks' mean": within(6000, 14_000, pl.col("births").shift(AHEAD + 1).rolling_mean(28)),
        "sine of the year": turn.sin(),
        "cosine of the year": turn.cos(),
    }
    return by_action(table, context, {str(n): 1 - shortfall("births", n, 1.0, 0.5) / WORST for n in STAFF}, "month")


TABLE = RealTable(
    "births in the United States, 1969–1988: staff for 8,000 to 12,000 of them on a day, a week ahead; one too few costs 1, "
    "one too many 0.5",
    lambda: prepare(load()), "births", WORST, "month", together=3,
)  # fmt: skip
