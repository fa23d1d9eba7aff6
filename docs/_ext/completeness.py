"""The reference lists every public name, or the build fails."""

from collections.abc import Container, Iterator
from importlib import import_module
from types import ModuleType

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

MODULES = (
    "driftbandit",
    "driftbandit.checks",
    "driftbandit.figures",
    "driftbandit.live",
    "driftbandit.shop",
    "driftbandit.theory",
)
logger = logging.getLogger(__name__)


def public_names(module: ModuleType) -> Iterator[str]:
    """All names the module exports; without an ``__all__``, what it defines itself."""
    here = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "").startswith(module.__name__)]
    for name in getattr(module, "__all__", here):
        if not name.startswith("_") and not isinstance(getattr(module, name), ModuleType):
            yield f"{module.__name__}.{name}"


def missing(documented: Container[str]) -> list[str]:
    """The public names that are in no page."""
    names = [name for module in MODULES for name in public_names(import_module(module))]
    return [name for name in names if name not in documented]


def check(app: Sphinx, env: BuildEnvironment) -> None:
    for name in missing(env.domains.python_domain.objects):
        logger.warning("the reference lacks %s: add it to a page of docs/api", name, type="completeness")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
