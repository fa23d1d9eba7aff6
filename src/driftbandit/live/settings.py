"""What an experiment is told when it is made: how long decisions wait, what no reward means, how much it explores."""

from typing import Literal

import msgspec

from driftbandit.core import validate
from driftbandit.live.errors import Invalid

DAY = 86_400.0


class Settings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Fixed for the life of an experiment.

    Parameters:
        wait: seconds for which a decision waits for its reward.
        default: the reward that is learnt when none has come by the end of the wait, such as 0 for no click. Without a default
            nothing is learnt then.
        learn: "at-once", when the reward comes, or "deadline", when the wait is over. Where a default is set the deadline is
            the default, since ones that come at once and zeros that come late would bias the learner.
        gather: what several rewards of a decision make: "first" counts alone, their "sum", or the "last".
        late: what a reward after the wait is: "refuse": kept in the journal alone; "learn": learnt for its round.
        explore: the share of decisions that are drawn evenly from all arms; makes propensities exact.
        rate: decisions per second that are taken over HTTP, and as many at once; more are refused. None for no limit.
        most_waiting: how many decisions may wait at a time; more are refused.
        remember: seconds for which an id is remembered after its reward or its expiry.
        most_remembered: how many such ids are remembered at most; the oldest is forgotten first.
    """

    wait: float = DAY
    default: float | None = None
    learn: Literal["at-once", "deadline"] | None = None
    gather: Literal["first", "sum", "last"] = "first"
    late: Literal["refuse", "learn"] = "refuse"
    explore: float = 0.0
    rate: float | None = None
    most_waiting: int = 100_000
    remember: float = DAY
    most_remembered: int = 100_000

    def __post_init__(self) -> None:
        try:
            validate.positive("wait", self.wait)
            validate.not_negative("remember", self.remember)
            validate.whole("most_waiting", self.most_waiting)
            validate.whole("most_remembered", self.most_remembered, least=0)
            if self.default is not None:
                validate.real("default", self.default)
            if self.rate is not None:
                validate.positive("rate", self.rate)
            if not 0.0 <= validate.real("explore", self.explore) <= 1.0:
                raise ValueError(f"explore must lie between 0 and 1, got {self.explore}")
            for name, choices in CHOICES.items():
                validate.choice(name, getattr(self, name) or choices[0], choices)
            self._check_together()
        except ValueError as error:
            raise Invalid(str(error), str(error).split()[0]) from None

    def _check_together(self) -> None:
        if self.gather != "first" and not self.at_deadline:
            raise ValueError(f'gather = "{self.gather}" needs learn = "deadline", since only then all rewards are known')
        if self.late == "learn" and self.default is not None:
            raise ValueError('late = "learn" needs no default, since the default was learnt for that round already')

    @property
    def at_deadline(self) -> bool:
        """Whether learning waits for the deadline."""
        return self.default is not None if self.learn is None else self.learn == "deadline"


CHOICES = {
    "learn": ["at-once", "deadline"],
    "gather": ["first", "sum", "last"],
    "late": ["refuse", "learn"],
}
