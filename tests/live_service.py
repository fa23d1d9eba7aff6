"""What the tests of the live room share: a clock to move by hand, arms, a service on a file, a load to be killed under."""

import os
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from driftbandit import StaticUCB
from driftbandit.live import Learner, Service, Settings
from driftbandit.live.disk import keeper
from driftbandit.live.disk.sqlite import SqliteJournal

ARMS = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]
MEMORY = Path("/dev/shm")  # where a sync costs nothing
FAST = str(MEMORY) if MEMORY.is_dir() else None


class Clock:
    """Seconds that pass when told to."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def opened(path: Path, clock: Any = None, **settings: Any) -> Service:
    """A service with one experiment "shop" that has one set "shelf"."""
    journal = SqliteJournal(path)
    try:
        service = Service.open(journal, clock=Clock() if clock is None else clock)
    except Exception:
        journal.close()
        raise
    if "shop" not in service.names:
        service.create("shop", StaticUCB(2), Settings(**settings))
        service.put_set("shop", "shelf", ARMS)
    return service


def crash(service: Service) -> None:
    """What was not committed is lost; nothing is tidied up."""
    service.keeper.wait()
    service.journal.close()


def bits(service: Service) -> bytes:
    """All of the state."""
    return service.state.freeze().encode()


def value_of(id: str) -> float:
    return float(sum(id.encode()) % 7) / 7.0


def load(path: str, acknowledged: Connection, life: int) -> None:
    """Decide and reward in three threads, saying what was acknowledged, until killed."""
    keeper.EVERY_RECORDS = 50
    learner, speaking = Learner.open(path, StaticUCB(2), most_remembered=1_000_000), threading.Lock()

    def work(thread: int) -> None:
        for k in range(1_000_000):
            id = f"{life}-{thread}-{k}"
            answer = learner.decide(ARMS, id=id)
            with speaking:
                acknowledged.send(("decided", id, answer.index, answer.round))
            if k % 3:
                learner.reward(id, value_of(id))
                with speaking:
                    acknowledged.send(("rewarded", id, 0, 0))

    for thread in range(3):
        threading.Thread(target=work, args=(thread,)).start()


def scribble(path: str, committed: Connection) -> None:
    """Commit groups of a hundred kilobytes, some thousand times, saying how many records are in the journal."""
    journal = SqliteJournal(path)
    for k in range(5_000):
        journal.append(2 * k, [os.urandom(50_000)] * 2)
        committed.send(journal.end)
        time.sleep(0.001)


def fill_disk(path: str, acknowledged: Connection, size: int) -> None:
    """Decide until files may not grow any more; tell what was acknowledged, and then how it ended."""
    import resource
    import signal

    learner = Learner.open(path, StaticUCB(2))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    for k in range(100_000):
        try:
            answer = learner.decide(ARMS, id=str(k))
        except Exception as error:
            acknowledged.send(("stopped", type(error).__name__, str(error), 0))
            break
        acknowledged.send(("decided", str(k), answer.index, answer.round))
    try:
        learner.decide(ARMS, id="after")
    except Exception as error:
        acknowledged.send(("still", type(error).__name__, "", 0))


def talk(path: str, life: str, count: int) -> None:
    """Decide so often, saying what was acknowledged, and how it ended if something failed."""
    try:
        learner = Learner.open(path, StaticUCB(2))
        for k in range(count):
            answer = learner.decide(ARMS, id=f"{life}-{k}")
            print("decided", answer.id, answer.index, answer.round, flush=True)
    except Exception as error:
        print("stopped", type(error).__name__, flush=True)
        os._exit(3)  # what is broken stays as it is
    learner.close()


if __name__ == "__main__":
    talk(sys.argv[1], sys.argv[2], int(sys.argv[3]))
