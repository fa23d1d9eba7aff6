"""What a shadow would have done, told: how often it agrees, and what its own choices would have gained, where that is known."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from driftbandit.core.extras import needed_for
from driftbandit.live.fold.records import Decided

if TYPE_CHECKING:
    import polars as pl

ENOUGH = 30  # outcomes of its own choices, below which nothing is said of their gain


class Would(NamedTuple):
    """What the shadow would have done at one decision."""

    record: Decided
    chosen: int  # the number of what it would have done
    action: str | None


class Gain(NamedTuple):
    """What its choices would have earned more than the policy's own, per decision, with a 95 % interval."""

    decisions: int  # whose chance and outcome are known
    differ: int  # of these: where it would have chosen otherwise
    drawn: int  # of these: where exploration happened to play its choice, which is all that is known of them
    mean: float | None  # None if ``drawn`` is too few
    low: float | None
    high: float | None


class Shadowed(NamedTuple):
    """What another policy would have done."""

    experiment: str
    policy: str  # as the call that makes it
    decisions: int
    agreed: int  # with what was done
    agreed_with_policy: int  # with what the policy in charge chose: another, where it explored or a baseline was given
    outcomes: int  # decisions of which a reward, or the default, was learnt
    actions: "pl.DataFrame"  # by action: how often it was taken, would have been, and both; what it earned
    gain: Gain | None  # None where no chances are known: without ``explore``
    choices: "pl.DataFrame"  # one row per decision


def summary(experiment: str, policy: str, would: dict[int, Would], learnt: dict[int, float]) -> Shadowed:
    """``would`` and ``learnt``, the reward, go by the number of the decision's record."""
    choices = table(would, learnt)
    return Shadowed(
        experiment=experiment,
        policy=policy,
        decisions=choices.height,
        agreed=int(choices["agreed"].sum()),
        agreed_with_policy=int((choices["shadow"] == choices["chosen"]).sum()),
        outcomes=choices.height - choices["reward"].null_count(),
        actions=by_action(choices),
        gain=gain(choices),
        choices=choices,
    )


def table(would: dict[int, Would], learnt: dict[int, float]) -> "pl.DataFrame":
    with needed_for("driftbandit.live shadow"):
        import polars as pl
    kinds = {
        "record": pl.Int64,
        "at": pl.Float64,
        "id": pl.String,
        "index": pl.Int64,  # what was played …
        "action": pl.String,
        "chance": pl.Float64,  # … with this chance, where that is known
        "chosen": pl.Int64,  # by the policy in charge
        "shadow": pl.Int64,  # what the shadow would have played
        "shadow_action": pl.String,
        "agreed": pl.Boolean,  # with what was played
        "reward": pl.Float64,  # as learnt, null if nothing was
    }
    rows = []
    for number, (record, index, action) in would.items():
        played = record.id, record.index, record.action, record.chance, record.chosen
        rows.append((number, record.at, *played, index, action, index == record.index, learnt.get(number)))
    return pl.DataFrame(rows, kinds, orient="row")


def by_action(choices: "pl.DataFrame") -> "pl.DataFrame":
    """The most often taken first."""
    import polars as pl

    def named(action: str, index: str) -> "pl.Expr":
        return pl.coalesce(pl.col(action), pl.lit("arm ") + pl.col(index).cast(pl.String)).alias("action")

    agreed = pl.col("agreed")
    taken = choices.group_by(named("action", "index")).agg(
        taken=pl.len(),
        agreed=agreed.sum(),
        outcomes=pl.col("reward").count(),
        mean=pl.col("reward").mean(),
        mean_agreed=pl.col("reward").filter(agreed).mean(),
        mean_differed=pl.col("reward").filter(~agreed).mean(),
    )
    would = choices.group_by(named("shadow_action", "shadow")).agg(would=pl.len())
    both = taken.join(would, on="action", how="full", coalesce=True)
    counts = pl.col("taken", "would", "agreed", "outcomes").fill_null(0)
    columns = ("action", "taken", "would", "agreed", "outcomes", "mean", "mean_agreed", "mean_differed")
    return both.with_columns(counts).select(columns).sort("taken", "would", "action", descending=[True, True, False])


def gain(choices: "pl.DataFrame") -> Gain | None:
    """By inverse propensity: the mean of (1[the shadow's] − 1[the policy's])/chance · (reward − c).

    c, the mean of the rewards of earlier decisions, changes nothing on average, and makes the interval narrower.
    """
    import polars as pl

    known = choices.filter(pl.col("chance").is_not_null() & pl.col("reward").is_not_null())
    count = known.height
    if count < 2:
        return None
    index, shadow, chosen, chance, reward = (
        known[name].to_numpy() for name in ("index", "shadow", "chosen", "chance", "reward")
    )
    differ, drawn = shadow != chosen, (shadow != chosen) & (index == shadow)
    if differ.any() and drawn.sum() < ENOUGH:
        return Gain(count, int(differ.sum()), int(drawn.sum()), None, None, None)
    before = (np.cumsum(reward) - reward) / np.maximum(np.arange(count), 1)
    terms = ((index == shadow) * 1.0 - (index == chosen)) / chance * (reward - before)
    mean, error = float(terms.mean()), float(terms.std(ddof=1)) / math.sqrt(count)
    return Gain(count, int(differ.sum()), int(drawn.sum()), mean, mean - 1.96 * error, mean + 1.96 * error)
