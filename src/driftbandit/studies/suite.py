"""The suite: contenders compared with hindsight, world by world, in two stages to save time.

First every policy that is tuned in hindsight plays a few replicates; then those that may still be the best of their class,
and every contender, play all replicates. Finished work is in the ledger, so nothing is played twice.
"""

import fnmatch
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from importlib.resources import files
from operator import add
from pathlib import Path
from typing import Any

import polars as pl

from driftbandit import figures
from driftbandit.core.arms import FixedArms
from driftbandit.policies._base.entry import SLACK as SLACK_IN_LENGTH
from driftbandit.policies._base.policy import Policy
from driftbandit.report.tables import as_markdown
from driftbandit.simulate.play import play
from driftbandit.studies.hindsight import by_world, ratios, summaries
from driftbandit.studies.settings import MEMORY, SettingsError, hint, make_policy, make_world
from driftbandit.studies.study import Study, run_together
from driftbandit.studies.summary import write_data
from driftbandit.studies.tasks import Variant
from driftbandit.worlds.arm_sources import ArmSource
from driftbandit.worlds.world import World

SCOUTS = 5  # replicates of the first stage
SLACK = 1.5  # a variant this many times worse than the best of its class in the first stage is dropped
JUDGED = 30  # replicates of a judgement

Stage = Callable[[str, int], Callable[[int], None]]  # (its name, its rounds) → what is called with rounds just finished


def load(
    file: str | Path | None = None,
    *,
    judge: bool = False,
    replicates: int | None = None,
    worlds: str = "*",
    policies: Sequence[str] | None = None,
    ablation: bool = False,
) -> Study:
    """The study in a file, or the one shipped: only worlds that match the pattern, only contenders that are named.

    With ``ablation`` the contenders are AdaptiveUCB and versions of it that each lack one part.

    ``judge``: play ``judge_seed`` instead of ``seed``, with 30 replicates unless ``replicates`` is given.
    """
    study = Study.from_file(str(files("driftbandit") / "examples" / "suite.toml") if file is None else file)
    if ablation:
        hindsight = {policy.name for policy in study.policy_variants if role(policy) != "contender"}
        kept = {name: table for name, table in study.policies.items() if name in hindsight}
        parts = tomllib.loads((files("driftbandit") / "examples" / "ablation.toml").read_text(encoding="utf-8"))
        study = replace(study, policies={**kept, **parts["policies"]})
    if judge and study.judge_seed is None:
        raise SettingsError("[study] must have a key 'judge_seed' to be judged: add one, or leave out --judge")
    if not any(role(policy) == "tuned" for policy in study.policy_variants):
        raise SettingsError(f"[policies] must have one with a list of memories and width 1: add one of {', '.join(MEMORY)}")
    contenders = list(dict.fromkeys(policy.name for policy in study.policy_variants if role(policy) == "contender"))
    for name in policies or ():
        if name not in contenders:
            raise SettingsError(f"[policies] has no contender {name!r}; {hint(name, contenders, 0.4)}")
    chosen = fnmatch.filter(study.worlds, worlds)
    if not chosen:
        raise SettingsError(f"no world matches {worlds!r}; {hint(worlds.strip('*'), study.worlds, 0.4)}")
    left_out = set() if policies is None else set(contenders) - set(policies)
    return replace(
        study,
        worlds={name: study.worlds[name] for name in chosen},
        policies={name: table for name, table in study.policies.items() if name not in left_out},
        seed=study.judge_seed if judge and study.judge_seed is not None else study.seed,
        replicates=replicates or (JUDGED if judge else study.replicates),
    )


def role(policy: Variant) -> str:
    """The role of a policy in ``ratios``: forgetters with a list of memories, and the oracle, belong to hindsight."""
    kind, hindsight = policy.settings["kind"], "memory" in policy.vary and policy.settings["kind"] in MEMORY
    if not hindsight and kind != "OracleRestartUCB":
        return "contender"
    if policy.settings.get("width", 1) != 1:
        return "wide"
    return "tuned" if hindsight else "oracle"


def run(
    study: Study,
    folder: str | Path,
    *,
    engine: str = "threads",
    workers: int | None = None,
    address: str | None = None,
    stage: Stage = lambda name, rounds: lambda finished: None,
) -> pl.DataFrame:
    """Play both stages into the folder's ledger, and return the ratios."""

    def play_all(name: str, studies: list[Study]) -> None:
        cost = reduce(add, (one.cost for one in studies))
        progress = stage(f"{name} ({cost.briefly_on(workers)})", cost.rounds)
        run_together(studies, folder, engine=engine, workers=workers, address=address, progress=progress)

    worlds, few = study.world_variants, min(SCOUTS, study.replicates)
    hindsight = [policy for policy in study.policy_variants if role(policy) != "contender"]
    scouts = [in_world(study, world, hindsight, few) for world in worlds]
    play_all("hindsight, a few replicates of all", scouts)
    full = [
        in_world(study, world, worth_playing(hindsight, scout.final()) + contenders(study, world), study.replicates)
        for world, scout in zip(worlds, scouts, strict=True)
    ]
    play_all("contenders and the best of hindsight", full)
    return ratios(pl.concat([finals(world, one, study) for world, one in zip(worlds, full, strict=True)]))


def in_world(study: Study, world: Variant, policies: Sequence[Variant], replicates: int) -> Study:
    """The same study with one world and these policies: the same cells, so finished ones are found."""
    return replace(
        study,
        worlds={world.label: world.settings},
        policies={policy.label: policy.settings for policy in policies},
        replicates=replicates,
    )


def worth_playing(hindsight: Sequence[Variant], final: pl.DataFrame) -> list[Variant]:
    """The variants that may be the best at width 1 or at any width, and the oracle."""
    mean = dict(final.group_by("policy").agg(pl.col("regret").mean()).iter_rows())
    tuned = min(mean[policy.label] for policy in hindsight if role(policy) == "tuned")
    limit = {"tuned": SLACK * tuned, "wide": 0.0, "oracle": float("inf")}
    best = SLACK * min(mean.values())
    return [policy for policy in hindsight if mean[policy.label] <= max(limit[role(policy)], best)]


def contenders(study: Study, world: Variant) -> list[Variant]:
    """The contenders that can play this world: each tries one round, so that errors appear now."""
    made, able = make_world(world.where, world.settings, study.seed), []
    for policy in study.policy_variants:
        if role(policy) != "contender":
            continue
        player = make_policy(policy.where, policy.settings, made, None)
        if can_play(player, made):
            try:
                play(player, replace(made, horizon=1), checkpoints=1, threads=1)
            except Exception as error:
                what = f"{type(error).__name__}: {error}"
                raise SettingsError(f"[{policy.where}] {policy.label} fails in the world {world.label!r}: {what}") from error
            able.append(policy)
    return able


def can_play(player: Any, world: World) -> bool:
    """Whether the policy accepts the world's arms: fixed if it needs that, and no longer than ``arm_norm``."""
    fixed = isinstance(world.arms, FixedArms) or (isinstance(world.arms, ArmSource) and not world.arms.fresh)
    if getattr(player, "fixed_only", False) and not fixed:
        return False
    return not isinstance(player, Policy) or world.longest <= player.arm_norm * SLACK_IN_LENGTH


def finals(world: Variant, played: Study, study: Study) -> pl.DataFrame:
    roles = {policy.label: role(policy) for policy in study.policy_variants}
    return played.final().select(
        pl.lit(world.settings.get("group", "worlds")).alias("group"),
        pl.lit(world.label).alias("world"),
        "policy",
        pl.col("policy").replace_strict(roles).alias("role"),
        "replicate",
        "regret",
    )


def write(folder: Path, table: pl.DataFrame, study: Study) -> None:
    """Table, settings, a page of Markdown, and the figure in both themes."""
    folder.mkdir(parents=True, exist_ok=True)
    write_data(folder, table, {"study": study.settings(), "scouts": SCOUTS, "slack": SLACK})
    grids = [*summaries(table), by_world(table)]
    (folder / "suite.md").write_text("\n".join(map(as_markdown, grids)), encoding="utf-8")
    figures.save_both(lambda theme: figures.suite(table, theme=theme), folder, "suite")
