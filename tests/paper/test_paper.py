"""The paper's settings: the orderings of its Results paragraph, at full length, over 20 seeds."""

import math
import tomllib
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from driftbandit.cli import main
from driftbandit.core.types import Floats
from driftbandit.paper.claims import beats, cost_claims, open_claims, regret_claims
from driftbandit.paper.settings import NOISE, WORLDS, experiment
from driftbandit.studies.settings import make_policy, make_world
from driftbandit.studies.study import Study


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


def regrets(*samples: Sequence[float]) -> dict[str, Floats]:
    return {name: np.array(sample, float) for name, sample in zip("abc", samples, strict=False)}


def test_a_difference_that_may_be_chance_is_undecided() -> None:
    better = beats(regrets([100, 200], [700, 1018]), "a", "b", "a beats b")
    assert better.word == "undecided"
    assert "difference 709 ± 1,385" in better.measured
    assert beats(regrets([100, 200, 300], [701, 800, 899]), "a", "b", "").word == "holds"
    assert beats(regrets([100, 200, 300], [701, 800, 899]), "b", "a", "").word == "fails"
    assert beats(regrets([100], [700]), "a", "b", "").word == "undecided"  # one repetition says nothing of chance


def test_every_pair_must_be_decided() -> None:
    sure, unsure = [500, 601, 700], [10_000, 2000, 200]
    verdict = beats(regrets([100, 200, 300], sure, unsure), "a", "bc", "")
    assert verdict.word == "undecided"
    assert "c 4,067" in verdict.measured  # the pair that leaves it open, though its mean is the further off
    verdict = beats(regrets([600, 702, 800], sure, unsure), "a", "bc", "")
    assert verdict.word == "fails"
    assert "b 600" in verdict.measured


def test_comparable_is_a_matter_of_chance_too() -> None:
    def word(window: Sequence[float]) -> str:
        means = {"OracleRestartUCB": 1.0, "WeightUCB": 5e3, "StaticUCB": 9e3}
        samples = {name: [mean, mean + 1, mean + 3] for name, mean in means.items()}
        samples |= {"RestartUCB": [1000, 1010, 1020], "WindowUCB": list(window)}
        rows = [(name, k, value) for name, sample in samples.items() for k, value in enumerate(sample)]
        frame = pl.DataFrame(rows, schema=["policy", "replicate", "regret"], orient="row")
        return next(v for v in regret_claims(frame, frame) if "comparable" in v.statement).word

    assert word([1100, 1105, 1120]) == "holds"
    assert word([1700, 1705, 1720]) == "fails"
    assert word([600, 605, 620]) == "fails"
    assert word([1200, 1500, 1790]) == "undecided"


@pytest.mark.compiled
def test_without_the_factor_the_abrupt_order_is_the_reverse() -> None:
    final = experiment("abrupt", repetitions=10, factor=1).run().final()
    words = {verdict.statement: verdict.word for verdict in regret_claims(final, final)}
    assert words["Abrupt: RestartUCB is slightly better than WindowUCB"] == "fails"
    assert words["Abrupt: both are better than WeightUCB"] == "fails"


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


def test_the_example_is_the_papers_experiment_with_the_same_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example", "paper"]) == 0
    settings = tomllib.loads(capsys.readouterr().out)
    printed = Study.from_dict(settings)
    for name in WORLDS:
        paper = experiment(name)
        for key in ("horizon", "replicates", "seed", "checkpoints"):
            assert getattr(printed, key) == getattr(paper, key)
        assert printed.worlds[name] == paper.worlds[name]
        assert {**paper.policies, "OracleRestartUCB": {}} == {**printed.policies, "OracleRestartUCB": {}}
    short = Study.from_dict({**settings, "horizon": 250, "replicates": 2}).run()
    for name in WORLDS:
        ours = experiment(name, horizon=250, repetitions=2).run().table().filter(pl.col("policy") != "OracleRestartUCB")
        theirs = short.table().join(
            ours.select("world", "policy", "replicate", "round"), on=["world", "policy", "replicate", "round"]
        )
        assert theirs.height == ours.height
        order = ["world", "policy", "replicate", "round", "regret"]
        assert theirs.select(order).sort(order).equals(ours.select(order).sort(order))


@pytest.mark.parametrize("option", ["--dim", "--arms", "--noise", "--factor"])
def test_what_reproduce_cannot_change_points_to_the_example(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["reproduce", option, "5"])
    assert "for 5: `driftbandit example paper > FILE.toml`" in capsys.readouterr().err


def test_policies_told_nothing_are_told_nothing() -> None:
    study = experiment("abrupt", contenders=["AdaptiveUCB", "DetectUCB"])
    (variant,) = study.world_variants
    world = make_world(variant.where, variant.settings, study.seed)
    for policy in study.policy_variants:
        assert repr(make_policy(policy.where, policy.settings, world, 0)) == f"{policy.name}(dim=2)"


def test_what_the_paper_left_open_is_judged_in_both_worlds() -> None:
    means = {
        "RestartUCB": 900.0,
        "WindowUCB": 500,
        "WeightUCB": 700,
        "BanditOverBandit": 5000,
        "AdaptiveUCB": 100,
        "DetectUCB": 600,
    }
    rows = [(name, k, mean + k) for name, mean in means.items() for k in range(3)]
    frame = pl.DataFrame(rows, schema=["policy", "replicate", "regret"], orient="row")
    words = {verdict.statement: verdict.word for verdict in open_claims(frame, frame)}
    for world in ("Abrupt", "Gradual"):
        assert words[f"{world}: AdaptiveUCB is better than those told the path length"] == "holds"
        assert words[f"{world}: DetectUCB is better than those told the path length"] == "fails"
        assert words[f"{world}: both are better than BanditOverBandit"] == "holds"
