"""Ids that sort by time (UUID version 7, RFC 9562)."""

import os
import time
import uuid


def new_id() -> str:
    """48 bits of milliseconds, 74 of chance."""
    number = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10))
    number = number & ~(0xF << 76) | 0x7 << 76
    return str(uuid.UUID(int=number & ~(0x3 << 62) | 0x2 << 62))
