"""Policies led by evidence: what they find out, what they say of it, and what they do not need to be told."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from common import rounds, unit_rows
from driftbandit import (
    Abrupt,
    AdaptiveUCB,
    Alternating,
    Constant,
    DetectUCB,
    FixedArms,
    Gaussian,
    Hidden,
    Scaled,
    StaticUCB,
    Switching,
    UnitArms,
    World,
    axes,
    figures,
    play,
)
from driftbandit.core.types import Floats
from driftbandit.policies._evidence.bank import LEARNT, NOISE2, PENALTY, Bank, new_bank
from driftbandit.policies._evidence.history import MOST_NOTES
from driftbandit.policies._evidence.policy import EvidencePolicy
from driftbandit.policies._evidence.refit import fit
from driftbandit.policies._evidence.refutation import change_since, first_round
from driftbandit.policies._evidence.scales import learn_penalty
from driftbandit.policies._evidence.verbs import unseen

T = rounds(8000, 300)


def final(policy: EvidencePolicy | StaticUCB, world: World, replicates: int = 4) -> float:
    return float(play(policy, world, replicates=replicates, checkpoints=1).mean[0, -1])


def lived(policy: EvidencePolicy, thetas: list[list[float]], each: int, noise: float = 0.1) -> Floats:
    """Play fixed arms while θ takes these values in turn; the rewards."""
    rng = np.random.default_rng(0)
    arms = FixedArms(np.vstack([np.eye(policy.dim), -np.eye(policy.dim)]))
    rewards = []
    for theta in np.repeat(np.array(thetas), each, axis=0):
        decision = policy.select(arms)
        rewards.append(float(decision.arm @ theta + noise * rng.standard_normal()))
        policy.update(decision, rewards[-1])
    return np.array(rewards)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
def test_far_better_than_never_forgetting_where_the_world_changes(kind: type[EvidencePolicy]) -> None:
    world = World(Switching(5, every=1000), Gaussian(0.3), T)
    assert final(kind(5), world) < 0.2 * final(StaticUCB(5, noise=0.3), world)


@pytest.mark.compiled
def test_no_worse_than_never_forgetting_where_it_stands_still() -> None:
    world = World(Constant(5), Gaussian(0.3), T)
    assert final(AdaptiveUCB(5), world) < final(StaticUCB(5, noise=0.3), world)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
def test_louder_noise_is_not_taken_for_change(kind: type[EvidencePolicy]) -> None:
    world = World(Constant(5), Alternating(0.5, quiet=0.1, every=700), T, UnitArms(20, fresh=True))
    assert final(kind(5), world) < 2.0 * final(StaticUCB(5, noise=0.5), world)


@pytest.mark.compiled
def test_a_change_that_does_not_show_is_found_by_probing() -> None:
    world = World(Hidden(5), Gaussian(0.1), 20_000, axes(5))
    assert final(AdaptiveUCB(5), world) < 0.5 * final(AdaptiveUCB(5, probe=0.0), world)


@pytest.mark.compiled
@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_rewards_in_other_units(scale: float) -> None:
    plain, scaled = World(Abrupt(), Gaussian(0.3), T), World(Scaled(Abrupt(), scale), Gaussian(0.3 * scale), T)
    assert final(AdaptiveUCB(2), scaled) / scale == pytest.approx(final(AdaptiveUCB(2), plain), rel=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("guess", [0.03, 3.0])
def test_a_wrong_guess_of_the_noise_does_little_harm(guess: float) -> None:
    world = World(Switching(5, every=1000), Gaussian(0.3), T)
    assert final(AdaptiveUCB(5, noise=guess), world) < 1.5 * final(AdaptiveUCB(5), world)


@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
def test_silence_at_first_does_no_harm(kind: type[EvidencePolicy]) -> None:
    """Arms of length 0, then rewards of 0 until hardly any noise is believed in, then a world."""
    policy = kind(2)
    for _ in range(20):
        policy.update(policy.select(np.zeros((2, 2))), 0.0)
    policy.state.bank.scale[NOISE2] = 1e-200
    for _ in range(50):
        policy.update(policy.select(np.eye(2)), 0.0)
    for _ in range(100):
        decision = policy.select(np.eye(2))
        policy.update(decision, float(decision.arm[1]))
    assert policy.select(np.eye(2)).index == 1
    assert all(np.isfinite(values).all() for values in policy.state.bank if not isinstance(values, int))


@pytest.mark.compiled
def test_short_memories_lose_no_digits_in_many_dimensions() -> None:
    policy, rng = AdaptiveUCB(200), np.random.default_rng(0)
    for _ in range(2000):
        policy.update(policy.select(unit_rows(rng, 3, 200)), float(rng.standard_normal()))
    for v, metric in policy.state.bank.matrix[:-1]:
        np.testing.assert_allclose(metric, np.linalg.inv(v), atol=1e-9 * abs(metric).max())


@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
def test_says_what_it_believes(kind: type[EvidencePolicy]) -> None:
    policy = kind(3)
    lived(policy, [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.5]], each=rounds(1000, 400))
    status = policy.status()
    assert len(status.restarts) >= 1
    assert any(0 <= restart - rounds(1000, 400) < 20 for restart in status.restarts)
    assert status.noise == pytest.approx(0.1, rel=0.3)
    assert abs(status.theta[0] + 1.0) < status.widths[0] + 0.05
    assert (status.widths > 0).all()
    assert 0 < status.memory <= policy.rounds - status.restarts[-1] + 20
    assert status.evidence >= 0.0


def test_says_it_also_of_rewards_that_came_since_the_last_decision() -> None:
    policy, count = AdaptiveUCB(2), rounds(400, 60)
    decisions = [policy.select(np.eye(2)) for _ in range(count)]
    for decision in decisions:
        policy.update(decision, float(decision.arm[1]))
    assert policy.status().memory == policy.history()["memory"][-1] == count


def test_knows_nothing_before_the_first_reward() -> None:
    status = AdaptiveUCB(2).status()
    assert (status.memory, status.restarts, status.evidence, status.noise) == (0.0, [], 0.0, 0.0)
    assert len(AdaptiveUCB(2).history()) == 0


def test_history_is_bounded_and_averages_all_rewards() -> None:
    policy, each = AdaptiveUCB(2), rounds(2000, 300)
    rewards = lived(policy, [[1.0, 0.0], [0.0, 1.0]], each)
    table = policy.history()
    assert len(table) <= MOST_NOTES
    step = int(table["round"][1] - table["round"][0])
    assert table["round"].to_list() == list(range(step - 1, len(table) * step, step))
    means = rewards[: len(table) * step].reshape(-1, step).mean(axis=1)
    np.testing.assert_allclose(table["reward"], means, atol=1e-12)
    assert table["restarts"][-1] == len(policy.status().restarts)
    assert {"memory", "evidence", "noise", "theta_0", "theta_1", "width_0", "width_1"} <= set(table.columns)
    assert isinstance(table, pl.DataFrame)


def test_its_history_can_be_drawn(tmp_path: Path) -> None:
    policy = AdaptiveUCB(2)
    lived(policy, [[1.0, 0.0], [0.0, 1.0]], each=rounds(1000, 400))
    figure = figures.history(policy.history())
    figures.save(figure, tmp_path, "history")
    assert [ax.get_ylabel() for ax in figure.axes] == ["reward", "rewards remembered"]
    assert (tmp_path / "history.png").stat().st_size > 10_000


@pytest.mark.parametrize("intercept", [False, True])
def test_rewards_that_are_all_nothing_at_first(intercept: bool) -> None:
    """Clicks, say: the scale of the noise shows only with the first that is not 0."""
    policy = AdaptiveUCB(2, intercept=intercept)
    rng = np.random.default_rng(0)
    for t in range(rounds(3000, 400)):
        decision = policy.select([[1.0, 0.0], [0.0, 1.0]])
        chance = 0.0 if t < 100 else 0.6 if decision.index == 1 else 0.2
        policy.update(decision, float(rng.random() < chance))
    assert 0.2 < policy.status().noise < 0.8
    assert np.isfinite(policy.status().theta).all()
    assert policy.status().theta[1] > policy.status().theta[0]


def test_bad_settings() -> None:
    for given, reason in (
        ({"width": -1.0}, "width must not be negative"),
        ({"noise": 0.0}, "noise must be greater than 0"),
        ({"noise_known": True}, "noise must be given if noise_known"),
        ({"intercept": 1}, "intercept must be true or false"),
        ({"probe": -0.1}, "probe must not be negative"),
    ):
        with pytest.raises(ValueError, match=reason):
            AdaptiveUCB(2, **given)


@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
def test_a_known_noise_stays_what_it_is_through_restarts(kind: type[AdaptiveUCB] | type[DetectUCB]) -> None:
    policy, rng = kind(2, noise=0.3, noise_known=True), np.random.default_rng(3)
    for t in range(600):
        decision = policy.select(rng.uniform(-0.7, 0.7, (6, 2)))
        theta = np.array([3.0, 0.0] if t // 100 % 2 else [-3.0, 1.0])
        policy.update(decision, float(decision.arm @ theta + 0.3 * rng.standard_normal()))
    assert policy.status().restart_count > 0
    assert policy.status().noise == 0.3


@pytest.mark.parametrize(("length", "most"), [(0.1, 100.0), (3.0, 90_000.0), (0.0, 10_000.0)])
def test_the_most_that_lambda_can_be_is_in_units_of_the_arms(length: float, most: float) -> None:
    bank = new_bank(2, False, [4], noise=0.1)  # θ̂ = 0: all is noise
    bank.x[0] = length
    bank.clock[LEARNT] = 16
    learn_penalty(bank)
    assert bank.scale[PENALTY] == pytest.approx(most)


def taught(dim: int, arms: Floats, theta: Floats) -> Bank:
    """The bank of a policy that has learnt these rewards and never restarts."""
    policy, rng = AdaptiveUCB(dim, refuted=1e9), np.random.default_rng(0)
    for t, (arm, weights) in enumerate(zip(arms, theta, strict=True)):
        policy.select(arms[:1])
        policy.learn(t, arm, float(arm @ weights) + 0.1 * rng.standard_normal())
    bank: Bank = policy.state.bank
    return bank


@pytest.mark.parametrize("early", [0, 1, 7, 40])
def test_a_fresh_start_leaves_out_what_came_before_the_change(early: int) -> None:
    """Evidence may begin to gather by chance a little before the change."""
    arms = unit_rows(np.random.default_rng(1), 212, 3)
    theta = np.where(np.arange(212)[:, None] < 200, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    bank = taught(3, arms, theta)
    longest = len(bank.keep) - 1
    start, plausible = change_since(bank, longest, 200 - early)
    assert start == 200
    assert plausible >= fit(bank, longest, 200 - early, 200 - early, first_round(bank, 200 - early))


def test_features_of_arms_that_are_played_are_seen() -> None:
    axis, dense = np.tile([1.0, 0.0, 0.0, 0.0], (300, 1)), np.full((300, 4), 0.5)
    theta = np.full((300, 4), 0.5)
    assert unseen(taught(4, axis, theta), 3) > 2.5  # of four: a change of three would not show
    assert unseen(taught(4, dense, theta), 3) < 0.2
