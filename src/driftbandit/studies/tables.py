"""Finished cells → tidy tables, with one column per setting of a world or a policy, varied or not."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from driftbandit.studies.cells import Cell
from driftbandit.studies.kinds import PARTS
from driftbandit.studies.settings import DEFAULT_KIND, label
from driftbandit.studies.tasks import Variant, marks_of

Finished = Iterable[tuple[Variant, Variant, int, Cell]]  # world, policy, replicate
LONGEST_TEXT = 100  # of a list in a column: a path of a million rounds stays in the settings


def tidy(
    finished: Finished, worlds: Sequence[Variant], policies: Sequence[Variant], checkpoints: int | list[int]
) -> pl.DataFrame:
    """One row per world, policy, replicate and checkpoint, with all settings."""
    cells = list(finished)
    marks = {world.label: marks_of(checkpoints, world.settings["horizon"]) for world in worlds}
    lengths = [len(marks[world.label]) for world, *_ in cells]
    rows = pl.DataFrame(
        {
            "world": np.repeat([world.label for world, *_ in cells], lengths),
            "policy": np.repeat([policy.label for _, policy, *_ in cells], lengths),
            "replicate": np.repeat(np.array([replicate for *_, replicate, _ in cells], np.int64), lengths),
            "round": np.concatenate([marks[world.label] for world, *_ in cells]),
            "regret": np.concatenate([cell.regret for *_, cell in cells]),
        }
    )
    of_world = described("world", [(world.label, world_columns(world.settings)) for world in worlds])
    of_policy = described("policy", [(policy.label, policy_columns(policy.settings)) for policy in policies])
    joined = rows.join(of_world, on="world", maintain_order="left").join(of_policy, on="policy", maintain_order="left")
    last = ["replicate", "round", "regret"]
    return joined.select("world", "policy", pl.exclude("world", "policy", *last), *last)


def described(section: str, rows: Iterable[tuple[str, dict[str, Any]]]) -> pl.DataFrame:
    """One row per variant: its label, and its settings, null where it has none."""
    named = [{section: name, **{f"{section}.{key}": value for key, value in columns.items()}} for name, columns in rows]
    columns = list(dict.fromkeys(key for row in named for key in row))
    return pl.DataFrame([column(key, [row.get(key) for row in named]) for key in columns])


def column(name: str, values: list[Any]) -> pl.Series:
    """Typed if the values share a type (integers and floats may mix); else text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        values = [value if value is None else str(value) for value in values]
    return pl.Series(name, values, dtype=pl.Float64 if kinds == {int, float} else None)


def world_columns(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Each part by its kind, followed by its parameters: ``noise = 0.1`` is noise: gaussian, noise.scale: 0.1."""
    columns: dict[str, Any] = {}
    for key, value in settings.items():
        columns |= part_columns(key, key, value) if key in PARTS else {key: plain(value)}
    return columns


def part_columns(part: str, path: str, setting: Any) -> dict[str, Any]:
    if not isinstance(setting, Mapping):
        setting = {"kind": setting} if isinstance(setting, str) else {PARTS[part][1]: setting}
    columns = {path: setting.get("kind", DEFAULT_KIND.get(part))}
    for key, value in setting.items():
        if key in PARTS and isinstance(value, Mapping | str):  # a delay within a delay
            columns |= part_columns(key, f"{path}.{key}", value)
        elif key != "kind":
            columns[f"{path}.{key}"] = plain(value)
    return columns


def policy_columns(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The kind, then the settings; a memory named by its tuning is in ``tuning``, so that ``memory`` is always a number."""
    columns = {"kind": settings["kind"]}
    for key, value in settings.items():
        columns["tuning" if key == "memory" and isinstance(value, str) else key] = plain(value)
    return columns


def plain(value: Any) -> Any:
    """A value that fits a column: a list becomes text, truncated."""
    if not isinstance(value, list | tuple | Mapping):
        return value.item() if isinstance(value, np.generic) else value
    text = str(value)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}… ({len(value)} entries)"


def timing(finished: Finished) -> pl.DataFrame:
    """One row per world, policy and replicate: processor seconds inside the policy, and bytes of its state."""
    return pl.DataFrame(
        [
            {
                "world": world.label, "policy": policy.label, "replicate": replicate,
                "rounds": world.settings["horizon"], "seconds": cell.seconds, "bytes": cell.bytes,
            }
            for world, policy, replicate, cell in finished
        ]
    )  # fmt: skip


def final(finished: Finished) -> pl.DataFrame:
    """One row per world, policy and replicate: the regret at the end; worlds that differ in horizon under one name."""
    return pl.DataFrame(
        [
            {
                "world": label(world.name, {k: v for k, v in world.vary.items() if k != "horizon"}),
                "policy": policy.label, "replicate": replicate,
                "horizon": world.settings["horizon"], "regret": float(cell.regret[-1]),
            }
            for world, policy, replicate, cell in finished
        ]
    )  # fmt: skip
