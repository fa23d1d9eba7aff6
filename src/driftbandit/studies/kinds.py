"""The classes that tables name: ours by their kinds, your own policies as "module:Class"."""

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from driftbandit.core.arms import Ball, Ellipsoid, FixedArms, axes
from driftbandit.core.kinds import is_ours
from driftbandit.policies import every
from driftbandit.policies._base.policy import Memory
from driftbandit.simulate.player import is_player
from driftbandit.theory.impossibility import theorem_four_arms
from driftbandit.worlds.arm_sources import ArmSource
from driftbandit.worlds.delay import Delay
from driftbandit.worlds.drift import Drift
from driftbandit.worlds.noise import Noise

ARMS: dict[str, Callable[..., Any]] = {
    **ArmSource.kinds(),
    "axes": axes,
    "fixed": FixedArms,
    "ball": Ball,
    "ellipsoid": Ellipsoid,
    "theorem-four": theorem_four_arms,
}
# What a world is made of: each part with its kinds, and the parameter that a bare number sets.
PARTS: dict[str, tuple[dict[str, Callable[..., Any]], str]] = {
    "drift": ({**Drift.kinds()}, "kind"),
    "arms": (ARMS, "count"),
    "noise": ({**Noise.kinds()}, "scale"),
    "delay": ({**Delay.kinds()}, "longest"),
}
# Those of our policies that a memory in rounds describes, in the order of their pens.
MEMORY: dict[str, Memory] = {
    name: kind.remembers
    for name, kind in sorted(every().items(), key=lambda item: (item[1].pen is None, item[1].pen, item[0]))
    if is_ours(kind) and kind.remembers is not None
}


def is_own(kind: str) -> bool:
    """Whether a kind names a user's own class."""
    return ":" in kind


def player_class(kind: str) -> type:
    """The class of one of our policies, of any other that inherits from ``Policy``, or "module:Class" of any player."""
    return own_class(kind) if is_own(kind) else every()[kind]


def own_class(kind: str) -> type:
    module, _, name = kind.partition(":")
    try:
        found = importlib.import_module(module)
    except Exception as error:
        raise ValueError(
            f"kind {kind!r}: {module!r} cannot be imported ({type(error).__name__}: {error}); it must be importable here "
            "and on every worker; the command line also finds files in the current directory"
        ) from error
    player = getattr(found, name, None)
    if player is None:
        raise ValueError(f"kind {kind!r}: there is no class {name!r} in {found!r}")
    if not isinstance(player, type) or not is_player(player):
        raise ValueError(f"kind {kind!r} must be a class with the methods select and update, got {player!r}")
    if "dim" not in parameters(player):
        raise ValueError(f"kind {kind!r} must have a constructor that takes dim, the number of features")
    return player


def parameters(kind: type) -> list[str]:
    """The keyword arguments of a class; one that takes ``**kwargs`` takes ``dim``."""
    known = inspect.signature(kind).parameters.values()
    named = [one.name for one in known if one.kind not in (one.POSITIONAL_ONLY, one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    return named if "dim" in named or not takes_anything(kind) else ["dim", *named]


def takes_anything(kind: type) -> bool:
    return any(one.kind == one.VAR_KEYWORD for one in inspect.signature(kind).parameters.values())


def memory_of(kind: type) -> Memory | None:
    """How this class is told a memory in rounds."""
    remembers = getattr(kind, "remembers", None)
    return None if remembers is None else Memory(*remembers)


@cache
def source_of(kind: type) -> str:
    """A digest of the file of a user's own class, since editing it makes it another policy; empty for ours."""
    file = None if is_ours(kind) else getattr(sys.modules[kind.__module__], "__file__", None)
    return "" if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
