"""One policy over one replicate: ours in the compiled loop, any other in a Python loop, on the same rounds."""

from typing import Any, cast

import numpy as np

from driftbandit.core.arms import Dealt, FixedArms, Kept, choose
from driftbandit.core.compile import bind, kernel
from driftbandit.core.random import luck
from driftbandit.core.types import Floats
from driftbandit.policies._base.policy import Policy
from driftbandit.policies._base.verbs import begin, learn
from driftbandit.simulate.player import Maker, Player, chosen_arm, fresh, is_player
from driftbandit.worlds.delay import is_told
from driftbandit.worlds.reward import draw_reward, mean_reward
from driftbandit.worlds.world import Block, World


@kernel
def play_block(
    state: Any,
    block: Block,
    luck: Floats,
    arms_out: Floats,
    rewards_out: Floats,
    total: Floats,
    regret: Floats,
) -> None:
    """Play a block. Decisions that still await a reward are kept in ``arms_out`` and ``rewards_out``, one row per round."""
    mask = len(rewards_out) - 1  # a power of two less one: a remainder would cost as much as the choice
    for i in range(len(block.noise)):
        t = block.start + i
        x = arms_out[t & mask]
        beta = begin(state, t, luck[i])
        choose(block.arms, i, state, beta, luck[i], x)
        expected = 0.0
        for j in range(len(x)):
            expected += x[j] * block.theta[i, j]
        mean = mean_reward(block.form, expected)
        rewards_out[t & mask] = draw_reward(block.form, mean, block.noise[i])
        total[0] += block.best[i] - mean
        regret[i] = total[0]
        for k in range(block.upto[i], block.upto[i + 1]):
            s = block.arrivals[k]
            if is_told(block.zero, k, rewards_out[s & mask]):
                learn(state, s, arms_out[s & mask], rewards_out[s & mask])


class CompiledRun:
    """One of our policies over one replicate, in the compiled loop."""

    def __init__(self, policy: Policy, world: World) -> None:
        self.policy = policy
        slots = 1 << min(world.delay.longest, world.horizon).bit_length()
        self.arms_out, self.rewards_out = np.zeros((slots, world.dim)), np.zeros(slots)
        self.total = np.zeros(1)

    def meet(self, block: Block) -> None:
        """Before the first block: keep its arms if they are fixed, and compile."""
        if isinstance(block.arms, Kept):
            self.policy.keep(FixedArms(block.arms.columns.T))
        elif self.policy.fixed_only:
            raise ValueError(f"arms must be the same finite set in every round for {self.policy!r}")
        chance = np.empty((0, 4))
        example = self.policy.state, block, chance, self.arms_out, self.rewards_out, self.total, self.total
        self.play_block = bind(play_block, *example)

    def play(self, block: Block) -> Floats:
        policy, rounds = self.policy, len(block.noise)
        regret = np.empty(rounds)
        chance = luck(policy.seed, block.start, rounds)
        if isinstance(block.arms, Dealt) and policy.constants:
            block = block._replace(arms=block.arms.with_constants(policy.constants))
        self.play_block(policy.state, block, chance, self.arms_out, self.rewards_out, self.total, regret)
        policy.rounds += rounds
        return regret


class PythonRun:
    """Any object with select and update over one replicate, on the same rounds."""

    def __init__(self, player: Player, world: World) -> None:
        self.player, self.world = player, world
        self.waiting: dict[int, tuple[Any, float]] = {}
        self.total = 0.0

    def meet(self, block: Block) -> None:
        """Before the first block: the fixed arms, if they are fixed."""
        self.fixed = FixedArms(block.arms.columns.T) if isinstance(block.arms, Kept) else self.world.arms

    def play(self, block: Block) -> Floats:
        regret = np.empty(len(block.noise))
        for i, noise in enumerate(block.noise):
            arms = FixedArms(block.arms.columns[i].T).rows if isinstance(block.arms, Dealt) else self.fixed
            decision = self.player.select(arms)
            x = chosen_arm(decision, arms, self.world.dim, self.player, block.start + i)
            expected = 0.0
            for a, b in zip(x, block.theta[i], strict=True):  # in the compiled loop's order
                expected += float(a) * float(b)
            mean = mean_reward(block.form, expected)
            self.waiting[block.start + i] = decision, draw_reward(block.form, mean, float(noise))
            self.total += float(block.best[i]) - mean
            regret[i] = self.total
            for k in range(block.upto[i], block.upto[i + 1]):
                s = int(block.arrivals[k])
                if s in self.waiting and is_told(block.zero, k, self.waiting[s][1]):
                    self.player.update(*self.waiting.pop(s))
        return regret


def start_run(policy: Player | Maker, world: World, replicate: int) -> CompiledRun | PythonRun:
    made = callable(policy) and (isinstance(policy, type) or not is_player(policy))
    player = cast(Maker, policy)(world, replicate) if made else cast(Player, policy)
    if not is_player(player):
        raise ValueError(f"policies must have the methods select and update, got {player!r}")
    if not made:
        player = fresh(player, replicate)
    if not isinstance(player, Policy):
        return PythonRun(player, world)
    if player.dim != world.dim:
        raise ValueError(f"policies must have dim = {world.dim}, like the world, got {player!r}")
    if player.rounds:
        raise ValueError(f"policies must be fresh: make a new one; this has decided {player.rounds} rounds: {player!r}")
    player.check_length(world.longest)
    return CompiledRun(player, world)
