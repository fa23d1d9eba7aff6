"""Policies: the same optimist, each with its own way to forget."""

import importlib
import inspect
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from driftbandit.policies._base.policy import Policy


def every() -> "dict[str, type[Policy]]":
    """Every policy by its name: those in this folder, and any of a user's own that inherits from ``Policy``."""
    kinds = {name: kind for name, kind in _policy().kinds.items() if not inspect.isabstract(kind)}
    return cast("dict[str, type[Policy]]", kinds)


@cache
def _policy() -> "type[Policy]":
    """The common base, once every file of this folder has been imported and so is known to it."""
    for found in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{found.name}")
    base: type[Policy] = importlib.import_module(f"{__name__}._base.policy").Policy
    return base
