"""How a study looks in a notebook: what it will play or, once it has run, the regret of each policy in each world."""

from typing import TYPE_CHECKING

from driftbandit.core.shown import sparkline, spread, table

if TYPE_CHECKING:
    from driftbandit.studies.study import Study


def as_html(study: "Study") -> str:
    size = f"{study.replicates:,} replicates, {study.rounds():,} rounds"
    return plan(study, size) if study._ledger is None else outcome(study, size)


def plan(study: "Study", size: str) -> str:
    rows = [("world", world.label) for world in study.world_variants]
    rows += [("policy", policy.label) for policy in study.policy_variants]
    return table(f"{study.name}: {size}, not run yet", (), rows)


def outcome(study: "Study", size: str) -> str:
    """Within each world, best first."""
    headings = ("world", "policy", "final regret, mean ± std", "mean regret over time")
    curves = {}
    for (world, policy), group in study.table().group_by("world", "policy", maintain_order=True):
        curves[world, policy] = group.pivot(on="round", index="replicate", values="regret").drop("replicate").to_numpy()
    worlds = [world.label for world in study.world_variants]
    order = sorted(curves, key=lambda key: (worlds.index(str(key[0])), curves[key][:, -1].mean()))
    rows = [(*key, spread(curves[key][:, -1]), sparkline(curves[key].mean(axis=0))) for key in order]
    return table(f"{study.name}: {size}", headings, rows)
