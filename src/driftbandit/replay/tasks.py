"""The smallest piece of a study of a log: one policy lives through it once. Played anywhere, it is never played again."""

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
    """Noise of rewards within a range: sub-Gaussian with half of it as its scale, by Hoeffding's lemma."""

    scale: float


class Known(NamedTuple):
    """What a log tells of itself, as a ``World`` does: its number of features, and more only where somebody knows it."""

    dim: int
    horizon: int | None = None
    noise: Bounded | None = None
    drift: None = None

    def path_length(self, replicate: int) -> float:
        raise ValueError("memory must be a number of rounds: a log has no path length to tune it by")

    def change_points(self, replicate: int) -> None:
        """None are known."""


class Task(NamedTuple):
    """A policy, what it is told, and its luck: plain values, to be sent anywhere."""

    log: str  # its digest
    policy: Variant
    known: Known
    seed: int
    replicate: int

    def make(self) -> Any:
        """The policy. Replicates of ours are spawned from one seed, anyone else's have seeds of their own."""
        player = player_class(self.policy.settings["kind"])
        seed = self.seed if issubclass(player, Policy) else self.seed + self.replicate
        luck = {"seed": seed} if "seed" in parameters(player) else {}
        return make_policy(self.policy.where, {**luck, **self.policy.settings}, self.known, self.replicate)

    @property
    def key(self) -> str:
        """A digest of all that the numbers of its cell depend on."""
        source = source_of(player_class(self.policy.settings["kind"]))
        played = [RESULTS, __version__, self.log, self.policy.settings, self.known, self.seed, self.replicate, source]
        return hashlib.sha256(json.dumps(played, sort_keys=True).encode()).hexdigest()[:32]


def play_task(rows: Floats, rewards: Floats, starts: Ints, due: Ints, blocks: Ints, task: Task) -> Cell:
    """The log comes array by array, as engines share them, and perhaps read-only, for which nothing is compiled."""
    log = Log(*(np.require(part, requirements=("W", "E")) for part in (rows, rewards, starts, due)))
    player, before = task.make(), time.thread_time()
    chosen = choose_rows(log, player, task.replicate)
    seconds = time.thread_time() - before
    sums = np.bincount(blocks, log.rewards[chosen]).astype(np.float64)
    return Cell(task.key, sums, seconds, state_bytes(player))


def digest(log: Log, blocks: Ints) -> str:
    """Of the table's content as it is played, and of how it is summed up."""
    content = hashlib.sha256(repr(log.rows.shape).encode())
    for part in (*log, blocks):
        content.update(np.ascontiguousarray(part).data)
    return content.hexdigest()
