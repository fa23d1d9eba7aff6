"""Compilation: the only file that knows numba, its options and its disk cache, but for pinned.py."""

import functools
import hashlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
from numba import config
from numba.core.caching import FunctionCache
from numba.core.types import BaseNamedTuple
from numba.extending import overload
from platformdirs import user_cache_path

from driftbandit.core.kinds import is_ours

P = ParamSpec("P")
R = TypeVar("R")

COMPILED = not config.DISABLE_JIT


# The rooms that have kernels, and those below them: an edit of any other leaves all machine code as good as it was.
ROOMS = ("core", "theory", "policies", "worlds", "simulate", "replay")


def content_key(package: Path) -> str:
    """A digest of every source file that kernels may use: numba notices an edit only in a kernel's own file."""
    digest = hashlib.sha256()
    for source in sorted(path for room in ROOMS for path in (package / room).rglob("*.py")):
        digest.update(str(source.relative_to(package)).encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where machine code is kept: below NUMBA_CACHE_DIR if set, else in the user's cache, one folder per source digest."""
    root = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(root) if root else user_cache_path("driftbandit")
    return base / f"driftbandit-{content_key(Path(__file__).parent.parent)}"


def usable(folder: Path) -> bool:
    """Make the folder if needed; along with a new one, remove those that have not been used for a month."""
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
            for old in folder.parent.glob("driftbandit-*"):
                if time.time() - old.stat().st_mtime > 30 * 24 * 3600:
                    shutil.rmtree(old, ignore_errors=True)
        return os.access(folder, os.W_OK)
    except OSError:
        return False


_FOLDER = cache_folder()
_CACHED = COMPILED and usable(_FOLDER)  # without a folder of ours numba would keep code where edits go unnoticed


# No fastmath: reassociation and fused operations would make the last bit depend on the machine.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# Without numba's reference counts a round of RestartUCB takes a third of the time. The price: such a kernel can
# allocate no array, so scratch space comes in as an argument.
_COUNTED, _UNCOUNTED = {**_OPTIONS, "_nrt": True}, {**_OPTIONS, "_nrt": False}


_announcements: list[Callable[[], None]] = []


def when_compiling(announce: Callable[[], None]) -> None:
    """Call this once, before the next kernel is compiled that is not found on disk."""
    _announcements[:] = [announce]


class KernelCache(FunctionCache):
    """Machine code on disk, except for a user's own kind of state: an edit of how it begins or learns would go unnoticed."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context) if all(map(is_kept, sig)) else None
        while found is None and _announcements:
            _announcements.pop()()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        if all(map(is_kept, sig)):
            super().save_overload(sig, data)


def is_kept(kind: Any) -> bool:
    """Whether every named tuple in a type is of this package."""
    if isinstance(kind, BaseNamedTuple) and not is_ours(kind.instance_class):
        return False
    return all(map(is_kept, getattr(kind, "types", ())))


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile on first use, without the GIL, and keep on disk. Plain loops on float64 arrays; allocates nothing."""
    return _compiled(function, _UNCOUNTED)


def allocating_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel that may allocate arrays, for use where a round is costly anyway."""
    return _compiled(function, _COUNTED)


def _compiled(function: Callable[P, R], options: dict[str, Any]) -> Callable[P, R]:
    # numba reads the folder once, here; other users of numba in this process keep their own.
    kept, config.CACHE_DIR = config.CACHE_DIR, str(_FOLDER)
    try:
        compiled = numba.njit(**options)(function)
        if _CACHED:
            compiled._cache = KernelCache(function)
        return cast(Callable[P, R], compiled)
    finally:
        config.CACHE_DIR = kept


class Verb:
    """A function that each kind of state implements in its own way: ``begin(state, …)`` finds the one for that state.

    Works inside kernels (resolved when they compile) and without the compiler (resolved at the call). A state without
    an implementation is refused by name, or uses the stub if the verb is ``optional``.
    """

    def __init__(self, stub: Callable[..., Any], *, optional: bool = False) -> None:
        functools.update_wrapper(self, stub)
        self._ways: dict[type, Callable[..., Any]] = {}
        self._name, self._otherwise = stub.__name__, stub if optional else None
        options = {
            **_UNCOUNTED,
            "forceinline": True,
        }  # a state is some sixty words: costly to pass, free to inline
        overload(self, strict=False, jit_options=options)(lambda state, *_: self._way(state.instance_class))

    def of(self, state_type: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(way: Callable[..., Any]) -> Callable[..., Any]:
            self._ways[state_type] = way
            return way

        return register

    def _way(self, kind: type) -> Callable[..., Any]:
        way = self._ways.get(kind, self._otherwise)
        if way is None:
            name = self._name
            raise TypeError(f"{kind.__name__} does not implement {name}: register a function with @{name}.of({kind.__name__})")
        return way

    def __call__(self, state: Any, *args: Any) -> Any:
        return self._way(type(state))(state, *args)


def bind(function: Callable[..., R], *example: object) -> Callable[..., R]:
    """The compiled entry for arguments typed like ``example``.

    Skips numba's look-up of types, which for a state of eight arrays costs five times the call itself.
    """
    if not COMPILED:
        return function
    key = function, make_of(example)
    if key not in _ENTRIES:
        types = tuple(numba.typeof(value) for value in example)
        dispatcher: Any = function
        dispatcher.compile(types)
        _ENTRIES[key] = dispatcher.get_overload(types)
    return _ENTRIES[key]


_ENTRIES: dict[Any, Callable[..., Any]] = {}


def make_of(value: Any) -> Any:
    """What numba's type of a value depends on, found ten times as fast as the type."""
    if isinstance(value, tuple):
        return type(value), *map(make_of, value)
    if isinstance(value, np.ndarray):
        return value.dtype.char, value.ndim, value.flags.c_contiguous, value.flags.writeable
    return type(value)
