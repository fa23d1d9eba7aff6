"""The paper in one command: play, tabulate, judge the claims, draw, and write one folder."""

from collections.abc import Mapping
from pathlib import Path

from driftbandit import figures
from driftbandit.paper.claims import cost_claims, regret_claims
from driftbandit.paper.findings import find
from driftbandit.paper.sections import SECTIONS
from driftbandit.paper.settings import TUNED, UNTOLD, WORLDS, experiment
from driftbandit.report.page import write_page
from driftbandit.report.tables import Verdict
from driftbandit.studies.study import Study
from driftbandit.studies.summary import versions, write_data

FACTORS = [0.3, 1, 2, 5, 10, 20, 50]


def studies(horizon: int, repetitions: int, seed: int) -> dict[str, Study]:
    """The two experiments, again with policies told nothing, and again over the factor in τ, with fewer repetitions."""
    fewer = min(repetitions, 10)
    return (
        {name: experiment(name, horizon, repetitions, seed) for name in WORLDS}
        | {f"{name} untold": experiment(name, horizon, repetitions, seed, contenders=UNTOLD) for name in WORLDS}
        | {f"{name} by factor": experiment(name, horizon, fewer, seed, factor=FACTORS, contenders=TUNED) for name in WORLDS}
    )


def judge(done: Mapping[str, Study]) -> list[Verdict]:
    abrupt, gradual = done["abrupt"], done["gradual"]
    return regret_claims(abrupt.final(), gradual.final()) + cost_claims(abrupt.timing())


def write_folder(folder: Path, done: Mapping[str, Study], verdicts: list[Verdict]) -> None:
    """The page, each figure as PNG and SVG, the table as Parquet and CSV, settings and versions as JSON."""
    found = find(done, verdicts)
    sections = [section(found) for section in SECTIONS]
    for section in sections:
        for plate in section.plates:
            figures.save(plate.light, folder, plate.name)
    write_data(folder, found.table, {"studies": {name: study.settings() for name, study in done.items()}}, found.timing)
    footer = ", ".join(f"{name} {number}" for name, number in versions().items())
    study = done["abrupt"]
    lead = (
        "Every policy of “A Simple Approach for Non-stationary Linear Bandits” (https://arxiv.org/abs/2103.05324) in the "
        "paper's two worlds, all with the same arms and the same noise, and each claim of its Results section compared with "
        f"what was measured. Made by `driftbandit reproduce --horizon {study.horizon} --repetitions {study.replicates} "
        f"--seed {study.seed}`."
    )
    write_page(folder / "index.html", "Non-stationary linear bandits, reproduced", lead, sections, footer)
