"""How a policy looks in a notebook: the parameters it was given, what it has seen, and its estimate."""

from typing import Any

from driftbandit.core.shown import bars, shortened, table
from driftbandit.core.types import Floats
from driftbandit.policies._base.decision import Decision

Rows = list[tuple[str, object]]


class Shown:
    """A policy that a notebook shows as a table. Showing it changes nothing."""

    rounds: int
    _busy: bool
    _given: dict[str, Any]
    _waiting: dict[int, Decision]

    def theta(self) -> Floats:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        rows: Rows = [
            (name, shortened(value) if isinstance(value, list) else repr(value)) for name, value in self._given.items()
        ]
        if self._busy:
            rows.append(("state", "in use by another thread"))
        else:
            rows += [("rounds", f"{self.rounds:,}"), ("waiting for a reward", f"{len(self._waiting):,}")]
            rows += self._learnt() if self.rounds else []
        return table(type(self).__name__, (), rows)

    def _learnt(self) -> Rows:
        """What it believes by now."""
        return [("θ̂", bars(self.theta()))]
