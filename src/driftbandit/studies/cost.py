"""What a study will cost, before it starts: rounds, time, memory; studies beyond a limit are refused.

Rough on purpose: enough to tell a minute from a year, and what fits in memory from what does not.
"""

import os
from collections.abc import Mapping
from numbers import Integral
from typing import Any, NamedTuple

from rich.filesize import decimal

from driftbandit.studies.settings import SettingsError
from driftbandit.studies.tasks import BLOCK
from driftbandit.worlds.arm_sources import ArmSource
from driftbandit.worlds.world import World

MOST_ROUNDS = 10**12  # a day on a processor at the very least
NUMBER = 8  # bytes
CELL, ROW = 1500, 100  # bytes: of a cell in the queue, with its key and its share of a task; of a row of the table
ROUND, STEP = 1e-7, 2.5e-10  # seconds of a round and of a multiplication in it, of the policy that does the least


class Cost(NamedTuple):
    """The cost of one or several studies: ``seconds`` of one processor, ``bytes`` in total, and more for each worker."""

    rounds: int
    seconds: float
    bytes: int
    worker_bytes: int

    def __add__(self, other: object) -> "Cost":
        if not isinstance(other, Cost):
            return NotImplemented
        most = max(self.worker_bytes, other.worker_bytes)
        return Cost(self.rounds + other.rounds, self.seconds + other.seconds, self.bytes + other.bytes, most)

    def on(self, workers: int | None = None) -> str:
        """In words, with this many workers (default: all processors)."""
        return f"{self.rounds:,} rounds, {self.briefly_on(workers)} of memory for data"

    def briefly_on(self, workers: int | None = None) -> str:
        count = workers or os.cpu_count() or 1
        return f"at least {in_words(self.seconds / count)} and {decimal(self.bytes + count * self.worker_bytes)}"


def machine_bytes() -> int:
    """How much memory the machine has; 16 GB if it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 16 * 10**9


def check_rounds(rounds: int, most: int) -> None:
    if rounds > most:
        raise SettingsError(
            f"[study] would play {rounds:,} rounds, more than most_rounds = {most:,}: "
            "use fewer replicates or a shorter horizon, or raise most_rounds"
        )


def check_bytes(where: str, needed: int, most: int | None) -> None:
    """Compare with the limit, or without one with what the machine has."""
    if needed > (machine_bytes() if most is None else most):
        limit = f"the {decimal(machine_bytes())} of this machine" if most is None else f"most_bytes = {most:,}"
        raise SettingsError(
            f"[{where}] would need {decimal(needed)} of memory or more, which is above {limit}: "
            "make it smaller, or raise most_bytes"
        )


def least_bytes(settings: Mapping[str, Any], checkpoints: int | list[int]) -> int:
    """The least that a world and a policy need, from the plain settings, before anything is built."""
    rows = min(whole(settings.get("horizon")), whole(checkpoints))
    drift, arms = settings.get("drift"), settings.get("arms")
    dim = whole(drift.get("dim") if isinstance(drift, Mapping) else None) or whole(settings.get("dim")) or 2
    count = whole(arms.get("count", arms.get("actions"))) if isinstance(arms, Mapping) else whole(arms)
    return NUMBER * (2 * dim * dim + dim * count) + ROW * rows


def whole(value: Any) -> int:
    """The number, or 0 for anything else, which is refused elsewhere with a better message."""
    return int(value) if isinstance(value, Integral) else 0


def cost_of(world: World, states: Mapping[str, int], replicates: int, marks: int) -> Cost:
    """The cost of one world, played by policies with states of these sizes, with regret recorded ``marks`` times."""
    fresh = isinstance(world.arms, ArmSource) and world.arms.fresh
    count = len(getattr(world.arms, "rows", ())) or getattr(world.arms, "count", 1)
    arms = world.dim * count
    late = min(world.delay.longest, world.horizon) * (world.dim + 1)
    each = len(states) * (late + 3 * arms) + BLOCK * (world.dim + 10) + 2 * arms * (BLOCK if fresh else 1)
    rounds, cells = world.horizon * len(states) * replicates, len(states) * replicates
    seconds = rounds * (ROUND + STEP * (arms + world.dim**2))
    return Cost(rounds, seconds, cells * (CELL + ROW * marks), NUMBER * each + 2 * sum(states.values()))


def in_words(seconds: float) -> str:
    units = {"years": 31_557_600.0, "days": 86_400.0, "hours": 3_600.0, "minutes": 60.0}
    for name, length in units.items():
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {name}"
    return f"{seconds:,.0f} s" if seconds >= 1 else "a second"
