"""Arms that are one context, written where each action has it: times its features, and in columns of its own.

Dimensions: n actions with k features each, c columns of the context.
"""

from typing import Any, NamedTuple

from driftbandit.core.compile import kernel
from driftbandit.core.pinned import Pinned, unpin
from driftbandit.core.types import Floats, Ints


class Pattern(NamedTuple):
    """Where a context goes in an arm: times the features, after the number of the block if there is one; and in own columns."""

    numbers: Floats  # (n,): of the blocks; or none
    features: Floats  # (n, k)
    own: Ints  # (n,): the first of the arm's own columns; or none
    scale: float


class Spread:
    """An arm set: a pinned pattern, and the context of this round, known to be valid."""

    __slots__ = ("context", "pattern")

    def __init__(self, pattern: Pinned, context: Floats) -> None:
        self.pattern, self.context = pattern, context


@kernel
def spread_out(pattern: Pattern, context: Floats, arms: Floats) -> None:
    """Write the arms; columns where an arm has nothing are left as they are."""
    features, own, scale, width, first = pattern.features, pattern.own, pattern.scale, len(context), 0
    for i in range(len(pattern.numbers)):
        arms[i, 0], first = pattern.numbers[i], 1
    for i in range(len(features)):
        for k in range(features.shape[1]):
            part, a = arms[i, first + k * width : first + (k + 1) * width], features[i, k]
            for j in range(width):
                part[j] = a * (scale * context[j])
    for i in range(len(own)):
        part = arms[i, own[i] : own[i] + width]
        for j in range(width):
            part[j] = scale * context[j]


@kernel
def write_arms(pattern: Any, context: Floats, arms: Floats) -> None:
    """``spread_out`` for callers from Python."""
    spread_out(unpin(pattern), context, arms)
