"""Real worlds as replays: tables with the outcome of every arm, and features that reveal nothing about the future.

>>> from driftbandit.replay import real
>>> sorted(real.TABLES)
['births', 'calls', 'covid', 'dow', 'flights', 'football', 'movies', 'power']
"""

from collections.abc import Iterator

from driftbandit.replay import flights
from driftbandit.replay.real import births, calls, covid, dow, football, movies, power
from driftbandit.replay.real.table import RealTable
from driftbandit.replay.replay import Replay

FLIGHTS = RealTable(
    "New York's flights, 2013: which of those to a destination within the hour; minus the arrival delay, known at landing",
    lambda: flights.prepare(**flights.load()), "minutes", 60.0, "day", together=7, noise=1.75,
    make=lambda table, block: flights.as_replay(table),
)  # fmt: skip

TABLES: dict[str, RealTable] = {
    "flights": FLIGHTS,
    "calls": calls.TABLE,
    "power": power.TABLE,
    "births": births.TABLE,
    "covid": covid.TABLE,
    "football": football.TABLE,
    "movies": movies.TABLE,
    "dow": dow.TABLE,
}


def all() -> Iterator[tuple[str, Replay]]:
    """Every table by its name, each prepared on request."""
    for name, table in TABLES.items():
        yield name, table.replay()
