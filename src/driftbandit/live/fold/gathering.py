"""What a reward does to a decision: counts, waits, is known already, is late, or contradicts what was said before."""

from driftbandit.live.answers import Outcome
from driftbandit.live.errors import Conflict, Full, Invalid
from driftbandit.live.fold.entries import REWARDED, WAITING, Entry
from driftbandit.live.fold.records import Rewarded
from driftbandit.live.settings import Settings

MOST_KEYS = 1000  # rewards of one decision that are summed


def outcome(settings: Settings, entry: Entry, value: float, key: str | None) -> Outcome:
    """Conflict, Invalid or Full if it cannot be."""
    gather = settings.gather
    if gather == "sum":
        known = known_by_key(entry, value, key)
    elif key is not None:
        raise Invalid(f'key is for gather = "sum", and this experiment gathers the {gather}, got {key!r}', "key")
    else:
        known = entry.reward == value
        if not known and entry.reward is not None and (gather == "first" or entry.state != WAITING):
            raise Conflict(f"the reward of {entry.id!r} was {entry.reward!r} already, got {value!r}")
    if known:
        return "duplicate"
    if entry.state != WAITING:
        return "learnt" if settings.late == "learn" and entry.reward is None else "late"
    return "kept" if settings.at_deadline else "learnt"


def known_by_key(entry: Entry, value: float, key: str | None) -> bool:
    if key is None:
        raise Invalid('key must be given where rewards are summed (gather = "sum"), so that each counts once', "key")
    before = dict(entry.keys).get(key)
    if before is not None and before != value:
        raise Conflict(f"the reward {key!r} of {entry.id!r} was {before!r} already, got {value!r}")
    if before is None and len(entry.keys) >= MOST_KEYS:
        raise Full(f"{entry.id!r} has {MOST_KEYS} rewards, as many as are summed for one decision")
    return before is not None


def gathered(entry: Entry, record: Rewarded) -> tuple[tuple[tuple[str, float], ...], float | None]:
    """The decision's rewards by key, and what they make, with this one."""
    if record.key is None:
        return entry.keys, record.value
    keys = (*entry.keys, (record.key, record.value))
    return keys, entry.reward if entry.state == REWARDED else (entry.reward or 0.0) + record.value
