"""The smallest pieces of a study: variants of worlds and policies, and a replicate to be played anywhere."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from driftbandit import __version__
from driftbandit.core.types import Ints
from driftbandit.simulate.play import checkpoint_rounds, play_replicate
from driftbandit.simulate.player import state_bytes
from driftbandit.studies.cells import Cell
from driftbandit.studies.kinds import player_class, source_of
from driftbandit.studies.settings import SettingsError, check_policy_table, label, make_policy, make_world, variants

BLOCK = 4096
RESULTS = 6  # raised with every change that moves a number, so that old cells are not mistaken for new ones


class Variant(NamedTuple):
    """A world or a policy with one value for each setting."""

    where: str  # its table, for errors
    name: str
    label: str  # the name with the values that vary
    settings: dict[str, Any]
    vary: dict[str, Any]


class Task(NamedTuple):
    """One replicate of one world, and the policies still to play it: plain values that can be sent anywhere."""

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
    try:
        regret, seconds = play_replicate(policies, world, task.replicate, marks, BLOCK)
    except Exception as error:
        error.add_note(f"in the world {task.world.label!r} of a study")
        raise
    sizes = [state_bytes(policy) for policy in policies.values()]
    return [Cell(*cell) for cell in zip(task.keys, regret, seconds.tolist(), sizes, strict=True)], task.rounds


def key_of(world: Variant, policy: Variant, replicate: int, seed: int, checkpoints: int | list[int]) -> str:
    """A digest of everything that the numbers of a cell depend on: different settings have different keys."""
    played_in = {key: value for key, value in world.settings.items() if key != "group"}
    played = [RESULTS, __version__, played_in, policy.settings, replicate, seed, checkpoints]
    played += filter(None, [source_of(player_class(policy.settings["kind"]))])
    return hashlib.sha256(json.dumps(played, sort_keys=True).encode()).hexdigest()[:32]


def marks_of(checkpoints: int | list[int], horizon: int) -> Ints:
    """The rounds at which regret is recorded; the last is always among them."""
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
            raise SettingsError(f"[{section}] {one!r} is defined twice")
    return found
