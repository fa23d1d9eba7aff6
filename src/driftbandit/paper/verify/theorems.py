"""Every statement of the paper, tested: the lemmas, and the theorems on runs of the algorithms themselves."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from driftbandit.paper.verify.lemmas import (
    Effort,
    algebra,
    concentration,
    drift_lemma,
    episode_rewards,
    impossibility,
    optimal_tuning,
    potentials,
    ratio_verdict,
)
from driftbandit.policies.bob import BanditOverBandit
from driftbandit.policies.restart import RestartUCB
from driftbandit.report.tables import Verdict
from driftbandit.simulate.play import play
from driftbandit.theory import bounds
from driftbandit.theory.impossibility import hard_arms
from driftbandit.worlds.arm_sources import UnitArms
from driftbandit.worlds.drift import Drift, Gradual, RandomWalk, Switching
from driftbandit.worlds.noise import Rademacher
from driftbandit.worlds.world import World


def verify(effort: Effort, tick: Callable[[], None] = lambda: None) -> list[Verdict]:
    """Every check in the paper's order; ``tick`` is called after each."""
    found: list[Verdict] = []
    with threadpool_limits(1, "blas"):  # thousands of small matrices: threads would only wait for each other
        for check in CHECKS:
            found += check(effort)
            tick()
    return found


def regret_theorems(effort: Effort) -> list[Verdict]:
    """Theorems 1 and 2 on runs of RestartUCB itself, with the δ that the proofs choose."""
    horizon, period, noise = 120, 20, 0.5
    walk, turn = RandomWalk(20, step=0.1), Gradual(angle=4 * math.pi)
    worlds: list[tuple[str, Drift, Any]] = [
        ("switching, d = 3", Switching(3, every=30), UnitArms(6)),
        ("Theorem 4's arms, two turns", turn, hard_arms(period)),
        ("random walk, d = 20", walk, UnitArms(6)),
    ]
    found = []
    for name, drift, arms in worlds:
        world = World(drift, Rademacher(noise), horizon, arms, seed=(effort.seed, 7))
        delta = 1.0 / (horizon * math.ceil(horizon / period))
        policy = RestartUCB(world.dim, period=period, noise=noise, delta=delta)
        marks = list(range(period, horizon + 1, period))
        result = play({"restart": policy}, world, replicates=effort.instances, checkpoints=marks)
        lengths = [world.path_length(replicate) for replicate in range(effort.instances)]
        epochs = np.diff(result.regret[0], prepend=0.0, axis=1)
        first = bounds.epoch_regret_bound(period, 0.0, world.dim, delta, noise=noise)
        whole = bounds.regret_bound(horizon, period, lengths, world.dim, noise=noise)
        tested = f"{effort.instances:,} runs, {name}, T = {horizon}, H = {period}"
        found += [
            ratio_verdict("Theorem 1: regret of an epoch", tested + ", bound without its drift part", epochs / first),
            ratio_verdict("Theorem 2: regret over the horizon", tested, result.regret[0, :, -1] / whole),
        ]
    return found


def parameter_free_theorem(effort: Effort) -> list[Verdict]:
    """Theorem 3: the mean regret of BanditOverBandit."""
    horizon, noise = 400, 0.5
    world = World(Switching(3, every=60), Rademacher(noise), horizon, UnitArms(6), seed=(effort.seed, 12))
    bob = BanditOverBandit(3, horizon=horizon, noise=noise)
    assert bob.pool
    assert bob.episode
    result = play({"bob": bob}, world, replicates=effort.instances, checkpoints=1)
    length = float(np.mean([world.path_length(replicate) for replicate in range(effort.instances)]))
    bound = bounds.bob_regret_bound(horizon, bob.episode, bob.pool, length, 3, noise=noise)
    tested = f"mean of {effort.instances:,} runs, switching, d = 3, T = {horizon}"
    return [
        ratio_verdict("Theorem 3: regret with bandits over bandits", tested, result.final("bob").mean(keepdims=True) / bound)
    ]


CHECKS: list[Callable[[Effort], list[Verdict]]] = [
    concentration,
    drift_lemma,
    regret_theorems,
    parameter_free_theorem,
    optimal_tuning,
    potentials,
    algebra,
    impossibility,
    episode_rewards,
]
