"""All experiments at a place in the journal: taken at once, encoded at leisure, kept whole or not at all."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from driftbandit.live.answers import Counts, Tally
from driftbandit.live.errors import Damaged
from driftbandit.live.fold.entries import Entry
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.fold.make import from_bytes, player_of
from driftbandit.live.fold.players import ArmSet, Player, PolicyPlayer
from driftbandit.live.fold.records import Token
from driftbandit.live.settings import Settings

FORMAT = 1
PAGE = 1000  # entries encoded at a time, in a tenth of a millisecond, while no other thread runs


class Kept(msgspec.Struct, array_like=True):
    """An experiment as data."""

    number: int
    name: str
    created: float
    origin: str
    learner: bytes
    settings: Settings
    waiting: list[bytes]  # in pages
    settled: list[bytes]  # in the order in which they were
    counts: Counts
    tallies: dict[str, Tally]
    recent: list[str]
    sets: list[int]  # the numbers of those in use
    versions: list[ArmSet]


class Snapshot(msgspec.Struct, array_like=True):
    format: int
    place: int  # the number of the first record that is not in it
    at: float
    made: int  # how many experiments were ever made
    tokens: list[Token]
    experiments: list[Kept]


class Frozen(NamedTuple):
    """What will not change any more: entries are never changed but replaced, and the rest are copies."""

    snapshot: Snapshot
    parts: list[tuple[Player, list[Entry], list[Entry]]]

    @property
    def held(self) -> int:
        """How many entries, which is what it costs."""
        return sum(len(waiting) + len(settled) for _, waiting, settled in self.parts)

    def encode(self, rest: Callable[[], object] = lambda: None) -> bytes:
        """Slow, so done apart from who decides, and page by page, with a ``rest`` after each, so that others get their turn."""
        for kept, (player, waiting, settled) in zip(self.snapshot.experiments, self.parts, strict=True):
            kept.learner, kept.waiting, kept.settled = player.to_bytes(), pages(waiting, rest), pages(settled, rest)
        return msgspec.msgpack.encode(self.snapshot)


def freeze(place: int, at: float, made: int, tokens: list[Token], experiments: list[Experiment]) -> Frozen:
    """Quick: copies of arrays and of references."""
    snapshot = Snapshot(FORMAT, place, at, made, tokens, [kept(each) for each in experiments])
    return Frozen(snapshot, [parts(each) for each in experiments])


def parts(experiment: Experiment) -> tuple[Player, list[Entry], list[Entry]]:
    """The settled in the order in which they were settled, which a dict keeps."""
    return experiment.player.twin(), list(experiment.waiting.values()), list(experiment.settled.values())


def pages(entries: list[Entry], rest: Callable[[], object]) -> list[bytes]:
    encode, made = msgspec.msgpack.Encoder().encode, list[bytes]()
    for start in range(0, len(entries), PAGE):
        made.append(encode(entries[start : start + PAGE]))
        rest()
    return made


def kept(experiment: Experiment) -> Kept:
    player = experiment.player
    sets, versions = (player.sets, player.versions) if isinstance(player, PolicyPlayer) else ({}, {})
    return Kept(
        experiment.number,
        experiment.name,
        experiment.created,
        experiment.origin,
        b"",
        experiment.settings,
        [],
        [],
        msgspec.structs.replace(experiment.counts),
        {name: msgspec.structs.replace(tally) for name, tally in experiment.tallies.items()},
        list(experiment.recent),
        [each.number for each in sets.values()],
        list(versions.values()),
    )


def thaw(data: Kept) -> Experiment:
    """The experiment, which goes on exactly as the one that was frozen."""
    player = player_of(from_bytes(data.learner))
    if isinstance(player, PolicyPlayer):
        player.versions = {each.number: each for each in data.versions}
        player.sets = {player.versions[number].name: player.versions[number] for number in data.sets}
    made = Experiment(data.number, data.name, data.created, data.origin, player, data.settings)
    made.waiting = {entry.id: entry for page in data.waiting for entry in decode_page(page)}
    made.settled = {entry.id: entry for page in data.settled for entry in decode_page(page)}
    made.order.extend(made.settled)
    made.counts, made.tallies = data.counts, data.tallies
    made.recent.extend(data.recent)
    for entry in sorted(made.waiting.values(), key=lambda entry: entry.deadline):
        made.deadlines.add(entry)
    return made


def read(body: bytes, place: int) -> Snapshot:
    try:
        found = decode(body)
    except msgspec.DecodeError as error:
        raise Damaged(f"the snapshot at record {place} cannot be read: {error}") from error
    if found.format != FORMAT or found.place != place:
        raise Damaged(f"the snapshot at record {place} is of another release or place")
    return found


decode_page = msgspec.msgpack.Decoder(list[Entry]).decode
decode = msgspec.msgpack.Decoder(Snapshot).decode
