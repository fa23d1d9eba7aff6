"""The paper in one command: play, tabulate, judge the claims, draw, and write one folder."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from driftbandit import figures
from driftbandit.figures.look import DARK, LIGHT, Theme
from driftbandit.paper import inside
from driftbandit.paper.claims import cost_claims, regret_claims
from driftbandit.paper.settings import NOISE, WORLDS, experiment
from driftbandit.paper.verify.lemmas import Effort
from driftbandit.paper.verify.theorems import verify
from driftbandit.policies.bob import BanditOverBandit
from driftbandit.policies.restart import RestartUCB
from driftbandit.report.page import Plate, Section, write_page
from driftbandit.report.tables import Verdict
from driftbandit.studies.settings import make_policy, make_world
from driftbandit.studies.study import Study
from driftbandit.studies.summary import summaries, versions, write_data
from driftbandit.theory import optimal_period

FACTORS = [0.3, 1, 2, 5, 10, 20, 50]
TUNED = ("RestartUCB", "WindowUCB", "WeightUCB")

Draw = Callable[[Theme], Any]


def studies(horizon: int, repetitions: int, seed: int) -> dict[str, Study]:
    """The two experiments, and the two again over the factor in τ, with fewer repetitions."""
    fewer = min(repetitions, 10)
    return {name: experiment(name, horizon, repetitions, seed) for name in WORLDS} | {
        f"{name} by factor": experiment(name, horizon, fewer, seed, factor=FACTORS, contenders=TUNED) for name in WORLDS
    }


def judge(done: Mapping[str, Study]) -> list[Verdict]:
    abrupt, gradual = done["abrupt"], done["gradual"]
    return regret_claims(abrupt.final(), gradual.final()) + cost_claims(abrupt.timing())


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


def write_folder(folder: Path, done: Mapping[str, Study], verdicts: list[Verdict]) -> None:
    """The page, each figure as PNG and SVG, the table as Parquet and CSV, settings and versions as JSON."""
    table = pl.concat([done[name].table() for name in WORLDS], how="diagonal_relaxed")
    sections = page_sections(done, table, verdicts)
    for section in sections:
        for plate in section.plates:
            figures.save(plate.light, folder, plate.name)
    write_data(folder, table, {"studies": {name: study.settings() for name, study in done.items()}})
    pl.concat([done[name].timing() for name in WORLDS]).write_csv(folder / "timing.csv")
    footer = ", ".join(f"{name} {number}" for name, number in versions().items())
    lead = (
        "Every policy of “A Simple Approach for Non-stationary Linear Bandits” in the paper's two worlds, "
        "all against the same arms and the same noise, and each claim of its Results section beside what was measured."
    )
    write_page(folder / "index.html", "Non-stationary linear bandits, reproduced", lead, sections, footer)


def plate(name: str, caption: str, draw: Draw) -> Plate:
    return Plate(name, caption, draw(LIGHT), draw(DARK))


def page_sections(done: Mapping[str, Study], table: pl.DataFrame, verdicts: list[Verdict]) -> list[Section]:
    timing = pl.concat([done[name].timing() for name in WORLDS])
    study = done["abrupt"]
    variant = study.world_variants[0]
    world = make_world(variant.where, variant.settings, study.seed)
    restart = cast(RestartUCB, make_policy("restart", {"kind": "RestartUCB", "memory": "theory", "factor": 10}, world, 0))
    bob = cast(BanditOverBandit, make_policy("bob", {"kind": "BanditOverBandit"}, world, 0))
    error, restarts, changes = inside.restart_run(restart, world)
    choices, pool = inside.meta_run(bob, world), cast(list[int], bob.pool)
    memory = inside.memory_by_horizon([10**k for k in range(3, 8)])
    factors = by_factor(done)
    sigma = inside.sigma_by_period(int(10**k) for k in np.arange(1, 6.01, 0.25))
    at_one = done["abrupt by factor"].table().filter(pl.col("policy") == "RestartUCB factor=1")
    period = optimal_period(world.dim, world.horizon, world.path_length())
    promised = inside.regret_and_bound(at_one, world, period, NOISE)
    return [
        Section(
            "Regret over time",
            plates=[
                plate(
                    "regret",
                    "Dynamic regret, mean and one standard deviation, on a logarithmic scale. Every policy meets the same "
                    "rounds, so differences between lines are due to the policies alone.",
                    lambda theme: figures.regret_over_time(table, theme=theme),
                )
            ],
            grids=[grid for name in WORLDS for grid in summaries(done[name])],
        ),
        Section("The paper's claims", CLAIMS_TEXT, verdicts=verdicts),
        Section(
            "The factor in τ",
            FACTOR_TEXT,
            plates=[
                plate(
                    "factor",
                    "Final regret against the factor by which the memory exceeds Theorem 2's. The paper's experiments use "
                    "10; the order of RestartUCB and WindowUCB in the abrupt world depends on it.",
                    lambda theme: figures.regret_by_factor(factors, theme=theme),
                )
            ],
        ),
        Section(
            "Running time",
            plates=[
                plate(
                    "time",
                    "Processor time a round inside the compiled loop, mean and one standard deviation over repetitions. "
                    "WeightUCB keeps two covariance matrices and solves afresh each round.",
                    lambda theme: figures.running_time(timing, theme=theme),
                )
            ],
        ),
        Section(
            "Memory",
            plates=[
                plate(
                    "memory",
                    "Size of each policy's state as the horizon grows, on the gradual world. WindowUCB stores its window, "
                    "which the theory makes longer with T; the others are constant.",
                    lambda theme: figures.memory_growth(memory, theme=theme),
                )
            ],
        ),
        Section(
            "What forgetting looks like",
            plates=[
                plate(
                    "restarts",
                    "One run of RestartUCB in the abrupt world: how far its estimate is from the truth. Each epoch starts "
                    "from nothing, so a change costs at most the rest of an epoch.",
                    lambda theme: figures.restarts(error, restarts, changes, theme=theme),
                ),
                plate(
                    "choices",
                    "One run of bandits over bandits: the meta-learner's probability of each period, its choice in each "
                    "episode, and the reward it was told. With so few episodes it has hardly begun to learn at the end.",
                    lambda theme: figures.meta_choices(choices, pool, theme=theme),
                ),
            ],
        ),
        Section(
            "The mathematics, run",
            THEORY_TEXT,
            verdicts=verify(Effort(instances=1000, seed=study.seed)),
            plates=[
                plate(
                    "sigma",
                    "Theorem 4: the quantity that earlier proofs bound by 1, on the theorem's own features, grows with the "
                    "square root of the period. So the lemma they rest on is false.",
                    lambda theme: figures.labelled_lines(sigma, "period H", "largest singular value", theme=theme),
                ),
                plate(
                    "bound",
                    "RestartUCB with Theorem 2's period in the abrupt world, and what the theorem promises at each round. The "
                    "bound is true; where it lies above the most that any policy can lose, it says nothing.",
                    lambda theme: figures.labelled_lines(promised, "round", "dynamic regret", theme=theme),
                ),
            ],
        ),
        Section("How the paper was read", READING_TEXT),
    ]


CLAIMS_TEXT = [
    "Each statement of the Results paragraph, what was measured, and whether it holds here. Differences are paired over "
    "repetitions, with a 95 % confidence interval: where it holds zero, the claim is undecided. A claim that fails is shown "
    "as failing.",
    "RestartUCB with bandits over bandits, which the paper describes but does not plot, is shown beside the others. Its "
    "pool of periods ends at 304 for T = 50,000 and starts at 1, so it can neither reach the memory that the experiments "
    "use nor avoid trying periods too short to learn anything.",
]
THEORY_TEXT = [
    "Each numbered statement against exact algebra or simulation that tries to break it; `driftbandit verify` runs ten times "
    "as many instances. Four statements are false and shown failing: two claims of earlier work, one lemma outside the "
    "condition that its proof needs, and one line of a proof whose lemma stands.",
]
FACTOR_TEXT = [
    "The experiments set τ to ten times what the theory suggests. The figure shows what other factors would have given.",
]
READING_TEXT = [
    f"Arms: one fixed set of 20, drawn from a normal distribution and scaled to unit length. Noise N(0, 0.1) is read as "
    f"variance 0.1 (standard deviation {NOISE:.3f}). λ = S = L = 1, R is the noise's standard deviation, δ = 1/T.",
    "The abrupt world changes at T/8, 2T/8, 3T/8 and 4T/8. An epoch plays all its H rounds from an empty estimate; the "
    "printed loop plays one fewer, after an arbitrary first arm. V in the selection rule is V of the round before.",
    "WeightUCB keeps both V and Ṽ as its authors' analysis needs; their released code builds Ṽ from V.",
    "Exp3's rate and the scaling of an episode's reward, which the paper does not state, are those of Auer et al. (2002) and "
    "of the bound of Lemma 7.",
]
