"""A study of a logged world: its table and its policies as data → what each gains. Run it again to resume."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from driftbandit.core import validate
from driftbandit.core.types import Floats, Ints
from driftbandit.replay.gains import BEST, FIXED, RANDOM, Gains
from driftbandit.replay.replay import Progress, Replay
from driftbandit.replay.tasks import Known, Task, digest, play_task
from driftbandit.report.tables import Grid, as_markdown
from driftbandit.studies.cells import Ledger
from driftbandit.studies.engines import run_all
from driftbandit.studies.settings import SettingsError, hint, named
from driftbandit.studies.tasks import Variant

Stage = Callable[[str, int], Progress]  # (its name, its rounds) → what is called with rounds just finished


@dataclass
class LogStudy:
    """A replay, the policies to play it, and how to count: the blocks, the unit, which policies to compare.

    Every policy in every replicate is a cell in the folder's ledger, as in any study.
    """

    settings: Mapping[str, Any]
    replay: Replay
    policies: Mapping[str, Variant]
    block: str
    known: Known
    seed: int = 0
    ledger: Ledger | None = None

    def __post_init__(self) -> None:
        """Build every policy once, so that errors are found before anything runs."""
        self.together, self.replicates = (self._count(key) for key in ("together", "replicates"))
        self.scale: float = named("account", validate.real, {"name": "scale", "value": self.counting("scale", 1)})
        self.blocks, self.number = blocks_of(self.replay, self.block)
        for task in self.tasks[:: self.replicates]:
            task.make()

    @property
    def name(self) -> str:
        return str(self.settings.get("name", "replay"))

    @property
    def rounds(self) -> int:
        return self.replay.rounds * len(self.tasks)

    def counting(self, key: str, default: Any) -> Any:
        return self.settings.get("account", {}).get(key, default)

    def _count(self, key: str) -> int:
        number: int = named("account", validate.whole, {"name": key, "value": self.counting(key, 1)})
        return number

    @property
    def against(self) -> str:
        return str(self.counting("against", next(iter(self.policies))))

    @property
    def unit(self) -> str:
        return str(self.counting("unit", "reward"))

    @property
    def drawn(self) -> list[str]:
        return list(self.counting("draw", [*list(self.policies)[:9], FIXED]))

    @cached_property
    def tasks(self) -> list[Task]:
        """Every replicate of every policy."""
        log = digest(self.replay.log, self.number)
        return [
            Task(log, policy, self.known, self.seed, replicate)
            for policy in self.policies.values()
            for replicate in range(self.replicates)
        ]

    def run(
        self,
        folder: str | Path | None = None,
        *,
        engine: str = "threads",
        workers: int | None = None,
        address: str | None = None,
        progress: Progress = lambda rounds: None,
    ) -> Self:
        """Play what is not yet in the folder's ledger (without a folder: everything, kept as long as the ledger exists).

        ``progress`` is called with the number of rounds just finished, first with those already finished.
        """
        self.ledger = Ledger.in_folder(folder)
        done = self.ledger.keys()
        left = [task for task in self.tasks if task.key not in done]
        progress(self.rounds - self.replay.rounds * len(left))
        for cell in run_all(partial(play_task, *self.replay.log, self.number), left, engine, workers, address):
            self.ledger.add([cell])
            progress(self.replay.rounds)
        return self

    def rewards(self) -> Floats:
        """(policies, replicates, blocks): sums over each block, in the unit."""
        if self.ledger is None:
            raise RuntimeError("run the study first: study.run()")
        sums = [self.scale * cell.regret for cell in self.ledger.read(task.key for task in self.tasks)]
        return np.array(sums).reshape(len(self.policies), self.replicates, -1)

    def yardsticks(self) -> dict[str, Floats]:
        """(blocks,) each: what random choice and hindsight would have earned."""
        known = {RANDOM: self.replay.random, FIXED: self.replay.fixed(), BEST: self.replay.best}
        return {name: self.scale * np.bincount(self.number, rewards) for name, rewards in known.items()}

    def gains(self) -> Gains:
        """The mean over replicates of each policy, along with random choice and hindsight."""
        known = self.yardsticks()
        rewards = np.concatenate([self.rewards().mean(axis=1), list(known.values())])
        return Gains((*self.policies, *known), self.blocks, np.bincount(self.number), rewards, self.together, self.seed)

    def table(self) -> pl.DataFrame:
        """As any study's, one row per policy, replicate and block: regret, and reward, up to the block's last round."""
        known, varied = self.yardsticks(), list(dict.fromkeys(key for one in self.policies.values() for key in one.vary))
        played = [(task.policy.label, task.replicate, task.policy.vary) for task in self.tasks]
        rows = [*played, *((name, 0, {}) for name in known)]
        rewards = [*self.rewards().reshape(len(played), -1), *known.values()]
        frames = []
        for (policy, replicate, vary), reward in zip(rows, rewards, strict=True):
            settings = {f"policy.{key}": str(vary[key]) if isinstance(vary.get(key), list) else vary.get(key) for key in varied}
            literals = {"world": self.name, "policy": policy, **settings, "replicate": replicate}
            so_far = {"regret": np.cumsum(known[BEST] - reward), "reward": np.cumsum(reward)}
            columns = {"round": np.cumsum(np.bincount(self.number)), "block": self.blocks, **so_far}
            literal = [pl.lit(value).alias(column) for column, value in literals.items()]
            frames.append(pl.DataFrame(columns).select(*literal, pl.all()))
        return pl.concat(frames, how="vertical_relaxed")

    def grid(self, gains: Gains) -> Grid:
        drawn = self.block if gains.together == 1 else f"{gains.together} × {self.block}"
        caption = f"{self.unit} per decision; {self.replay.rounds:,} decisions; 95 % intervals, resampling by {drawn}"
        return gains.grid(self.against, caption)

    def page(self, gains: Gains) -> str:
        """In Markdown: a description of the table, if the settings have one, and the gains."""
        about = self.settings.get("about")
        return (f"# {self.name}: {about}\n\n" if about else "") + as_markdown(self.grid(gains))


def blocks_of(replay: Replay, column: str) -> tuple[pl.Series, Ints]:
    """The values of a column that must not decrease, and which of them each round has."""
    if column not in replay.table.columns:
        raise SettingsError(f"block: the table has no column {column!r}; {hint(column, replay.table.columns, 0.5)}")
    first = replay.table[column].gather(replay.log.starts[:-1])
    number = first.rank("dense").to_numpy().astype(np.int64) - 1
    if (np.diff(number) < 0).any():
        raise SettingsError(f"block: column {column!r} must not decrease")
    return first.unique(maintain_order=True), number
