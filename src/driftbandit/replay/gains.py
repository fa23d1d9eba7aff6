"""Policies over a logged world: what each gains on choosing at random, day by day, and how sure that is.

Dimensions: P policies, B blocks of time (days, say) that are resampled whole.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from driftbandit.core import validate
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._base.policy import Policy
from driftbandit.replay.replay import Progress, Replay
from driftbandit.report.tables import Grid
from driftbandit.studies.kinds import memory_of, parameters, player_class
from driftbandit.studies.settings import SettingsError, check_policy_table, hint, label, named, variants

RESAMPLES = 2000
RANDOM, FIXED, BEST = "random", "hindsight: one θ", "hindsight: best arm"


def make_policies(
    tables: Mapping[str, Mapping[str, Any]], dim: int, seed: int = 0, told: Mapping[str, Any] | None = None
) -> dict[str, Policy]:
    """One for each combination of the listed values. Nothing is told but ``dim``: a log has no more to tell.

    ``told``: what is known of a log all the same, such as the range of its rewards; every policy that takes it is told, save
    those with ``told = false``.
    """
    made = {}
    extra = {"factor"} if told is not None else {"factor", "told"}
    for name, table in tables.items():
        where = f"policies.{name}"
        for settings, vary in variants(table):
            player = player_class(check_policy_table(where, settings))
            takes, memory = parameters(player), memory_of(player)
            if not settings.keys().isdisjoint(extra):
                raise SettingsError(f"[{where}] told and factor are for worlds that know themselves, a log does not")
            known: dict[str, Any] = {"dim": dim, "seed": seed}
            if named(where, validate.flag, {"name": "told", "value": settings.get("told", True)}):
                known |= told or {}
            given = {key: value for key, value in known.items() if key in takes}
            given |= {key: value for key, value in settings.items() if key not in ("kind", "told", memory and "memory")}
            if memory and "memory" in settings:
                rounds = named(where, validate.whole, {"name": "memory", "value": settings["memory"]})
                given[memory.parameter] = memory.of(rounds)
            made[label(name, vary)] = named(where, player, given)
    if not made:
        raise SettingsError("[policies] must have at least one")
    return made


@dataclass(frozen=True)
class Gains:
    """The sum of rewards of each policy in each block, and with it what chance and hindsight would have got.

    Intervals are of 95 %, from a circular block bootstrap: runs of ``together`` successive blocks are drawn anew, the same
    for all policies, so that what two of them share, such as the weather, falls out of their difference.
    """

    names: tuple[str, ...]
    blocks: pl.Series  # (B,)
    rounds: Ints  # (B,)
    rewards: Floats  # (P, B)
    together: int = 1
    seed: int = 0

    def over(self, name: str, upto: int | None = None) -> tuple[Floats, Floats, Floats]:
        """(P,) each: the mean gain of a round on this policy over the first blocks, and the ends of its interval."""
        if name not in self.names:
            raise SettingsError(f"there is no policy {name!r}; {hint(name, self.names, 0.4)}")
        gain = (self.rewards - self.rewards[self.names.index(name)])[:, :upto]
        rounds = self.rounds[:upto]
        drawn = resample(len(rounds), self.together, self.seed)
        low, high = np.quantile((drawn @ gain.T) / (drawn @ rounds)[:, None], [0.025, 0.975], axis=0)
        return gain.sum(axis=1) / rounds.sum(), low, high

    def table(self) -> pl.DataFrame:
        """Columns: policy, the block by its name, rounds, reward, regret: sums over the block."""
        wide, best = np.tile(self.rounds, len(self.names)), self.rewards[self.names.index(BEST)]
        return pl.DataFrame(
            {
                "policy": np.repeat(self.names, len(self.blocks)),
                self.blocks.name: pl.concat([self.blocks] * len(self.names)),
                "rounds": wide,
                "reward": self.rewards.ravel(),
                "regret": (best - self.rewards).ravel(),
            }
        )

    def curves(self, over: str, points: int = 52) -> pl.DataFrame:
        """The gain so far on another policy, at so many blocks. Columns: policy, the block by its name, gain, low, high."""
        parts = []
        for upto in np.unique(np.ceil(np.linspace(0, len(self.blocks), points + 1)).astype(int)[1:]):
            ends = [mean * self.rounds[:upto].sum() for mean in self.over(over, upto)]
            columns = {"policy": self.names, self.blocks.name: [self.blocks[int(upto) - 1]] * len(self.names)}
            parts.append(pl.DataFrame({**columns, **dict(zip(("gain", "low", "high"), ends, strict=True))}))
        return pl.concat(parts)

    def grid(self, against: str, caption: str = "") -> Grid:
        """The gains on choosing at random and on another policy, the best first."""
        random, other = self.over(RANDOM), self.over(against)
        regret = (self.rewards[self.names.index(BEST)] - self.rewards).sum(axis=1) / self.rounds.sum()
        rows = [
            (self.names[k], interval(random, k), "" if self.names[k] == against else interval(other, k), f"{regret[k]:.2f}")
            for k in np.argsort(-random[0], kind="stable")
        ]
        return Grid(("policy", f"over {RANDOM}", f"over {against}", "regret"), rows, caption)


def interval(ends: Sequence[Floats], k: int) -> str:
    mean, low, high = (float(end[k]) for end in ends)
    return f"{mean:+.2f} ({low:+.2f} … {high:+.2f})"


def resample(count: int, together: int, seed: int) -> Floats:
    """(RESAMPLES, count): how often each block is drawn, in runs of ``together`` that go round from the last to the first."""
    rng, runs = np.random.default_rng(seed), -(-count // together)
    drawn = (rng.integers(0, count, (RESAMPLES, runs, 1)) + np.arange(together)) % count
    drawn = drawn.reshape(RESAMPLES, -1)[:, :count] + count * np.arange(RESAMPLES)[:, None]
    return np.bincount(drawn.ravel(), minlength=RESAMPLES * count).reshape(RESAMPLES, count).astype(np.float64)


def play_log(
    replay: Replay,
    policies: Mapping[str, Policy],
    *,
    block: str,
    together: int = 1,
    replicates: int = 1,
    scale: float = 1.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Gains:
    """Play every policy, the mean of some replicates, and sum rewards, times ``scale``, over the blocks of that column."""
    if block not in replay.table.columns:
        raise SettingsError(f"block: the table has no column {block!r}; {hint(block, replay.table.columns, 0.5)}")
    first = replay.table[block].gather(replay.log.starts[:-1])
    blocks, number = first.unique(maintain_order=True), first.rank("dense").to_numpy().astype(np.int64) - 1
    if (np.diff(number) < 0).any():
        raise SettingsError(f"block: column {block!r} must not decrease")

    def play(task: tuple[Policy, int]) -> Floats:
        policy, replicate = task
        return sums(replay.play(policy, replicate=replicate, progress=progress))

    def sums(rewards: Floats) -> Floats:
        return scale * np.bincount(number, rewards)

    tasks = [
        (policy, replicate) for policy in policies.values() for replicate in range(validate.whole("replicates", replicates))
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        played = np.array(list(pool.map(play, tasks))).reshape(len(policies), replicates, -1).mean(axis=1)
    known = {RANDOM: replay.random, FIXED: replay.fixed(), BEST: replay.best}
    rewards = np.concatenate([played, [sums(one) for one in known.values()]])
    return Gains((*policies, *known), blocks, np.bincount(number), rewards, validate.whole("together", together), seed)
