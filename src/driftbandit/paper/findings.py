"""The contents of the page about the paper, computed: tables, verdicts, and runs seen from inside."""

from collections.abc import Mapping
from typing import NamedTuple, cast

import numpy as np
import polars as pl

from driftbandit.paper import inside
from driftbandit.paper.claims import open_claims
from driftbandit.paper.settings import NOISE, TUNED, UNTOLD, WORLDS
from driftbandit.paper.verify.lemmas import Effort
from driftbandit.paper.verify.theorems import verify
from driftbandit.policies.bob import BanditOverBandit
from driftbandit.policies.restart import RestartUCB
from driftbandit.report.tables import Verdict
from driftbandit.studies.settings import make_policy, make_world
from driftbandit.studies.study import Study
from driftbandit.theory import optimal_period


class Findings(NamedTuple):
    done: Mapping[str, Study]
    table: pl.DataFrame  # regret over time, in both worlds
    timing: pl.DataFrame
    factors: pl.DataFrame  # final regret by the factor in τ
    claims: list[Verdict]
    left_open: list[Verdict]  # the paper's questions, asked of policies told nothing
    untold: pl.DataFrame  # regret over time of these, and of the paper's own answers
    statements: list[Verdict]  # of the paper's mathematics
    restarts: tuple[pl.DataFrame, list[int], list[int]]  # a run of RestartUCB: its error, its restarts, the changes
    choices: tuple[pl.DataFrame, list[int]]  # a run of bandits over bandits, and its pool of periods
    memory: pl.DataFrame  # bytes by horizon
    sigma: pl.DataFrame  # Theorem 4
    promised: pl.DataFrame  # regret, and Theorem 2's bound


def find(done: Mapping[str, Study], claims: list[Verdict]) -> Findings:
    study = done["abrupt"]
    variant = study.world_variants[0]
    world = make_world(variant.where, variant.settings, study.seed)
    restart = cast(RestartUCB, make_policy("restart", {"kind": "RestartUCB", "memory": "theory", "factor": 10}, world, 0))
    bob = cast(BanditOverBandit, make_policy("bob", {"kind": "BanditOverBandit"}, world, 0))
    at_one = done["abrupt by factor"].table().filter(pl.col("policy") == "RestartUCB factor=1")
    period = optimal_period(world.dim, world.horizon, world.path_length())
    return Findings(
        done=done,
        table=pl.concat([done[name].table() for name in WORLDS], how="diagonal_relaxed"),
        timing=pl.concat([done[name].timing() for name in WORLDS]),
        factors=by_factor(done),
        claims=claims,
        left_open=open_claims(*(both_finals(done, name) for name in WORLDS)),
        untold=untold(done),
        statements=verify(Effort(instances=1000, seed=study.seed)),
        restarts=inside.restart_run(restart, world),
        choices=(inside.meta_run(bob, world), cast(list[int], bob.pool)),
        memory=inside.memory_by_horizon([10**k for k in range(3, 8)]),
        sigma=inside.sigma_by_period(int(10**k) for k in np.arange(1, 6.01, 0.25)),
        promised=inside.regret_and_bound(at_one, world, period, NOISE),
    )


def both_finals(done: Mapping[str, Study], name: str) -> pl.DataFrame:
    """The final regret in one world of all policies that played it."""
    return pl.concat([done[name].final(), done[f"{name} untold"].final()])


def untold(done: Mapping[str, Study]) -> pl.DataFrame:
    """Regret over time of the policies told nothing, and of the paper's own, whose memory is told or learnt."""
    columns = ["world", "policy", "replicate", "round", "regret"]
    played = pl.concat([done[key].table().select(columns) for name in WORLDS for key in (name, f"{name} untold")])
    return played.filter(pl.col("policy").is_in([*TUNED, "BanditOverBandit", *UNTOLD]))


def by_factor(done: Mapping[str, Study]) -> pl.DataFrame:
    """Columns world, policy, factor, replicate, regret (final)."""
    frames = []
    for name in WORLDS:
        study = done[f"{name} by factor"]
        table = study.table().filter(pl.col("round") == pl.col("round").max())
        frames.append(
            table.select(
                "world", pl.col("policy").str.split(" ").list.first(), pl.col("policy.factor").alias("factor"),
                "replicate", "regret",
            )
        )  # fmt: skip
    return pl.concat(frames)
