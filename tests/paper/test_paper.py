"""The paper's settings: the orderings of its Results paragraph, at full length, over 20 seeds."""

import math

import polars as pl
import pytest

from driftbandit.paper.claims import cost_claims, regret_claims
from driftbandit.paper.settings import NOISE, experiment
from driftbandit.studies.settings import make_policy, make_world


@pytest.mark.compiled
@pytest.mark.parametrize("noise", [NOISE, 0.1], ids=["variance 0.1", "deviation 0.1"])
def test_the_stated_orderings_hold(noise: float) -> None:
    abrupt, gradual = (experiment(world, repetitions=20, noise=noise).run() for world in ("abrupt", "gradual"))
    for verdict in regret_claims(abrupt.final(), gradual.final()):
        assert verdict.holds, verdict
    memory = cost_claims(abrupt.timing())[-1]
    assert memory.holds, memory


def test_claims_look_at_every_contender() -> None:
    def frame(**means: float) -> pl.DataFrame:
        return pl.DataFrame([{"policy": p, "replicate": r, "regret": m + r} for p, m in means.items() for r in range(3)])

    abrupt = frame(OracleRestartUCB=500, RestartUCB=900, WindowUCB=100, WeightUCB=200, StaticUCB=300)
    gradual = frame(RestartUCB=50, WindowUCB=200, WeightUCB=100, StaticUCB=900)
    holds = {verdict.statement: verdict.holds for verdict in regret_claims(abrupt, gradual)}
    for false in (
        "Abrupt: OracleRestartUCB is the best",
        "Abrupt: both are better than WeightUCB",
        "Abrupt: StaticUCB ranks last",
    ):
        assert holds[false] is False
    assert holds["Gradual: WeightUCB ranks first"] is False


@pytest.mark.compiled
def test_without_the_factor_the_abrupt_order_is_the_reverse() -> None:
    final = experiment("abrupt", repetitions=10, factor=1).run().final()
    verdict = next(v for v in regret_claims(final, final) if "slightly better" in v.statement)
    assert not verdict.holds


def test_the_settings_are_the_papers() -> None:
    assert pytest.approx(math.sqrt(0.1)) == NOISE
    for name, memory in (("abrupt", 1010), ("gradual", 1500)):
        study = experiment(name)
        (variant,) = study.world_variants
        world = make_world(variant.where, variant.settings, study.seed)
        assert (world.horizon, world.dim, study.replicates) == (50_000, 2, 50)
        restart = next(v for v in study.policy_variants if v.name == "RestartUCB")
        assert make_policy(restart.where, restart.settings, world, 0).state.clock[2] == memory
        assert len(study.policy_variants) == (6 if name == "abrupt" else 5)
