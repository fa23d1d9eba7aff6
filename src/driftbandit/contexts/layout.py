"""Where the columns of a context lie: a constant, then the group of each field, then that of each cross."""

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from driftbandit.contexts.field import Field, Pairs, PairsOf
from driftbandit.contexts.values import nearest, refusal, text

MOST_COLUMNS = 1_000_000
ROOM = 1.0 - 1e-12  # leaves a margin for the rounding of a sum of squares
Crosses = tuple[tuple[str, ...], ...]


class Step(NamedTuple):
    """One field, ready to encode."""

    name: str
    pairs: PairsOf
    start: int  # its first column
    default: Pairs | None


class Product(NamedTuple):
    """One cross, ready to encode: fields by their position, whose pairs are multiplied."""

    start: int
    first: int
    rest: tuple[tuple[int, int], ...]  # each with its number of columns


class Layout(NamedTuple):
    """The steps by which a visitor is encoded."""

    columns: tuple[str, ...]
    scale: float
    steps: tuple[Step, ...]
    products: tuple[Product, ...]


def lay_out(fields: Mapping[str, Field], crosses: Crosses) -> Layout:
    sizes = {name: len(field.labels) for name, field in fields.items()}
    groups = [1, *sizes.values(), *(math.prod(sizes[name] for name in cross) for cross in crosses)]
    if sum(groups) > MOST_COLUMNS:
        count = f"{MOST_COLUMNS:,} columns, got {sum(groups):,}"
        raise ValueError(f"a context must have at most {count}: declare fewer levels, buckets or crosses")
    starts = itertools.accumulate(groups)
    steps = [make_step(name, field, next(starts)) for name, field in fields.items()]
    products = [make_product(cross, sizes, next(starts)) for cross in crosses]
    scale = ROOM / math.sqrt(len(groups))
    return Layout(column_names(fields, crosses), scale, tuple(steps), tuple(products))


def write_products(layout: Layout, groups: Mapping[int, Pairs], vector: Any) -> None:
    scale = layout.scale
    for start, first, rest in layout.products:
        crossed: Iterable[tuple[int, float]] = groups[first]
        for other, size in rest:
            crossed = [(i * size + j, x * y) for i, x in crossed for j, y in groups[other]]
        for place, x in crossed:
            vector[start + place] = x * scale


def make_step(name: str, field: Field, start: int) -> Step:
    default = None if field.default is None else field.pairs(name, field.default, [])
    return Step(name, field.pairs_of(name), start, default)


def make_product(cross: tuple[str, ...], sizes: dict[str, int], start: int) -> Product:
    positions = {name: position for position, name in enumerate(sizes)}
    return Product(start, positions[cross[0]], tuple((positions[name], sizes[name]) for name in cross[1:]))


def column_names(fields: Mapping[str, Field], crosses: Crosses) -> tuple[str, ...]:
    own = {name: [name + label for label in field.labels] for name, field in fields.items()}
    names = ["constant", *itertools.chain(*own.values())]
    for cross in crosses:
        names += [" × ".join(parts) for parts in itertools.product(*(own[name] for name in cross))]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two columns would be called {twice!r}: rename a field or a level")
    return tuple(names)


def checked_fields(fields: Mapping[str, Field] | Iterable[tuple[str, Field]]) -> dict[str, Field]:
    """The fields of a mapping, or of (name, field) pairs, checked."""
    try:
        pairs = [(name, field) for name, field in (fields.items() if isinstance(fields, Mapping) else fields)]
    except (TypeError, ValueError):
        raise refusal("fields", "a mapping from name to field", fields, "such as {'returning': Flag()}") from None
    known: dict[str, Field] = {}
    for name, field in pairs:
        if not isinstance(field, Field):
            raise refusal(f"field {name!r}", "a declared field", field, "such as Number(0, 1), Category([...]) or Flag()")
        if text("the name of a field", name) in known:
            raise ValueError(f"field {name!r} is declared twice: leave one out, or rename it")
        known[str(name)] = field
    return known


def checked_crosses(crosses: Iterable[Iterable[str]], fields: Mapping[str, Field]) -> Crosses:
    """The crosses, checked: each of two or more different fields, no two of the same ones."""
    try:
        given = list(crosses)
        if any(isinstance(cross, str) for cross in (crosses, *given)):  # it would be split into letters
            raise TypeError
        known = tuple(tuple(cross) for cross in given)
    except TypeError:
        raise refusal("crosses", "a list of lists of field names", crosses, "such as [('country', 'device')]") from None
    for cross in known:
        for name in cross:
            if not isinstance(name, str) or name not in fields:
                raise ValueError(f"cross {cross!r} names an undeclared field {name!r}; {nearest(name, fields)}")
        if len(cross) < 2 or len(set(cross)) < len(cross):
            raise refusal("a cross", "made of two or more different fields", cross, "name others, or leave it out")
    for first, second in itertools.combinations(known, 2):
        if set(first) == set(second):
            raise ValueError(f"cross {second!r} is declared twice: leave one out")
    return tuple(tuple(str(name) for name in cross) for cross in known)
