"""A declared context: a visitor's named fields → a vector whose length never exceeds 1."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy import zeros  # a faster lookup than np.zeros

from driftbandit.contexts import data
from driftbandit.contexts.field import Field, Pairs
from driftbandit.contexts.layout import Layout, checked_crosses, checked_fields, lay_out, write_products
from driftbandit.contexts.usual import Quick, quick_writer
from driftbandit.contexts.values import nearest, refusal, shown
from driftbandit.core import validate
from driftbandit.core.types import Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class Context:
    """A declaration of what is known of a visitor: named fields, and crosses, the products of two or more of them.

    The vector holds a constant, then the columns of each field, then those of each cross. Each of these groups has length
    at most 1, and all are divided by the square root of their number. ``extra="ignore"`` ignores undeclared fields.

    >>> from driftbandit.contexts.fields import Category, Flag
    >>> visitor = Context({"device": Category(["phone", "desktop"]), "returning": Flag()})
    >>> visitor.columns
    ('constant', 'device=phone', 'device=desktop', 'device=other', 'returning')
    >>> visitor.encode({"device": "phone", "returning": True}).round(3).tolist()
    [0.577, 0.577, 0.0, 0.0, 0.577]
    """

    fields: Mapping[str, Field]
    crosses: Iterable[Iterable[str]] = ()
    extra: str = "refuse"
    columns: tuple[str, ...] = field(init=False)
    _layout: Layout = field(init=False)
    _quick: Quick = field(init=False)

    def __post_init__(self) -> None:
        fields = checked_fields(self.fields)
        crosses = checked_crosses(self.crosses, fields)
        extra = validate.choice("extra", self.extra, ["refuse", "ignore"])
        layout = lay_out(fields, crosses)
        validate.settle(self, fields=MappingProxyType(fields), crosses=crosses, extra=extra)
        validate.settle(self, columns=layout.columns, _layout=layout, _quick=quick_writer(fields, layout))

    @property
    def dim(self) -> int:
        return len(self.columns)

    def encode(self, fields: Mapping[str, Any], notes: Counter[str] | None = None) -> Floats:
        """The vector. ``notes`` counts irregular values: "basket clipped", "country unknown", "hour missing"."""
        vector = zeros(len(self.columns))
        cells = vector.data  # a third of the time of writing through NumPy
        if type(fields) is not dict or not self._quick(fields, notes, cells):
            self._write(fields, notes, cells)
        return vector

    def encode_sparse(self, fields: Mapping[str, Any], notes: Counter[str] | None = None) -> tuple[Ints, Floats]:
        """The same, sparse: the columns that may be nonzero, in ascending order, and their values."""
        found: dict[int, float] = {}
        self._write(fields, notes, found)
        return np.array(list(found), np.int64), np.array(list(found.values()))

    def _write(self, fields: Mapping[str, Any], notes: Counter[str] | None, vector: Any) -> None:
        """Write column by column, in ascending order, into anything that takes ``vector[column] = value``."""
        if type(fields) is not dict and not isinstance(fields, Mapping):
            raise refusal("the fields of a visitor", "a mapping from name to value", fields, "pass a dictionary")
        vector[0] = scale = self._layout.scale
        told: list[str] = []
        groups: dict[int, Pairs] = {}
        for name, pairs_of, start, default in self._layout.steps:
            value = fields.get(name)
            pairs = self._missing(fields, name, default, told) if value is None else pairs_of(name, value, told)
            groups[len(groups)] = pairs
            for place, x in pairs:
                vector[start + place] = x * scale
        if told or len(fields) != len(groups):
            self._refuse_unknown(fields)
        write_products(self._layout, groups, vector)
        if notes is not None and told:  # only now that nothing can be refused any more
            notes.update(told)

    def _missing(self, fields: Mapping[str, Any], name: str, default: Pairs | None, told: list[str]) -> Pairs:
        if default is None:
            self._refuse_unknown(fields)  # a misspelt name is both missing and unknown, and this error says how to spell it
            raise ValueError(f"{name} is missing, got {shown(dict(fields))}: pass it, or declare a default for it")
        told.append(f"{name} missing")
        return default

    def _refuse_unknown(self, fields: Mapping[str, Any]) -> None:
        if self.extra == "ignore":
            return
        for name, value in fields.items():
            if name not in self.fields:
                what = f"{shown(name)} is not a field of this context ({nearest(name, self.fields)}), got {shown(value)} for it"
                raise ValueError(f"{what}: leave it out, declare it, or set extra='ignore'")

    def to_dict(self) -> data.Plain:
        """As plain data, which JSON and TOML can hold."""
        return data.to_plain(*self._value())

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The context that ``to_dict`` described."""
        return cls(**data.from_plain(plain))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """The context that a .toml or .json file describes."""
        return cls.from_dict(data.read(path))

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that identify the plain data: by them a saved policy recognises its context."""
        return data.fingerprint(self.to_dict())

    def _value(self) -> tuple[dict[str, Field], Any, str]:
        return dict(self.fields), self.crosses, self.extra

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._value()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Context)
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        fields, crosses, extra = self._value()
        more = f", crosses={list(crosses)!r}" * bool(crosses) + f", extra={extra!r}" * (extra != "refuse")
        return f"Context({fields!r}{more})"
