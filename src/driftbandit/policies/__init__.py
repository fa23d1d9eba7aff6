"""Policies: the same optimist, each with its own way to forget."""

import importlib
import inspect
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftbandit.policies.base import Policy


def every() -> "dict[str, type[Policy]]":
    """Every policy by its name: those in this folder, and any of a user's own that inherits from ``Policy``."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    base = next(module.Policy for module in modules if hasattr(module, "Policy"))
    return {name: kind for name, kind in base.kinds.items() if not inspect.isabstract(kind)}
