"""Processes that are killed, and disks that are full: nothing that was acknowledged is missing or changed."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import live_service
from driftbandit.live import Learner
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.errors import Conflict, Locked
from driftbandit.live.export import verify
from live_service import ARMS, fill_disk, load, value_of

pytestmark = [pytest.mark.plain, pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")]

KILLS = 100 if "DRIFTBANDIT_SOAK" in os.environ else 10


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
        said = [pipe.recv()]
        while life == 0 and said[-1][0] != "rewarded":  # until all that is needed has been compiled, where nothing was
            said.append(pipe.recv())
        time.sleep(chance.uniform(0.0, 0.4))
        with pytest.raises(Locked, match="open already, here or in another process"):
            SqliteJournal(path)
        os.kill(process.pid, signal.SIGKILL)
        said += heard(pipe)
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


def told(path: Path, life: int, count: int, *wrapper: str) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """What a process under some spell says: the decisions it acknowledged, and how it ended."""
    command = [*wrapper, sys.executable, live_service.__file__, str(path), str(life), str(count)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=100).stdout.split("\n")
    lines = [line.split() for line in said if line]
    decided = {line[1]: (int(line[2]), int(line[3])) for line in lines if line[0] == "decided"}
    return decided, [line[1] for line in lines if line[0] == "stopped"]


@pytest.mark.skipif(shutil.which("fiu-run") is None, reason="fiu-run is not installed (Debian: fiu-utils)")
@pytest.mark.parametrize("fault", ["posix/io/sync/fdatasync,failinfo=5", "posix/io/rw/pwrite,failinfo=28"])
def test_calls_that_fail_stop_it(tmp_path: Path, fault: str) -> None:
    """A failing sync, a full disk, by the system's own answers; what was acknowledged is there when it is opened again."""
    path, acknowledged = tmp_path / "shop.db", told(tmp_path / "shop.db", 0, 5)[0]
    assert len(acknowledged) == 5
    spell = "fiu-run", "-x", "-c", f"enable_random name={fault},probability=0.02"
    for life in range(1, 3):
        decided, ended = told(path, life, 2000, *spell)
        assert ended in (["Broken"], ["JournalError"])  # the second if it fails while it is opened
        acknowledged |= decided
        check(path, acknowledged, set())


@pytest.mark.skipif(shutil.which("faketime") is None, reason="faketime is not installed (Debian: faketime)")
def test_processes_whose_clocks_are_a_day_apart(tmp_path: Path) -> None:
    path, acknowledged = tmp_path / "shop.db", dict[str, tuple[int, int]]()
    for life, when in enumerate(["-1d", "+1d", "-1d"]):
        decided, ended = told(path, life, 3, "faketime", "-f", when)
        assert (len(decided), ended) == (3, [])
        acknowledged |= decided
    check(path, acknowledged, set())
    with Learner.open(path) as learner:
        times = [learner.find(id).answer.at for id in acknowledged]
        assert times == sorted(times)
        assert times[-1] - times[0] == pytest.approx(2 * 86_400.0, abs=600.0)
