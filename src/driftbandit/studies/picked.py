"""Which worlds and which contenders of a suite a user picked by name."""

import fnmatch
from collections.abc import Collection, Sequence

from driftbandit.studies.settings import SettingsError, hint


def matching(patterns: str, names: Collection[str], what: str) -> list[str]:
    """The names that match one of the patterns, which are separated by commas; every pattern must match something."""
    found: set[str] = set()
    for pattern in map(str.strip, patterns.split(",")):
        matched = fnmatch.filter(names, pattern)
        if not matched:
            raise SettingsError(f"no {what} matches {pattern!r}; {hint(pattern.strip('*'), names, 0.4)}")
        found.update(matched)
    return [name for name in names if name in found]


def check_contenders(picked: Sequence[str], contenders: Collection[str], hindsight: Collection[str]) -> None:
    for name in picked:
        if name in contenders:
            continue
        if name in hindsight:
            every = ", ".join(contenders)
            raise SettingsError(
                f"[policies] {name!r} is tuned in hindsight and always played: pick from the contenders, {every}"
            )
        raise SettingsError(f"[policies] has no contender {name!r}; {hint(name, contenders, 0.4)}")
