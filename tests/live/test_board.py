"""What the page shows, as sums in rings that do not grow."""

import time

import numpy as np
import pytest

from driftbandit.live.door.board import MOST_ACTIONS, OTHERS, Board
from driftbandit.live.door.series import CHOSEN, Histogram, Series, means, pooled
from driftbandit.live.fold.entries import Entry
from driftbandit.live.fold.records import Decided

pytestmark = pytest.mark.plain


def entry(label: str | None, at: float) -> Entry:
    return Entry("id", 0, 0, b"", at, 0, 0, 0, label, False, False, None, None, at + 1, False)


def decided(action: str, at: float, round: int = 0) -> Decided:
    return Decided(at, 0, "id", b"", 0, 0, round, action)


def test_a_ring_forgets_what_is_older_than_itself() -> None:
    series = Series(10.0, 3, 2)
    for at in (5, 15, 25, 35):
        series.add(at, 1, [1, 0, 0, 0])
    series.add(4, 1, [1, 0, 0, 0])  # comes too late for the ring
    table = series.table(39)
    assert table.times == [10, 20, 30]
    assert table.sums[:, 1, CHOSEN].tolist() == [1, 1, 1]
    assert series.table(1000).sums.sum() == 0


def test_a_round_is_found_in_time() -> None:
    series = Series(10.0, 5, 1)
    for at, round in ((5, 0), (7, 3), (15, 9), (35, 20)):
        series.reach(at, round)
    table = series.table(35)
    assert [table.when(round) for round in (0, 8, 9, 19, 25)] == [0, 0, 10, 10, 30]
    series.reach(75, 30)
    assert series.table(75).when(3) is None


def test_means_and_their_intervals() -> None:
    rewards = np.random.default_rng(0).random(1000)
    sums = np.array([[0, 1000, rewards.sum(), (rewards**2).sum()], [5, 0, 0, 0], [5, 2, 0, 0]], float)
    mean, low, high = means(sums, pooled(sums))
    assert mean[0] == pytest.approx(rewards.mean(), rel=1e-5)
    assert low[0] is not None
    assert high[0] is not None
    assert high[0] - low[0] == pytest.approx(2 * 1.96 * rewards.std() / np.sqrt(1000), rel=0.01)
    assert (mean[1], low[1]) == (None, None)
    assert mean[2] == 0.0
    assert high[2] is not None
    assert high[2] > 0.1  # two equal rewards are no certainty


def test_the_interval_of_a_rate_stays_between_nought_and_one() -> None:
    board, now = Board(), time.time()
    for name, rewards in {"rare": [0.0] * 9 + [1.0], "never": [0.0] * 3, "always": [1.0] * 3}.items():
        for reward in rewards:
            board.learnt(entry(name, now), now, reward)
    board.settle(None)
    history = board.history("30m", [])
    assert history.bounds == [0.0, 1.0]
    lows, highs = [*history.low], [*history.high]
    for each in history.actions:
        lows, highs = lows + each.low, highs + each.high
    ends = [end for end in lows + highs if end is not None]
    assert (min(ends), max(ends)) == (0.0, 1.0)
    assert Board().history("30m", []).bounds == [None, None]


def test_actions_beyond_the_first_are_told_together() -> None:
    board, now = Board(), time.time()
    for k in range(MOST_ACTIONS + 5):
        board.decided(decided(f"action {k}", now, round=k))
    board.learnt(entry("action 0", now), now, 1.0)
    board.learnt(entry(f"action {MOST_ACTIONS + 1}", now), now, 0.5)
    board.settle(12.0)
    history = board.history("30m", [2])
    assert [each.action for each in history.actions] == [*(f"action {k}" for k in range(MOST_ACTIONS)), OTHERS]
    assert sum(history.decisions) == MOST_ACTIONS + 5
    assert sum(history.rewards) == 2
    assert sum(history.actions[-1].decisions) == 5
    assert [each for each in history.memory if each] == [12.0]
    assert history.restarts[0].at is not None


def test_an_action_that_is_no_more_makes_room_for_another() -> None:
    board, now, week = Board(), time.time(), 7 * 86_400
    for k in range(MOST_ACTIONS):
        board.decided(decided(f"old {k}", now - week - 3600 * (k > 0)))
    board.decided(decided("old 0", now))
    board.settle(None)
    board.decided(decided("new", now))
    board.settle(None)
    assert [each.action for each in board.history("7d", []).actions] == ["old 0", "new"]


def test_delays_are_counted_up_to_each_bound() -> None:
    histogram = Histogram([1.0, 10.0])
    for value in (0.5, 1.0, 2.0, 100.0):
        histogram.add(value)
    assert histogram.counts == [2, 1, 1]
    assert histogram.total == 103.5
