"""The smallest piece of a study of a log: one policy plays it once. Wherever it is played, it is never played again."""

import hashlib
import json
import time
from typing import Any, NamedTuple

import numpy as np

from driftbandit import __version__
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._base.policy import Policy
from driftbandit.replay.replay import choose_rows
from driftbandit.replay.table import Log
from driftbandit.simulate.player import state_bytes
from driftbandit.studies.cells import Cell
from driftbandit.studies.kinds import parameters, player_class, source_of
from driftbandit.studies.settings import make_policy
from driftbandit.studies.tasks import RESULTS, Variant


class Bounded(NamedTuple):
    """Noise of rewards within a range: sub-Gaussian with scale half the range, by Hoeffding's lemma."""

    scale: float


class Known(NamedTuple):
    """What is known about a log, as about a ``World``: its number of features, and more only where someone supplies it."""

    dim: int
    horizon: int | None = None
    noise: Bounded | None = None
    drift: None = None

    def path_length(self, replicate: int) -> float:
        raise ValueError("memory must be a number of rounds: a log has no path length to compute it from")

    def change_points(self, replicate: int) -> None:
        """None are known."""


class Task(NamedTuple):
    """A policy, what it is told, and its seed: plain values that can be sent anywhere."""

    log: str  # its digest
    policy: Variant
    known: Known
    seed: int
    replicate: int

    def make(self) -> Any:
        """The policy. Our policies spawn replicates from one seed, others get a seed per replicate."""
        player = player_class(self.policy.settings["kind"])
        seed = self.seed if issubclass(player, Policy) else self.seed + self.replicate
        luck = {"seed": seed} if "seed" in parameters(player) else {}
        return make_policy(self.policy.where, {**luck, **self.policy.settings}, self.known, self.replicate)

    @property
    def key(self) -> str:
        """A digest of everything that the numbers of its cell depend on."""
        source = source_of(player_class(self.policy.settings["kind"]))
        played = [RESULTS, __version__, self.log, self.policy.settings, self.known, self.seed, self.replicate, source]
        return hashlib.sha256(json.dumps(played, sort_keys=True).encode()).hexdigest()[:32]


def play_task(rows: Floats, rewards: Floats, starts: Ints, due: Ints, blocks: Ints, task: Task) -> Cell:
    """Play a task. The log comes as separate arrays, as engines share them; these may be read-only, which kernels reject."""
    log = Log(*(np.require(part, requirements=("W", "E")) for part in (rows, rewards, starts, due)))
    player, before = task.make(), time.thread_time()
    chosen = choose_rows(log, player, task.replicate)
    seconds = time.thread_time() - before
    sums = np.bincount(blocks, log.rewards[chosen]).astype(np.float64)
    return Cell(task.key, sums, seconds, state_bytes(player))


def digest(log: Log, blocks: Ints) -> str:
    """A digest of the table's content as played, and of the blocks it is summed over."""
    content = hashlib.sha256(repr(log.rows.shape).encode())
    for part in (*log, blocks):
        content.update(np.ascontiguousarray(part).data)
    return content.hexdigest()
