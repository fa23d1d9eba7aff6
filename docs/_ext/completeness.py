"""The reference lists every public name, or the build fails."""

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

MODULES = ("driftbandit", "driftbandit.figures", "driftbandit.theory", "driftbandit.shop", "driftbandit.live")
logger = logging.getLogger(__name__)


def public_names(module: ModuleType) -> Iterator[str]:
    """All names the module exports; without an ``__all__``, what it defines itself."""
    here = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "").startswith(module.__name__)]
    for name in getattr(module, "__all__", here):
        if not name.startswith("_") and not isinstance(getattr(module, name), ModuleType):
            yield f"{module.__name__}.{name}"


def check(app: Sphinx, env: BuildEnvironment) -> None:
    documented = env.domains.python_domain.objects
    for module in MODULES:
        for name in public_names(import_module(module)):
            if name not in documented:
                logger.warning("the reference lacks %s: add it to a page of docs/api", name, type="completeness")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
