"""What is asked of a service, and what it answers."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from numpy.typing import ArrayLike

from driftbandit.live.settings import Settings


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be decided: one of ``arms``, ``set`` and ``fields``.

    Parameters:
        arms: (n, dim) numbers.
        set: the name of an arm set that was put.
        fields: a visitor's fields, where a Chooser decides.
        exclude: actions of a Chooser that are not on offer this time.
        baseline: the caller's own choice (an arm's number, or an action): it is the answer, and the policy learns from it.
        deferred: the wait begins when the decision is shown; one that never is, is never learnt.
    """

    arms: ArrayLike | None = None
    set: str | None = None
    fields: Mapping[str, Any] | None = None
    exclude: Sequence[str] = ()
    baseline: int | str | None = None
    deferred: bool = False


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A decision. The same id gives the same, but for ``repeat``."""

    id: str
    round: int
    index: int  # of the arm in its set; of the action among those offered
    action: str | None  # its name, where it has one
    propensity: float | None  # the chance with which it was chosen, where that is known exactly
    explored: bool  # drawn evenly, not chosen
    chosen: int  # the policy's own choice: index, but for a baseline or where it explored
    at: float  # when, in seconds since 1970
    repeat: bool  # this id was answered before
    ticket: int  # the number of its record in the journal


Outcome = Literal["learnt", "kept", "duplicate", "late"]


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a reward, or of word that a decision was shown ("kept" or "duplicate").

    learnt: the policy knows it. kept: it will, at the deadline. duplicate: it was known before, and nothing changed. late: the
    wait was over; it is in the journal, and learnt only if the experiment's ``late`` says so (then it is "learnt").
    """

    id: str
    outcome: Outcome
    ticket: int  # the number of its record in the journal; of a duplicate, of the last record of this decision


class Opinion(msgspec.Struct, frozen=True):
    """What is thought of one arm or action."""

    index: int
    action: str | None
    estimate: float  # of its reward
    width: float | None  # how far that may be off, as the policy is optimistic; None where it cannot say, or draws instead
    score: float  # their sum, by which arms are compared


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What would be decided now."""

    round: int
    index: int
    action: str | None
    opinions: list[Opinion]  # in the order of the arms


Reason = Literal["score", "chance", "explored", "baseline"]  # chance: a tie, a probe, a draw, or what was learnt since


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """A decision, and what the policy thinks now of the arms that were on offer."""

    decision: "Found"
    opinions: list[Opinion]
    hung_on: Reason


State = Literal["waiting", "rewarded", "expired", "unshown"]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an id."""

    answer: Answer
    state: State
    reward: float | None  # as gathered so far, or as learnt; None where silence stood for the default, or for nothing
    late: float | None  # a reward that came after the wait: kept in the journal, and not learnt
    deadline: float | None  # until when it waits
    shown: bool


class Tally(msgspec.Struct):
    """How an arm or action has fared."""

    played: int = 0
    rewarded: int = 0
    total: float = 0.0
    squares: float = 0.0  # the sum of squares, for intervals


class Counts(msgspec.Struct):
    """What has happened to an experiment."""

    decisions: int = 0
    rewards: int = 0  # learnt, defaults not included
    expired: int = 0
    unshown: int = 0
    late: int = 0
    explored: int = 0
    baselines: int = 0
    agreed: int = 0  # baselines that the policy would have chosen too
    reward_total: float = 0.0
    delay_total: float = 0.0  # from decision to reward, in seconds


class Exported(NamedTuple):
    """What became of the records of a journal."""

    rows: int  # written to the file
    dropped: int  # from the journal, thereafter


Kind = Literal["policy", "chooser"]


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment, as it is now."""

    name: str
    policy: str  # as the call that makes it
    kind: Kind
    dim: int
    settings: Settings
    created: float
    round: int
    waiting: int
    remembered: int
    counts: Counts
    actions: dict[str, Tally]  # by name; an arm without one is known by its number
    offered: list[str]  # the actions on offer, or the names of the sets
    columns: list[str]  # a name for each feature
    theta: list[float]  # θ̂
    memory: float | None  # rewards that are remembered, where the policy says (AdaptiveUCB, DetectUCB)
    restarts: list[int]  # the rounds of the last restarts, where the policy says
    warning: str | None  # what is visibly wrong with the rewards
    records: int  # in the journal, of all experiments
    digest: str  # of the policy's state
