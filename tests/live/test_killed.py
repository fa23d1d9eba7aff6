"""Processes that are killed, and disks that are full: nothing that was acknowledged is missing or changed."""

import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_service import ARMS, fill_disk, load, value_of

from driftbandit.live import Learner
from driftbandit.live.errors import Conflict, Locked
from driftbandit.live.export import verify
from driftbandit.live.sqlite import SqliteJournal

pytestmark = [pytest.mark.plain, pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")]

KILLS = int(os.environ.get("DRIFTBANDIT_KILLS", "10"))  # `make soak` has a hundred


def in_process(target: Any, *arguments: Any) -> tuple[Any, Any]:
    """A process that has imported everything already, and what it says."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["live_service"])
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(arguments[0], there, *arguments[1:]))
    process.start()
    there.close()
    return process, here


def heard(pipe: Any) -> list[Any]:
    """All that was said, to the end."""
    said = []
    try:
        while True:
            said.append(pipe.recv())
    except (EOFError, OSError):
        return said


def test_killed_under_load(tmp_path: Path) -> None:
    path, chance = tmp_path / "shop.db", np.random.default_rng(5)
    answers: dict[str, tuple[int, int]] = {}
    rewarded: set[str] = set()
    for life in range(KILLS):
        process, pipe = in_process(load, str(path), life)
        first = pipe.recv()
        time.sleep(chance.uniform(0.0, 0.4))
        with pytest.raises(Locked, match="open in another process"):
            SqliteJournal(path)
        os.kill(process.pid, signal.SIGKILL)
        said = [first, *heard(pipe)]
        process.join()
        answers |= {id: (index, t) for what, id, index, t in said if what == "decided"}
        rewarded |= {id for what, id, _, _ in said if what == "rewarded"}
        check(path, answers, rewarded)
    assert len(answers) > KILLS
    assert rewarded


def check(path: Path, answers: dict[str, tuple[int, int]], rewarded: set[str]) -> None:
    journal = SqliteJournal(path)
    assert verify(journal).records == journal.end  # the state folded from the start is that of the snapshots
    journal.close()
    with Learner.open(path) as learner:
        for id, answer in answers.items():
            again = learner.decide(ARMS, id=id)
            assert (again.repeat, again.index, again.round) == (True, *answer)
        for id in rewarded:
            assert learner.reward(id, value_of(id)).outcome == "duplicate"
            with pytest.raises(Conflict):
                learner.reward(id, 2.0)


def test_a_full_disk_stops_it(tmp_path: Path) -> None:
    """Files may not grow beyond a size, so that a write falls short, as where no room is left."""
    path = tmp_path / "shop.db"
    process, pipe = in_process(fill_disk, str(path), 200_000)
    *said, stopped, still = heard(pipe)
    process.join()
    assert stopped[:2] == ("stopped", "Broken")
    assert "could not be committed" in stopped[2]
    assert still[:2] == ("still", "Broken")
    assert said
    check(path, {id: (index, t) for _, id, index, t in said}, set())
