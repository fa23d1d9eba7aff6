"""What happened, one struct each. What the clock said is in the record and never read again; so is the choice."""

from typing import Any, Literal

import msgspec

from driftbandit.live.settings import Settings

Right = Literal["decide", "reward", "read", "admin"]


class Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """``at``: seconds since 1970, never less than in the record before."""

    at: float


class OfExperiment(Record, frozen=True, array_like=True, gc=False):
    of: int  # the experiment's number: its name may be given again


class Token(msgspec.Struct, frozen=True, array_like=True):
    """Who may do what. Of the token itself only the SHA-256 is kept."""

    digest: bytes
    rights: tuple[Right, ...]
    experiments: tuple[str, ...] | None = None  # names; None for all, those to come included
    note: str = ""  # whose it is


class Created(OfExperiment, frozen=True, tag=1, array_like=True):
    name: str
    policy: bytes  # see make.py
    settings: Settings


class Deleted(OfExperiment, frozen=True, tag=2, array_like=True):
    pass


class SetPut(OfExperiment, frozen=True, tag=3, array_like=True):
    set: str
    shape: tuple[int, int]
    arms: bytes  # float64, little-endian, by rows
    labels: tuple[str, ...] | None


class Decided(OfExperiment, frozen=True, tag=4, array_like=True):
    id: str
    asked: bytes  # a digest of all that was asked, by which a repeat is told from a conflict
    index: int = -1  # what was played
    chosen: int = -1  # what the policy chose: replay chooses again and must agree
    round: int = -1
    action: str | None = None  # the name of what was played, where it has one
    chance: float | None = None  # with which it was chosen, where that is known
    set: str | None = None
    arms: tuple[int, bytes] | None = None  # how many, and as in SetPut
    fields: dict[str, Any] | None = None
    exclude: tuple[str, ...] = ()
    baseline: int | None = None
    deferred: bool = False


class Rewarded(OfExperiment, frozen=True, tag=5, array_like=True):
    id: str
    value: float
    key: str | None = None


class Shown(OfExperiment, frozen=True, tag=6, array_like=True):
    id: str


class Expired(OfExperiment, frozen=True, tag=7, array_like=True):
    """The wait of these is over: what was gathered is learnt, or the default, or nothing."""

    ids: tuple[str, ...]


class ActionAdded(OfExperiment, frozen=True, tag=8, array_like=True):
    action: str
    features: tuple[float, ...] | None


class ActionRemoved(OfExperiment, frozen=True, tag=9, array_like=True):
    action: str


class Witness(OfExperiment, frozen=True, tag=10, array_like=True):
    """What the state was when this was written: whoever folds the journal must come to the same."""

    digest: bytes = b""


class Adopted(Record, frozen=True, tag=11, array_like=True):
    """From here on the state is what the fold of ``release`` on this machine made of it, whatever witnesses said before."""

    mismatch: int  # the record that showed it
    release: str


class TokenMade(Record, frozen=True, tag=12, array_like=True):
    token: Token


class TokenRevoked(Record, frozen=True, tag=13, array_like=True):
    digest: bytes


Any_ = (
    Created
    | Deleted
    | SetPut
    | Decided
    | Rewarded
    | Shown
    | Expired
    | ActionAdded
    | ActionRemoved
    | Witness
    | Adopted
    | TokenMade
    | TokenRevoked
)
encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Any_).decode
