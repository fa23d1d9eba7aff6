"""Requests and answers of the HTTP service. Their types are the checks, the documentation (openapi.py) and the client's too."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from driftbandit.live.answers import Answer, Receipt
from driftbandit.live.settings import Settings

MOST_ARMS = 1000
MOST_DIM = 1000
MOST_BATCH = 1000
LARGEST = 1e50

NAME = "^[A-Za-z0-9][A-Za-z0-9._-]*$"
Name = Annotated[str, Meta(min_length=1, max_length=64, pattern=NAME, description="letters, digits, . _ -")]
Id = Annotated[str, Meta(min_length=1, max_length=128, description="made by the caller, so that a retry is safe")]
Action = Annotated[str, Meta(min_length=1, max_length=128)]
Real = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Number = Whole | Real  # a whole number stays one: 100 rounds, a seed
Arm = Annotated[list[Real], Meta(min_length=1, max_length=MOST_DIM)]
Arms = Annotated[list[Arm], Meta(min_length=1, max_length=MOST_ARMS)]
Fields = Annotated[dict[str, str | Real | bool | None], Meta(max_length=MOST_DIM)]


class Request(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A body that is read: what is not declared is refused, so that a misspelt name is noticed."""


class Offer(Request):
    """What there is to choose from: exactly one of set, context and arms."""

    set: Annotated[str, Meta(min_length=1, max_length=64)] | None = None  # an arm set that was put
    context: Fields | None = None  # a visitor's fields, where the experiment has named actions
    arms: Arms | None = None  # rows of numbers, one per arm
    exclude: Annotated[list[Action], Meta(max_length=MOST_ARMS)] = []  # named actions that are not on offer this time


class Decide(Offer, kw_only=True):
    """A decision to make."""

    id: Id
    baseline: Annotated[int, Meta(ge=0, lt=MOST_ARMS)] | Action | None = None  # the caller's own choice, to learn from
    deferred: bool = False  # the wait begins when it is shown


class DecideBatch(Request):
    """Decisions to make, one after the other; each has its own status."""

    decisions: Annotated[list[Decide], Meta(min_length=1, max_length=MOST_BATCH)]


class Reward(Request):
    """What came of a decision."""

    reward: Real
    key: Id | None = None  # where an experiment sums several rewards: by this each is known again


class RewardOf(Reward, kw_only=True):
    """The same in a batch."""

    id: Id


class RewardBatch(Request):
    """Rewards of several decisions; each has its own status."""

    rewards: Annotated[list[RewardOf], Meta(min_length=1, max_length=MOST_BATCH)]


class NewExperiment(Request):
    """A policy, and what it chooses from: arms of ``dim`` numbers, or named actions in a declared context."""

    policy: Annotated[str, Meta(max_length=64)] = "AdaptiveUCB"
    dim: Annotated[int, Meta(ge=1, le=MOST_DIM)] | None = None
    parameters: Annotated[dict[str, str | Number | bool | list[Number] | None], Meta(max_length=32)] = {}
    actions: Annotated[list[Action], Meta(min_length=1, max_length=MOST_ARMS)] | dict[Action, list[Real]] | None = None
    context: dict[str, Any] | None = None  # as Context.to_dict gives it
    model: Literal["disjoint", "shared", "hybrid"] = "hybrid"
    places: Annotated[int, Meta(ge=1, le=MOST_ARMS)] | None = None
    settings: Settings = msgspec.field(default_factory=Settings)


class NewSet(Request):
    """Arms under a name."""

    arms: Arms
    labels: Annotated[list[Action], Meta(max_length=MOST_ARMS)] | None = None  # a name for each


class NewAction(Request):
    """A named action to offer from now on."""

    features: Arm | None = None


class Empty(Request):
    """Nothing."""


class NewToken(Request):
    """Who may do what."""

    rights: Annotated[list[Literal["decide", "reward", "read", "admin"]], Meta(min_length=1, max_length=4)]
    experiments: Annotated[list[Name], Meta(min_length=1, max_length=100)] | None = None  # None: all
    note: Annotated[str, Meta(max_length=128)] = ""


# --- answers ---------------------------------------------------------------------------------------------------------


class Result(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One of a batch: its status, and the decision, the receipt, or what was wrong."""

    status: int
    decision: Answer | None = None
    receipt: Receipt | None = None
    detail: str | None = None
    field: str | None = None


class Results(msgspec.Struct):
    """Of a batch, in its order."""

    results: list[Result]


class Summary(msgspec.Struct, kw_only=True):
    """An experiment in a list."""

    name: str
    policy: str
    kind: str
    dim: int
    decisions: int
    rewards: int
    waiting: int


class Experiments(msgspec.Struct):
    experiments: list[Summary]


class Done(msgspec.Struct):
    """It is durable, as the journal's record of this number; where it was so before, no later than that record."""

    record: int


class TokenInfo(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A token; ``token`` itself is told once, when it is made."""

    key: str
    rights: list[str]
    experiments: list[str] | None
    note: str = ""
    token: str | None = None


class Tokens(msgspec.Struct):
    tokens: list[TokenInfo]


class Health(msgspec.Struct):
    status: str
