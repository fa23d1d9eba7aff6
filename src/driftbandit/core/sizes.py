"""A limit on memory: more than that is refused before it is allocated."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_most: ContextVar[tuple[int, str]] = ContextVar("most", default=(2**36, "memory"))


@contextmanager
def at_most(size: int, where: str) -> Iterator[None]:
    """Allow at most ``size`` bytes within this, or fewer if the limit outside is lower."""
    token = _most.set(min((size, where), _most.get()))
    try:
        yield
    finally:
        _most.reset(token)


def demand_room(name: str, rows: int, columns: int) -> None:
    """Refuse a parameter that asks for a table of numbers beyond the limit."""
    most, where = _most.get()
    if 8 * rows * columns > most:
        size = f"{most >> 30} GiB" if most >= 2**30 else f"{most:,} bytes"
        raise ValueError(f"{name} must fit into {where}: {rows:,} rows of {columns:,} numbers exceed {size}")
