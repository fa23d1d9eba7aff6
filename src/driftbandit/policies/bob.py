"""Bandits over bandits (Section 3.3): each episode plays a memory that a meta-learner picks from a pool."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core import validate
from driftbandit.core.ridge import Ridge
from driftbandit.core.types import Floats, Ints
from driftbandit.policies import restart, window
from driftbandit.policies._base.confident import ConfidentPolicy
from driftbandit.policies._base.meta import Meta, check_meta, draw, exp3, exp3_ix, reward
from driftbandit.policies._base.sound import check_range, check_rewards, demand
from driftbandit.policies._base.verbs import begin, learn, retune
from driftbandit.theory.tuning import episode_length, episode_reward_bound, period_pool

BASES: dict[str, Callable[[ConfidentPolicy, int], Any]] = {"restart": restart.new_state, "window": window.new_state}
METAS = {"exp3": exp3, "exp3ix": exp3_ix}
START, CHOICE, EPISODE = 0, 1, 2


class BobState(NamedTuple):
    ridge: Ridge  # the base's own
    base: Any  # RestartState or WindowState
    meta: Meta
    pool: Ints  # (K,)
    bound: float  # Q, the bound on an episode's reward sum
    clock: Ints  # (3,): first round of this episode, the choice from the pool in it, Δ
    total: Floats  # (1,): Σ, the rewards of this episode so far


@begin.of(BobState)
def _begin(state: BobState, t: int, luck: Floats) -> float:
    clock = state.clock
    if t == 0 or t >= clock[START] + clock[EPISODE]:
        if t > 0:
            y = 0.5 + state.total[0] / (2.0 * state.bound)
            reward(state.meta, clock[CHOICE], min(max(y, 0.0), 1.0))
        clock[START] = t
        clock[CHOICE] = draw(state.meta, luck[2])
        state.total[0] = 0.0
        retune(state.base, t, state.pool[clock[CHOICE]])
    beta: float = begin(state.base, t, luck)
    return beta


@learn.of(BobState)
def _learn(state: BobState, s: int, x: Floats, r: float) -> None:
    if s >= state.clock[START]:
        state.total[0] += r
        learn(state.base, s, x, r)


@dataclass(repr=False, eq=False, kw_only=True)
class BanditOverBandit(ConfidentPolicy):
    """Forget as often as a bandit over memories finds best. Needs ``horizon`` (T), not the path length.

    Episodes of ``episode`` rounds (Δ = ⌈d√T⌉); in each a fresh ``base`` ("restart" or "window") plays a memory from
    ``pool`` (eq. 14), and its reward sum Σ is passed to ``meta`` ("exp3" or "exp3ix") as ½ + Σ/2Q, clipped to [0, 1].
    A reward that arrives after its episode is over is dropped.
    """

    base: str = "restart"
    meta: str = "exp3"
    pool: Sequence[int] | None = None
    episode: int | None = None

    pen = 5

    def _new_state(self) -> BobState:
        if self.horizon is None:
            raise ValueError("horizon must be given: the episodes' length and the meta-learner's rate follow from it")
        validate.choice("base", self.base, BASES)
        validate.choice("meta", self.meta, METAS)
        episode = episode_length(self.dim, self.horizon) if self.episode is None else self.episode
        self.episode = min(validate.whole("episode", episode), self.horizon)
        if self.pool is None:
            self.pool = period_pool(self.dim, self.horizon, self.theta_norm, self.episode)
        self.pool = [validate.whole("pool", memory) for memory in list(self.pool)]
        if not self.pool:
            raise ValueError("pool must not be empty: list memories in rounds, or leave it out")
        base = BASES[self.base](self, max(self.pool))
        plays = math.ceil(self.horizon / self.episode)
        bound = float(episode_reward_bound(self.horizon, self.episode, self.theta_norm, self.arm_norm, self.noise))
        return BobState(
            base.ridge, base, METAS[self.meta](len(self.pool), plays), np.array(self.pool, np.int64), bound,
            np.array([0, 0, self.episode], np.int64), np.zeros(1),
        )  # fmt: skip

    def _with_ridge(self, state: Any, ridge: Ridge) -> Any:
        return state._replace(ridge=ridge, base=state.base._replace(ridge=ridge))

    def _check_state(self) -> None:
        state, clock = self.state, self.state.clock
        assert self.episode is not None
        demand(state.pool.tolist() == self.pool, f"the pool must be {self.pool}, got {state.pool.tolist()}")
        demand(clock[EPISODE] == self.episode, f"the episode must be {self.episode}, got {clock[EPISODE]}")
        check_range("the first round of this episode", clock[START], max(self.rounds - self.episode, 0), self.rounds)
        check_range("the choice from the pool", clock[CHOICE], 0, len(state.pool) - 1)
        check_rewards("the mean reward of this episode", state.total / self.episode)
        begun = state.meta.chance.any()
        demand(begun or not self.rounds, "nothing was ever drawn from the pool")
        check_meta(state.meta, int(clock[CHOICE]))
        memory = self.memory if begun else max(state.pool)
        check = window.check_state if isinstance(state.base, window.WindowState) else restart.check_state
        check(state.base, self.rounds, self.arm_norm, int(memory))

    @property
    def memory(self) -> int:
        """The memory that this episode plays."""
        return int(self.state.pool[self.state.clock[CHOICE]])
