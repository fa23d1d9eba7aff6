"""How an experiment goes, as one document: what a page shows, made at most once per second however many look."""

import time
from typing import Any, Literal

import msgspec
import numpy as np

from driftbandit.contexts.chooser import Chooser
from driftbandit.live.answers import Found, Opinion, Status
from driftbandit.live.board import Board
from driftbandit.live.errors import NotFound
from driftbandit.live.series import CHOSEN, REWARDED, gaps, means, pooled
from driftbandit.live.service import Service

MINUTE = 12  # buckets of the finest series
EXPLAINING = 0.02  # seconds spent on explanations at a time; the rest come with the next


class Rates(msgspec.Struct):
    """Per second, over the last minute."""

    decisions: float
    rewards: float


class ActionNow(msgspec.Struct, kw_only=True):
    """An action over the last 30 minutes."""

    action: str
    decisions: int
    share: float  # of all decisions
    rewards: int
    mean: float | None
    low: float | None  # its 95 % interval
    high: float | None


class Feature(msgspec.Struct):
    """One coordinate of θ̂; ``width`` is how far it may be off, null while nobody can say."""

    name: str
    theta: float
    width: float | None


class Delays(msgspec.Struct):
    """From decision to reward, since the start: ``counts`` up to each of ``bounds`` in seconds, and one above the last."""

    bounds: list[float]
    counts: list[int]
    mean: float | None


class Earned(msgspec.Struct):
    """The mean of some rewards, with its 95 % interval."""

    rewards: int
    mean: float | None
    low: float | None
    high: float | None


class Baseline(msgspec.Struct):
    """Decisions that were the caller's own, how many of them the policy would have made too, and what either earned."""

    decisions: int
    agreed: int
    where_agreed: Earned
    where_differed: Earned


class Recent(msgspec.Struct, kw_only=True):
    """One of the last decisions. ``opinions`` are from within a second or two of it; null where they are yet to be made."""

    id: str
    at: float
    round: int
    index: int
    action: str | None
    state: str
    reward: float | None
    hung_on: Literal["score", "chance", "explored", "baseline"] | None = None
    opinions: list[Opinion] | None = None


class Live(msgspec.Struct, kw_only=True):
    """An experiment as it is now."""

    now: float
    experiment: Status
    rates: Rates
    actions: list[ActionNow]
    features: list[Feature]
    delays: Delays
    baseline: Baseline
    recent: list[Recent]  # the newest first, at most 50


class Explanations:
    """Of the last decisions, each made once."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def of(self, service: Service, name: str, recent: list[Found]) -> list[Recent]:
        until = time.monotonic() + EXPLAINING
        kept = {}
        for found in recent:
            id = found.answer.id
            if id in self.known:
                kept[id] = self.known[id]
            elif time.monotonic() < until:
                try:
                    kept[id] = service.explain(name, id)
                except NotFound:
                    continue
        self.known = kept
        return [told(found, kept.get(found.answer.id)) for found in recent]


def told(found: Found, explanation: Any) -> Recent:
    answer = found.answer
    return Recent(
        id=answer.id,
        at=answer.at,
        round=answer.round,
        index=answer.index,
        action=answer.action,
        state=found.state,
        reward=found.reward,
        hung_on=explanation and explanation.hung_on,
        opinions=explanation and explanation.opinions,
    )


def live(service: Service, name: str, board: Board, explanations: Explanations) -> Live:
    status, now = service.status(name), time.time()
    series = board.series["30m"]
    sums = series.table(now).sums
    age = min(MINUTE * series.width, max(now - status.created, series.width))
    minute = sums[-MINUTE:].sum(axis=(0, 1)) / age
    counts = board.delays.counts
    return Live(
        now=now,
        experiment=status,
        rates=Rates(float(minute[CHOSEN]), float(minute[REWARDED])),
        actions=actions(board, sums.sum(axis=0)),
        features=features(service, name, status),
        delays=Delays(board.delays.bounds, counts, board.delays.total / sum(counts) if any(counts) else None),
        baseline=baseline(board, status),
        recent=explanations.of(service, name, service.recent(name)),
    )


def baseline(board: Board, status: Status) -> Baseline:
    counts = board.baselines[:, REWARDED].astype(int).tolist()
    differed, agreed = (Earned(*each) for each in zip(counts, *means(board.baselines, pooled(board.baselines)), strict=True))
    return Baseline(status.counts.baselines, status.counts.agreed, agreed, differed)


def actions(board: Board, sums: Any) -> list[ActionNow]:
    total = max(float(sums[:, CHOSEN].sum()), 1.0)
    mean, low, high = means(sums, pooled(sums))
    return [
        ActionNow(
            action=name,
            decisions=int(sums[place, CHOSEN]),
            share=float(sums[place, CHOSEN]) / total,
            rewards=int(sums[place, REWARDED]),
            mean=mean[place],
            low=low[place],
            high=high[place],
        )
        for name, place in board.names(sums.any(axis=1))
    ]


def features(service: Service, name: str, status: Status) -> list[Feature]:
    learner = service.learner(name)
    policy = learner.policy if isinstance(learner, Chooser) else learner
    if hasattr(policy, "status"):
        widths = policy.status().widths
    else:
        estimate = policy.estimate()
        widths = estimate.radius * np.sqrt(np.maximum(np.diagonal(estimate.metric), 0.0))
    return [Feature(*each) for each in zip(status.columns, status.theta, gaps(np.asarray(widths)), strict=True)]
