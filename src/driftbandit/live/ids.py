"""Ids that clients make: UUIDv7 (RFC 9562), so that those made later sort later, and no two are the same."""

import os
import time
from uuid import UUID


def new_id() -> str:
    """48 bits of milliseconds, 74 of chance."""
    milliseconds = time.time_ns() // 1_000_000
    chance = int.from_bytes(os.urandom(10))
    number = (milliseconds & (1 << 48) - 1) << 80 | chance & (1 << 80) - 1
    number = number & ~(0xF << 76) | 0x7 << 76  # the version
    number = number & ~(0x3 << 62) | 0x2 << 62  # the variant
    return str(UUID(int=number))
