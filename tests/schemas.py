"""Random schemas, visitors that fit them, and visitors that do not."""

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from driftbandit.contexts.context import Context
from driftbandit.contexts.field import Field
from driftbandit.contexts.fields import Category, Cyclic, Flag, Hashed, Number

NAMES = st.text("abcdefgh_ü", min_size=1, max_size=6)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
IDS = st.text("aZ9 #=é中🛒\x00", max_size=8) | st.integers()


@st.composite
def fields_with_values(draw: st.DrawFn) -> tuple[Field, st.SearchStrategy[Any]]:
    """A declared field, and all the values that it takes."""
    kind = draw(st.sampled_from(["number", "log", "cyclic", "text", "whole", "flag", "hashed"]))
    if kind in ("number", "log"):
        low, high = sorted(draw(st.lists(st.floats(0 if kind == "log" else -1e6, 1e6), min_size=2, max_size=2)))
        return Number(low, high + 1e6, log=kind == "log"), FINITE | st.integers(-(10**9), 10**9)
    if kind == "cyclic":
        return Cyclic(draw(st.floats(1e-3, 1e6))), FINITE
    if kind == "flag":
        return Flag(), st.sampled_from([True, False, 0, 1, np.True_, np.False_])
    if kind == "hashed":
        return Hashed(draw(st.integers(2, 9))), IDS
    values: st.SearchStrategy[Any] = NAMES if kind == "text" else st.integers(-99, 99)
    levels, other = draw(st.lists(values, min_size=1, max_size=4, unique=True)), draw(st.booleans())
    return Category(levels, other=other), values if other else st.sampled_from(levels)


@st.composite
def visits(draw: st.DrawFn) -> tuple[Context, dict[str, Any]]:
    """A random schema and a visitor that fits it; fields left out have a default."""
    names = draw(st.lists(NAMES, max_size=5, unique=True))
    fields: dict[str, Field] = {}
    visitor: dict[str, Any] = {}
    for name in names:
        field, values = draw(fields_with_values())
        if draw(st.booleans()):
            default = draw(values)
            if not isinstance(field, Number) or field.low <= default <= field.high:
                field = type(field)(**{**field.given(), "default": plain(default)})
        fields[name] = field
        if field.default is None or draw(st.booleans()):
            visitor[name] = draw(values)
    pairs = [(a, b) for a in names for b in names if a < b]
    crosses: list[tuple[str, ...]] = draw(st.lists(st.sampled_from(pairs), max_size=2, unique=True)) if pairs else []
    if len(names) >= 3 and draw(st.booleans()):
        crosses.append(tuple(names[:3]))
    return Context(fields, crosses), visitor


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.bool) else value


@st.composite
def spoilt_visits(draw: st.DrawFn) -> tuple[Context, dict[str, Any], str, Any]:
    """A schema, a visitor that fits it but for one field, that field, and the value that would have been right."""
    context, visitor = draw(visits().filter(lambda visit: bool(visit[1])))
    name = draw(st.sampled_from(sorted(visitor)))
    right, field = visitor[name], context.fields[name]
    wrong = draw(st.sampled_from(wrong_values(field)))
    if wrong is ...:
        return context, {other: value for other, value in visitor.items() if other != name}, name, right
    return context, {**visitor, name: wrong}, name, right


def wrong_values(field: Field) -> list[Any]:
    """Of another type, not finite, of no declared level; ``...`` stands for none at all."""
    absent = [None, ...] if field.default is None else []
    if isinstance(field, Number | Cyclic):
        return [math.nan, math.inf, -math.inf, np.float32("nan"), "1", True, [1.0], 1j, *absent]
    if isinstance(field, Flag):
        return ["yes", 2, -1, math.nan, [], *absent]
    if isinstance(field, Hashed):
        return [1.5, math.nan, b"a", True, ("a",), *absent]
    assert isinstance(field, Category)
    known = list(field.levels)
    strangers = [] if field.other else ["of no such level" if isinstance(known[0], str) else 10**6]
    return [math.nan, 0.5, ["a"], {}, b"a", 3 if isinstance(known[0], str) else "3", *strangers, *absent]
