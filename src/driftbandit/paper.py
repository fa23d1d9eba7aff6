"""The paper's experiments as data: Section 5, as the project reads it where the text leaves a choice open."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from driftbandit.drift import Abrupt, Gradual
from driftbandit.noise import Gaussian
from driftbandit.play import Maker, Player
from driftbandit.policies.bob import BanditOverBandit
from driftbandit.policies.restart import OracleRestartUCB, RestartUCB, StaticUCB
from driftbandit.policies.weight import WeightUCB
from driftbandit.policies.window import WindowUCB
from driftbandit.theory.tuning import optimal_period
from driftbandit.world import UnitArms, World

HORIZON, ARMS, DIM, REPETITIONS = 50_000, 20, 2, 50
NOISE = math.sqrt(0.1)  # N(0, 0.1): variance 0.1
FACTOR = 10  # τ is ten times Theorem 2's period: the paper says so, not why


class Experiment(NamedTuple):
    world: World
    memory: int  # τ: the period, the window, and 1/(1 − γ)
    policies: Mapping[str, Player | Maker]


def experiment(
    name: str, horizon: int = HORIZON, seed: int = 0, noise: float = NOISE, factor: float = FACTOR
) -> Experiment:
    """One of the two worlds, "abrupt" or "gradual", with the policies it is played by."""
    drift = {"abrupt": Abrupt, "gradual": Gradual}[name](DIM)
    world = World(drift, Gaussian(noise), horizon, UnitArms(ARMS), seed=seed)
    memory = max(int(factor * optimal_period(DIM, horizon, world.path_length())), 2)
    policies: dict[str, Player | Maker] = {
        "RestartUCB": RestartUCB(DIM, period=memory, noise=noise, horizon=horizon),
        "WindowUCB": WindowUCB(DIM, window=memory, noise=noise, horizon=horizon),
        "WeightUCB": WeightUCB(DIM, discount=1.0 - 1.0 / memory, noise=noise, horizon=horizon),
        "StaticUCB": StaticUCB(DIM, noise=noise, horizon=horizon),
        "BanditOverBandit": BanditOverBandit(DIM, noise=noise, horizon=horizon),
    }
    if name == "abrupt":  # "in the scenario of abrupt change, we additionally compare with OracleRestartUCB"
        points = world.change_points()
        policies["OracleRestartUCB"] = OracleRestartUCB(DIM, change_points=points, noise=noise, horizon=horizon)
    return Experiment(world, memory, policies)
