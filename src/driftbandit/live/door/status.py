"""How an experiment goes, as one document: what a page shows, made at most once per second however many look."""

import time
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from driftbandit.contexts.chooser import Chooser
from driftbandit.live.answers import Explanation, Found, Opinion, Reason, Status
from driftbandit.live.door.baselines import Baseline, baseline
from driftbandit.live.door.board import Board
from driftbandit.live.door.series import CHOSEN, REWARDED, gaps, means, pooled
from driftbandit.live.fold.entries import Entry
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.fold.records import Decided
from driftbandit.live.fold.telling import explained
from driftbandit.live.service import Service
from driftbandit.policies._base.outlook import Outlook

MINUTE = 12  # buckets of the finest series


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


class Recent(msgspec.Struct, kw_only=True):
    """One of the last decisions. ``opinions`` are from within a second or two of it, if someone looked on by then."""

    id: str
    at: float
    round: int
    index: int
    action: str | None
    state: str
    reward: float | None
    hung_on: Reason
    opinions: list[Opinion]


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
    """Of the last decisions, each made once, from one outlook for all that are new."""

    def __init__(self) -> None:
        self.known: dict[str, Explanation] = {}

    def of(self, experiment: Experiment, records: Iterable[Decided]) -> list[Recent]:
        """The newest first."""
        found = [(record, entry) for record in records if (entry := experiment.find(record.id)) is not None]
        if any(record.id not in self.known for record, _ in found):
            outlook = experiment.player.policy.outlook()
            self.known = {
                record.id: self.known.get(record.id) or explained_or_not(experiment, entry, record, outlook)
                for record, entry in found
            }
        return [told(entry.found(), self.known[entry.id]) for _, entry in reversed(found)]


def explained_or_not(experiment: Experiment, entry: Entry, record: Decided, outlook: Outlook) -> Explanation:
    """Without opinions, where nothing of what was on offer is any more."""
    try:
        return explained(experiment, entry, record, outlook)
    except ValueError:
        return Explanation(decision=entry.found(), opinions=[], hung_on="chance")


def told(found: Found, explanation: Explanation) -> Recent:
    answer = found.answer
    return Recent(
        id=answer.id,
        at=answer.at,
        round=answer.round,
        index=answer.index,
        action=answer.action,
        state=found.state,
        reward=found.reward,
        hung_on=explanation.hung_on,
        opinions=explanation.opinions,
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
        recent=explanations.of(service.state.names[name], board.last),
    )


def actions(board: Board, sums: Any) -> list[ActionNow]:
    total = max(float(sums[:, CHOSEN].sum()), 1.0)
    mean, low, high = means(sums, pooled(sums), board.bounds)
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
