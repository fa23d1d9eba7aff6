"""Decisions that were the caller's own: how often the policy agreed, and what came of it where it did and where it did not."""

import msgspec

from driftbandit.live.answers import Status
from driftbandit.live.door.board import Board
from driftbandit.live.door.series import REWARDED, means, pooled


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


def baseline(board: Board, status: Status) -> Baseline:
    counts = board.baselines[:, REWARDED].astype(int).tolist()
    earned = means(board.baselines, pooled(board.baselines), board.bounds)
    differed, agreed = (Earned(*each) for each in zip(counts, *earned, strict=True))
    return Baseline(status.counts.baselines, status.counts.agreed, agreed, differed)
