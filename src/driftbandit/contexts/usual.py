"""The fast path for a visitor with nothing unusual: values that can be listed are looked up, the rest are computed."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from driftbandit.contexts.field import Field
from driftbandit.contexts.layout import Layout, write_products

Quick = Callable[[dict[str, Any], Counter[str] | None, Any], bool]


def quick_writer(fields: Mapping[str, Field], layout: Layout) -> Quick:
    """A function of (visitor, notes, vector): False if a field is missing, unknown or refused; the slow path says why.

    Made once, of plain tuples, which are unpacked faster than named ones.
    """
    count, scale = len(fields), layout.scale
    listed, others = [], []
    for name, _, start, _ in layout.steps:
        if known := fields[name].known:
            cells = {value: pairs[0] if pairs else (0, 0.0) for value, pairs in known.items()}
            listed.append((name, {value: (start + place, x * scale) for value, (place, x) in cells.items()}))
        else:
            others.append((name, fields[name].writer(name, start, scale)))

    used = {k for first, rest in [product[1:] for product in layout.products] for k in (first, *(other for other, _ in rest))}
    crossed = [(k, name, pairs_of) for k, (name, pairs_of, _, _) in enumerate(layout.steps) if k in used]

    def write(visitor: dict[str, Any], notes: Counter[str] | None, vector: Any) -> bool:
        if len(visitor) != count:
            return False
        told: list[str] = []
        vector[0] = scale
        try:
            for name, cells in listed:
                column, x = cells[visitor[name]]
                vector[column] = x
            for name, write_value in others:
                write_value(vector, visitor[name], told)
        except (KeyError, TypeError, ValueError):
            return False
        if crossed:
            write_products(layout, {k: pairs_of(name, visitor[name], []) for k, name, pairs_of in crossed}, vector)
        if told and notes is not None:
            notes.update(told)
        return True

    return write
