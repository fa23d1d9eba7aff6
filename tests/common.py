"""What several test files share."""

import os
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from driftbandit import (
    AdaptiveUCB,
    BanditOverBandit,
    CusumUCB,
    DetectionAugmentedUCB,
    DetectUCB,
    DiscountedTS,
    LightWeightUCB,
    Master,
    OracleRestartUCB,
    Policy,
    RestartUCB,
    StaticUCB,
    WeightUCB,
    WindowUCB,
)
from driftbandit.core.compile import COMPILED
from driftbandit.core.types import Floats

SOAK = "DRIFTBANDIT_SOAK" in os.environ  # `make soak`: in full
LONG = pytest.mark.skipif(COMPILED and not SOAK, reason="takes long to compile or to play: `make soak` runs it")


def rounds(compiled: int, plain: int) -> int:
    """So many rounds with the compiler, fewer without."""
    return compiled if COMPILED else plain


def every_policy(dim: int, scale: int = 100, seed: int = 0, fixed: bool = False) -> dict[str, Policy]:
    """One of each kind, with memories of about ``scale`` rounds; with ``fixed``, those for fixed arms only as well."""
    horizon = 20 * scale
    pool = [max(scale // 8, 1), scale // 3, scale]
    return {
        "restart": RestartUCB(dim, period=scale, noise=0.3, seed=seed),
        "static": StaticUCB(dim, noise=0.3, seed=seed),
        "oracle": OracleRestartUCB(dim, change_points=[scale // 2, 3 * scale], noise=0.3, seed=seed),
        "window": WindowUCB(dim, window=scale, noise=0.3, ridge=2.0, seed=seed),
        "weight": WeightUCB(dim, discount=1 - 1 / scale, noise=0.3, width=0.5, seed=seed),
        "light-weight": LightWeightUCB(dim, discount=1 - 1 / scale, noise=0.3, width=0.5, seed=seed),
        "cusum": CusumUCB(dim, horizon=horizon, noise=0.3, seed=seed),
        "discounted-ts": DiscountedTS(dim, discount=1 - 1 / scale, noise=0.3, seed=seed),
        "master": Master(dim, horizon=horizon, noise=0.3, slack=3e-4, seed=seed),
        "adaptive": AdaptiveUCB(dim, seed=seed),
        "adaptive-intercept": AdaptiveUCB(dim, intercept=True, probe=1.0, seed=seed),
        "detect": DetectUCB(dim, seed=seed),
        "bob": BanditOverBandit(dim, horizon=horizon, episode=2 * scale, pool=pool, noise=0.3, seed=seed),
        "bob-window": BanditOverBandit(
            dim,
            horizon=horizon,
            episode=2 * scale,
            pool=pool,
            noise=0.3,
            seed=seed,
            base="window",
            meta="exp3ix",
        ),
        **({"augmented": DetectionAugmentedUCB(dim, horizon=horizon, noise=0.3, seed=seed)} if fixed else {}),
    }


KINDS = list(every_policy(2))
FIXED_KINDS = list(every_policy(2, fixed=True))


def unit_rows(rng: np.random.Generator, n: int, dim: int) -> Floats:
    rows = rng.standard_normal((n, dim))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def cells_in(ledger: Path) -> int:
    """How many cells a ledger holds, whenever the process that writes it was killed."""
    if not ledger.exists():
        return 0
    with sqlite3.connect(ledger) as base:
        try:
            return int(base.execute("SELECT COUNT(*) FROM cells").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # killed before the table was made
