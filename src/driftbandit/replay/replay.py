"""A logged world: policies replay the rounds of a table, told in each only the reward of their own choice."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from driftbandit.core import validate
from driftbandit.core.compile import bind, kernel
from driftbandit.core.random import PAGE, luck
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._base.entry import decide_rows
from driftbandit.policies._base.policy import Policy
from driftbandit.policies._base.verbs import learn
from driftbandit.replay.leak import warn_of_leak
from driftbandit.replay.table import Log, make_log, read_table
from driftbandit.simulate.player import Player, fresh, index_of
from driftbandit.studies.settings import SettingsError

Progress = Callable[[int], None]  # called with the number of rounds just played


class Course(NamedTuple):
    """What was chosen, and when its reward is told: chains of rounds, since that depends on the arm. The rewards told before
    round t are those of rounds first[t] (−1: none), after[first[t]], … up to last[t]."""

    chosen: Ints  # (R,): the row
    first: Ints  # (R + 1,)
    last: Ints  # (R + 1,)
    after: Ints  # (R,)


@kernel
def play_rounds(
    state: Any, log: Log, course: Course, start: int, luck: Floats, longest: float, space: Floats, score: Floats, x: Floats
) -> None:
    """Play on from round ``start``, one round per entry of ``luck``. ``space``: for the most arms, one per column."""
    height = space.shape[0]
    for place in range(len(luck)):
        t = start + place
        s = course.first[t]
        while s >= 0:
            row = course.chosen[s]
            learn(state, s, log.rows[row], log.rewards[row])
            s = course.after[s]
        offered = log.rows[log.starts[t] : log.starts[t + 1]]
        n = len(offered)
        columns = space.reshape(-1)[: height * n].reshape(height, n)
        columns[len(x) :] = 1.0  # constants
        arm = decide_rows(state, t, luck, place, offered, longest, columns, score[: 3 * n].reshape(3, n), x)
        row = course.chosen[t] = log.starts[t] + arm
        due = log.due[row]
        if course.first[due] < 0:
            course.first[due] = t
        else:
            course.after[course.last[due]] = t
        course.last[due] = t


class Replay:
    """Rounds from a table with the outcome of every arm that was offered.

    ``table``: a Polars frame, or the path of a Parquet or CSV file; one row per arm offered. Its columns:
        round: what names a round, one column or several together; the rows of a round are contiguous.
        features: the numbers that describe an arm.
        reward: the outcome of the arm.
        known: when that became known. Not given: at once.
        time: when the round was decided. Not given: the first column of ``round``, if ``known`` is given.

    A reward is told before the first later decision whose time is not before ``known``; if several are due then, in the order
    of their rounds. Rounds that offer a single arm are left out, and counted in ``dropped``; ``table`` is the rest.

    Rows may be in any order within a round, but not in one that reveals the outcome, such as that in which flights actually
    departed: a policy that prefers the first row would be an oracle. Every table is checked: if always taking the k-th row, or
    the last, gains more, beyond what a fixed θ on the features explains, than in a random order, a ``LeakWarning`` says so, and
    what to do. A fixed order of actions, or rows sorted by a feature, are fine.

    >>> import polars as pl
    >>> from driftbandit import Replay, StaticUCB
    >>> table = pl.DataFrame({"hour": [1, 1, 2, 2], "price": [0.2, 0.9, 0.4, 0.8], "paid": [3.0, 1.0, 2.0, 1.0]})
    >>> replay = Replay(table, round="hour", features=["price"], reward="paid")
    >>> replay.best - replay.play(StaticUCB(1))  # regret
    array([2., 1.])
    """

    def __init__(
        self,
        table: pl.DataFrame | str | Path,
        *,
        round: str | Sequence[str],
        features: Sequence[str],
        reward: str,
        known: str | None = None,
        time: str | None = None,
    ) -> None:
        table = table if isinstance(table, pl.DataFrame) else read_table(Path(table))
        keys = [round] if isinstance(round, str) else list(round)
        if not keys or not features or isinstance(features, str):
            raise SettingsError("round must name one or several columns, and features must be a list of columns")
        for role, name in (("reward", reward), ("known", known)):
            if name in features:
                raise SettingsError(f"features must not list {name!r}, the column of {role}: it gives the outcome away")
        if known is not None and time is None:
            time = keys[0]
        self.log, kept = make_log(table, keys, features, reward, time, known)
        self.table = table.filter(pl.Series(kept))
        self.rounds, self.dim, self.longest = self.log.rounds, self.log.dim, self.log.longest
        self.dropped = len(kept) - int(kept.sum())
        warn_of_leak(self.log)

    @cached_property
    def best(self) -> Floats:
        """(R,): the greatest reward offered; earning it means no regret."""
        best: Floats = np.maximum.reduceat(self.log.rewards, self.log.starts[:-1])
        return best

    @cached_property
    def random(self) -> Floats:
        """(R,): the mean reward offered, which is expected when choosing at random."""
        mean: Floats = np.add.reduceat(self.log.rewards, self.log.starts[:-1]) / np.diff(self.log.starts)
        return mean

    def fixed(self, ridge: float = 1.0) -> Floats:
        """(R,): the rewards of the best fixed θ in hindsight, the ridge fit of the whole table."""
        rows, rewards, starts, _ = self.log
        theta = np.linalg.solve(rows.T @ rows + validate.positive("ridge", ridge) * np.eye(self.dim), rows.T @ rewards)
        value = rows @ theta
        return rewards[[start + int(np.argmax(value[start:stop])) for start, stop in pairwise(starts.tolist())]]

    def play(self, policy: Player, *, replicate: int = 0, progress: Progress | None = None) -> Floats:
        """(R,): the rewards that a policy earns. It stays unchanged; each replicate has its own random draws and ties."""
        return self.log.rewards[self.choices(policy, replicate=replicate, progress=progress)]

    def choices(self, policy: Player, *, replicate: int = 0, progress: Progress | None = None) -> Ints:
        """(R,): the rows of ``table`` that a policy chooses."""
        return choose_rows(self.log, policy, replicate, progress or (lambda rounds: None))


def choose_rows(log: Log, policy: Player, replicate: int, progress: Progress = lambda rounds: None) -> Ints:
    """(R,): the rows that a policy chooses; ours in the compiled loop, any other in a Python loop."""
    if not isinstance(policy, Policy):
        return in_python(log, fresh(policy, replicate), progress)
    if policy.dim != log.dim:
        raise ValueError(f"policy must have dim = {log.dim}, the number of features, got {policy!r}")
    if policy.fixed_only:
        raise ValueError(f"policy must accept arms that change between rounds, got {policy!r}")
    policy.check_length(log.longest)
    return compiled(log, policy.spawn(replicate), progress)


def compiled(log: Log, policy: Policy, progress: Progress) -> Ints:
    chosen, first, last, after = (np.full(log.rounds + 1, -1) for _ in range(4))
    course, most = Course(chosen, first, last, after), int(np.diff(log.starts).max())
    space = np.empty((log.dim + policy.constants, most))
    rest = policy.arm_norm, space, np.empty(3 * most), np.empty(log.dim)
    play_on = bind(play_rounds, policy.state, log, course, 0, np.empty((0, 4)), *rest)
    for start in range(0, log.rounds, PAGE):
        chance = luck(policy.seed, start, min(PAGE, log.rounds - start))
        play_on(policy.state, log, course, start, chance, *rest)
        progress(len(chance))
    return chosen[:-1]


def in_python(log: Log, player: Player, progress: Progress) -> Ints:
    rows = log.rows.view()
    rows.flags.writeable = False  # it is offered to others too
    chosen = np.empty(log.rounds, np.int64)
    waiting: dict[int, list[tuple[Any, int]]] = {}  # by the round before which they are told
    for t, (start, stop) in enumerate(pairwise(log.starts.tolist())):
        for decision, row in waiting.pop(t, ()):
            player.update(decision, float(log.rewards[row]))
        decision = player.select(rows[start:stop])
        row = chosen[t] = start + index_of(decision, rows[start:stop], player, t)
        waiting.setdefault(int(log.due[row]), []).append((decision, row))
        progress(1)
    return chosen
