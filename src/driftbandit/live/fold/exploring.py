"""Exploration by the round's luck: whether a round explores, and what it draws then, hangs on seed and round alone."""

import numpy as np

from driftbandit.core.random import Seed, seed_sequence

PAGE = 1024  # rounds drawn at a time
STREAM = 0x11FE  # apart from the luck that the policy itself has


class Exploring:
    """A share of the rounds is drawn evenly from all arms."""

    def __init__(self, seed: Seed, share: float) -> None:
        self.seed, self.share = seed, share
        self._start = -PAGE

    def draw(self, round: int, chosen: int, count: int) -> tuple[int, bool]:
        """The arm to play, and whether it was drawn."""
        if self.share == 0.0:
            return chosen, False
        if not 0 <= round - self._start < PAGE:
            self._start = round - round % PAGE
            bits = np.random.PCG64DXSM(seed_sequence(self.seed, STREAM)).advance(2 * self._start)
            self._page = np.random.Generator(bits).random((PAGE, 2)).tolist()
        whether, which = self._page[round - self._start]
        return (int(which * count), True) if whether < self.share else (chosen, False)

    def chance(self, index: int, chosen: int, count: int) -> float | None:
        """With which this arm was to be played; unknown where nothing is explored."""
        return self.share / count + (1.0 - self.share) * (index == chosen) if self.share else None
