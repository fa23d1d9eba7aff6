"""Runs all checks, then reports which failed."""

from collections.abc import Callable, Mapping
from typing import Any


class CheckFailed(AssertionError):
    """Raised when a policy fails checks; the message names each failed check and the reason."""


def try_all(checks: Mapping[str, Callable[..., None]], subject: str, attempt: Callable[[Any], None]) -> list[str]:
    """Run every check and return their names, or raise CheckFailed listing all that fail."""
    failed = {}
    for name, function in checks.items():
        try:
            attempt(function)
        except Exception as error:
            failed[name] = error
    if failed:
        lines = [f"{name}: {promise(checks[name])} [{type(error).__name__}: {error}]" for name, error in failed.items()]
        heading = f"{subject} fails {len(failed)} of {len(checks)} checks"
        raise CheckFailed("\n".join([heading, *lines])) from ExceptionGroup(heading, list(failed.values()))
    return list(checks)


def promise(function: Callable[..., None]) -> str:
    """The first line of a check's docstring."""
    return (function.__doc__ or "").partition("\n")[0]


def expect(truth: bool, message: str) -> None:
    if not truth:
        raise AssertionError(message)
