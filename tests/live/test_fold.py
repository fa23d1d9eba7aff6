"""The fold comes to the same bits wherever it is folded: without the compiler, for another processor, with more threads."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from driftbandit import AdaptiveUCB, Category, Chooser, Context, RestartUCB, StaticUCB
from driftbandit.core.compile import COMPILED
from driftbandit.live import Ask, Service, Settings
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.disk.state import recover
from live_service import FAST, Clock, bits, crash

SOAK = "DRIFTBANDIT_SOAK" in os.environ
FOLD = """
import json, sys
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.disk.state import recover
journal = SqliteJournal(sys.argv[1])
state = recover(journal, use_snapshots=False)
print(json.dumps({name: each.digest().hex() for name, each in state.names.items()}))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(dir=FAST) as name:
        yield Path(name)


def lived(path: Path, rounds: int, adaptive: bool) -> Service:
    """A service with some experiments, in which all kinds of things have happened."""
    chance, clock = np.random.default_rng(3), Clock()
    service = Service.open(SqliteJournal(path), clock=clock)
    service.create("plain", RestartUCB(3, period=40), Settings(explore=0.2))
    service.create("late", StaticUCB(3), Settings(wait=5.0, default=0.0))
    context = Context({"device": Category(["phone", "desktop"])})
    service.create("chooser", Chooser(StaticUCB, ["red", "green"], context), Settings(late="learn", wait=4.0))
    if adaptive:
        service.create("adaptive", AdaptiveUCB(3), Settings(explore=0.1))
    for k in range(rounds):
        arms = chance.uniform(-0.5, 0.5, (4, 3))
        for name in service.names:
            fields = {"device": "phone" if k % 3 else "desktop"}
            ask = Ask(fields=fields) if name == "chooser" else Ask(arms=arms, baseline=k % 4 if k % 5 == 0 else None)
            service.decide(name, str(k), ask)
            rewarded = max(k - int(chance.integers(0, 9)), 0)
            with suppress(ValueError):  # it has one already
                service.reward(name, str(rewarded), float(chance.normal(np.sin(k / 30.0))))
        clock.now += 1.0
        service.tick()
    service.snapshot()
    service.keeper.wait()
    return service


def test_from_a_snapshot_or_from_the_start(folder: Path) -> None:
    service = lived(folder / "a", 60, adaptive=not COMPILED)
    service.decide("plain", "last", Ask(arms=[[0.1, 0.2, 0.3]]))
    service.commits.through(service.commits.next - 1)
    before = bits(service)
    crash(service)
    for use in (True, False):
        journal = SqliteJournal(folder / "a")
        assert recover(journal, use_snapshots=use).freeze().encode() == before
        journal.close()


@pytest.mark.compiled
@pytest.mark.parametrize(
    "spell",
    [
        {"NUMBA_DISABLE_JIT": "1"},
        {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"},
        {"NUMBA_CPU_NAME": "generic"},
    ],
    ids=["without the compiler", "more threads", "another processor"],
)
def test_in_another_surrounding(folder: Path, spell: dict[str, str]) -> None:
    """For another processor AdaptiveUCB would have to be compiled anew, which takes a minute: that is for `make soak`."""
    service = lived(folder / "a", 200, adaptive=SOAK or "NUMBA_CPU_NAME" not in spell)
    digests = {name: each.digest().hex() for name, each in service.state.names.items()}
    crash(service)
    command = [sys.executable, "-c", FOLD, str(folder / "a")]
    done = subprocess.run(command, env={**os.environ, **spell}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == digests
