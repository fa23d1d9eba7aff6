"""A fitted scikit-learn transformer in place of a declared context. Nothing here imports scikit-learn."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit.contexts.data import fingerprint
from driftbandit.contexts.layout import ROOM
from driftbandit.contexts.values import nearest, refusal, shown, text
from driftbandit.core import validate
from driftbandit.core.types import Floats, Ints

Visitor = Mapping[str, Any] | Sequence[Any] | NDArray[Any]


@dataclass(frozen=True)
class Transformed:
    """A constant, then a fitted transformer's output for one visitor, clipped to ``length``; of length at most 1 in all.

    ``fields``: the names of the transformer's inputs, in order; it knows them itself if it was fitted on a table.
    ``outputs``: the names of its outputs, if it has no ``get_feature_names_out``.
    ``length``: where its output is clipped, in the transformer's own units: about 3 for a few standardised numbers.
    ``frame``: makes a table from {name: [value]}, such as ``pandas.DataFrame``; by default, a polars one if the transformer
    was fitted on a table, else an array.
    """

    transformer: Any
    fields: Sequence[str] | None = None
    outputs: Sequence[str] | None = None
    length: float = 1.0
    frame: Callable[[dict[str, list[Any]]], Any] | None = None
    extra: str = "refuse"
    columns: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _in_frames: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not callable(getattr(self.transformer, "transform", None)):
            raise refusal("transformer", "an object with a method transform", self.transformer, "pass a fitted transformer")
        of_a_table = getattr(self.transformer, "feature_names_in_", None)
        fields = of_a_table if self.fields is None else self.fields
        outputs = names("outputs", self._own_outputs() if self.outputs is None else self.outputs)
        validate.settle(
            self,
            fields=None if fields is None else names("fields", fields),
            outputs=outputs,
            length=validate.positive("length", self.length),
            extra=validate.choice("extra", self.extra, ["refuse", "ignore"]),
            columns=names("the columns", ("constant", *outputs)),
            _in_frames=of_a_table is not None or self.frame is not None,
        )
        if self._in_frames and self.fields is None:
            raise ValueError("fields must be given with a frame, since its columns have names: list them in order")

    def _own_outputs(self) -> Any:
        try:
            return self.transformer.get_feature_names_out()
        except Exception as error:  # a transformer may raise anything
            advice = "fit it first, or name them with outputs=[...]"
            raise ValueError(f"transformer does not name its outputs ({error}): {advice}") from error

    @property
    def dim(self) -> int:
        return len(self.columns)

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of the names and the length; not of what was fitted."""
        return fingerprint([self.fields, self.columns, self.length])

    def encode(self, fields: Visitor, notes: Counter[str] | None = None) -> Floats:
        """The vector of a mapping from name to value, or of a row. ``notes`` counts "length clipped"."""
        row = self._row(fields)
        try:
            given = self.transformer.transform(self._table(row))
            given = given.toarray() if hasattr(given, "toarray") else np.asarray(given)
        except Exception as error:
            raise ValueError(f"the transformer refused {shown(row)}: {error}") from error
        vector = np.ones(self.dim)
        vector[1:] = self._checked(given)
        longest = validate.longest_row("the transformer's output", vector[None, 1:]) / self.length if self.dim > 1 else 0.0
        vector[1:] /= self.length * max(longest, 1.0)
        if longest > 1.0 and notes is not None:
            notes["length clipped"] += 1
        vector *= ROOM / math.sqrt(2.0)
        return vector

    def encode_sparse(self, fields: Visitor, notes: Counter[str] | None = None) -> tuple[Ints, Floats]:
        """The same, sparse: the columns that are not 0, in ascending order, and their values."""
        vector = self.encode(fields, notes)
        places = np.flatnonzero(vector)
        return places, vector[places]

    def _row(self, visitor: Any) -> list[Any]:
        """A visitor's values in the transformer's order."""
        if isinstance(visitor, Mapping):
            return self._by_name(visitor)
        if (
            not isinstance(visitor, Sequence | np.ndarray)
            or isinstance(visitor, str | bytes)
            or getattr(visitor, "ndim", 1) != 1
        ):
            accepted = "a mapping from name to value, or a row of values"
            raise refusal("a visitor", accepted, visitor, "pass a dictionary or a list")
        if self.fields is not None and len(visitor) != len(self.fields):
            raise refusal("a visitor", f"{len(self.fields)} values, one for each of the fields", visitor, "pass them in order")
        return list(visitor)

    def _by_name(self, visitor: Mapping[str, Any]) -> list[Any]:
        if self.fields is None:
            raise refusal("a visitor", "a row of values", visitor, "name the fields with fields=[...], or pass a row")
        for name in visitor if self.extra == "refuse" else ():
            if name not in self.fields:
                what = f"{shown(name)} is not a field ({nearest(name, self.fields)}), got {shown(visitor[name])} for it"
                raise ValueError(f"{what}: leave it out, or set extra='ignore'")
        for name in self.fields:
            if name not in visitor:
                advice = "pass it, as None if the transformer fills gaps"
                raise ValueError(f"{name} is missing, got {shown(dict(visitor))}: {advice}")
        return [visitor[name] for name in self.fields]

    def _table(self, row: list[Any]) -> Any:
        if not self._in_frames:
            numbers = all(isinstance(value, int | float | np.number | np.bool) for value in row)
            return np.array([row], np.float64 if numbers else object)
        if self.frame is not None:
            make = self.frame
        else:
            from polars import DataFrame as make
        return make({name: [value] for name, value in zip(self.fields or (), row, strict=True)})

    def _checked(self, given: Any) -> Floats:
        what = "the transformer's output"
        if given.shape != (1, self.dim - 1):
            columns = f"one row of {self.dim - 1} column(s), got shape {given.shape}"
            raise ValueError(f"{what} must be {columns}: name all of them with outputs=[...]")
        if given.dtype.kind not in "biuf":
            raise refusal(what, "numbers", given[0].tolist(), "end it with a step that makes numbers")
        for name, value in zip(self.columns[1:], given[0].tolist(), strict=True):
            if not math.isfinite(value):
                raise refusal(f"{what} for {name}", "a finite number", value, "fill the gap beforehand, or with an imputer")
        row: Floats = given[0].astype(np.float64)
        return row


def names(what: str, values: Any) -> tuple[str, ...]:
    """Names: text, all different."""
    try:
        if isinstance(values, str):
            raise TypeError
        known = tuple(text(f"each of {what}", value) for value in values)
    except TypeError:
        raise refusal(what, "a list of names", values, "such as ['country', 'hour']") from None
    if twice := [name for name, count in Counter(known).items() if count > 1]:
        raise ValueError(f"{what} must differ, got {twice[0]!r} twice: rename one")
    return known
