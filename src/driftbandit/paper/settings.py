"""The paper's experiments as data: Section 5, as the project reads it where the text leaves a choice open."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftbandit.studies.study import Study

HORIZON, ARMS, DIM, REPETITIONS = 50_000, 20, 2, 50
NOISE = math.sqrt(0.1)  # N(0, 0.1): variance 0.1
FACTOR = 10  # τ is ten times Theorem 2's period: the paper says so, not why
WORLDS = ("abrupt", "gradual")
TUNED = ("RestartUCB", "WindowUCB", "WeightUCB")  # told the path length
UNTOLD = ("AdaptiveUCB", "DetectUCB")  # told dim alone; not in the paper


def experiment(
    world: str,
    horizon: int = HORIZON,
    repetitions: int = REPETITIONS,
    seed: int = 0,
    noise: float = NOISE,
    factor: float | Sequence[float] = FACTOR,
    contenders: Sequence[str] = (*TUNED, "StaticUCB", "BanditOverBandit"),
) -> "Study":
    """One of the two worlds and the policies that play it; a list of factors makes a grid."""
    from driftbandit.studies.study import Study  # here, so that the numbers above can be had without the extra lab

    told_memory = {"memory": "theory", "factor": list(factor) if isinstance(factor, Sequence) else factor}
    tables: dict[str, dict[str, Any]] = dict.fromkeys(TUNED, told_memory) | {name: {"told": False} for name in UNTOLD}
    policies = {name: tables.get(name, {}) for name in contenders}
    if world == "abrupt" and "StaticUCB" in contenders:
        policies["OracleRestartUCB"] = {}  # "in the scenario of abrupt change, we additionally compare with …"
    return Study(
        name=f"paper-{world}",
        worlds={world: {"drift": world, "dim": DIM, "arms": ARMS, "noise": noise}},
        policies=policies,
        horizon=horizon,
        replicates=repetitions,
        seed=seed,
        checkpoints=min(200, horizon),
    )
