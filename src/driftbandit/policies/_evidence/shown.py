"""How a policy guided by evidence looks in a notebook: what it believes, and its rewards over time."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from driftbandit.core.shown import bars, sparkline
from driftbandit.policies._base.shown import Rows, Shown
from driftbandit.policies._evidence.history import FILLED, REWARD

if TYPE_CHECKING:
    from driftbandit.policies._evidence.policy import Status


class ShownEvidence(Shown):
    state: Any

    @abstractmethod
    def status(self) -> "Status":
        """What it believes, and why."""

    def _learnt(self) -> Rows:
        now, diary = self.status(), self.state.diary
        return [
            ("memory in use", f"{now.memory:,.0f} rewards"),
            ("restarts", f"{now.restart_count:,}" + (f", the last at round {now.restarts[-1]:,}" if now.restarts else "")),
            ("noise", f"{now.noise:.3g}"),
            ("rewards over time", sparkline(diary.notes[: diary.clock[FILLED], REWARD])),
            ("θ̂", bars(now.theta)),
        ]
