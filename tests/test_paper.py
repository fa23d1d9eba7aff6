"""The paper's settings: the orderings of its Results paragraph, at full length, over 20 seeds."""

import math

import pytest

from driftbandit import UnitArms, play
from driftbandit.paper import NOISE, experiment


@pytest.mark.compiled
@pytest.mark.parametrize("noise", [NOISE, 0.1], ids=["variance 0.1", "deviation 0.1"])
def test_the_stated_orderings_hold(noise: float) -> None:
    regret = {}
    for name in ("abrupt", "gradual"):
        world, memory, policies = experiment(name, noise=noise)
        assert memory == {"abrupt": 1010, "gradual": 1500}[name]
        result = play(policies, world, replicates=20, checkpoints=1)
        regret[name] = dict(zip(result.names, result.mean[:, -1], strict=True))
    abrupt, gradual = regret["abrupt"], regret["gradual"]
    order = ["OracleRestartUCB", "RestartUCB", "WindowUCB", "WeightUCB", "StaticUCB"]
    assert [abrupt[name] for name in order] == sorted(abrupt[name] for name in order)
    assert abrupt["WindowUCB"] < 1.5 * abrupt["RestartUCB"]  # "comparable performance"
    order = ["WeightUCB", "WindowUCB", "RestartUCB", "StaticUCB"]
    assert [gradual[name] for name in order] == sorted(gradual[name] for name in order)


def test_the_settings_are_the_papers() -> None:
    world, _, policies = experiment("abrupt")
    assert (world.horizon, world.dim, world.arms) == (50_000, 2, UnitArms(20))
    assert pytest.approx(math.sqrt(0.1)) == NOISE
    assert len(policies) == 6
    assert "OracleRestartUCB" not in experiment("gradual").policies
