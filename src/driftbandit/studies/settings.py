"""Settings as data: tables of plain values → worlds and policies, with errors that name the key and the nearest one."""

import inspect
import itertools
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from driftbandit.core import validate
from driftbandit.policies import every
from driftbandit.policies._base.policy import Policy
from driftbandit.studies.kinds import MEMORY as MEMORY
from driftbandit.studies.kinds import PARTS, check_given, is_own, memory_of, parameters, player_class, takes_anything
from driftbandit.studies.kinds import hint as hint
from driftbandit.theory.tuning import early_period, optimal_period
from driftbandit.worlds.hard_drift import BaseRate, Scaled
from driftbandit.worlds.world import World

Table = Mapping[str, Any]

# Drifts that wrap any other drift, by the parameter that asks for them.
OF_DRIFTS: dict[str, Callable[..., Any]] = {"length": Scaled, "rate": BaseRate}
DEFAULT_KIND = {"arms": "unit", "noise": "gaussian", "delay": "fixed"}
WORLD_KEYS = ["group", "dim", "horizon", *PARTS]  # group: worlds that are summarised together

TUNINGS = {"theory": optimal_period, "early": early_period}
LAID_OUT = ("kind", "told", "memory", "factor")  # keys of a policy's table that are not its parameters
# Parameters that are lists themselves, and how deep; deeper nesting makes a grid.
DEPTH = {"pool": 1, "change_points": 1, "drift.theta": 2, "arms.arms": 2, "arms.shape": 2}


class Told(Protocol):
    """What a policy is made for and told about: a ``World``, or a log, of which less is known."""

    @property
    def dim(self) -> int: ...
    @property
    def horizon(self) -> Any: ...  # rounds, or None
    @property
    def noise(self) -> Any: ...  # its ``scale`` is told, if it has one
    @property
    def drift(self) -> Any: ...  # its ``length`` is told, if it has one
    def path_length(self, replicate: int) -> float: ...
    def change_points(self, replicate: int) -> list[int] | None: ...


class SettingsError(ValueError):
    """A wrong setting; the message names it."""


def read_toml(path: str | Path) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}: `driftbandit example > {path}` writes one to start from") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}") from None


def check_keys(where: str, table: Table, known: Iterable[str], required: Iterable[str] = ()) -> None:
    known = list(known)
    for key in table:
        if key not in known:
            raise SettingsError(f"[{where}] has no key {key!r}; {hint(key, known, 0.65)}")
    for key in required:
        if key not in table:
            raise SettingsError(f"[{where}] must have a key {key!r}")


def variants(table: Table, prefix: str = "") -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Every combination of the listed values: (the table with one value each, the values that vary by dotted key)."""
    axes: list[list[tuple[str, Any, dict[str, Any]]]] = []
    for key, value in table.items():
        path = prefix + key
        several = isinstance(value, list) and depth(value) > DEPTH.get(path, 0)
        if several and not value:
            raise SettingsError(f"{path} must not be an empty list")
        axis = []
        for one in value if several else [value]:
            varied = {path: one} if several and len(value) > 1 and not isinstance(one, Mapping) else {}
            inner = variants(one, f"{path}.") if isinstance(one, Mapping) else [(one, {})]
            for place, (part, more) in enumerate(inner):
                kind = {path: one.get("kind", place)} if several and isinstance(one, Mapping) else {}
                axis.append((key, part, {**varied, **kind, **more}))
        axes.append(axis)
    return [
        ({key: value for key, value, _ in choice}, {name: v for _, _, vary in choice for name, v in vary.items()})
        for choice in itertools.product(*axes)
    ]


def depth(value: Any) -> int:
    """How deep lists are nested: 0 for a value, 1 for a list of values."""
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def label(name: str, vary: Table) -> str:
    """The name of a variant: ``restart``, or ``restart period=100``."""
    return " ".join([name, *(f"{key}={value}" for key, value in vary.items())])


def make_world(where: str, table: Table, seed: int) -> World:
    check_keys(where, table, WORLD_KEYS, required=["drift", "noise", "horizon"])
    shared = {key: table[key] for key in ("dim", "horizon") if key in table}
    parts = {part: make_part(f"{where}.{part}", part, table[part], shared) for part in PARTS if part in table}
    world: World = named(where, World, {**parts, "horizon": table["horizon"], "seed": seed})
    return world


def make_part(where: str, part: str, setting: Any, shared: Table) -> Any:
    kinds, number = PARTS[part]
    if isinstance(setting, Mapping):
        table = dict(setting)
    else:
        table = {"kind": setting} if isinstance(setting, str) else {number: setting}
    kind = table.pop("kind", DEFAULT_KIND.get(part))
    if not isinstance(kind, str) or kind not in kinds:
        raise SettingsError(f"[{where}] unknown {part} kind {kind!r}; {hint(str(kind), kinds, 0.4)}")
    if part == "delay" and "delay" in table:
        table["delay"] = make_part(f"{where}.delay", part, table["delay"], shared)
    makers = [kinds[kind], *(maker for key, maker in OF_DRIFTS.items() if part == "drift" and key in table)]
    known = [key for maker in makers for key in inspect.signature(maker).parameters if key != "drift"]
    check_keys(where, table, [*known, *OF_DRIFTS] if part == "drift" else known)
    made: dict[str, Any] = {}
    for maker in makers:
        values = {**shared, **table, **made}
        made = {part: named(where, maker, {k: values[k] for k in inspect.signature(maker).parameters if k in values})}
    return made[part]


def check_policy_table(where: str, table: Table) -> str:
    """Check the keys of a policy's table, and return its kind."""
    kind = table.get("kind", where.removeprefix("policies."))
    if not isinstance(kind, str) or not (is_own(kind) or kind in every()):
        module, _, name = str(kind).rpartition(".")
        nearest = f"did you mean '{module}:{name}'?" if module and name else hint(str(kind), sorted(every()), 0.3)
        raise SettingsError(f"[{where}] unknown policy kind {kind!r} (one of your own is 'module:Class'); {nearest}")
    player = named(where, player_class, {"kind": kind})
    if not takes_anything(player):
        memory = ["memory", "factor"] if memory_of(player) else []
        check_keys(where, table, ["kind", "told", *memory, *parameters(player)])
    return kind


def make_policy(where: str, table: Table, world: Told, replicate: int | None) -> Any:
    """The policy that a table describes, told what it needs about the world: dim, noise, horizon, and what it asks for.

    The noise is its sub-Gaussian scale, or its standard deviation if it has none; ‖θ‖ is told if it is not 1.

    ``memory``: rounds, or "theory" for Theorem 2's period at the world's own path length, or "early" for that of the
    paper's first version; ``factor`` multiplies it.
    ``told = false`` in the table: told nothing but dim.
    ``kind = "module:Class"``: any player of your own, as described in ``driftbandit.simulate.player``.
    Without a replicate the path length is not computed: enough to check the table.
    """
    player = player_class(check_policy_table(where, table))
    memory, takes = memory_of(player), parameters(player)
    given = {key: value for key, value in table.items() if key not in (LAID_OUT if memory else LAID_OUT[:2])}
    told: dict[str, Any] = {"dim": world.dim}
    if named(where, validate.flag, {"name": "told", "value": table.get("told", True)}):
        told |= {"noise": getattr(world.noise, "scale", None), "horizon": world.horizon}
        told["theta_norm"] = getattr(world.drift, "length", None)
    if memory and "memory" in table:
        told[memory.parameter] = memory.of(memory_rounds(where, table, world, replicate))
        if memory.parameter in given:
            raise SettingsError(f"[{where}] give memory or {memory.parameter}, not both")
    elif memory and "factor" in table:
        raise SettingsError(f"[{where}] factor requires memory: give memory too, or leave factor out")
    if "change_points" in takes:
        told["change_points"] = [] if replicate is None else world.change_points(replicate)
    if not issubclass(player, Policy):  # whose replicates are spawned
        told["seed"] = replicate or 0
    arguments = {key: value for key, value in told.items() if key in takes and value is not None}
    named(where, check_given, {"kind": player, "given": {*arguments, *given}})
    policy = named(where, player, {**arguments, **given})
    if getattr(policy, "dim", world.dim) != world.dim:
        raise SettingsError(f"[{where}] dim must be {world.dim}, like the world's, got {policy.dim}")
    return policy


def memory_rounds(where: str, table: Table, world: Told, replicate: int | None) -> int:
    memory = table["memory"]
    if isinstance(memory, str) and memory in TUNINGS:
        length = 1.0 if replicate is None else named(where, world.path_length, {"replicate": replicate})
        memory = TUNINGS[memory](world.dim, world.horizon, length)
    elif isinstance(memory, str | Mapping):
        names = " or ".join(map(repr, TUNINGS))
        raise SettingsError(f"[{where}] memory must be a number of rounds, or {names}, got {memory!r}")
    number = named(where, validate.positive, {"name": "memory", "value": memory})
    factor = named(where, validate.positive, {"name": "factor", "value": table.get("factor", 1)})
    return max(int(number * factor), 1)


def named(where: str, make: Callable[..., Any], arguments: Table) -> Any:
    """Call ``make``, and say in which table a wrong value is."""
    try:
        return make(**arguments)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"[{where}] {error}") from None
