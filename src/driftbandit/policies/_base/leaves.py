"""A policy's state as data: its arrays by name."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


def leaves(state: Any) -> Arrays:
    """The arrays in a state of nested named tuples, by dotted name; one that occurs twice is named once."""
    seen: set[int] = set()

    def walk(node: Any, prefix: str) -> Iterator[tuple[str, NDArray[Any]]]:
        for name, value in zip(node._fields, node, strict=True):
            if isinstance(value, tuple):
                yield from walk(value, f"{prefix}{name}.")
            elif isinstance(value, np.ndarray) and id(value) not in seen:
                seen.add(id(value))
                yield prefix + name, value

    return dict(walk(state, ""))


def state_bytes(state: Any) -> int:
    """How much memory a state takes."""
    return sum(array.nbytes for array in leaves(state).values())


def restore(state: Any, arrays: Arrays) -> None:
    """Copy saved arrays into a state of the same structure."""
    for name, array in leaves(state).items():
        saved = arrays[name]
        if not np.isfinite(saved).all():
            raise ValueError(f"array {name!r} is not finite")
        if name.endswith("ridge.columns") and not np.array_equal(saved, array):
            raise ValueError(f"array {name!r} does not hold the fixed arms")
        array[...] = saved


def twin(state: Any) -> Any:
    """A copy that shares no array with the state; an array that occurs twice in it is one array in the copy too."""
    made: dict[int, NDArray[Any]] = {}

    def walk(node: Any) -> Any:
        if isinstance(node, np.ndarray):
            if id(node) not in made:
                made[id(node)] = node.copy()
            return made[id(node)]
        if isinstance(node, tuple) and hasattr(node, "_fields"):
            return type(node)(*map(walk, node))
        return node if isinstance(node, int | float | str | None) else copy.deepcopy(node)

    return walk(state)
