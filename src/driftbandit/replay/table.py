"""A table of offered arms, checked: what was offered in each round, its reward, and when that became known.

Dimensions: N rows (offered arms), R rounds, d features.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from driftbandit.core import validate
from driftbandit.core.types import Floats, Ints
from driftbandit.studies.settings import SettingsError, hint

READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": pl.read_parquet,
    ".csv": lambda path: pl.read_csv(path, try_parse_dates=True, infer_schema_length=None),
}
BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException)  # a file that is not of the type its name says


class Log(NamedTuple):
    """The table as the compiled loop reads it, without the rounds that offered a single arm."""

    rows: NDArray[np.float64]  # (N, d): the arms' features
    rewards: Floats  # (N,)
    starts: Ints  # (R + 1,): the rows of round t are starts[t] … starts[t + 1]
    due: Ints  # (N,): a row's reward is told before this round is decided; R: never

    @property
    def rounds(self) -> int:
        return len(self.starts) - 1

    @property
    def dim(self) -> int:
        return int(self.rows.shape[1])

    @property
    def longest(self) -> float:
        return validate.longest_row("features", self.rows)


def read_table(path: Path) -> pl.DataFrame:
    kind = path.suffix.lower()
    if kind not in READERS:
        raise SettingsError(f"table must be a {' or '.join(READERS)} file, got {path.name!r}")
    try:
        return READERS[kind](path)
    except BROKEN as error:
        panic = isinstance(error, pl.exceptions.PanicException)
        what = "it is damaged" if panic else str(error).partition("\n")[0]  # the rest is advice for those who call Polars
        raise SettingsError(f"table {path} cannot be read as {kind}: {what}") from None


def shuffled(table: pl.DataFrame, round: str | Sequence[str], *, seed: int) -> pl.DataFrame:
    """The rows of each round in a random order, which does not depend on rounds that come later."""
    run = pl.struct([round] if isinstance(round, str) else list(round)).rle_id()
    chance = pl.Series(np.random.default_rng(seed).random(len(table)))
    order = table.select(run=run, chance=chance, place=pl.int_range(pl.len())).sort("run", "chance")["place"]
    return table[order]


def make_log(
    table: pl.DataFrame, keys: Sequence[str], features: Sequence[str], reward: str, time: str | None, known: str | None
) -> tuple[Log, NDArray[np.bool]]:
    """The log, and which rows of the table it contains."""
    number = round_numbers(table, keys)
    rows = np.column_stack([numbers(table, "features", name) for name in features])
    rewards = numbers(table, "reward", reward)
    decided = number if time is None else decision_times(table, number, time)
    come = decided if known is None or time is None else known_times(table, decided, time, known)
    sizes = np.bincount(number)
    several = sizes > 1
    if not several.any():
        raise SettingsError("table must have a round with at least two arms: with one there is nothing to choose")
    kept = several[number]
    starts = np.concatenate([[0], np.cumsum(sizes[several])])
    following = np.repeat(np.arange(1, len(starts)), np.diff(starts))
    due = np.maximum(following, np.searchsorted(decided[kept][starts[:-1]], come[kept]))
    return Log(np.ascontiguousarray(rows[kept]), rewards[kept], starts, due), kept


def round_numbers(table: pl.DataFrame, keys: Sequence[str]) -> Ints:
    """The round of each row, counted from 0."""
    if table.is_empty():
        raise SettingsError("table must not be empty")
    for name in keys:
        check_column(table, "round", name)
        check_rows(~table[name].is_null().to_numpy(), f"round: column {name!r} must have a value in every row, got null")
    run = table.select(keys).with_columns(pl.struct(keys).rle_id().cast(pl.Int64).alias("\0run"))  # no one's own name
    number = run["\0run"].to_numpy()
    first = run.select(pl.col("\0run").min().over(keys)).to_series().to_numpy()
    check_rows(number == first, "rows of a round must be contiguous, but an earlier round comes back")
    return number


def decision_times(table: pl.DataFrame, number: Ints, name: str) -> NDArray[Any]:
    decided, again = moments(table, "time", name), np.diff(number, prepend=-1) == 0
    step = np.diff(decided, prepend=decided[0])
    check_rows(~again | (step == 0), f"time: column {name!r} must be constant within a round, but differs")
    check_rows(step >= 0, f"time: column {name!r} must not decrease, but does")
    return decided


def known_times(table: pl.DataFrame, decided: NDArray[Any], time: str, name: str) -> NDArray[Any]:
    come = moments(table, "known", name)
    kinds = table[time].dtype, table[name].dtype
    if kinds[0].is_temporal() != kinds[1].is_temporal() or is_zoned(kinds[0]) != is_zoned(kinds[1]):
        raise SettingsError(
            f"known: column {name!r} must be of the same kind as the time {time!r}, got {kinds[1]} and {kinds[0]}"
        )
    check_rows(come >= decided, f"known: column {name!r} must not be before the decision, but is")
    return come


def numbers(table: pl.DataFrame, role: str, name: str) -> NDArray[np.float64]:
    """A column of finite numbers."""
    check_column(table, role, name)
    column = table[name]
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise SettingsError(f"{role}: column {name!r} must hold numbers, got {column.dtype}{first_word(column)}")
    values = column.cast(pl.Float64).to_numpy()  # null becomes NaN
    check_rows(np.isfinite(values), f"{role}: column {name!r} must be finite, got null, NaN or infinity")
    return values


def first_word(column: pl.Series) -> str:
    """The first cell that is not a number: one such cell makes a whole column of a CSV file text."""
    if column.dtype != pl.String:
        return ""
    row = int(column.cast(pl.Float64, strict=False).is_null().to_numpy().argmax())
    return f", such as {column[row]!r} in row {row}, counted from 0"


def moments(table: pl.DataFrame, role: str, name: str) -> NDArray[Any]:
    """A column of numbers, or of dates and times as numbers that keep their order."""
    check_column(table, role, name)
    column = table[name]
    if column.dtype == pl.Date:
        column = column.cast(pl.Datetime("us"))
    if not isinstance(column.dtype, pl.Datetime):
        return numbers(table, role, name)
    check_rows(~column.is_null().to_numpy(), f"{role}: column {name!r} must have a value in every row, got null")
    return column.dt.cast_time_unit("us").to_physical().to_numpy()


def is_zoned(dtype: Any) -> bool:
    return getattr(dtype, "time_zone", None) is not None


def check_column(table: pl.DataFrame, role: str, name: str) -> None:
    if name not in table.columns:
        raise SettingsError(f"{role}: the table has no column {name!r}; {hint(str(name), table.columns, 0.5)}")


def check_rows(good: NDArray[np.bool], message: str) -> None:
    if not good.all():
        raise SettingsError(f"{message} in row {int(np.argmin(good))}, counted from 0")
