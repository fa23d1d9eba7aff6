"""Rewards as they are outside the laboratory: of any law, late, dependent. What AdaptiveUCB and DetectUCB make of them."""

import math
import warnings
from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pytest

from common import LONG, rounds, unit_rows
from driftbandit import (
    AdaptiveUCB,
    AssumptionWarning,
    BaseRate,
    Clicks,
    Constant,
    DetectUCB,
    DisjointArms,
    FixedArms,
    FixedDelay,
    Gaussian,
    GeometricDelay,
    NoiseArray,
    Path,
    StaticUCB,
    Switching,
    Timeout,
    World,
    play,
)
from driftbandit.core.types import Floats
from driftbandit.policies._evidence.policy import EvidencePolicy
from driftbandit.simulate.loop import start_run

KINDS = [AdaptiveUCB, DetectUCB]
Draw = Callable[[np.random.Generator, int], Floats]


def outliers(rng: np.random.Generator, n: int) -> Floats:
    """One in a hundred is twenty times the size."""
    return rng.standard_normal(n) * np.where(rng.random(n) < 0.01, 20.0, 1.0)


def by_turns(rng: np.random.Generator, n: int) -> Floats:
    return rng.standard_normal(n) * np.where(np.arange(n) // 500 % 2, 0.2, 1.0)


def counts(rng: np.random.Generator, n: int) -> Floats:
    """Four in five are 0."""
    return np.where(rng.random(n) < 0.2, rng.poisson(2.0, n), 0).astype(float)


def clicks(rate: float) -> Draw:
    return lambda rng, n: (rng.random(n) < rate).astype(float)


LAWS: dict[str, tuple[Draw, float]] = {  # how to draw rewards, and their true standard deviation
    "gaussian": (lambda rng, n: rng.standard_normal(n), 1.0),
    "student-t": (lambda rng, n: rng.standard_t(3, n), math.sqrt(3.0)),
    "uniform": (lambda rng, n: rng.uniform(-1.0, 1.0, n), math.sqrt(1 / 3)),
    "rademacher": (lambda rng, n: 2.0 * rng.integers(0, 2, n) - 1.0, 1.0),
    "outliers": (outliers, math.sqrt(0.99 + 0.01 * 400)),
    "by turns": (by_turns, math.sqrt(0.52)),
    "counts": (counts, math.sqrt(0.2 * 6.0 - 0.4**2)),
    **{f"clicks {rate}": (clicks(rate), math.sqrt(rate * (1 - rate))) for rate in (0.01, 0.05, 0.2, 0.5)},
}


def calm_arms(rng: np.random.Generator, dim: int, n: int) -> Floats:
    """Arms with a constant first feature."""
    rest = unit_rows(rng, n, dim - 1) if dim > 1 else np.empty((n, 0))
    return math.sqrt(0.5) * np.column_stack([np.ones(n), rest])


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("law", LAWS)
def test_the_noise_is_learnt_whatever_its_law(law: str, kind: type[EvidencePolicy]) -> None:
    """Within a factor of 1.5 after 2,000 rewards, in nine runs of ten."""
    draw, true = LAWS[law]
    near = 0
    for seed in range(10):
        rng = np.random.default_rng([seed, 1])
        policy, arms = kind(3, seed=seed), FixedArms(calm_arms(rng, 3, 6))
        for reward in draw(rng, 2000):
            policy.update(policy.select(arms), float(reward))
        near += true / 1.5 < policy.status().noise < 1.5 * true
    assert near >= 9


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", [0.001, 0.003])
def test_with_a_handful_of_clicks_the_noise_is_what_they_say(rate: float, kind: type[EvidencePolicy]) -> None:
    """Of 2,000 rewards about two or six are clicks: the rate cannot be known, but the noise of those seen can be told."""
    for seed in range(10):
        rng = np.random.default_rng([seed, 1])
        policy, arms, rewards = kind(3, seed=seed), FixedArms(calm_arms(rng, 3, 6)), clicks(rate)(rng, 2000)
        for reward in rewards:
            policy.update(policy.select(arms), float(reward))
        status = policy.status()
        if rewards.any():
            assert rewards.std() / 1.5 < status.noise < 1.5 * rewards.std()
        else:
            assert np.isinf(status.widths).all()


def after(policy: EvidencePolicy, world: World) -> EvidencePolicy:
    """The policy at the end of the world's first replicate."""
    run = start_run(policy, world, 0)
    for block in world.deal():
        if block.start == 0:
            run.meet(block)
        run.play(block)
    return run.policy  # type: ignore[union-attr, return-value]


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dim", "n"), [(3, 6), pytest.param(10, 20, marks=LONG), (30, 6)])
@pytest.mark.parametrize("law", [*LAWS, "clicks 0.001", "clicks 0.003"])
def test_calm_is_not_taken_for_change(law: str, dim: int, n: int, kind: type[EvidencePolicy]) -> None:
    horizon, rng = 20_000, np.random.default_rng([dim, 2])
    arms, theta = calm_arms(rng, dim, n), rng.standard_normal(dim)
    rate = float(law.split()[1]) if law.startswith("clicks") else 0.0
    theta *= 0.8 * math.sqrt(2.0) * (rate or 1.0) / math.sqrt(theta[1:] @ theta[1:])
    theta[0] = rate * math.sqrt(2.0)
    noise = Clicks() if rate else NoiseArray(LAWS[law][0](rng, horizon))
    world = World(Path(np.tile(theta, (horizon, 1))), noise, horizon, FixedArms(arms))
    assert after(kind(dim), world).status().restart_count <= 5


def final(policy: EvidencePolicy | StaticUCB, world: World, replicates: int = 4) -> float:
    return float(play(policy, world, replicates=replicates, checkpoints=1).mean[0, -1])


def shop(switching: bool, delay: Timeout | None = None) -> World:
    drift = Switching(24, every=8000) if switching else Constant(24)
    return World(BaseRate(drift, rate=0.05, features=4), Clicks(), 20_000, DisjointArms(6, 4), delay or FixedDelay())


@pytest.mark.compiled
@pytest.mark.parametrize("switching", [False, True])
def test_told_nothing_far_better_with_clicks_than_the_theory_told_all(switching: bool) -> None:
    world = shop(switching)
    assert final(AdaptiveUCB(24), world) < 0.8 * final(StaticUCB(24, noise=0.5, theta_norm=0.3), world)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
def test_clicks_at_once_and_zeros_after_a_timeout_are_no_change(kind: type[EvidencePolicy]) -> None:
    late = after(kind(24), shop(False, Timeout(200)))
    assert late.status().holds_rewards
    assert late.status().restart_count <= 5
    assert not after(kind(24), shop(False)).status().holds_rewards
    late_regret = final(kind(24), shop(False, Timeout(200)), replicates=16)
    assert late_regret < 1.5 * final(kind(24), shop(False), replicates=16)


@pytest.mark.compiled
def test_rewards_of_a_world_that_is_over_are_dropped() -> None:
    """A third of the delays reach across the change; learnt, they would spoil what is learnt since."""
    prompt = World(Switching(5, every=2000), Gaussian(0.1), 20_000)
    late = World(Switching(5, every=2000), Gaussian(0.1), 20_000, delay=GeometricDelay(50.0, 1000))
    assert final(AdaptiveUCB(5), late, 8) < final(AdaptiveUCB(5), prompt, 8) + 10 * 2.0 * 50  # ten changes, each heard of late


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
def test_bad_days_shared_by_all_arms_do_not_cost_what_was_learnt(kind: type[EvidencePolicy]) -> None:
    """The level of all rewards changes every 100 rounds: evidence of change, but no arm gains on another."""
    rng, horizon, theta = np.random.default_rng(3), 20_000, np.array([0.5, 0.6, -0.3, 0.2, 0.1])
    level = 2.0 * np.repeat(rng.standard_normal(horizon // 100), 100)
    arms = calm_arms(rng, 5, 10)
    noise = NoiseArray(level + rng.standard_normal(horizon))
    world = World(Path(np.tile(theta, (horizon, 1))), noise, horizon, FixedArms(arms))
    policy = after(kind(5), world)
    assert policy.status().restart_count > 20
    assert policy.status().trust < 0.6
    by_chance = horizon * float((arms @ theta).max() - (arms @ theta).mean())
    assert final(kind(5), world) < 0.2 * by_chance


def test_says_that_it_knows_nothing_yet() -> None:
    policy = AdaptiveUCB(2)
    assert np.isinf(policy.status().widths).all()
    for _ in range(50):
        policy.update(policy.select(np.eye(2)), 0.0)
    assert np.isinf(policy.status().widths).all()
    policy.update(policy.select(np.eye(2)), 1.0)
    assert np.isfinite(policy.status().widths).all()


def test_warns_once_of_rewards_that_never_vary() -> None:
    policy = AdaptiveUCB(2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(12_000):
            policy.update(policy.select(np.eye(2)), 0.0)
    assert [warning.category for warning in caught] == [AssumptionWarning]
    assert "all 10240 rewards so far were 0, so there is nothing to learn" in str(caught[0].message)


def test_help_explains_every_parameter() -> None:
    for kind in KINDS:
        for field in fields(kind):  # type: ignore[arg-type]
            assert f"{field.name}: " in (kind.__doc__ or "")


@pytest.mark.parametrize("late", [False, True])
def test_restarts_are_told_in_order(late: bool) -> None:
    policy, rng = AdaptiveUCB(2), np.random.default_rng(0)
    waiting = []
    for t in range(rounds(3000, 600)):
        decision = policy.select(np.eye(2))
        waiting.append((decision, float(decision.arm @ [1.0, -1.0] * (-1) ** (t // 150) + 0.1 * rng.standard_normal())))
        while len(waiting) > (int(rng.integers(0, 30)) if late else 0):
            policy.update(*waiting.pop(int(rng.integers(len(waiting)))))
    status = policy.status()
    assert status.restarts == sorted(status.restarts)
    assert status.restart_count == len(status.restarts) >= 2
