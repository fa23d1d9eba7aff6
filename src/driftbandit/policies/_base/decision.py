"""What a policy hands out: decisions, and its estimate."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from driftbandit.core.shown import bars, shortened, table
from driftbandit.core.types import Floats


class Decision:
    """What ``select`` chose: show ``arm`` (or item ``index`` of the set), then ``update`` with this decision.

    Read-only. ``index`` is None if arms have no number: a ball, an ellipsoid. ``origin`` is a random number of the policy,
    so that no other takes the decision for its own. A decision may be pickled, or rebuilt from its four parts.
    Decisions compare equal by round, index and arm.
    """

    __slots__ = ("_arm", "_index", "_origin", "_round")

    def __init__(self, round: int, index: int | None, arm: Floats, origin: int = 0) -> None:
        self._round, self._index = round, index
        self._arm, self._origin = arm, origin

    @property
    def round(self) -> int:
        return self._round

    @property
    def index(self) -> int | None:
        return self._index

    @property
    def arm(self) -> Floats:
        return self._arm

    @property
    def origin(self) -> int:
        return self._origin

    def __repr__(self) -> str:
        return f"Decision(round={self.round}, index={self.index}, arm={shortened(self.arm.tolist())})"

    def _repr_html_(self) -> str:
        rows = [
            ("round", self.round),
            ("index", self.index),
            ("arm", shortened(self.arm.round(4).tolist())),
            ("", bars(self.arm)),
        ]
        return table("Decision", (), rows)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Decision)
            and (self.round, self.index) == (other.round, other.index)
            and np.array_equal(self.arm, other.arm)
        )

    def __hash__(self) -> int:
        return hash((self.round, self.index))


def recognised(decision: object, waiting: Mapping[int, Decision], rounds: int, most_waiting: int) -> Decision:
    """The waiting decision equal to this one, though perhaps another object: either may have been in a file meanwhile."""
    if not isinstance(decision, Decision):
        raise ValueError(f"decision must be what select returned, got {decision!r}")
    known = waiting.get(decision.round)
    if known is not None and (known != decision or known.origin != decision.origin):
        raise ValueError(f"decision must be one that this policy handed out, got one of another policy or copy: {decision!r}")
    if known is None and decision.round < rounds - most_waiting:
        raise ValueError(
            f"decision must be one that still waits for its reward, got {decision!r}: it was given up after "
            f"most_waiting = {most_waiting} rounds, so make the policy with a larger most_waiting"
        )
    if known is None:
        raise ValueError(f"decision must be one that still waits for its reward, got {decision!r}: update each only once")
    return known


class Estimate(NamedTuple):
    """The estimate behind the next ``select``, which maximises ⟨x, theta⟩ + radius·√q with q = xᵀ·metric·x.

    With a ``novelty``, √q is multiplied by √(1 + 3.5·ln(1 + (novelty·q/(1 + q))²)): arms hardly known get a wider width.
    In blocks: over all features, the shared ones first, then one block after the other. With an intercept, which is no part of
    it, q depends on that too: ask ``appraise``.
    """

    theta: Floats
    metric: Floats
    radius: float
    novelty: float = 0.0
