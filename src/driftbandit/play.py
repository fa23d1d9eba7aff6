"""The one loop: policies × a world × replicates → dynamic regret at checkpoints."""

import copy
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol, cast

import numpy as np

from driftbandit import _check
from driftbandit._chance import PAGE, luck
from driftbandit._compile import bind, kernel
from driftbandit._types import Floats, Ints
from driftbandit.arms import Dealt, FixedArms, Kept, choose
from driftbandit.policies.base import Policy
from driftbandit.policies.verbs import begin, learn
from driftbandit.world import Block, World


class Player(Protocol):
    """Anything that plays: ``select`` returns an arm's index or an object with ``arm``; ``update`` gets that back."""

    def select(self, arms: Any) -> Any: ...
    def update(self, decision: Any, reward: float) -> None: ...


Maker = Callable[[World, int], Player]  # for policies that depend on the world or the replicate


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
    """Play a block. Decisions whose reward is still out wait in ``arms_out`` and ``rewards_out``, a row a round."""
    mask = len(rewards_out) - 1  # a power of two less one: a remainder would cost as much as the choice
    for i in range(len(block.noise)):
        t = block.start + i
        x = arms_out[t & mask]
        beta = begin(state, t, luck[i])
        choose(block.arms, i, state.ridge, beta, luck[i], x)
        expected = 0.0
        for j in range(len(x)):
            expected += x[j] * block.theta[i, j]
        rewards_out[t & mask] = expected + block.noise[i]
        total[0] += block.best[i] - expected
        regret[i] = total[0]
        for k in range(block.upto[i], block.upto[i + 1]):
            s = block.arrivals[k]
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
        chance = np.empty((0, 4))
        example = self.policy.state, block, chance, self.arms_out, self.rewards_out, self.total, self.total
        self.play_block = bind(play_block, *example)

    def play(self, block: Block) -> Floats:
        policy, rounds = self.policy, len(block.noise)
        regret = np.empty(rounds)
        chance = luck(policy.seed, block.start, rounds)
        self.play_block(policy.state, block, chance, self.arms_out, self.rewards_out, self.total, regret)
        policy.rounds += rounds
        return regret


class PythonRun:
    """Any object with select and update over one replicate, against the same rounds."""

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
            x = chosen_arm(decision, arms)
            expected = 0.0
            for a, b in zip(x, block.theta[i], strict=True):  # in the compiled loop's order
                expected += float(a) * float(b)
            self.waiting[block.start + i] = decision, expected + float(noise)
            self.total += float(block.best[i]) - expected
            regret[i] = self.total
            for s in block.arrivals[block.upto[i] : block.upto[i + 1]]:
                self.player.update(*self.waiting.pop(int(s)))
        return regret


def chosen_arm(decision: Any, arms: Any) -> Floats:
    """The arm that a decision means: by its number where there is one, else as it says, if it was offered."""
    index = decision if isinstance(decision, Integral) else getattr(decision, "index", None)
    finite = isinstance(arms, FixedArms | np.ndarray)
    if finite and isinstance(index, Integral):
        return np.asarray(arms[index])
    arm = np.array(decision.arm, np.float64)
    if finite and not (np.asarray(arms) == arm).all(axis=1).any():
        raise ValueError(f"a decision's arm must be one of those offered, got {arm}")
    return arm


@dataclass(frozen=True)
class Result:
    """Dynamic regret of each policy and replicate at each checkpoint (after so many rounds)."""

    names: tuple[str, ...]
    checkpoints: Ints  # (m,)
    regret: Floats  # (policies, replicates, m)
    seconds: Floats  # (policies, replicates): processor time inside the policy

    @property
    def mean(self) -> Floats:
        """(policies, m)"""
        mean: Floats = self.regret.mean(axis=1)
        return mean

    @property
    def std(self) -> Floats:
        """(policies, m): over replicates; 0 for a single one."""
        std: Floats = self.regret.std(axis=1, ddof=min(1, self.regret.shape[1] - 1))
        return std

    def final(self, name: str) -> Floats:
        """(replicates,): the regret of one policy at the end."""
        return self.regret[self.names.index(name), :, -1]


def play(
    policies: Mapping[str, Player | Maker] | Sequence[Player] | Player,
    world: World,
    *,
    replicates: int | Iterable[int] = 1,
    checkpoints: int | Iterable[int] = 100,
    block: int = PAGE,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Play every policy in every replicate of the world, all against the same rounds.

    ``policies``: by name, or a list named by how they print; each is left as it is, a fresh one plays each replicate. A
    function (world, replicate) → policy makes one for each. ``replicates``: how many, or which. ``checkpoints``: how
    many, evenly spaced, or which. ``progress``: called with the number of rounds just played. Neither ``block`` nor
    ``threads`` (all processors by default) changes a number.
    """
    named = name_policies(policies)
    _check.whole("block", block)
    if isinstance(replicates, Iterable):
        which: Sequence[int] = [_check.whole("replicates", replicate, least=0) for replicate in replicates]
        _check.whole("the number of replicates", len(which))
    else:
        which = range(_check.whole("replicates", replicates))
    marks = checkpoint_rounds(checkpoints, world.horizon)

    def run(replicate: int) -> tuple[Floats, Floats]:
        return play_replicate(named, world, replicate, marks, block, progress)

    workers = (os.cpu_count() or 1) if threads is None else _check.whole("threads", threads)
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(run, replicate) for replicate in which]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    regrets, seconds = zip(*(future.result() for future in futures), strict=True)
    return Result(tuple(named), marks, np.stack(regrets, axis=1), np.stack(seconds, axis=1))


def name_policies(policies: Mapping[str, Player | Maker] | Sequence[Player] | Player) -> Mapping[str, Player | Maker]:
    """By name; a list, or one alone, is named by how each prints."""
    if isinstance(policies, Mapping):
        named = policies
    else:
        several = policies if isinstance(policies, Sequence) else [policies]
        named = {repr(policy): policy for policy in several}
        if len(named) < len(several):
            raise ValueError("policies must differ in how they print, or be given by name")
    if not named:
        raise ValueError("policies must not be empty")
    return named


def play_replicate(
    policies: Mapping[str, Player | Maker],
    world: World,
    replicate: int,
    marks: Ints,
    block: int,
    progress: Callable[[int], None] | None = None,
) -> tuple[Floats, Floats]:
    runs = [start_run(policy, world, replicate) for policy in policies.values()]
    regret, seconds = np.empty((len(runs), len(marks))), np.zeros(len(runs))
    for rounds in world.deal(replicate, block):
        here = (marks > rounds.start) & (marks <= rounds.start + len(rounds.noise))
        for k, run in enumerate(runs):
            if rounds.start == 0:
                run.meet(rounds)
            before = time.thread_time()
            curve = run.play(rounds)
            seconds[k] += time.thread_time() - before
            regret[k, here] = curve[marks[here] - rounds.start - 1]
            if progress:
                progress(len(curve))
    return regret, seconds


def start_run(policy: Player | Maker, world: World, replicate: int) -> CompiledRun | PythonRun:
    if isinstance(policy, Policy):
        player: Player = policy.spawn(replicate)
    elif isinstance(policy, type) or not hasattr(policy, "select"):
        player = cast(Maker, policy)(world, replicate)
    else:
        player = copy.deepcopy(cast(Player, policy))
    if not isinstance(player, Policy):
        return PythonRun(player, world)
    if player.dim != world.dim:
        raise ValueError(f"policies must have dim = {world.dim}, as the world has, got {player!r}")
    if player.rounds:
        raise ValueError(f"policies must be fresh, got one that has decided {player.rounds} rounds: {player!r}")
    player.check_length(world.longest)
    return CompiledRun(player, world)


def checkpoint_rounds(checkpoints: int | Iterable[int], horizon: int) -> Ints:
    """Counts of rounds, ascending, the last at the horizon if evenly spaced."""
    if not isinstance(checkpoints, Iterable):
        count = min(_check.whole("checkpoints", checkpoints), horizon)
        return np.array([horizon * (k + 1) // count for k in range(count)], np.int64)
    marks = np.unique([_check.whole("checkpoints", mark) for mark in checkpoints])
    if not len(marks) or marks[-1] > horizon:
        raise ValueError(f"checkpoints must lie between 1 and the horizon {horizon}, got {marks.tolist()}")
    return marks.astype(np.int64)
