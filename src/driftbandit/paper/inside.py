"""Real runs seen from inside: what RestartUCB and BanditOverBandit do over time, and how large their state is."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from driftbandit.policies._base.leaves import state_bytes
from driftbandit.policies.bob import CHOICE, BanditOverBandit
from driftbandit.policies.restart import RestartUCB
from driftbandit.simulate.loop import CompiledRun
from driftbandit.studies.settings import make_policy, make_world
from driftbandit.theory import regret_bound, sigma_lower_bound, sigma_max
from driftbandit.worlds.world import World


class RestartRun(NamedTuple):
    error: pl.DataFrame  # round, error: how far the estimate is from the truth
    restarts: list[int]
    changes: list[int]


def restart_run(policy: RestartUCB, world: World, points: int = 1000) -> RestartRun:
    """Play one replicate, looking at the estimate ``points`` times."""
    run = CompiledRun(policy.spawn(0), world)
    rows = []
    for block in world.deal(0, max(world.horizon // points, 1)):
        if block.start == 0:
            run.meet(block)
        run.play(block)
        error = float(np.linalg.norm(run.policy.estimate().theta - block.theta[-1]))
        rows.append({"round": block.start + len(block.noise), "error": error})
    assert policy.period is not None
    return RestartRun(pl.DataFrame(rows), list(range(0, world.horizon, policy.period)), world.change_points())


def meta_run(policy: BanditOverBandit, world: World) -> pl.DataFrame:
    """Play one replicate, one episode at a time: the probabilities, the choice, and the reward the meta-learner received."""
    assert policy.episode
    assert policy.pool
    run = CompiledRun(policy.spawn(0), world)
    rows = []
    for episode, block in enumerate(world.deal(0, policy.episode)):
        if block.start == 0:
            run.meet(block)
        run.play(block)
        state = run.policy.state
        choice = int(state.clock[CHOICE])
        rows.append(
            {
                "episode": episode,
                "start": block.start,
                "stop": block.start + len(block.noise),
                "choice": choice,
                "memory": policy.pool[choice],
                "chance": state.meta.chance.tolist(),
                "reward": min(max(0.5 + float(state.total[0]) / (2 * state.bound), 0.0), 1.0),
            }
        )
    return pl.DataFrame(rows)


def sigma_by_period(periods: Iterable[int]) -> pl.DataFrame:
    """Theorem 4: σ_max as the period grows, its lower bound, and the constant that earlier proofs claim. Name, x, y."""
    rows = []
    for period in periods:
        rows.append({"name": "σ_max", "x": period, "y": sigma_max(period)})
        rows.append({"name": "Theorem 4: 0.0564√H", "x": period, "y": sigma_lower_bound(period)})
        rows.append({"name": "claimed by earlier proofs: 1", "x": period, "y": 1.0})
    return pl.DataFrame(rows)


def regret_and_bound(table: pl.DataFrame, world: World, period: int, noise: float) -> pl.DataFrame:
    """Mean regret of RestartUCB (``table``: round, regret), Theorem 2's bound at each round, and the worst case."""
    steps = np.concatenate([[0.0], *world.steps(0)]).cumsum()
    rows = []
    for rounds, regret in table.group_by("round").agg(pl.col("regret").mean()).sort("round").iter_rows():
        bound = float(regret_bound(rounds, min(period, rounds), steps[rounds - 1], world.dim, noise=noise))
        rows.append({"name": "measured", "x": rounds, "y": regret})
        rows.append({"name": "Theorem 2's bound", "x": rounds, "y": bound})
        rows.append({"name": "the most any policy can lose", "x": rounds, "y": 2.0 * rounds})
    return pl.DataFrame(rows)


def memory_by_horizon(horizons: Iterable[int], factor: float = 10) -> pl.DataFrame:
    """Bytes of each policy's state in the gradual world, as the horizon grows; memory is ``factor`` times the theory's."""
    rows = []
    for horizon in horizons:
        world = make_world("memory", {"drift": "gradual", "noise": 0.3, "horizon": horizon}, seed=0)
        for kind in ("RestartUCB", "WindowUCB", "WeightUCB", "StaticUCB"):
            table = {"memory": "theory", "factor": factor} if kind != "StaticUCB" else {}
            state = make_policy(kind, table, world, None).state
            rows.append({"policy": kind, "horizon": horizon, "bytes": state_bytes(state)})
    return pl.DataFrame(rows)
