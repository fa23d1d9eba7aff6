"""Random numbers that can be dealt from any point: counter-based generators, one per page, and pages cut to any size."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Seed = int | Sequence[int]
Chance = Callable[[int], np.random.Generator]  # the generator of the k-th page, or segment
Number = TypeVar("Number", bound=np.generic)

PAGE = 4096  # rounds drawn from one generator; part of what a seed means, so it never changes


def generator(seed: Seed, *address: int) -> np.random.Generator:
    """The generator at an address such as (replicate, stream, page), below a seed."""
    return np.random.Generator(np.random.Philox(seed_sequence(seed, *address)))


def seed_sequence(seed: Seed, *address: int) -> np.random.SeedSequence:
    """Only a seed's first number is entropy: NumPy takes entropy 5 and (5, 0) for the same."""
    first, *rest = (seed,) if isinstance(seed, int) else seed
    return np.random.SeedSequence(entropy=first, spawn_key=(*rest, *address))


def luck(seed: Seed, start: int, rounds: int) -> NDArray[np.float64]:
    """Four uniform numbers for each round from ``start`` on: a policy's luck, the same however it is cut."""
    bits = np.random.PCG64DXSM(seed_sequence(seed)).advance(4 * start)  # three times as fast as Philox
    return np.random.Generator(bits).random((rounds, 4))


def page_sizes(horizon: int, page: int = PAGE) -> Iterator[int]:
    for start in range(0, horizon, page):
        yield min(page, horizon - start)


def pages_of(name: str, array: NDArray[Number], horizon: int) -> Iterator[NDArray[Number]]:
    """An array of the user's own, in pages."""
    if horizon > len(array):
        raise ValueError(f"{name} must have an entry for each of {horizon} rounds, got {len(array)}")
    return (array[start : min(start + PAGE, horizon)] for start in range(0, horizon, PAGE))


def regroup(chunks: Iterator[NDArray[Number]], block: int) -> Iterator[NDArray[Number]]:
    """The same rows in the same order, ``block`` at a time (the last may be shorter)."""
    held: list[NDArray[Number]] = []
    rows = 0
    for chunk in chunks:
        held.append(chunk)
        rows += len(chunk)
        while rows >= block:
            joined = held[0] if len(held) == 1 else np.concatenate(held)
            yield joined[:block]
            held, rows = [joined[block:]], rows - block
    if rows:
        yield np.concatenate(held)
