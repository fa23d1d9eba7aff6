"""A study: worlds × policies × replicates as data → one tidy table. If it is interrupted, run it again to resume."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from driftbandit.core import validate
from driftbandit.core.progress import Tick, reported
from driftbandit.figures.look import LIGHT, Theme
from driftbandit.simulate.player import state_bytes
from driftbandit.studies import shown, tables
from driftbandit.studies.cells import Cell, Ledger
from driftbandit.studies.cost import MOST_ROUNDS, Cost, check_bytes, check_rounds, cost_of, least_bytes, whole
from driftbandit.studies.differences import differences
from driftbandit.studies.engines import run_all
from driftbandit.studies.scaling import fit_exponents
from driftbandit.studies.settings import SettingsError, check_keys, make_policy, make_world, read_toml
from driftbandit.studies.tasks import Task, Variant, expand, key_of, marks_of, play_task

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

KEYS = ["name", "horizon", "replicates", "seed", "judge_seed", "checkpoints", "figure"]
KEYS += ["most_rounds", "most_bytes", "worlds", "policies"]


@dataclass
class Study:
    """What to compare. ``worlds`` and ``policies`` are tables of plain values; a list of values makes a grid.

    ``figure``: "regret" (over time) or "scaling" (final regret against the horizon). What would play more than
    ``most_rounds`` or need more than ``most_bytes`` of memory (None: what the machine has) is refused.
    """

    worlds: Mapping[str, Mapping[str, Any]]
    policies: Mapping[str, Mapping[str, Any]]
    name: str = "study"
    horizon: int | list[int] | None = None  # for worlds that state none
    replicates: int = 10
    seed: int = 0
    judge_seed: int | None = None  # reserved for the final judgement, when a design is done
    checkpoints: int | list[int] = 100
    figure: str = "regret"
    most_rounds: int = MOST_ROUNDS
    most_bytes: int | None = None

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Self:
        check_keys("study", settings, KEYS, required=["worlds", "policies"])
        return cls(**settings)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        return cls.from_dict(read_toml(path))

    def __post_init__(self) -> None:
        """Report what is wrong or too large before anything runs."""
        self._ledger: Ledger | None = None
        validate.whole("replicates", self.replicates)
        validate.whole("most_rounds", self.most_rounds)
        for name, least in (("seed", 0), ("judge_seed", 0), ("most_bytes", 1)):
            if getattr(self, name) is not None:
                validate.whole(name, getattr(self, name), least)
        validate.choice("figure", self.figure, ("regret", "scaling"))
        if not isinstance(self.name, str) or Path(self.name).name != self.name:
            raise SettingsError(f"[study] name must be usable as the name of a folder, got {self.name!r}")
        for section in (self.worlds, self.policies):
            if not isinstance(section, Mapping):
                raise SettingsError(f"[study] worlds and policies must be tables, got {section!r}")
        horizon = {} if self.horizon is None else {"horizon": self.horizon}
        for rounds in self.horizon if isinstance(self.horizon, list) else [1 if self.horizon is None else self.horizon]:
            validate.whole("horizon", rounds)
        self.world_variants = expand("worlds", {name: {**horizon, **table} for name, table in self.worlds.items()})
        self.policy_variants = expand("policies", self.policies)
        self.cost = self._estimate()
        horizons = {world.settings["horizon"] for world in self.world_variants}
        if self.figure == "scaling" and len(horizons) < 2:
            raise SettingsError("[study] a scaling figure needs at least two horizons: set horizon to a list")

    def _estimate(self) -> Cost:
        """Build every world and policy that fits once, and add up what playing them costs."""
        rounds = [whole(world.settings.get("horizon")) for world in self.world_variants]
        check_rounds(sum(rounds) * len(self.policy_variants) * self.replicates, self.most_rounds)
        total = Cost(0, 0.0, 0, 0)
        for world in self.world_variants:
            check_bytes(world.where, least_bytes(world.settings, self.checkpoints), self.most_bytes)
            made = make_world(world.where, world.settings, self.seed)
            marks = len(marks_of(self.checkpoints, made.horizon))
            states = {}
            for policy in self.policy_variants:
                try:
                    states[policy.label] = state_bytes(make_policy(policy.where, policy.settings, made, replicate=None))
                except MemoryError:
                    raise SettingsError(f"[{policy.where}] needs more memory than there is, in [{world.where}]") from None
            cost = cost_of(made, states, self.replicates, marks)
            check_bytes(world.where, cost.bytes + cost.worker_bytes, self.most_bytes)
            total += cost
        return total

    def run(
        self,
        folder: str | Path | None = None,
        *,
        engine: str = "threads",
        workers: int | None = None,
        address: str | None = None,
        progress: Tick | bool | None = None,
    ) -> Self:
        """Play what is not yet in the folder's ledger (without a folder: everything, kept as long as this object exists).

        ``progress`` is called with the number of rounds just finished, first with those already finished; True shows a bar.
        """
        with reported(progress, self.rounds()) as tick:
            run_together([self], folder, engine=engine, workers=workers, address=address, progress=tick)
        return self

    def tasks(self, done: Collection[str] = ()) -> list[Task]:
        """The tasks still to be played."""
        tasks = []
        for world, replicate in itertools.product(self.world_variants, range(self.replicates)):
            left = [(policy, key) for policy, key in self._keys(world, replicate) if key not in done]
            if left:
                policies, keys = zip(*left, strict=True)
                tasks.append(Task(world, policies, keys, replicate, self.seed, self.checkpoints))
        return tasks

    def rounds(self) -> int:
        """How many rounds the whole study plays."""
        return self.cost.rounds

    def table(self) -> "pl.DataFrame":
        """One row per world, policy, replicate and checkpoint, with a column for every setting."""
        return tables.tidy(self._finished(), self.world_variants, self.policy_variants, self.checkpoints)

    def timing(self) -> "pl.DataFrame":
        """One row per world, policy and replicate: processor seconds inside the policy, and bytes of its state."""
        return tables.timing(self._finished())

    def final(self) -> "pl.DataFrame":
        """One row per world, policy and replicate: the regret at the end; worlds that differ in horizon under one name."""
        return tables.final(self._finished())

    def differences(self, policy: str | None = None) -> "pl.DataFrame":
        """One row per world, horizon and policy: final regret less that of ``policy`` (default: the first), paired."""
        return differences(self.final(), policy or self.policy_variants[0].label)

    def draw(self, theme: Theme = LIGHT) -> "Figure":
        """Regret over time, or final regret against the horizon with fitted exponents, as ``figure`` says."""
        from driftbandit import figures  # here, since importing matplotlib takes a second

        if self.figure == "scaling":
            return figures.scaling(self.final(), fit_exponents(self.final()), theme=theme)
        return figures.regret_over_time(self.table(), theme=theme)

    def _repr_html_(self) -> str:
        return shown.as_html(self)

    def settings(self) -> dict[str, Any]:
        """The study as plain values: what ``from_dict`` takes."""
        values = {key: getattr(self, key) for key in KEYS}
        return {key: value for key, value in values.items() if value is not None}

    def _keys(self, world: Variant, replicate: int) -> Iterator[tuple[Variant, str]]:
        """Each policy with the key of its cell."""
        for policy in self.policy_variants:
            yield policy, key_of(world, policy, replicate, self.seed, self.checkpoints)

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
    folder: str | Path | None,
    *,
    engine: str = "threads",
    workers: int | None = None,
    address: str | None = None,
    progress: Tick | None = None,
) -> None:
    """Run several studies as one into one ledger, so that no worker idles at the end of each; shared cells are played once."""
    ledger = Ledger.in_folder(folder)
    claimed, left = ledger.keys(), list[Task]()
    for study in studies:
        study._ledger = ledger
        tasks = study.tasks(claimed)
        claimed.update(key for task in tasks for key in task.keys)
        left += tasks
    left.sort(key=lambda task: -task.rounds)
    if progress:
        progress(sum(study.rounds() for study in studies) - sum(task.rounds for task in left))
    for cells, rounds in run_all(play_task, left, engine, workers, address):
        ledger.add(cells)
        if progress:
            progress(rounds)
