"""Checks of what users pass in; each raises a ValueError that names the argument and the reason."""

import math
import operator
from collections.abc import Iterable, Sequence
from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST = 2**62
SMALLEST, LARGEST = 1e-50, 1e50  # squares and products of these stay far inside float64
NOT_NUMBERS = (str, bytes, bool, np.bool, np.ma.MaskedArray)  # though float() takes them
NOT_REAL = set("cmM")  # NumPy's complex numbers, durations and dates: float() would drop a part or the unit


def whole(name: str, value: SupportsIndex, least: int = 1) -> int:
    try:
        number = operator.index(value)
        if isinstance(value, bool):
            raise TypeError
    except TypeError:
        instead = f": write {int(value)}" if isinstance(value, float) and value.is_integer() else ""
        raise ValueError(f"{name} must be a whole number, got {value!r}{instead}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    if number > MOST:
        raise ValueError(f"{name} must be at most {MOST}, got {number}")
    return number


def real(name: str, value: SupportsFloat) -> float:
    try:
        if isinstance(value, NOT_NUMBERS) or getattr(getattr(value, "dtype", None), "kind", "") in NOT_REAL:
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {value!r}") from None
    except OverflowError:
        number = math.inf
    if not abs(number) <= LARGEST:
        raise ValueError(f"{name} must be finite and within ±{LARGEST:g}, got {number}")
    return number


def positive(name: str, value: SupportsFloat) -> float:
    number = real(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be greater than 0, got {number}")
    if number < SMALLEST:
        raise ValueError(f"{name} must be at least {SMALLEST:g}, got {number}")
    return number


def not_negative(name: str, value: SupportsFloat) -> float:
    number = real(name, value)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {number}")
    return number


def fraction(name: str, value: SupportsFloat) -> float:
    """A number strictly between 0 and 1."""
    number = real(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {number}")
    return number


def reward(value: SupportsFloat) -> float:
    """A number; yes and no are 1 and 0."""
    return float(value) if isinstance(value, bool | np.bool) else real("reward", value)


def array(name: str, value: ArrayLike, dimensions: int) -> NDArray[np.float64]:
    """A contiguous float array with this many dimensions, not empty, all finite."""
    parts = value if isinstance(value, list | tuple) else ()
    if any(isinstance(part, np.ma.MaskedArray) for part in (value, *parts)):
        raise ValueError(f"{name} must not be masked, since a mask would be lost: fill the gaps, or leave those rows out")
    try:
        result = np.asarray(value)
        if result.dtype.kind not in "biuf":
            raise TypeError
        result = np.ascontiguousarray(result, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers, got {type(value).__name__}") from None
    if np.ndim(value) != dimensions:
        raise ValueError(f"{name} must have {dimensions} dimension(s), got shape {np.shape(value)}")
    if result.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {result.shape}")
    if not np.isfinite(result).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return result


def longest_row(name: str, rows: NDArray[np.float64]) -> float:
    """The greatest Euclidean length of a row, without overflow on the way."""
    longest = float(np.abs(rows).max())
    if longest > LARGEST:
        raise ValueError(f"{name} must stay within ±{LARGEST:g}, got {longest:g}")
    return math.sqrt(float(np.einsum("ij,ij->i", rows, rows).max()))


def too_long(bound: float, longest: float, rows: NDArray[np.floating] | None = None) -> ValueError:
    where = "" if rows is None else f" in row {int(np.einsum('ij,ij->i', rows, rows).argmax())}"
    return ValueError(
        f"arms must not be longer than arm_norm = {bound:g}, got a length of {longest:.12g}{where}: "
        "scale the arms, or make the policy with a larger arm_norm"
    )


def settle(instance: object, **values: object) -> None:
    """Store checked values in a frozen dataclass."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def choice(name: str, value: str, choices: Iterable[str]) -> str:
    if value not in (known := list(choices)):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
    return value


def flag(name: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {value!r}")
    return value


def seed(value: int | Sequence[int]) -> int | tuple[int, ...]:
    if isinstance(value, Sequence):
        if not value:
            raise ValueError(f"seed must be a whole number or a sequence of them, got {value!r}")
        return tuple(whole("seed", part, least=0) for part in value)
    return whole("seed", value, least=0)
