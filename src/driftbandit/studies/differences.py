"""Differences between policies, paired by replicate: all policies meet the same rounds, so much of the chance cancels."""

import numpy as np
import polars as pl
from scipy import stats

from driftbandit.core.types import Floats
from driftbandit.studies.settings import SettingsError, hint

PAIRED_BY = ["world", "horizon", "replicate"]


def interval(differences: Floats) -> tuple[float, float]:
    """The mean and the half-width of its 95 % interval; infinite for a single difference."""
    count = len(differences)
    if count < 2:
        return float(differences.mean()), np.inf
    return float(differences.mean()), float(stats.t.ppf(0.975, count - 1) * differences.std(ddof=1) / np.sqrt(count))


def differences(final: pl.DataFrame, policy: str) -> pl.DataFrame:
    """Each other policy's final regret less that of ``policy``; ``final`` is what ``Study.final`` gives.

    One row per world, horizon and policy: the mean ``difference``, the ``half_width`` of its 95 % interval (infinite with
    one replicate), and the ``ratio`` of the mean regrets (null if that of ``policy`` is 0).
    """
    names = final["policy"].unique(maintain_order=True).to_list()
    if policy not in names:
        raise SettingsError(f"unknown policy {policy!r}; {hint(policy, names, 0.4)}")
    base = final.filter(pl.col("policy") == policy).select(*PAIRED_BY, base="regret")
    pairs = final.filter(pl.col("policy") != policy).join(base, on=PAIRED_BY, maintain_order="left")
    rows = []
    for (world, horizon, name), group in pairs.group_by("world", "horizon", "policy", maintain_order=True):
        mean, half = interval((group["regret"] - group["base"]).to_numpy())
        whole = float(group["base"].sum())
        ratio = float(group["regret"].sum()) / whole if whole else None
        rows.append((world, horizon, name, mean, half, ratio))
    numbers = dict.fromkeys(("difference", "half_width", "ratio"), pl.Float64)
    return pl.DataFrame(rows, {"world": pl.String, "horizon": pl.Int64, "policy": pl.String, **numbers}, orient="row")
