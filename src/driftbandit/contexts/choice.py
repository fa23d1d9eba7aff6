"""What a chooser says: a choice that waits for its reward, opinions on actions, how they have fared."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from driftbandit.core.types import Floats
from driftbandit.policies._base.decision import Decision

if TYPE_CHECKING:
    from driftbandit.contexts.chooser import Chooser


class Opinion(NamedTuple):
    """What is thought of one action in one context."""

    action: str
    estimate: float  # of its reward
    width: float  # how far that may be off, as the policy is optimistic
    score: float  # their sum, by which actions are compared
    parts: dict[str, float]  # what each column contributes to the estimate


@dataclass(frozen=True)
class Choice:
    """An action for a visitor, which waits for its reward. Pickled, it forgets whose it is, and can still be rewarded."""

    action: str
    decision: Decision
    context: Floats = field(repr=False, compare=False)
    _chooser: "Chooser | None" = field(default=None, repr=False, compare=False)

    def explain(self) -> list[Opinion]:
        """What the policy thinks now of every action in this context, the best first."""
        if self._chooser is None:
            raise ValueError("this choice was pickled, and knows its chooser no more: call chooser.opinions(choice.context)")
        return self._chooser.opinions(self.context)

    def __reduce__(self) -> tuple[Any, ...]:
        return Choice, (self.action, self.decision, self.context)


class ActionRecord(NamedTuple):
    """How an action has fared."""

    chosen: int
    rewarded: int  # of these, how many rewards have come
    mean: float  # of those rewards
    offered: bool  # whether it can be chosen now


class ChooserStatus(NamedTuple):
    """What a chooser has seen and believes."""

    actions: dict[str, ActionRecord]
    out_of_range: dict[str, int]  # by field: how many values were clipped, or of a level not declared
    estimate: dict[str, float]  # θ̂ by the name of its column
    policy: Any  # the policy's own status, if it has one
