"""Parts of a world by name: a subclass of Drift, ArmSource, Noise or Delay is a kind that a study can name."""

import inspect
import re
from abc import ABC
from typing import ClassVar, Self

from driftbandit.core.kinds import import_folder, is_ours


class Part(ABC):
    by_name: ClassVar[bool] = True  # whether a study can name it
    _known: ClassVar[list[type["Part"]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if Part in cls.__bases__:
            cls._known = []
        cls._known.append(cls)

    @classmethod
    def kinds(cls) -> dict[str, type[Self]]:
        """The kinds in this folder: ``RandomWalk`` is "random-walk", ``UniformDelay`` "uniform"."""
        import_folder(__name__.rpartition(".")[0])
        nameable = [kind for kind in cls._known if kind.by_name and is_ours(kind) and not inspect.isabstract(kind)]
        return {kind_of(kind.__name__): kind for kind in nameable if issubclass(kind, cls)}


def kind_of(name: str) -> str:
    """In lower case with hyphens, without the name of the base class."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", re.sub("(Arms|Delay)$", "", name)).lower()
