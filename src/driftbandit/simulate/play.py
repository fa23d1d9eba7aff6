"""Policies × a world × replicates → dynamic regret at checkpoints."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from threading import Event
from typing import TYPE_CHECKING

import numpy as np

from driftbandit.core import validate
from driftbandit.core.progress import Tick, reported
from driftbandit.core.random import PAGE
from driftbandit.core.shown import sparkline, spread, table
from driftbandit.core.types import Floats, Ints
from driftbandit.simulate.loop import start_run
from driftbandit.simulate.player import Maker, Player
from driftbandit.worlds.world import World

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Result:
    """Dynamic regret of each policy and replicate at each checkpoint (a number of rounds)."""

    names: tuple[str, ...]
    checkpoints: Ints  # (m,)
    regret: Floats  # (policies, replicates, m)
    seconds: Floats  # (policies, replicates): processor time inside the policy
    replicates: tuple[int, ...]

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

    def _repr_html_(self) -> str:
        headings = ("policy", "final regret, mean ± std", "mean regret over time")
        rows = zip(self.names, map(spread, self.regret[:, :, -1]), map(sparkline, self.mean), strict=True)
        return table(f"{len(self.replicates)} replicates, {self.checkpoints[-1]:,} rounds", headings, rows)

    def final(self, name: str) -> Floats:
        """(replicates,): the regret of one policy at the end."""
        return self.regret[self.names.index(name), :, -1]

    def table(self) -> "pl.DataFrame":
        """One row per policy, replicate and checkpoint: policy, replicate, round, regret."""
        import polars as pl  # only when a table is wanted

        places = product(self.names, self.replicates, self.checkpoints.tolist())
        frame = pl.DataFrame(list(places), schema=["policy", "replicate", "round"], orient="row")
        return frame.with_columns(regret=pl.Series(self.regret.ravel()))


def play(
    policies: Mapping[str, Player | Maker] | Sequence[Player] | Player,
    world: World,
    *,
    replicates: int | Iterable[int] = 1,
    checkpoints: int | Iterable[int] = 100,
    block: int = PAGE,
    threads: int | None = None,
    progress: Tick | bool | None = None,
) -> Result:
    """Play every policy in every replicate of the world, all on the same rounds.

    ``policies``: a mapping from names, or a list, named by how each prints; all stay unchanged, and a fresh copy plays each
    replicate. A function (world, replicate) → policy makes one per replicate. ``replicates``: how many, or which.
    ``checkpoints``: how many, evenly spaced, or which. ``progress``: called with the number of rounds just played; True shows
    a bar. Neither ``block`` nor ``threads`` (all processors by default) changes a number.
    """
    named = name_policies(policies)
    validate.whole("block", block)
    if isinstance(replicates, Iterable):
        which: Sequence[int] = [validate.whole("replicates", replicate, least=0) for replicate in replicates]
        validate.whole("the number of replicates", len(which))
    else:
        which = range(validate.whole("replicates", replicates))
    marks = checkpoint_rounds(checkpoints, world.horizon)

    def run(replicate: int, tick: Tick) -> tuple[Floats, Floats]:
        return play_replicate(named, world, replicate, marks, block, tick)

    workers = (os.cpu_count() or 1) if threads is None else validate.whole("threads", threads)
    with reported(progress, world.horizon * len(named) * len(which)) as tick:
        regrets, seconds = zip(*in_threads(run, which, workers, tick), strict=True)
    return Result(tuple(named), marks, np.stack(regrets, axis=1), np.stack(seconds, axis=1), tuple(which))


def in_threads(
    run: Callable[[int, Tick], tuple[Floats, Floats]], replicates: Sequence[int], workers: int, progress: Tick | None
) -> list[tuple[Floats, Floats]]:
    """Every replicate, in order; if one fails or is interrupted, the others stop after their block."""
    stop = Event()

    def tick(rounds: int) -> None:
        if stop.is_set():
            raise RuntimeError("stopped because another replicate failed or was interrupted")
        if progress:
            progress(rounds)

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(run, replicate, tick) for replicate in replicates]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            stop.set()  # or Ctrl-C would wait for whole replicates
            pool.shutdown(cancel_futures=True)
            raise
    return [future.result() for future in futures]


def name_policies(policies: Mapping[str, Player | Maker] | Sequence[Player] | Player) -> Mapping[str, Player | Maker]:
    """Policies by name; a list, or a single policy, is named by how each prints."""
    if isinstance(policies, Mapping):
        named = policies
    else:
        several = policies if isinstance(policies, Sequence) else [policies]
        named = {repr(policy): policy for policy in several}
        if len(named) < len(several):
            raise ValueError("policies must be given by name, as a mapping, if two of them print the same")
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
    runs = []
    for name, policy in policies.items():
        with blaming(name, replicate):
            runs.append(start_run(policy, world, replicate))
    regret, seconds = np.empty((len(runs), len(marks))), np.zeros(len(runs))
    for rounds in world.deal(replicate, block):
        here = (marks > rounds.start) & (marks <= rounds.start + len(rounds.noise))
        for k, (name, run) in enumerate(zip(policies, runs, strict=True)):
            with blaming(name, replicate):
                if rounds.start == 0:
                    run.meet(rounds)
                before = time.thread_time()
                curve = run.play(rounds)
                seconds[k] += time.thread_time() - before
            regret[k, here] = curve[marks[here] - rounds.start - 1]
            if progress:
                progress(len(curve))
    return regret, seconds


@contextmanager
def blaming(name: str, replicate: int) -> Iterator[None]:
    """Make errors say which policy raised them."""
    try:
        yield
    except Exception as error:
        error.add_note(f"while {name} played replicate {replicate}")
        raise


def checkpoint_rounds(checkpoints: int | Iterable[int], horizon: int) -> Ints:
    """Counts of rounds, ascending, the last at the horizon if evenly spaced."""
    if isinstance(checkpoints, str) or not isinstance(checkpoints, Iterable):
        count = min(validate.whole("checkpoints", checkpoints), horizon)
        return np.array([horizon * (k + 1) // count for k in range(count)], np.int64)
    marks = np.unique([validate.whole("checkpoints", mark) for mark in checkpoints])
    if not len(marks) or marks[-1] > horizon:
        raise ValueError(f"checkpoints must lie between 1 and the horizon {horizon}, got {marks.tolist()}")
    return marks.astype(np.int64)
