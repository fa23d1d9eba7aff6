"""Results of the shop: the share captured between random choice and an oracle, by decision; as a table and as files."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from driftbandit import figures
from driftbandit.core.types import Floats, Ints
from driftbandit.report.tables import Grid, as_markdown
from driftbandit.shop.keepers import KEEPERS, Progress, keep
from driftbandit.shop.storefront import SOON, TIMEOUT, Traffic, open_shop
from driftbandit.shop.visits import Shop
from driftbandit.studies.summary import write_data

POINTS = 300  # of a curve
SAMPLE = 1000  # visitors that are written


@dataclass(frozen=True)
class Plan:
    """Which policies play which shops, for how long."""

    policies: Sequence[str]
    seeds: Sequence[int]
    decisions: int
    late: bool = False

    @property
    def total(self) -> int:
        return len(self.policies) * len(self.seeds) * self.decisions

    def run(self, progress: Progress | None = None) -> "Takings":
        for name in self.policies:
            keep(KEEPERS[name].keeper(0), Shop(0, self.late), 2)  # compile first, so that it is not timed
        parts, seconds = [], dict.fromkeys(self.policies, 0.0)
        for seed in self.seeds:
            for name in self.policies:
                kept = keep(KEEPERS[name].keeper(seed), Shop(seed, self.late), self.decisions, progress)
                parts.append(account(name, seed, kept.chosen, open_shop(seed, self.decisions, self.late)))
                seconds[name] += kept.seconds
        return Takings(pl.concat(parts), seconds)

    def changes(self) -> pl.DataFrame:
        """Columns: seed, decision. Where each season but the first begins."""
        rows = [(seed, change) for seed in self.seeds for change in Shop(seed).changes(self.decisions)]
        return pl.DataFrame(rows, schema={"seed": pl.Int64, "decision": pl.Int64}, orient="row")

    def bounds(self) -> tuple[float, float]:
        """The probability of a click with random choice, and with the oracle's."""
        shops = [open_shop(seed, self.decisions, self.late).chances for seed in self.seeds]
        return float(np.mean([chances.mean() for chances in shops])), float(np.mean([c.max(axis=1).mean() for c in shops]))


class Takings(NamedTuple):
    table: pl.DataFrame  # seed, policy, decision, captured, clicks (both of them so far)
    seconds: dict[str, float]  # of the processor, by policy; apart, since the rest is the same each time


def account(name: str, seed: int, chosen: Ints, traffic: Traffic) -> pl.DataFrame:
    places = np.unique(np.linspace(1, len(chosen), POINTS).astype(np.int64))
    clicked = traffic.luck < np.take_along_axis(traffic.chances, chosen[:, None], axis=1)[:, 0]
    return pl.DataFrame({"decision": places}).select(
        pl.lit(seed).alias("seed"),
        pl.lit(name).alias("policy"),
        "decision",
        pl.Series("captured", captured(traffic, chosen)[places - 1]),
        pl.Series("clicks", np.cumsum(clicked)[places - 1]),
    )


def captured(traffic: Traffic, chosen: Ints) -> Floats:
    """(T,): the expected share so far of the clicks between random choice and an oracle."""
    by_chance = traffic.chances.mean(axis=1)
    got = np.take_along_axis(traffic.chances, chosen[:, None], axis=1)[:, 0]
    share: Floats = np.cumsum(got - by_chance) / np.cumsum(traffic.chances.max(axis=1) - by_chance)
    return share


def grid(plan: Plan, takings: Takings) -> Grid:
    """Best first, between the oracle and random choice."""
    last = takings.table.filter(pl.col("decision") == plan.decisions)
    ranked = last.group_by("policy").agg(pl.col("captured").mean()).sort("captured", descending=True)["policy"].to_list()
    chance, oracle = (f"{100 * bound:.2f}" for bound in plan.bounds())
    return Grid(
        ("policy", "told", "captured, %", "seed by seed", "clicks, %", "time per decision"),
        [
            ("an oracle", "every probability", "100", "", oracle, ""),
            *(
                (name, KEEPERS[name].told, *cells(plan, last.filter(pl.col("policy") == name), takings.seconds[name]))
                for name in ranked
            ),
            ("random choice", "nothing", "0", "", chance, ""),
        ],
        f"{plan.decisions:,} decisions, {describe(plan)}",
    )


def cells(plan: Plan, last: pl.DataFrame, seconds: float) -> list[str]:
    """The cells of one policy at the end of each shop."""
    shares, clicks = last["captured"].to_numpy(), last["clicks"].to_numpy()
    spread = f" ± {100 * shares.std(ddof=1):.1f}" if len(shares) > 1 else ""
    return [
        f"{100 * shares.mean():.1f}{spread}",
        ", ".join(f"{100 * share:.1f}" for share in shares),
        f"{100 * clicks.mean() / plan.decisions:.2f}",
        f"{1e6 * seconds / len(shares) / plan.decisions:.0f} µs",
    ]


def describe(plan: Plan) -> str:
    told = f"late: a click within {SOON} decisions, no click after {TIMEOUT}" if plan.late else "before the next decision"
    counts = ", ".join(str(1 + len(Shop(seed).changes(plan.decisions))) for seed in plan.seeds)
    return f"seeds {', '.join(map(str, plan.seeds))}, seasons in each {counts}; rewards told {told}"


def sample(plan: Plan) -> pl.DataFrame:
    """The first visitors of the first shop: their fields, and the probability that they click each banner."""
    visits = Shop(plan.seeds[0]).visits(min(SAMPLE, plan.decisions))
    return pl.DataFrame(
        [{"visit": v.number, **v.fields, **{f"chance of {name}": p for name, p in v.chances.items()}} for v in visits]
    )


def write(folder: Path, plan: Plan, takings: Takings) -> None:
    """Tables, settings, a page of Markdown, a sample of the visitors, and the figure in both themes."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {name: KEEPERS[name].told for name in plan.policies}
    write_data(folder, takings.table, {**asdict(plan), "told": told})
    sample(plan).write_csv(folder / "visitors.csv")
    (folder / "shop.md").write_text(as_markdown(grid(plan, takings)), encoding="utf-8")
    figures.save_both(lambda theme: figures.captured(takings.table, plan.changes(), theme=theme), folder, "shop")
