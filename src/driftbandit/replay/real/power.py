"""Victoria's electricity: how much to buy for a half-hour, a day ahead?"""

from functools import partial
from math import pi

import polars as pl

from driftbandit.replay.real.table import RealTable, by_action, read, shortfall, within

DAY = 48  # half-hours
BOUGHT = (3.5, 4.0, 4.5, 5.0, 5.5, 6.0)  # GW
WORST = 5.0  # the cost, as GW too much, from which the reward is 0

load = partial(read, "fpp2", "elecdemand", ["Demand", "WorkDay", "Temperature"])


def prepare(raw: pl.DataFrame) -> pl.DataFrame:
    """A round is a half-hour, decided 48 half-hours ahead: by then the one 49 before it is over, and of its own day only the
    calendar is known. The reward is told when the half-hour is over, 49 rounds after the decision."""
    number = pl.col("number").cast(pl.Int64)
    table = raw.with_row_index("number").with_columns(day=number // DAY, decided=number - DAY, known=number + 1)
    turn = 2 * pi * (number % DAY) / DAY
    context = {
        "last week": within(2, 10, pl.col("Demand").shift(7 * DAY)),
        "two days ago": within(2, 10, pl.col("Demand").shift(2 * DAY)),
        "now": within(2, 10, pl.col("Demand").shift(DAY + 1)),
        "temperature now": within(0, 45, pl.col("Temperature").shift(DAY + 1)),
        "work day": pl.col("WorkDay"),
        "sine of the day": turn.sin(),
        "cosine of the day": turn.cos(),
    }
    return by_action(table, context, {f"{gw} GW": 1 - shortfall("Demand", gw, 3.0, 1.0) / WORST for gw in BOUGHT}, "day")


TABLE = RealTable(
    "Victoria's electricity, 2014: buy 3.5 to 6 GW for a half-hour, a day ahead; a GW missing costs 3, one too many 1",
    lambda: prepare(load()), "MW too many", 1000 * WORST, "day", together=7,
)  # fmt: skip
