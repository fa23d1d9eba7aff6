"""Engines: workers that end with the process that started them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import os, sys, time
from pathlib import Path
from driftbandit.studies.engines import run_all

def work(k):
    (Path(sys.argv[1]) / str(os.getpid())).touch()
    time.sleep(0.2)
    return k

if __name__ == "__main__":
    list(run_all(work, range(8), engine="processes", workers=2))
    print("finished", flush=True)
    time.sleep(600)  # the workers idle now
"""


def alive(pid: int) -> bool:
    """Whether it runs: one that is over but that nobody has asked about does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.compiled
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    (tmp_path / "pids").mkdir()
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "pids")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "finished\n"
        workers = [int(file.name) for file in (tmp_path / "pids").iterdir()]
        assert workers
        assert all(map(alive, workers))
        os.kill(parent.pid, signal.SIGKILL)
    for _ in range(200):  # joblib's own patience is 300 s
        if not any(map(alive, workers)):
            return
        time.sleep(0.1)
    left = [pid for pid in workers if alive(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    pytest.fail(f"orphans: {left}")
