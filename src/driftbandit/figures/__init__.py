"""Tables to figures: the only folder that imports matplotlib. Names load on first use; __init__.pyi lists them."""

import lazy_loader

from driftbandit.core.extras import needed_for

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    with needed_for(f"{__name__}.{name}"):
        return _load(name)
