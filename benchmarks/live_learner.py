"""The durable Learner: a decision compared with a bare fsync, recovery of a million records, memory. Run it on a real disk."""

import argparse
import gc
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from driftbandit import AdaptiveUCB, StaticUCB
from driftbandit.core.types import Floats
from driftbandit.live import Ask, Learner, Service
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.disk.state import recover

KINDS: dict[str, Any] = {"AdaptiveUCB": AdaptiveUCB, "StaticUCB": StaticUCB}


def arm_set(dim: int, count: int) -> Floats:
    arms: Floats = np.random.default_rng(0).normal(size=(count, dim))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    return arms


def resident() -> float:
    """Megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def decide_beside_fsync(folder: Path, policy: Any, dim: int, count: int, rounds: int) -> None:
    """Alternate between the two, so that both meet the same disk."""
    bare = os.open(folder / "bare", os.O_CREAT | os.O_RDWR | os.O_APPEND)
    taken: dict[str, list[float]] = {"fsync": [], "decide": []}
    with Learner.open(folder / "one.db", policy(dim)) as learner:
        learner.put_set("shelf", arm_set(dim, count))
        for k in range(rounds + 50):
            start = time.perf_counter()
            os.write(bare, b"x" * 150)
            os.fsync(bare)
            middle = time.perf_counter()
            learner.decide("shelf", id=str(k))
            end = time.perf_counter()
            if k >= 50:
                taken["fsync"].append(middle - start)
                taken["decide"].append(end - middle)
            learner.reward(str(k), 0.5)
    os.close(bare)
    for name, times in taken.items():
        print(f"{name:8} median {1e3 * statistics.median(times):.2f} ms, mean {1e3 * statistics.mean(times):.2f} ms")
    middle_ratio = statistics.median(taken["decide"]) / statistics.median(taken["fsync"])
    print(
        f"decide / fsync: {middle_ratio:.2f} by medians, {sum(taken['decide']) / sum(taken['fsync']):.2f} by means (aim ≤ 1.3)"
    )


def fill(service: Service, policy: Any, dim: int, count: int, decisions: int) -> None:
    service.create("shop", policy(dim))
    service.put_set("shop", "shelf", arm_set(dim, count))
    rewards = np.random.default_rng(1).normal(size=decisions).tolist()
    ask, tenth = Ask(set="shelf"), max(decisions // 10, 1)
    start, aside = time.perf_counter(), 0.0
    for k in range(decisions):
        service.decide("shop", f"0192f0c1-{k:027d}", ask)
        service.reward("shop", f"0192f0c1-{k:027d}", rewards[k])
        if k % 256 == 255:
            service.commits.commit()
        if k % 5000 == 0:
            service.tick()
        if (k + 1) % tenth == 0:
            before = time.perf_counter()
            gc.collect()
            print(f"after {k + 1:>9,} decisions: {resident():.0f} MB resident")
            aside += time.perf_counter() - before
    service.commits.through(service.commits.next - 1)
    each = (time.perf_counter() - start - aside) / decisions
    print(f"decided, rewarded and journalled in groups of 512: {1e6 * each:.0f} µs per decision with its reward")
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    print(f"{os.cpu_count()} cores, load {load}")


def recovery(path: Path) -> None:
    for use, name in ((True, "with a snapshot"), (False, "without")):
        journal = SqliteJournal(path)
        start, busy = time.perf_counter(), time.process_time()
        state = recover(journal, use_snapshots=use)
        taken, busy = time.perf_counter() - start, time.process_time() - busy
        digest = state.names["shop"].digest().hex()[:16]
        print(f"recovery of {journal.end:,} records {name}: {taken:.2f} s, {busy:.2f} s of CPU; digest {digest}")
        journal.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", choices=KINDS, default="AdaptiveUCB")
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--arms", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1000, help="durable decisions, one by one")
    parser.add_argument("--records", type=int, default=1_000_000, help="records to recover")
    parser.add_argument("--folder", help="a folder on the disk to measure (default: the current folder)")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=told.folder or ".") as name:
        decide_beside_fsync(Path(name), KINDS[told.policy], told.dim, told.arms, told.rounds)
        service = Service.open(SqliteJournal(Path(name) / "many.db"))
        fill(service, KINDS[told.policy], told.dim, told.arms, told.records // 2)
        service.keeper.wait()
        service.journal.close()  # as after a crash: the last snapshot is some records old
        recovery(Path(name) / "many.db")
