"""Exp3 and Exp3.IX alone."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from common import rounds
from driftbandit.policies._base.meta import Meta, draw, exp3, exp3_ix, reward


@pytest.mark.parametrize("make", [exp3, exp3_ix])
def test_finds_the_better_choice(make: Callable[[int, int], Meta]) -> None:
    plays = rounds(3000, 600)
    meta = make(4, plays)
    rng = np.random.default_rng(0)
    counts = np.zeros(4)
    for _ in range(plays):
        choice = draw(meta, rng.random())
        assert meta.chance.sum() == pytest.approx(1.0)
        counts[choice] += 1
        reward(meta, choice, float(rng.random() < (0.8 if choice == 2 else 0.3)))
    assert counts.argmax() == 2
    assert counts[2] > 0.5 * plays


def test_rates_are_those_of_the_papers() -> None:
    assert exp3(9, 112).mix == pytest.approx(np.sqrt(9 * np.log(9) / ((math.e - 1) * 112)))
    assert exp3(9, 1).mix == 1.0
    assert exp3_ix(9, 112).rate == pytest.approx(np.sqrt(2 * np.log(10) / (9 * 112)))
    assert exp3_ix(9, 112).implicit == exp3_ix(9, 112).rate / 2


def test_draws_follow_the_probabilities() -> None:
    meta = exp3(3, 50)
    meta.log_weight[:] = [0.0, 1.0, 2.0]
    draws = [draw(meta, u) for u in (np.arange(1000) + 0.5) / 1000]
    np.testing.assert_allclose(np.bincount(draws) / 1000, meta.chance, atol=2e-3)
    assert draw(meta, np.nextafter(1.0, 0.0)) == 2


def test_a_number_on_the_edge_belongs_to_what_lies_above() -> None:
    meta = exp3(16, 1)
    assert meta.mix == 1.0  # so that each has a chance of 1/16
    assert [draw(meta, u) for u in (0.0, 1 / 16, 2 / 16, 15 / 16)] == [0, 1, 2, 15]
