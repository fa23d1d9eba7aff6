"""The real tables: every contender compared with the best choice in hindsight of policy, memory and width.

Hindsight is computed in two stages to save time: every combination plays once, then the best of each kind all replicates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from driftbandit import figures
from driftbandit.core import validate
from driftbandit.replay.files import write as write_study
from driftbandit.replay.gains import FIXED, RANDOM, Gains, interval
from driftbandit.replay.real import TABLES
from driftbandit.replay.study import LogStudy, Stage
from driftbandit.replay.tasks import Bounded, Known
from driftbandit.report.tables import Grid, as_markdown
from driftbandit.studies.picked import check_contenders, matching
from driftbandit.studies.settings import MEMORY, SettingsError, check_keys, named, read_toml
from driftbandit.studies.summary import write_data
from driftbandit.studies.tasks import Variant, expand

CHIEF = "AdaptiveUCB"
HINDSIGHT = ("StaticUCB", *MEMORY)  # kinds that are tuned in hindsight
KEPT = 3  # combinations of each that play all replicates


@dataclass(frozen=True)
class RealSuite:
    """Which tables, which policies, and how often each plays."""

    tables: Sequence[str]
    policies: Mapping[str, Mapping[str, Any]]
    replicates: int
    seed: int = 0


def load(
    file: str | Path | None = None,
    *,
    tables: str = "*",
    policies: Sequence[str] | None = None,
    replicates: int | None = None,
) -> RealSuite:
    """The suite in a file, or the one shipped: only tables that match the patterns, only contenders that are named."""
    path = Path(str(files("driftbandit") / "examples" / "real.toml") if file is None else file)
    settings = read_toml(path)
    check_keys("suite", settings, ["replicates", "policies"], required=["policies"])
    found = {name: dict(table) for name, table in settings["policies"].items()}
    contenders = [name for name, table in found.items() if table.get("kind", name) not in HINDSIGHT]
    if len(contenders) == len(found):
        raise SettingsError(f"[policies] must have one to tune in hindsight: add one of {', '.join(HINDSIGHT)}")
    check_contenders(policies or (), contenders, found)
    chosen = matching(tables, TABLES, "real table")
    left_out = set() if policies is None else set(contenders) - set(policies)
    count = named("suite", validate.whole, {"name": "replicates", "value": replicates or settings.get("replicates", 1)})
    return RealSuite(chosen, {name: table for name, table in found.items() if name not in left_out}, count)


def run(
    suite: RealSuite,
    folder: Path,
    *,
    stage: Stage = lambda name, rounds: lambda finished: None,
    **engine: Any,
) -> pl.DataFrame:
    """Play every table into the folder's ledger, write a page for each into a folder of its own, and return the comparison.

    ``engine``: where to run, as in ``LogStudy.run``.
    """
    parts = []
    for name in suite.tables:
        study = play_table(suite, name, folder, stage, **engine)
        write_study(folder / name, study)
        parts.append(compared(name, study))
    return pl.concat(parts)


def play_table(suite: RealSuite, name: str, folder: Path, stage: Stage, **engine: Any) -> LogStudy:
    """Both stages; the study of the second is compared with the best in hindsight."""
    table = TABLES[name]
    replay = table.replay()
    policies = {policy.label: policy for policy in expand("policies", suite.policies)}
    account = {"unit": table.unit, "scale": table.scale, "together": table.together, "replicates": 1}
    about = {"name": name, "about": table.about, "account": account, "policies": suite.policies}
    hindsight = {label: policy for label, policy in policies.items() if is_tuned(policy)}
    known = Known(replay.dim, replay.rounds, Bounded(table.noise))
    scouts = LogStudy(about, replay, hindsight, table.block, known, suite.seed)
    scouts.run(folder, progress=stage(f"{name}: hindsight", scouts.rounds), **engine)
    kept = worth_playing(scouts.gains(), hindsight)
    left = {label: policy for label, policy in policies.items() if label in kept or label not in hindsight}
    full = {**about, "account": {**account, "replicates": suite.replicates}}
    study = replace(scouts, settings=full, policies=left)
    study.run(folder, progress=stage(f"{name}: all that is left", study.rounds), **engine)
    return held_against(study)


def kind(policy: Variant) -> str:
    return str(policy.settings["kind"])


def is_tuned(policy: Variant) -> bool:
    return kind(policy) in HINDSIGHT


def worth_playing(gains: Gains, hindsight: Mapping[str, Variant]) -> set[str]:
    """The best few of each kind."""
    mean = dict(zip(gains.names, gains.rewards.sum(axis=1).tolist(), strict=True))
    kept: set[str] = set()
    for one in HINDSIGHT:
        labels = [label for label, policy in hindsight.items() if kind(policy) == one]
        kept |= set(sorted(labels, key=lambda label: -mean[label])[:KEPT])
    return kept


def held_against(study: LogStudy) -> LogStudy:
    """The study with the best in hindsight as the one to beat, and the best of each kind drawn with the contenders."""
    best = best_of_kind(study)
    contenders = [label for label, policy in study.policies.items() if not is_tuned(policy)]
    in_order = [label for label in study.policies if label in best]
    account = {**study.settings["account"], "against": best[0], "draw": [FIXED, *contenders, *in_order]}
    return replace(study, settings={**study.settings, "account": account})


def best_of_kind(study: LogStudy) -> list[str]:
    """The best combination of each kind tuned in hindsight, best first."""
    best: dict[str, str] = {}
    gains = study.gains()
    for place in np.argsort(-gains.rewards.sum(axis=1), kind="stable"):
        label = gains.names[place]
        if label in study.policies and is_tuned(study.policies[label]):
            best.setdefault(kind(study.policies[label]), label)
    return list(best.values())


def compared(name: str, study: LogStudy) -> pl.DataFrame:
    """One row per contender, and per kind tuned in hindsight: the gain over chance, and over the best in hindsight.

    Columns: table, unit, policy, hindsight, gain, low, high, best, difference, least, most, verdict.
    """
    rows, gains = [], study.gains()
    chance, other = gains.over(RANDOM), gains.over(study.against)
    for label in study.drawn[1:]:
        k = gains.names.index(label)
        mean, low, high, difference, least, most = (float(end[k]) for end in (*chance, *other))
        verdict = "ahead" if least > 0 else "behind" if most < 0 else "level"
        tuned = is_tuned(study.policies[label])
        rows.append((name, study.unit, label, tuned, mean, low, high, study.against, difference, least, most, verdict))
    columns = ("table", "unit", "policy", "hindsight", "gain", "low", "high", "best", "difference", "least", "most", "verdict")
    return pl.DataFrame(rows, schema=columns, orient="row")


def summaries(table: pl.DataFrame) -> list[Grid]:
    """AdaptiveUCB, or else the first contender, table by table; and every contender's share of what hindsight gains."""
    contenders = table.filter(~pl.col("hindsight"))["policy"].unique(maintain_order=True).to_list()
    return [*(by_table(table, name) for name in contenders if name == CHIEF), shares(table)]


def by_table(table: pl.DataFrame, policy: str) -> Grid:
    rows = []
    for row in table.filter(policy=policy).iter_rows(named=True):
        best = table.filter(table=row["table"], policy=row["best"])["gain"].item()
        ends = interval([np.array([row[key]]) for key in ("difference", "least", "most")], 0)
        name = f"{row['table']} ({row['unit']})"
        rows.append((name, f"{row['gain']:.2f}", f"{best:.2f}", row["best"], ends, row["verdict"]))
    headings = ("table", policy, "best in hindsight", "which", "difference (95 %)", "verdict")
    return Grid(headings, rows, f"{policy} compared with the best in hindsight: gains over choosing at random")


def shares(table: pl.DataFrame) -> Grid:
    best = pl.col("gain").filter(pl.col("policy") == pl.col("best")).first().over("table")
    name = pl.when("hindsight").then(pl.col("policy").str.extract(r"^(\S+)") + " (hindsight)").otherwise("policy")
    share = table.with_columns(name.alias("name"), share=100 * pl.col("gain") / best)
    wide = share.pivot(on="table", index="name", values="share", maintain_order=True, sort_columns=False)
    rows = [(row[0], *("–" if one is None else f"{one:.0f}".replace("-", "−") for one in row[1:])) for row in wide.iter_rows()]
    return Grid(wide.columns, rows, "% of what the best in hindsight gains over choosing at random")


def write(folder: Path, table: pl.DataFrame, suite: RealSuite) -> None:
    """The summary as data and as a page, and the figure in both themes."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"tables": {name: TABLES[name].about for name in suite.tables}, "policies": suite.policies, "seed": suite.seed}
    write_data(folder, table, {**about, "replicates": suite.replicates})
    (folder / "real.md").write_text("\n".join(map(as_markdown, summaries(table))), encoding="utf-8")
    figures.save_both(lambda theme: figures.real(table, theme=theme), folder, "real")
