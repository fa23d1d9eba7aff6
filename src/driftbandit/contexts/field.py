"""What a field of a context is, whatever its kind."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, ClassVar

from driftbandit.core import validate

Pairs = tuple[tuple[int, float], ...]
PairsOf = Callable[[str, Any, list[str]], Pairs]
Writer = Callable[[Any, Any, list[str]], None]  # of a vector, a value and notes


class Field(ABC):
    """One field of a context. ``default`` stands in for a missing value; without one, a missing value is an error."""

    kind: ClassVar[str]
    labels: tuple[str, ...]  # what follows the field's name in the name of each of its columns
    default: Any

    @abstractmethod
    def pairs(self, name: str, value: Any, notes: list[str]) -> Pairs:
        """The places among its own columns that may be nonzero, and their values."""

    def writer(self, name: str, start: int, scale: float) -> Writer:
        """A function that writes the pairs of a value, scaled, into anything that takes ``vector[column] = number``."""

        def write(vector: Any, value: Any, notes: list[str]) -> None:
            for place, x in self.pairs(name, value, notes):
                vector[start + place] = x * scale

        return write

    def pairs_of(self, name: str) -> PairsOf:
        """``pairs``, prepared for a field of this name."""
        return self.pairs

    @property
    def known(self) -> Mapping[Any, Pairs]:
        """The pairs of values that can be listed beforehand, at most one each."""
        return {}

    def given(self) -> dict[str, Any]:
        """The parameters that differ from their defaults."""
        parts = [part for part in fields(self) if part.init]  # type: ignore[arg-type]  # every kind is a dataclass
        return {part.name: value for part in parts if (value := getattr(self, part.name)) != part.default}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.given().items())})"

    def _settle_default(self, check: Callable[[str, Any], Any]) -> None:
        if self.default is not None:
            validate.settle(self, default=check("default", self.default))


class Written(Field):
    """A field with a writer of its own, which halves the time where a value is computed."""

    @abstractmethod
    def writer(self, name: str, start: int, scale: float) -> Writer: ...

    def pairs(self, name: str, value: Any, notes: list[str]) -> Pairs:
        return self.pairs_of(name)(name, value, notes)

    def pairs_of(self, name: str) -> PairsOf:
        write = self.writer(name, 0, 1.0)

        def pairs(name: str, value: Any, notes: list[str]) -> Pairs:
            found: dict[int, float] = {}
            write(found, value, notes)
            return tuple(found.items())

        return pairs
