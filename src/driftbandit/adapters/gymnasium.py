"""Our worlds as Gymnasium environments: ``gymnasium.make("driftbandit.adapters.gymnasium:driftbandit/World-v0", world=…)``."""

from itertools import islice
from typing import Any, cast

import numpy as np

from driftbandit.core import validate
from driftbandit.core.arms import Dealt, FixedArms, Kept
from driftbandit.core.extras import needed_for
from driftbandit.core.random import PAGE
from driftbandit.core.types import Floats
from driftbandit.paper.settings import ARMS, DIM, HORIZON, NOISE
from driftbandit.worlds.arm_sources import ArmSource, UnitArms
from driftbandit.worlds.drift import Abrupt, Gradual
from driftbandit.worlds.noise import Gaussian
from driftbandit.worlds.reward import draw_reward, mean_reward
from driftbandit.worlds.world import World

with needed_for(__name__):
    import gymnasium

PAPER = {"driftbandit/Abrupt-v0": Abrupt, "driftbandit/Gradual-v0": Gradual}


class WorldEnv(gymnasium.Env[Floats, np.int64]):
    """A world with finitely many arms; one replicate per episode.

    The observation holds the round's arms, one per row; the action is the number of one of them. After the last round the
    episode terminates and shows the last arms again. ``info``: the ``regret`` of the round. ``reset`` draws the replicate
    from the environment's generator, or takes ``options={"replicate": k}`` for the rounds that ``play`` deals as replicate k.
    """

    def __init__(self, world: World) -> None:
        if not isinstance(world.arms, ArmSource | FixedArms):
            raise ValueError(f"world must have finitely many arms, to be chosen by number, got {world.arms!r}")
        if world.delay.longest:
            raise ValueError(f"world must not delay rewards, since a step returns its own, got {world.delay!r}")
        self.world = world
        count = world.arms.count if isinstance(world.arms, ArmSource) else len(world.arms)
        self.action_space = gymnasium.spaces.Discrete(count)
        bound = world.longest * (1 + 1e-9)  # an arm of unit length may exceed it in the last digit
        self.observation_space = gymnasium.spaces.Box(-bound, bound, (count, world.dim), np.float64)
        self._round = world.horizon

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        super().reset(seed=seed)
        if options and "replicate" in options:
            self._replicate = validate.whole("replicate", options["replicate"], least=0)
        else:
            self._replicate = int(self.np_random.integers(2**32))
        self._round = 0
        self._deal()
        return self._arms.copy(), {}

    def step(self, action: np.int64) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        if self._round == self.world.horizon:
            raise ValueError("no episode is running: call reset before the first step, and again after the last")
        if not self.action_space.contains(action):
            raise ValueError(f"action must be the number of an arm, in {self.action_space}, got {action!r}")
        expected, i = 0.0, self._round - self._block.start
        for x, theta in zip(self._arms[action], self._block.theta[i], strict=True):  # in the order of ``play``
            expected += float(x) * float(theta)
        mean = mean_reward(self._block.form, expected)
        reward = draw_reward(self._block.form, mean, float(self._block.noise[i]))
        regret = float(self._block.best[i]) - mean
        self._round += 1
        over = self._round == self.world.horizon
        if not over:
            self._show()
        return self._arms.copy(), reward, over, False, {"regret": regret}

    def _deal(self) -> None:
        """Deal from the current block on."""
        self._blocks = islice(self.world.deal(self._replicate), self._round // PAGE, None)
        self._block = next(self._blocks)
        self._show()

    def _show(self) -> None:
        """The arms of the current round."""
        i = self._round - self._block.start
        if i == len(self._block.noise):
            self._block, i = next(self._blocks), 0
        arms = cast(Kept | Dealt, self._block.arms)
        columns = arms.columns[i] if isinstance(arms, Dealt) else arms.columns
        self._arms = np.ascontiguousarray(columns.T)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_blocks"}  # a generator cannot be copied

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._round < self.world.horizon:
            self._deal()


def paper_world(drift: str, horizon: int = HORIZON, seed: int = 0) -> WorldEnv:
    """One of the paper's two worlds."""
    return WorldEnv(World(PAPER[drift](DIM), Gaussian(NOISE), horizon, UnitArms(ARMS), seed=seed))


gymnasium.register("driftbandit/World-v0", f"{__name__}:WorldEnv")
for name in PAPER:
    gymnasium.register(name, f"{__name__}:paper_world", kwargs={"drift": name})
