"""What each policy gains over choosing at random in a logged world, and how certain that is.

Dimensions: P policies, B blocks of time (days, say) that are resampled whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from driftbandit.core.types import Floats, Ints
from driftbandit.report.tables import Grid, signed
from driftbandit.studies.settings import SettingsError, hint

RESAMPLES = 2000
RANDOM, FIXED, BEST = "random", "hindsight: one θ", "hindsight: best arm"


@dataclass(frozen=True)
class Gains:
    """The sum of rewards of each policy in each block, with those of random choice and of hindsight.

    The 95 % intervals come from a circular block bootstrap: runs of ``together`` successive blocks are resampled, the same
    for all policies, so that what two of them share, such as the weather, cancels out of their difference.
    """

    names: tuple[str, ...]
    blocks: pl.Series  # (B,)
    rounds: Ints  # (B,)
    rewards: Floats  # (P, B)
    together: int = 1
    seed: int = 0

    def over(self, name: str, upto: int | None = None) -> tuple[Floats, Floats, Floats]:
        """(P,) each: the mean gain per round over this policy in the first blocks, and the ends of its interval."""
        if name not in self.names:
            raise SettingsError(f"unknown policy {name!r}; {hint(name, self.names, 0.4)}")
        gain = (self.rewards - self.rewards[self.names.index(name)])[:, :upto]
        rounds = self.rounds[:upto]
        drawn = resample(len(rounds), self.together, self.seed)
        low, high = np.quantile((drawn @ gain.T) / (drawn @ rounds)[:, None], [0.025, 0.975], axis=0)
        return gain.sum(axis=1) / rounds.sum(), low, high

    def curves(self, over: str, points: int = 52) -> pl.DataFrame:
        """The gain so far over another policy, at ``points`` blocks. Columns: policy, the block's name, gain, low, high."""
        parts = []
        for upto in np.unique(np.ceil(np.linspace(0, len(self.blocks), points + 1)).astype(int)[1:]):
            ends = [mean * self.rounds[:upto].sum() for mean in self.over(over, upto)]
            columns = {"policy": self.names, self.blocks.name: [self.blocks[int(upto) - 1]] * len(self.names)}
            parts.append(pl.DataFrame({**columns, **dict(zip(("gain", "low", "high"), ends, strict=True))}))
        return pl.concat(parts)

    def grid(self, against: str, caption: str = "") -> Grid:
        """The gains over choosing at random and over another policy, best first."""
        random, other = self.over(RANDOM), self.over(against)
        regret = (self.rewards[self.names.index(BEST)] - self.rewards).sum(axis=1) / self.rounds.sum()
        rows = [
            (self.names[k], interval(random, k), "" if self.names[k] == against else interval(other, k), f"{regret[k]:.2f}")
            for k in np.argsort(-random[0], kind="stable")
        ]
        return Grid(("policy", f"over {RANDOM}", f"over {against}", "regret"), rows, caption)


def interval(ends: Sequence[Floats], k: int) -> str:
    mean, low, high = (float(end[k]) for end in ends)
    return f"{signed(mean, '.2f')} ({signed(low, '.2f')} … {signed(high, '.2f')})"


def resample(count: int, together: int, seed: int) -> Floats:
    """(RESAMPLES, count): how often each block is drawn, in runs of ``together`` that wrap around at the end."""
    rng, runs = np.random.default_rng(seed), -(-count // together)
    drawn = (rng.integers(0, count, (RESAMPLES, runs, 1)) + np.arange(together)) % count
    drawn = drawn.reshape(RESAMPLES, -1)[:, :count] + count * np.arange(RESAMPLES)[:, None]
    return np.bincount(drawn.ravel(), minlength=RESAMPLES * count).reshape(RESAMPLES, count).astype(np.float64)
