"""Advice: each policy's parameters and promise are those of the functions, and the words say what they are worth."""

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from driftbandit import theory
from driftbandit.theory.advice import NO_CONSTANTS, Advice, promise

pytestmark = pytest.mark.plain


def test_the_advice_is_what_the_functions_say() -> None:
    scales = {"ridge": 4.0, "theta_norm": 0.5, "arm_norm": 2.0, "noise": 0.3}
    restart, window, weight, bob = theory.advise(3, 10_000, 2.0, **scales)
    pool, episode = theory.period_pool(3, 10_000, 0.5), theory.episode_length(3, 10_000)
    assert restart.parameters == {"period": theory.optimal_period(3, 10_000, 2.0)}
    assert restart.bound == theory.regret_bound(10_000, restart.parameters["period"], 2.0, 3, **scales)
    assert window.parameters == {"window": restart.parameters["period"]}
    assert weight.parameters == {"discount": theory.optimal_discount(3, 10_000, 2.0)}
    assert bob.parameters == {"pool": pool}
    assert bob.bound == theory.bob_regret_bound(10_000, episode, pool, 2.0, 3, **scales)
    assert window.bound is None
    assert weight.bound is None
    for advice in (restart, window, weight, bob):
        assert advice.trivial == 2 * 2.0 * 0.5 * 10_000
    assert [a.policy for a in (restart, window, weight, bob)] == ["RestartUCB", "WindowUCB", "WeightUCB", "BanditOverBandit"]
    assert "the same order of regret as RestartUCB" in NO_CONSTANTS
    assert [window.words, weight.words] == [NO_CONSTANTS] * 2


def test_unless_told_otherwise_every_scale_is_one() -> None:
    assert theory.advise(3, 1000, 2.0) == theory.advise(3, 1000, 2.0, ridge=1, theta_norm=1, arm_norm=1, noise=1)


def test_advice_stays_as_given() -> None:
    advice = theory.advise(3, 1000, 2.0)[0]
    with pytest.raises(FrozenInstanceError):
        advice.bound = 0.0  # type: ignore[misc]


def test_a_promise_above_what_can_be_lost_says_so() -> None:
    assert promise(140_000.4, 100_000.0, 50_000) == (
        "promised a regret of at most 140,000, which says nothing: no policy can lose more than 100,000 in 50,000 rounds. "
        "Take the tuning as a rule of thumb, and compare it with others on data like yours."
    )
    assert "says nothing" in promise(10.0, 10.0, 5)
    assert promise(25_000.0, 100_000.0, 50_000) == (
        "promised a regret of at most 25,000, 25% of the most that 50,000 rounds can cost."
    )


@pytest.mark.parametrize(("bound", "vacuous"), [(None, None), (9.0, False), (10.0, True), (11.0, True)])
def test_a_bound_that_is_no_less_than_the_most_there_is_to_lose_is_vacuous(bound: float | None, vacuous: bool | None) -> None:
    assert Advice("RestartUCB", {"period": 5}, bound, 10.0, "words").vacuous is vacuous


def test_advice_prints_as_a_call_and_words() -> None:
    assert str(Advice("X", {"period": 5, "pool": [1, 2]}, None, 10.0, "words")) == "X(period=5, pool=[1, 2]): words"


def test_advice_is_honest() -> None:
    short = theory.advise(2, 50_000, 6.83, noise=0.316)
    assert short[0].parameters == {"period": 101}
    assert short[0].vacuous
    assert "says nothing" in str(short[0])
    long = theory.advise(2, 10**10, 0.001, noise=0.1)
    assert not long[0].vacuous
    assert "of the most" in str(long[0])


def test_advice_says_where_the_bound_is_not_proved() -> None:
    words = "The bound is proved only for arm_norm² ≤ ridge."
    for restart, window, _, bob in (theory.advise(2, 1000, 1.0, arm_norm=2.0), theory.advise(2, 1000, 1.0, ridge=0.5)):
        assert restart.words.endswith(" " + words)
        assert bob.words.endswith(" " + words)
        assert window.words == NO_CONSTANTS
    for advice in (*theory.advise(2, 1000, 1.0), *theory.advise(2, 1000, 1.0, arm_norm=2.0, ridge=4.0)):
        assert "proved" not in advice.words


@pytest.mark.parametrize("name", ["ridge", "theta_norm", "arm_norm", "noise", "path_length"])
def test_a_wrong_argument_is_named(name: str) -> None:
    wrong: dict[str, Any] = {"dim": 2, "horizon": 1000, "path_length": 1.0, name: -1.0}
    with pytest.raises(ValueError, match=name):
        theory.advise(**wrong)
