"""Classes found by their names: before one is looked up, every file of its folder is imported."""

import importlib
import pkgutil
from functools import cache

PACKAGE = __name__.partition(".")[0]


@cache
def import_folder(package: str) -> None:
    """Import every file of a folder, so that what it defines is known."""
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{found.name}")


def is_ours(kind: type) -> bool:
    """Whether a class is of this package, rather than a user's own."""
    return kind.__module__.startswith(f"{PACKAGE}.")


def full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
