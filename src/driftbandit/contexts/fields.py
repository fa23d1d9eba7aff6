"""Kinds of fields: each turns a value into a few (place, value) pairs of length at most 1, and notes irregular ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from math import cos, isfinite, log1p, sin, tau
from typing import Any

from driftbandit.contexts.field import Field, Pairs, Writer, Written
from driftbandit.contexts.values import Level, as_text, is_level_like, level, levels, number, refusal, shown, text
from driftbandit.core import validate

NO: Pairs = ()
YES: Pairs = ((0, 1.0),)
FLAGS = {False: NO, True: YES}  # so also 0 and 1, and NumPy's booleans
GRID = 1.5 * 2.0**22  # adding and subtracting it rounds to 30 binary places, where the last bit of a libm does not show
SHY = 1.0 - 2.0**-30  # so that a sine and a cosine, rounded, still lie within the circle
LEAST_BEND = 1e-3  # a logarithm that spans less is practically a straight line
MOST_BUCKETS = 1_000_000


@dataclass(frozen=True, repr=False)
class Number(Written):
    """A number, clipped to low … high and scaled to −1 … 1; with ``log`` on a logarithmic scale, for sizes such as prices."""

    kind = "number"
    labels = ("",)
    low: float
    high: float
    log: bool = False
    default: float | None = None
    _base: float = field(init=False, compare=False)
    _span: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        low, high, log = validate.real("low", self.low), validate.real("high", self.high), validate.flag("log", self.log)
        if low >= high:
            raise ValueError(f"low must be less than high, got low = {low:g} and high = {high:g}")
        if log and low < 0:
            raise ValueError(f"low must not be negative with log=True, got {low:g}: leave log out, or shift the numbers")
        base, span = (log1p(low), log1p(high) - log1p(low)) if log else (low, high - low)
        if log and span < LEAST_BEND:
            raise ValueError(f"log=True has no effect between {low:g} and {high:g}: leave it out, or use a smaller unit")
        validate.settle(self, low=low, high=high, _base=base, _span=span)
        self._settle_default(self._inside)

    def writer(self, name: str, start: int, scale: float) -> Writer:
        low, high, log, base, span = self.low, self.high, self.log, self._base, self._span

        def write(vector: Any, value: Any, notes: list[str]) -> None:
            if not (type(value) in (float, int) and low <= value <= high):
                value = self._clipped(name, number(name, value), notes)
            if log:
                vector[start] = (2.0 * ((log1p(value) - base) / span) - 1.0 + GRID - GRID) * scale
            else:
                vector[start] = (2.0 * ((value - base) / span) - 1.0) * scale

        return write

    def _clipped(self, name: str, value: float, notes: list[str]) -> float:
        inside = min(max(value, self.low), self.high)
        if inside != value:
            notes.append(f"{name} clipped")
        return inside

    def _inside(self, name: str, value: Any) -> float:
        result = number(name, value)
        if not self.low <= result <= self.high:
            raise ValueError(f"{name} must lie between low = {self.low:g} and high = {self.high:g}, got {result:g}")
        return result


@dataclass(frozen=True, repr=False)
class Cyclic(Written):
    """A number on a circle, as sine and cosine: ``Cyclic(24)`` for the hour, ``Cyclic(7)`` for the weekday."""

    kind = "cyclic"
    labels = (" (sin)", " (cos)")
    period: float
    default: float | None = None

    def __post_init__(self) -> None:
        validate.settle(self, period=validate.positive("period", self.period))
        self._settle_default(number)

    def writer(self, name: str, start: int, scale: float) -> Writer:
        period, following = self.period, start + 1

        def write(vector: Any, value: Any, notes: list[str]) -> None:
            if type(value) is not float or not isfinite(value):
                value = number(name, value)
            angle = tau * (value % period / period)
            vector[start] = (sin(angle) + GRID - GRID) * SHY * scale
            vector[following] = (cos(angle) + GRID - GRID) * SHY * scale

        return write


@dataclass(frozen=True, repr=False)
class Category(Field):
    """One of several levels, all text or all whole numbers; any other gets a column of its own, unless ``other=False``."""

    kind = "category"
    levels: Iterable[Level]
    other: bool = True
    default: Level | None = None
    labels: tuple[str, ...] = field(init=False, compare=False)
    _places: dict[Any, Pairs] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        known = levels("levels", self.levels)
        if validate.flag("other", self.other) and "other" in known:
            raise ValueError("levels must not contain 'other', the name for unknown levels: rename it, or set other=False")
        labels = tuple(f"={each}" for each in known) + ("=other",) * self.other
        validate.settle(self, levels=known, labels=labels, _places={each: ((i, 1.0),) for i, each in enumerate(known)})
        self._settle_default(self._accepted)

    def pairs(self, name: str, value: Any, notes: list[str]) -> Pairs:
        try:
            return self._places[value]
        except KeyError:
            return self._unknown(name, value, notes)
        except TypeError:
            raise refusal(name, "text or a whole number", value, "pass one value that can be looked up") from None

    @property
    def known(self) -> Mapping[Any, Pairs]:
        return self._places

    def _unknown(self, name: str, value: Any, notes: list[str]) -> Pairs:
        example = next(iter(self._places))
        if not is_level_like(value, example):
            accepted = "text" if isinstance(example, str) else "a whole number"
            raise refusal(name, accepted, value, f"its levels are like {example!r}, so convert it first")
        if not self.other:
            raise refusal(name, f"one of {shown(list(self._places))}", value, "declare that level, or set other=True")
        notes.append(f"{name} unknown")
        return ((len(self._places), 1.0),)

    def _accepted(self, name: str, value: Any) -> Level:
        self.pairs(name, value, [])
        return level(name, value)


@dataclass(frozen=True, repr=False)
class Flag(Field):
    """True or false, as 1 or 0."""

    kind = "flag"
    labels = ("",)
    default: bool | None = None

    def __post_init__(self) -> None:
        self._settle_default(lambda name, value: self.pairs(name, value, []) is YES)

    def pairs(self, name: str, value: Any, notes: list[str]) -> Pairs:
        try:
            return FLAGS[value]
        except (KeyError, TypeError):
            raise refusal(name, "true or false, or 1 or 0", value, "convert it first, or declare a Category") from None

    @property
    def known(self) -> Mapping[Any, Pairs]:
        return FLAGS


@dataclass(frozen=True, repr=False)
class Hashed(Field):
    """Ids too numerous to list: each falls into one of the buckets, the same on every machine; two ids may share one."""

    kind = "hashed"
    buckets: int
    default: str | int | None = None
    labels: tuple[str, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        buckets = validate.whole("buckets", self.buckets, least=2)
        if buckets > MOST_BUCKETS:
            raise ValueError(f"buckets must be at most {MOST_BUCKETS:,}, got {buckets:,}: use fewer, since each is a column")
        validate.settle(self, buckets=buckets, labels=tuple(f"#{bucket}" for bucket in range(buckets)))
        self._settle_default(lambda name, value: text(name, as_text(name, value), least=0))

    def pairs(self, name: str, value: Any, notes: list[str]) -> Pairs:
        if type(value) is not str:
            value = as_text(name, value)
        digest = blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return ((int.from_bytes(digest) % self.buckets, 1.0),)
