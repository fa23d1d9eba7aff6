"""A constant that all rewards have in common and that no feature carries."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from common import unit_rows
from driftbandit import AdaptiveUCB, Ball, Constant, DetectUCB, Gaussian, Policy, Switching, UnitArms, World, play
from driftbandit.core.random import Chance
from driftbandit.core.types import Floats

T = 8000


@dataclass(frozen=True)
class Offset(Gaussian):
    """Noise with a mean: a constant in every reward."""

    offset: float = 0.0

    def deal(self, horizon: int, chance: Chance) -> Iterator[Floats]:
        return (page + self.offset for page in super().deal(horizon, chance))


def finals(policy: Policy, world: World, replicates: int = 4) -> Floats:
    regret: Floats = play(policy, world, replicates=replicates, checkpoints=1).regret[0, :, -1]
    return regret


@pytest.mark.compiled
@pytest.mark.parametrize("arms", [UnitArms(20), UnitArms(20, fresh=True), Ball()], ids=["fixed", "fresh", "ball"])
def test_an_offset_costs_nothing_and_the_intercept_little(arms: Any) -> None:
    plain, offset = (World(Switching(5, every=1000), Offset(0.3, c), T, arms) for c in (0.0, 100.0))
    with_intercept = finals(AdaptiveUCB(5, intercept=True), offset).mean()
    if not isinstance(arms, Ball):  # there the least rounding grows until runs differ
        assert with_intercept == pytest.approx(finals(AdaptiveUCB(5, intercept=True), plain).mean(), rel=1e-3)
    assert with_intercept < 1.5 * finals(AdaptiveUCB(5), plain).mean()
    assert finals(AdaptiveUCB(5), offset).mean() > 1.5 * with_intercept  # so it is needed


@pytest.mark.compiled
@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
@pytest.mark.parametrize("dim", [2, 5])
def test_no_run_stays_with_a_poor_arm(dim: int, kind: type[AdaptiveUCB]) -> None:
    """Widths have to say what is known of an arm with its constant: that of the arm played cannot all be the constant's."""
    world = World(Constant(dim), Gaussian(0.3), T, UnitArms(10))
    assert finals(kind(dim, intercept=True), world, 20).max() < 3.0 * finals(kind(dim), world, 20).max()


@pytest.mark.compiled
@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
def test_runs_find_the_best_arm_after_a_change_without_noise(kind: type[AdaptiveUCB]) -> None:
    """A fresh start clings to what it is told of the constant: that must not be what the last arm played had earned."""
    world = World(Switching(5, every=2000), Gaussian(0.001), 20_000, UnitArms(20), seed=1)
    assert finals(kind(5, intercept=True), world, 20).mean() < 2.5 * finals(kind(5), world, 20).mean()


@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
def test_arms_are_appraised_with_the_constant(kind: type[AdaptiveUCB]) -> None:
    """Estimates are rewards less the first one; widths, that an arm in the middle of those played is known best."""
    rng, policy, theta = np.random.default_rng(0), kind(3, intercept=True), np.array([0.5, -0.3, 0.2])
    first: float | None = None
    for _ in range(300):
        decision = policy.select(unit_rows(rng, 6, 3) + 2.0)
        reward = 40.0 + float(decision.arm @ theta)
        first = reward if first is None else first
        policy.update(decision, reward)
    assert first is not None
    estimates, widths = policy.appraise([[2.0, 2.0, 2.0], [-2.0, -2.0, -2.0], [9.0, 2.0, 2.0]])
    truth = 40.0 + np.array([0.8, -0.8, 4.3]) - first
    np.testing.assert_allclose(estimates, truth, atol=0.1)
    assert widths[0] < widths[1:].min()
    assert policy.theta().shape == policy.status().theta.shape == (3,)
    assert policy.estimate().metric.shape == (3, 3)
