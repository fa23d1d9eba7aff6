"""The cost of a round with blocks, compared with one of a single block's size: ratios measured side by side in one run."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from driftbandit import AdaptiveUCB, DiscountedTS, LightWeightUCB, Policy, RestartUCB, WeightUCB, WindowUCB
from driftbandit.core.types import Floats

ROUNDS, TURNS = 2000, 5


def restart(dim: int, **more: Any) -> Policy:
    return RestartUCB(dim, period=1000, **more)


def adaptive(dim: int, **more: Any) -> Policy:
    return AdaptiveUCB(dim, **more)


def window(dim: int, **more: Any) -> Policy:
    return WindowUCB(dim, window=1000, **more)


def light(dim: int, **more: Any) -> Policy:
    return LightWeightUCB(dim, discount=0.999, **more)


def weight(dim: int, **more: Any) -> Policy:
    return WeightUCB(dim, discount=0.999, **more)


def sample(dim: int, **more: Any) -> Policy:
    return DiscountedTS(dim, discount=0.999, **more)


def fresh(rng: np.random.Generator, arms: int, dim: int) -> Floats:
    rows: Floats = rng.normal(size=(arms, dim))
    rows *= 0.9 / np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def numbered(rng: np.random.Generator, blocks: int, width: int, shared: int) -> Floats:
    """One context for all blocks."""
    context = fresh(rng, 1, width)[0] / np.sqrt(2.0)
    return np.column_stack([np.arange(blocks), np.tile(context[:shared], (blocks, 1)), np.tile(context, (blocks, 1))])


def microseconds(policy: Policy, offer: Callable[[], Floats]) -> Iterator[float]:
    """Microseconds per round, one measurement per turn."""
    rng, sets = np.random.default_rng(1), [offer() for _ in range(200)]
    while True:
        rewards, begun = rng.normal(size=ROUNDS).tolist(), time.perf_counter()
        for t, reward in enumerate(rewards):
            policy.update(policy.select(sets[t % 200]), reward)
        yield (time.perf_counter() - begun) / ROUNDS * 1e6


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"µs per select and update from Python, the least of {TURNS} turns of {ROUNDS} rounds\n")
    for make in (restart, adaptive, window, light, weight, sample):
        players = {
            "20 features, 6 fresh arms": microseconds(make(20), lambda: fresh(rng, 6, 20)),
            "6 × 20, disjoint": microseconds(make(120, blocks=6), lambda: numbered(rng, 6, 20, 0)),
            "6 × 20, hybrid": microseconds(make(140, blocks=6, shared=20), lambda: numbered(rng, 6, 20, 20)),
            "100 × 50, disjoint": microseconds(make(5000, blocks=100), lambda: numbered(rng, 100, 50, 0)),
        }
        times = [[next(player) for player in players.values()] for _ in range(TURNS)]
        least = np.min(times, axis=0)
        for name, each in zip(players, least, strict=True):
            print(f"{make.__name__:10} {name:28} {each:8.1f} {each / least[0]:6.2f} ×")


if __name__ == "__main__":
    main()
