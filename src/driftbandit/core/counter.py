"""More luck than four numbers per round: draws that a key and a counter determine, the same with and without the compiler."""

import math

from driftbandit.core.compile import kernel
from driftbandit.core.types import Floats

WORD = 0xFFFFFFFF  # 32 bits: then masked products are the same in machine integers, which wrap, and in Python's, which do not


@kernel
def scramble(word: int) -> int:
    """A bijection of 32-bit words in which every bit affects every other (Wellons's lowbias32)."""
    word = ((word ^ (word >> 16)) * 0x7FEB352D) & WORD
    word = ((word ^ (word >> 15)) * 0x846CA68B) & WORD
    return word ^ (word >> 16)


@kernel
def key_of(u: float) -> int:
    """A round's luck as a key."""
    return int(u * 4294967296.0)


@kernel
def uniform(first: int, second: int, counter: int) -> float:
    """The counter-th number strictly between 0 and 1 under two keys."""
    word = scramble(int(first) ^ scramble(int(second) ^ scramble(int(counter) & WORD)))
    return (word + 0.5) / 4294967296.0


@kernel
def normals(first: int, second: int, out: Floats) -> None:
    """Fill with standard normal numbers (Box–Muller)."""
    for k in range(0, len(out), 2):
        length = math.sqrt(-2.0 * math.log(uniform(first, second, k)))
        angle = 2.0 * math.pi * uniform(first, second, k + 1)
        out[k] = length * math.cos(angle)
        if k + 1 < len(out):
            out[k + 1] = length * math.sin(angle)
