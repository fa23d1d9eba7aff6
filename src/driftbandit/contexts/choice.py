"""What a chooser returns: a choice that waits for its reward, opinions on actions, and their records."""

from typing import TYPE_CHECKING, Any, NamedTuple

from driftbandit.core.shown import bars, table
from driftbandit.core.types import Floats
from driftbandit.policies._base.decision import Decision

if TYPE_CHECKING:
    from driftbandit.contexts.chooser import Chooser


class Opinion(NamedTuple):
    """What a policy thinks of one action in one context."""

    action: str
    estimate: float  # of its reward
    width: float  # how far it may be off: what optimism adds
    score: float  # their sum; the greatest is chosen
    parts: dict[str, float]  # what each column contributes to the estimate


class Choice:
    """An action for a visitor, which waits for its reward. Once pickled, it no longer knows its chooser.

    Read-only. Choices compare equal by action and decision, and a pickled one can still be rewarded.
    """

    __slots__ = ("_action", "_chooser", "_context", "_decision")  # a frozen dataclass takes three times as long to make

    def __init__(self, action: str, decision: Decision, context: Floats, chooser: "Chooser | None" = None) -> None:
        self._action, self._decision = action, decision
        self._context, self._chooser = context, chooser

    @property
    def action(self) -> str:
        return self._action

    @property
    def decision(self) -> Decision:
        return self._decision

    @property
    def context(self) -> Floats:
        """The visitor, encoded."""
        return self._context

    def explain(self) -> list[Opinion]:
        """What the policy thinks now of every action in this context, the best first."""
        if self._chooser is None:
            raise ValueError("this choice was pickled and no longer knows its chooser: call chooser.opinions(choice.context)")
        return self._chooser.opinions(self.context)

    def __repr__(self) -> str:
        return f"Choice(action={self.action!r}, decision={self.decision!r})"

    def _repr_html_(self) -> str:
        rows = [("action", self.action), ("round", self.decision.round), ("visitor", bars(self.context))]
        return table("Choice", (), rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and (self.action, self.decision) == (other.action, other.decision)

    def __hash__(self) -> int:
        return hash((self.action, self.decision))

    def __reduce__(self) -> tuple[Any, ...]:
        return Choice, (self.action, self.decision, self.context)


class ActionRecord(NamedTuple):
    """How an action has performed."""

    chosen: int
    rewarded: int  # for how many of these the reward has arrived
    mean: float  # of those rewards
    offered: bool  # whether it can be chosen now


class ChooserStatus(NamedTuple):
    """What a chooser has seen and believes."""

    actions: dict[str, ActionRecord]
    out_of_range: dict[str, int]  # by field: how many values were clipped or had an undeclared level
    estimate: dict[str, float]  # θ̂ by the name of its column
    policy: Any  # the policy's own status, if it has one

    def _repr_html_(self) -> str:
        headings = ("action", "chosen", "rewarded", "mean reward", "offered")
        rows = [
            (
                name,
                f"{one.chosen:,}",
                f"{one.rewarded:,}",
                f"{one.mean:.4g}" if one.rewarded else "",
                "yes" if one.offered else "no",
            )
            for name, one in self.actions.items()
        ]
        return table("Chooser", headings, rows)
