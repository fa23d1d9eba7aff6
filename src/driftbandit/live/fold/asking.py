"""From what is asked to what is written: checked, in plain types, with a digest by which a repeat is known."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
import numpy as np

from driftbandit.core import validate
from driftbandit.live.answers import Ask
from driftbandit.live.errors import Full, Invalid
from driftbandit.live.fold.choosing import ChooserPlayer
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.fold.players import PolicyPlayer, rows
from driftbandit.live.fold.records import Decided

MOST_ARMS, MOST_SETS, MOST_FIELDS, LONGEST_ID = 1000, 1000, 1000, 128
PLAIN = (str, float, int, bool, type(None))

sort = msgspec.msgpack.Encoder(order="deterministic").encode


class Plain(NamedTuple):
    """What was asked, in plain types."""

    set: str | None
    arms: tuple[int, bytes] | None
    fields: dict[str, Any] | None
    exclude: tuple[str, ...]
    baseline: int | str | None
    deferred: bool

    def digest(self) -> bytes:
        try:
            return blake2b(sort(tuple(self)), digest_size=12).digest()
        except (UnicodeEncodeError, OverflowError, TypeError) as error:
            raise Invalid(f"fields must be text and numbers that can be written: {error}", "fields") from None


def asked(ask: Ask, dim: int) -> tuple[Plain, bytes]:
    """What was asked in plain types, and its digest."""
    if only_set(ask):
        return asked_of_set(str(ask.set), bool(ask.deferred))
    told = plain(ask, dim)
    return told, told.digest()


def only_set(ask: Ask) -> bool:
    return ask.arms is None and ask.fields is None and ask.baseline is None and not ask.exclude and type(ask.set) is str


@lru_cache(maxsize=10_000)
def asked_of_set(name: str, deferred: bool) -> tuple[Plain, bytes]:
    """The same whenever it is asked."""
    told = Plain(name, None, None, (), None, deferred)
    return told, told.digest()


def plain(ask: Ask, dim: int) -> Plain:
    arms = None if ask.arms is None else plain_arms(ask.arms, dim)
    if arms is not None and ask.set is not None:
        raise Invalid("give arms or set, not both", "set")
    fields = None if ask.fields is None else {text("fields", name): scalar(name, ask.fields[name]) for name in ask.fields}
    if isinstance(ask.exclude, str):
        raise Invalid(f"exclude must be a list of actions, got the text {ask.exclude!r}", "exclude")
    exclude = tuple(text("exclude", name) for name in ask.exclude)
    if max(len(exclude), len(fields or ())) > MOST_FIELDS:
        raise Invalid(f"at most {MOST_FIELDS} fields, and as many actions to exclude, can be given", "fields")
    return Plain(ask.set, arms, fields, exclude, ask.baseline, bool(ask.deferred))


def plain_set(
    experiment: Experiment, name: str, arms: Any, labels: Sequence[str] | None
) -> tuple[str, tuple[int, int], bytes, tuple[str, ...] | None] | None:
    """What a set is put by; None if it stands there already as it is."""
    player = experiment.player
    if not isinstance(player, PolicyPlayer):
        raise Invalid(f"{experiment.name!r} has actions, not arms: a Chooser decides there", "set")
    dim, known = player.entries, player.sets.get(text("set", name, LONGEST_ID))
    count, data = plain_arms(arms, dim)
    with refused("arms"):
        made = rows(data, count)[:, int(not player.whole) :]  # an arm in a block begins with its number
        player.policy.check_length(validate.longest_row("arms", made), made)
    names = None if labels is None else tuple(text("labels", label) for label in labels)
    if names is not None and len(set(names)) != count:
        raise Invalid(f"labels must be {count}, one for each arm and all different, got {list(names)}", "labels")
    if known is not None and (known.arms, known.labels) == (data, names):
        return None
    if player.sets and player.policy.fixed_only:
        raise Invalid(f"{type(player.policy).__name__} plays one set that never changes, and has one", "set")
    if known is None and len(player.sets) >= MOST_SETS:
        raise Full(f"{experiment.name!r} has {MOST_SETS} arm sets, as many as it may")
    return name, (count, dim), data, names


@contextmanager
def refused(field: str) -> Iterator[None]:
    """What the library refuses, as Invalid."""
    try:
        yield
    except Invalid:
        raise
    except ValueError as error:
        raise Invalid(str(error), field) from None


def plain_arms(arms: Any, dim: int) -> tuple[int, bytes]:
    with refused("arms"):
        array = validate.array("arms", arms, 2)
    if array.shape[1] != dim:
        raise Invalid(f"arms must have shape (n, {dim}), got {array.shape}", "arms")
    if len(array) > MOST_ARMS:
        raise Invalid(f"arms must be at most {MOST_ARMS}, got {len(array)}", "arms")
    return len(array), array.astype("<f8", copy=False).tobytes()


def scalar(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, PLAIN):
        raise Invalid(f"field {name!r} must be text, a number, true, false or null, got {value!r}", name)
    return value


def text(what: str, value: Any, longest: int = 1000) -> str:
    """Not empty, not too long, and such as can be written."""
    if is_text(value, longest):
        return str(value)
    shown = repr(value)[:100]
    raise Invalid(f"{what} must be text of 1 to {longest} bytes, valid Unicode, got {shown}", what)


def is_text(value: Any, longest: int) -> bool:
    if not isinstance(value, str):
        return False
    if value.isascii():
        return 0 < len(value) <= longest
    try:
        return len(value.encode()) <= longest
    except UnicodeEncodeError:
        return False


def written(experiment: Experiment, at: float, id: str, asked: Plain, digest: bytes) -> Decided:
    """The record to be: still without a choice."""
    index = None if asked.baseline is None else baseline(experiment, asked)
    fields = asked.fields
    if fields is None and isinstance(experiment.player, ChooserPlayer):
        fields = {}
    return Decided(
        at,
        experiment.number,
        id,
        digest,
        set=asked.set,
        arms=asked.arms,
        fields=fields,
        exclude=asked.exclude,
        baseline=index,
        deferred=asked.deferred,
    )


def baseline(experiment: Experiment, asked: Plain) -> int:
    """The number of the caller's own choice among what is on offer."""
    player, wanted = experiment.player, asked.baseline
    if isinstance(player, ChooserPlayer):
        offered = [name for name in player.offered() if name not in asked.exclude]
        if wanted not in offered:
            raise Invalid(f"baseline must be an action on offer, one of {offered}, got {wanted!r}", "baseline")
        return offered.index(str(wanted))
    assert isinstance(player, PolicyPlayer)
    made = None if asked.set is None else player.sets.get(asked.set)
    if isinstance(wanted, str) and made is not None and made.labels is not None and wanted in made.labels:
        return made.labels.index(wanted)
    count = asked.arms[0] if asked.arms is not None else 0 if made is None else made.count
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 0 <= wanted < count:
        raise Invalid(f"baseline must be the number of an arm, from 0 to {count - 1}, got {wanted!r}", "baseline")
    return wanted
