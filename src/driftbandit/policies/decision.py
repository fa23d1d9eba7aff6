"""What a policy hands out: decisions, and its estimate."""

from typing import NamedTuple

import numpy as np

from driftbandit._types import Floats


class Decision:
    """What ``select`` chose: show ``arm`` (or item ``index`` of the set), then ``update`` with this decision.

    Read-only. ``index`` is None where arms have no number: a ball, an ellipsoid.
    """

    __slots__ = ("_arm", "_index", "_round")

    def __init__(self, round: int, index: int | None, arm: Floats) -> None:
        self._round, self._index, self._arm = round, index, arm

    @property
    def round(self) -> int:
        return self._round

    @property
    def index(self) -> int | None:
        return self._index

    @property
    def arm(self) -> Floats:
        return self._arm

    def __repr__(self) -> str:
        return f"Decision(round={self.round}, index={self.index}, arm={self.arm.tolist()})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Decision)
            and (self.round, self.index) == (other.round, other.index)
            and np.array_equal(self.arm, other.arm)
        )

    def __hash__(self) -> int:
        return hash((self.round, self.index))


class Estimate(NamedTuple):
    """What the next ``select`` will go by: ⟨x, theta⟩ + radius·√(xᵀ·metric·x)."""

    theta: Floats
    metric: Floats
    radius: float
