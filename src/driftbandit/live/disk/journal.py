"""What a journal is, whatever keeps it: groups of records that are there whole or not at all, in order, and snapshots."""

import struct
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple, Protocol

from driftbandit.live.errors import Damaged

LENGTH = struct.Struct("<I")


class Group(NamedTuple):
    """Records that were committed together, and the number of the first."""

    first: int
    records: list[bytes]


class Journal(Protocol):
    """Records are numbered from 0. One process writes; a failed append ends the journal for good."""

    name: str  # for messages: where it is kept
    start: int  # the first record that is still there: older ones were dropped
    end: int  # the number that the next record gets

    def append(self, first: int, records: Sequence[bytes]) -> None:
        """Commit a group; durable when this returns. ``first`` must be ``end``. Raises Broken, once and for ever after."""

    def tidy(self) -> bool:
        """Do what is due now and then, while nobody waits; whether anything was. Raises Broken, as ``append``."""

    def read(self, first: int) -> Iterator[Group]:
        """Groups from the one that holds this record on, each checked. Raises Damaged."""

    def keep_snapshot(self, place: int, body: bytes) -> None:
        """Keep a snapshot of the state before record ``place``, whole or not at all; of older ones the latest stays."""

    def snapshots(self) -> list[int]:
        """The places of snapshots, the latest first."""

    def snapshot(self, place: int) -> bytes:
        """Raises Damaged."""

    def drop(self, before: int) -> None:
        """Forget groups that lie wholly before this record."""

    def close(self) -> None:
        """Let others have it."""


def join(records: Sequence[bytes]) -> bytes:
    """The body of a group: each record after its length."""
    return b"".join(chain.from_iterable(zip(map(LENGTH.pack, map(len, records)), records, strict=True)))


def split(body: bytes) -> list[bytes]:
    records, begin, size, length_at = [], LENGTH.size, len(body), LENGTH.unpack_from
    while begin <= size:
        end = begin + length_at(body, begin - LENGTH.size)[0]
        records.append(body[begin:end])
        begin = end + LENGTH.size
    if begin != size + LENGTH.size:
        raise ValueError("a record is longer than its group")
    return records


def checksum(first: int, count: int, body: bytes) -> int:
    """Of a group, with its place: one that was moved is damaged too."""
    return zlib.crc32(body, zlib.crc32(f"{first} {count}".encode()))


def checked(name: str, first: int, count: int, crc: int, body: bytes) -> Group:
    """A group as it was written, or Damaged."""
    where = f"{name}: records {first} to {first + count - 1}"
    if checksum(first, count, body) != crc:
        raise Damaged(f"{where} are damaged (their checksum is wrong): restore the journal from a backup")
    try:
        records = split(body)
    except (ValueError, struct.error) as error:
        raise Damaged(f"{where} are damaged ({error}): restore the journal from a backup") from None
    if len(records) != count:
        raise Damaged(f"{where} are damaged ({len(records)} are there): restore the journal from a backup")
    return Group(first, records)
