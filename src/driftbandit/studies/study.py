"""A study: worlds × policies × replicates as data → one tidy table. Killed at any moment, it goes on where it was."""

import hashlib
import itertools
import json
import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import polars as pl

from driftbandit import __version__
from driftbandit.core import validate
from driftbandit.core.types import Ints
from driftbandit.figures.look import LIGHT, Theme
from driftbandit.policies._base.leaves import state_bytes
from driftbandit.simulate.play import checkpoint_rounds, play_replicate
from driftbandit.studies.cells import Cell, Ledger
from driftbandit.studies.engines import run_all
from driftbandit.studies.scaling import fit_exponents
from driftbandit.studies.settings import (
    SettingsError,
    check_keys,
    check_policy_table,
    label,
    make_policy,
    make_world,
    read_toml,
    variants,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEYS = ["name", "horizon", "replicates", "seed", "judge_seed", "checkpoints", "figure", "worlds", "policies"]
BLOCK = 4096
RESULTS = 3  # raised with every change that moves a number, so that old cells are not taken for new ones


class Variant(NamedTuple):
    """A world or a policy with one value for each setting."""

    where: str  # its table, for errors
    name: str
    label: str  # the name with the values that vary
    settings: dict[str, Any]
    vary: dict[str, Any]


class Task(NamedTuple):
    """One replicate of one world, and the policies still to play it: plain values, to be sent anywhere."""

    world: Variant
    policies: Sequence[Variant]
    keys: Sequence[str]
    replicate: int
    seed: int
    checkpoints: int | list[int]

    @property
    def rounds(self) -> int:
        return int(self.world.settings["horizon"]) * len(self.policies)


def play_task(task: Task) -> tuple[list[Cell], int]:
    world = make_world(task.world.where, task.world.settings, task.seed)
    policies = {variant.label: make_policy(variant.where, variant.settings, world, task.replicate) for variant in task.policies}
    marks = marks_of(task.checkpoints, world.horizon)
    regret, seconds = play_replicate(policies, world, task.replicate, marks, BLOCK)
    sizes = [state_bytes(policy.state) for policy in policies.values()]
    return [Cell(*cell) for cell in zip(task.keys, regret, seconds.tolist(), sizes, strict=True)], task.rounds


@dataclass
class Study:
    """What to compare. ``worlds`` and ``policies`` are tables of plain values; a list of values makes a grid.

    ``figure``: "regret" (over time) or "scaling" (final regret against the horizon).
    """

    worlds: Mapping[str, Mapping[str, Any]]
    policies: Mapping[str, Mapping[str, Any]]
    name: str = "study"
    horizon: int | list[int] | None = None  # for worlds that state none
    replicates: int = 10
    seed: int = 0
    judge_seed: int | None = None  # kept apart for the last word, when a design is done
    checkpoints: int | list[int] = 100
    figure_kind: str = "regret"

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Self:
        check_keys("study", settings, KEYS, required=["worlds", "policies"])
        return cls(**{"figure_kind" if key == "figure" else key: value for key, value in settings.items()})

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        return cls.from_dict(read_toml(path))

    def __post_init__(self) -> None:
        """Build every world and policy once: what is wrong is said before anything runs."""
        self._ledger: Ledger | None = None
        validate.whole("replicates", self.replicates)
        for name in ("seed", "judge_seed"):
            if getattr(self, name) is not None:
                validate.whole(name, getattr(self, name), least=0)
        validate.choice("figure", self.figure_kind, ("regret", "scaling"))
        if not isinstance(self.name, str) or Path(self.name).name != self.name:
            raise SettingsError(f"[study] name must be a word that can name a folder, got {self.name!r}")
        for section in (self.worlds, self.policies):
            if not isinstance(section, Mapping):
                raise SettingsError(f"[study] worlds and policies must be tables, got {section!r}")
        horizon = {} if self.horizon is None else {"horizon": self.horizon}
        self.world_variants = expand("worlds", {name: {**horizon, **table} for name, table in self.worlds.items()})
        self.policy_variants = expand("policies", self.policies)
        for world in self.world_variants:
            made = make_world(world.where, world.settings, self.seed)
            marks_of(self.checkpoints, made.horizon)
            for policy in self.policy_variants:
                make_policy(policy.where, policy.settings, made, replicate=None)
        horizons = {world.settings["horizon"] for world in self.world_variants}
        if self.figure_kind == "scaling" and len(horizons) < 2:
            raise SettingsError("[study] a scaling figure needs at least two horizons")

    def run(
        self,
        folder: str | Path | None = None,
        *,
        engine: str = "threads",
        workers: int | None = None,
        address: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Self:
        """Play what is not yet in the folder's ledger (without a folder: everything, kept while this object lives).

        ``progress`` is called with the number of rounds just finished, first with those found finished.
        """
        if folder is None:
            folder = tempfile.mkdtemp(prefix="driftbandit-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        run_together([self], folder, engine=engine, workers=workers, address=address, progress=progress)
        return self

    def tasks(self, done: Collection[str] = ()) -> list[Task]:
        """What is still to be played."""
        tasks = []
        for world, replicate in itertools.product(self.world_variants, range(self.replicates)):
            left = [(policy, key) for policy, key in self._keys(world, replicate) if key not in done]
            if left:
                policies, keys = zip(*left, strict=True)
                tasks.append(Task(world, policies, keys, replicate, self.seed, self.checkpoints))
        return tasks

    def rounds(self) -> int:
        """How many rounds the whole study plays."""
        return sum(task.rounds for task in self.tasks())

    def table(self) -> pl.DataFrame:
        """One row a world, policy, replicate and checkpoint; what varies in a grid has a column of its own."""
        frames = []
        for world, policy, replicate, cell in self._finished():
            marks = marks_of(self.checkpoints, world.settings["horizon"])
            varied = {f"world.{key}": value for key, value in world.vary.items()}
            varied |= {f"policy.{key}": value for key, value in policy.vary.items()}
            columns = {"round": marks, "regret": cell.regret}
            varied = {key: str(value) if isinstance(value, list) else value for key, value in varied.items()}
            literals = {"world": world.label, "policy": policy.label, **varied, "replicate": replicate}
            literal = [pl.lit(value).alias(column) for column, value in literals.items()]
            frames.append(pl.DataFrame(columns).select(*literal, pl.all()))
        return pl.concat(frames, how="diagonal_relaxed")

    def timing(self) -> pl.DataFrame:
        """One row a world, policy and replicate: processor seconds inside the policy, and bytes of its state."""
        return pl.DataFrame(
            [
                {
                    "world": world.label, "policy": policy.label, "replicate": replicate,
                    "rounds": world.settings["horizon"], "seconds": cell.seconds, "bytes": cell.bytes,
                }
                for world, policy, replicate, cell in self._finished()
            ]
        )  # fmt: skip

    def final(self) -> pl.DataFrame:
        """One row a world, policy and replicate: the regret at the end; worlds that differ in horizon under one name."""
        return pl.DataFrame(
            [
                {
                    "world": label(world.name, {k: v for k, v in world.vary.items() if k != "horizon"}),
                    "policy": policy.label, "replicate": replicate,
                    "horizon": world.settings["horizon"], "regret": float(cell.regret[-1]),
                }
                for world, policy, replicate, cell in self._finished()
            ]
        )  # fmt: skip

    def figure(self, theme: Theme = LIGHT) -> "Figure":
        """Regret over time, or final regret against the horizon with fitted exponents, as ``figure`` says."""
        from driftbandit import figures  # a second of matplotlib, for those who draw

        if self.figure_kind == "scaling":
            return figures.scaling(self.final(), fit_exponents(self.final()), theme=theme)
        return figures.regret_over_time(self.table(), theme=theme)

    def settings(self) -> dict[str, Any]:
        """The study as plain values: what ``from_dict`` takes."""
        values = {key: getattr(self, "figure_kind" if key == "figure" else key) for key in KEYS}
        return {key: value for key, value in values.items() if value is not None}

    def _keys(self, world: Variant, replicate: int) -> Iterator[tuple[Variant, str]]:
        """Each policy with the digest of all that its numbers depend on: other settings have other keys."""
        played_in = {key: value for key, value in world.settings.items() if key != "group"}
        for policy in self.policy_variants:
            played = [RESULTS, __version__, played_in, policy.settings, replicate, self.seed, self.checkpoints]
            yield policy, hashlib.sha256(json.dumps(played, sort_keys=True).encode()).hexdigest()[:32]

    def _finished(self) -> Iterator[tuple[Variant, Variant, int, Cell]]:
        if self._ledger is None:
            raise RuntimeError("run the study first: study.run()")
        cells = [
            (world, policy, replicate, key)
            for world, replicate in itertools.product(self.world_variants, range(self.replicates))
            for policy, key in self._keys(world, replicate)
        ]
        found = self._ledger.read(key for *_, key in cells)
        for (world, policy, replicate, _), cell in zip(cells, found, strict=True):
            yield world, policy, replicate, cell


def run_together(
    studies: Sequence[Study],
    folder: str | Path,
    *,
    engine: str = "threads",
    workers: int | None = None,
    address: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Run several studies as one into one ledger, so that no worker waits at the end of each."""
    ledger = Ledger(Path(folder) / "cells.sqlite")
    done = ledger.keys()
    left = sorted((task for study in studies for task in study.tasks(done)), key=lambda task: -task.rounds)
    for study in studies:
        study._ledger = ledger
    if progress:
        progress(sum(study.rounds() for study in studies) - sum(task.rounds for task in left))
    for cells, rounds in run_all(play_task, left, engine, workers, address):
        ledger.add(cells)
        if progress:
            progress(rounds)


def marks_of(checkpoints: int | list[int], horizon: int) -> Ints:
    """The rounds at which regret is noted; the last is always among them."""
    return checkpoint_rounds([*checkpoints, horizon] if isinstance(checkpoints, list) else checkpoints, horizon)


def expand(section: str, tables: Mapping[str, Mapping[str, Any]]) -> list[Variant]:
    """Every table of a section with its lists multiplied out."""
    if not tables:
        raise SettingsError(f"[{section}] must not be empty")
    found = []
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise SettingsError(f"[{section}] {name} must be a table, got {table!r}")
        for settings, vary in variants(table):
            if section == "policies":
                settings["kind"] = check_policy_table(f"{section}.{name}", {"kind": name, **settings})
            found.append(Variant(f"{section}.{name}", name, label(name, vary), settings, vary))
    labels = [variant.label for variant in found]
    for one in labels:
        if labels.count(one) > 1:
            raise SettingsError(f"[{section}] {one!r} stands there twice")
    return found
