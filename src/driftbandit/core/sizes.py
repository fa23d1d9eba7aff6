"""How much memory may be asked for: more than that is refused before it is allocated."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_most: ContextVar[tuple[int, str]] = ContextVar("most", default=(2**36, "memory"))


@contextmanager
def at_most(size: int, where: str) -> Iterator[None]:
    """Within this, no more than so many bytes, nor more than otherwise."""
    token = _most.set(min((size, where), _most.get()))
    try:
        yield
    finally:
        _most.reset(token)


def demand_room(name: str, rows: int, columns: int) -> None:
    """Refuse a parameter that asks for a table of numbers larger than there is room for."""
    most, where = _most.get()
    if 8 * rows * columns > most:
        size = f"{most >> 30} GiB" if most >= 2**30 else f"{most:,} bytes"
        raise ValueError(f"{name} must fit into {where}: {rows:,} rows of {columns:,} numbers are over {size}")
