"""The Bundesliga: home, draw or away?"""

from functools import partial

import polars as pl

from driftbandit.replay.real.table import RealTable, by_action, read

load = partial(read, "vcd", "Bundesliga", ["HomeTeam", "AwayTeam", "HomeGoals", "AwayGoals", "Date"])


def prepare(raw: pl.DataFrame) -> pl.DataFrame:
    """A round is a match, decided at kick-off and told two hours later. Form is the mean goal difference of a team's last
    matches. Two matches without a date are left out."""
    kick_off = pl.col("Date").str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_unit="us")
    lead = (pl.col("HomeGoals") - pl.col("AwayGoals")).cast(pl.Float64)
    matches = raw.drop_nulls("Date").select(
        home="HomeTeam", away="AwayTeam", lead=lead, season=kick_off.dt.offset_by("-6mo").dt.year(), decided=kick_off
    ).sort("decided", maintain_order=True).with_row_index("match")  # fmt: skip
    sides = [
        matches.select("match", team=side, side=pl.lit(side), lead=sign * pl.col("lead"))
        for side, sign in (("home", 1), ("away", -1))
    ]
    form = pl.concat(sides).sort("match").with_columns(form=form_over(10, "team"), here=form_over(5, "team", "side"))
    for side in ("home", "away"):
        part = form.filter(side=side).select("match", **{f"{side} form": "form", f"{side} form there": "here"})
        matches = matches.join(part, on="match", how="left", maintain_order="left")
    context = {f"{side} form{place}": pl.col(f"{side} form{place}") for side in ("home", "away") for place in ("", " there")}
    outcomes = {"home": pl.col("lead") > 0, "draw": pl.col("lead") == 0, "away": pl.col("lead") < 0}
    rewards = {name: outcome.cast(pl.Float64) for name, outcome in outcomes.items()}
    return by_action(matches.with_columns(known=pl.col("decided") + pl.duration(hours=2)), context, rewards, "season")


def form_over(count: int, *keys: str) -> pl.Expr:
    """The mean over earlier matches, where three goals per match count as 1; 0 before a team's first match."""
    return (pl.col("lead").shift(1).rolling_mean(count, min_samples=1).over(keys).fill_null(0.0) / 3).clip(-1.0, 1.0)


TABLE = RealTable(
    "the Bundesliga, 1963–2009: home, draw or away, by the form of both teams; told after the match",
    lambda: prepare(load()), "% right", 100.0, "season",
)  # fmt: skip
