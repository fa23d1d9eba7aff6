"""How regret grows with the horizon: fitted exponents, to be compared with the theory's 2/3 and 3/4."""

import numpy as np
import polars as pl

RESAMPLES = 2000


def fit_exponents(final: pl.DataFrame, from_horizon: int = 0, seed: int = 0) -> pl.DataFrame:
    """The slope of log mean regret against log T for each world and policy, with a 95 % bootstrap interval.

    ``final``: columns world, policy, replicate, horizon, regret. Replicates are resampled within each horizon.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for (world, policy), group in final.filter(pl.col("horizon") >= from_horizon).group_by(
        "world", "policy", maintain_order=True
    ):
        wide = group.pivot(on="horizon", index="replicate", values="regret").drop("replicate")
        horizons, regret = np.array([float(name) for name in wide.columns]), wide.to_numpy()
        x = np.log(horizons) - np.log(horizons).mean()
        # The same x for every resample, so a slope is one dot product.
        draws = rng.integers(0, len(regret), (RESAMPLES, len(regret), len(horizons)))
        means = np.take_along_axis(regret[None], draws, axis=1).mean(axis=1)
        slopes = np.log(np.vstack([regret.mean(axis=0), means])) @ x / (x @ x)
        low, high = np.quantile(slopes[1:], [0.025, 0.975])
        rows.append({"world": world, "policy": policy, "exponent": float(slopes[0]), "low": float(low), "high": float(high)})
    return pl.DataFrame(rows)
