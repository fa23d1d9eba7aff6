"""Policies: the same optimist, each with its own way to forget."""

import inspect
from typing import TYPE_CHECKING

from driftbandit.core.kinds import import_folder

if TYPE_CHECKING:
    from driftbandit.policies._base.policy import Policy


def every() -> "dict[str, type[Policy]]":
    """Every policy by its name: those in this folder, and a user's own that inherit from ``Policy``."""
    import_folder(__name__)
    from driftbandit.policies._base.policy import Policy

    return {name: kind for name, kind in Policy.kinds.items() if issubclass(kind, Policy) and not inspect.isabstract(kind)}
