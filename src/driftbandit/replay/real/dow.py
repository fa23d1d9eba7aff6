"""The Dow Jones since 1885: own the stocks tomorrow, or cash?"""

from functools import partial

import polars as pl

from driftbandit.replay.real.table import RealTable, by_action, read

MOST = 5.0  # % per day: changes are clipped to this

load = partial(read, "stevedata", "DJIA", ["date", "value"])


def prepare(raw: pl.DataFrame) -> pl.DataFrame:
    """A round is a trading day, decided at the previous close and told at its own. Cash earns nothing; there are no interest,
    dividends or fees."""
    change = 100 * (pl.col("value") / pl.col("value").shift(1) - 1)
    table = raw.with_columns(pl.col("date").str.to_date(), change=change).with_row_index("number")
    number = pl.col("number").cast(pl.Int64)
    table = table.with_columns(year=pl.col("date").dt.year(), decided=number - 1, known=number)
    before = pl.col("change").shift(1)
    context = {
        "yesterday": (before / 3).clip(-1.0, 1.0),
        "five days' mean": before.rolling_mean(5).clip(-1.0, 1.0),
        "twenty days' mean": (2 * before.rolling_mean(20)).clip(-1.0, 1.0),
        "twenty days' deviation": (before.rolling_std(20) / 3).clip(0.0, 1.0),
    }
    stocks = 0.5 + pl.col("change").clip(-MOST, MOST) / (2 * MOST)
    return by_action(table, context, {"stocks": stocks, "cash": pl.lit(0.5)}, "year")


TABLE = RealTable(
    "the Dow Jones, 1885–2023: own the stocks for a day, or cash; the day's change, at most 5 %",
    lambda: prepare(load()), "% in 1,000 days", 1000 * 2 * MOST, "year",
)  # fmt: skip
