"""Checks of the values that fields take and are declared with; they return plain Python values."""

import difflib
import math
import reprlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from driftbandit.core import validate

Level = str | int


def shown(value: object) -> str:
    """A value, shortened for a message."""
    try:
        return reprlib.repr(value)
    except ValueError:  # Python refuses to print a number of thousands of digits
        return f"{type(value).__name__} too long to show"


def refusal(name: str, accepted: str, value: object, advice: str) -> ValueError:
    return ValueError(f"{name} must be {accepted}, got {shown(value)}: {advice}")


def nearest(name: object, known: Iterable[str]) -> str:
    """The nearest known name, or all of them if none is near."""
    names = list(known)
    near = difflib.get_close_matches(name if isinstance(name, str) else "", names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(map(repr, names)) or 'none'}"


def number(name: str, value: Any) -> float:
    """A finite number."""
    try:
        if isinstance(value, validate.NOT_NUMBERS) or getattr(getattr(value, "dtype", None), "kind", "") in validate.NOT_REAL:
            raise TypeError
        result = float(value)
    except (TypeError, ValueError):
        raise refusal(name, "a number", value, "convert it first, or declare a Category or a Flag") from None
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise refusal(name, "a finite number", value, "fill it in, or leave it out and declare a default")
    return result


def text(name: str, value: Any, least: int = 1) -> str:
    """Text of at least ``least`` characters that a file can hold."""
    if not isinstance(value, str) or len(value) < least:
        raise refusal(name, "non-empty text", value, "write it as a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise refusal(name, "valid Unicode", value, "leave out the half of a surrogate pair") from None
    return str(value)


def as_text(name: str, value: Any) -> str:
    """The text of a string or a whole number, however large."""
    try:
        if not isinstance(value, str | int | np.integer) or isinstance(value, bool):
            raise ValueError
        return str(value)
    except ValueError:  # or a number of thousands of digits
        raise refusal(name, "text or a whole number", value, "pass the id itself, such as 'home' or 17") from None


def level(name: str, value: Any) -> Level:
    """Text or a whole number."""
    if isinstance(value, str):
        return text(name, value, least=0)
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise refusal(name, "text or a whole number", value, "write it as a string, or declare a Number or a Flag")
    return validate.whole(name, value, least=-validate.MOST)


def levels(name: str, values: Any) -> tuple[Level, ...]:
    """At least one level, no two the same, all text or all whole numbers."""
    try:
        if isinstance(values, str | bytes):
            raise TypeError
        known = tuple(level(f"each of {name}", value) for value in values)
    except TypeError:
        raise refusal(name, "a list of text or whole numbers", values, "such as ['phone', 'desktop']") from None
    if not known:
        raise refusal(name, "at least one value", values, "list them, or use Hashed for ids that cannot be listed")
    if len({type(value) for value in known}) > 1:
        raise refusal(name, "all text or all whole numbers", known, "write every one as a string")
    if twice := [value for value, count in Counter(known).items() if count > 1]:
        raise ValueError(f"{name} must differ, got {twice[0]!r} twice: leave one out")
    return known


def is_level_like(value: Any, example: Level) -> bool:
    """Whether a value is of the levels' type; 3.0 and NumPy's 3 are whole numbers, as they are to a dictionary."""
    if isinstance(example, str) or isinstance(value, str | bytes):
        return isinstance(example, str) and isinstance(value, str)
    try:
        return bool(int(value) == value)
    except (TypeError, ValueError, OverflowError):
        return False
