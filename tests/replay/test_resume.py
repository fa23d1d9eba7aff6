"""A study of a log is a study: finished cells are kept, a killed run goes on, and every engine gives the same bits."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from common import LONG, cells_in
from driftbandit.cli import main
from driftbandit.replay.files import load

STUDY = """
name = "mine"
[log]
table = "log.parquet"
round = "id"
known = "known"
reward = "reward"
features = ["a", "b"]
[account]
block = "day"
replicates = 3
scale = 2
[policies.StaticUCB]
[policies.DiscountedTS]
memory = [20, 60]
noise = 0.3
[policies.RestartUCB]
memory = 25
"""


def a_study(folder: Path, count: int, text: str = STUDY) -> Path:
    """Rounds of three arms, told ten rounds late."""
    rng = np.random.default_rng(0)
    number, x = np.repeat(np.arange(count), 3), rng.uniform(-0.5, 0.5, (3 * count, 2))
    reward = x @ [0.6, -0.5] + 0.3 * rng.standard_normal(3 * count)
    columns = {"id": number, "known": number + 10, "day": number // 10, "a": x[:, 0], "b": x[:, 1], "reward": reward}
    pl.DataFrame(columns).write_parquet(folder / "log.parquet")
    (folder / "mine.toml").write_text(text)
    return folder / "mine.toml"


def test_a_finished_cell_is_never_played_twice(tmp_path: Path) -> None:
    file = a_study(tmp_path, 60)
    first = load(file).run(tmp_path / "out")
    found: list[int] = []
    again = load(file).run(tmp_path / "out", progress=found.append)
    assert found == [12 * 60]
    assert again.table().equals(first.table())
    file.write_text(STUDY.replace("replicates = 3", "replicates = 4").replace("scale = 2", "scale = 1"))
    more: list[int] = []
    larger = load(file).run(tmp_path / "out", progress=more.append)
    assert more == [12 * 60, *[60] * 4]  # the fourth of each policy
    assert larger.table().equals(load(file).run().table())


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("memory = 25", "memory = 26"), ('["a", "b"]', '["b", "a"]'), ('block = "day"', 'block = "id"'), ('known = "known"', "")],
)
def test_other_settings_have_other_cells(tmp_path: Path, right: str, wrong: str) -> None:
    file = a_study(tmp_path, 60)
    load(file).run(tmp_path / "out")
    file.write_text(STUDY.replace(right, wrong))
    changed = load(file)
    assert changed.run(tmp_path / "out").table().equals(load(file).run().table())
    same = {task.key for task in load(a_study(tmp_path, 60)).tasks} & {task.key for task in changed.tasks}
    assert len(same) == (9 if "memory" in wrong else 0)


def test_another_table_or_seed_has_other_cells(tmp_path: Path) -> None:
    keys = [
        {task.key for task in load(a_study(tmp_path, count), seed=seed).tasks} for count, seed in ((60, 0), (61, 0), (60, 1))
    ]
    table = pl.read_parquet(tmp_path / "log.parquet")
    table.with_columns(reward=pl.when(pl.col("id") == 59).then(0.0).otherwise("reward")).write_parquet(tmp_path / "log.parquet")
    keys.append({task.key for task in load(tmp_path / "mine.toml").tasks})
    assert len(set().union(*keys)) == 4 * 12


def test_a_study_that_has_not_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="run the study first"):
        load(a_study(tmp_path, 20)).gains()


@pytest.mark.compiled
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_every_engine_gives_the_same_table(engine: str, tmp_path: Path) -> None:
    """Long enough that the log is shared among processes as a file, which they can only read."""
    file = a_study(tmp_path, 30_000, STUDY.replace("replicates = 3", "replicates = 2"))
    expected = load(file).run().table()
    assert load(file).run(engine=engine, workers=2).table().equals(expected)


@pytest.mark.compiled
def test_the_commands_take_an_engine(tmp_path: Path) -> None:
    arguments = ["replay", str(a_study(tmp_path, 60)), "--workers", "2", "--out"]
    assert main([*arguments, str(tmp_path / "threads")]) == 0
    assert main([*arguments, str(tmp_path / "processes"), "--engine", "processes"]) == 0
    tables = [(tmp_path / engine / "table.csv").read_bytes() for engine in ("threads", "processes")]
    assert tables[0] == tables[1]


@LONG
@pytest.mark.compiled
def test_killed_twice_the_table_is_that_of_an_uninterrupted_run(tmp_path: Path) -> None:
    """Each time as soon as another cell is finished."""
    file = a_study(tmp_path, 60_000, STUDY.replace("replicates = 3", "replicates = 12"))
    command = [sys.executable, "-m", "driftbandit.cli", "replay", str(file), "--workers", "1", "--out", str(tmp_path / "out")]
    expected = load(file).run().table()
    ledger, progress = tmp_path / "out" / "cells.sqlite", [0]
    for _ in range(2):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while cells_in(ledger) == progress[-1] and process.poll() is None:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        progress.append(cells_in(ledger))
    assert progress == sorted(set(progress)), f"every run must have added something: {progress}"
    assert progress[-1] < 48, f"the kills came too late to test anything: {progress}"
    assert main(command[3:]) == 0
    assert pl.read_parquet(tmp_path / "out" / "table.parquet").equals(expected)
    assert cells_in(ledger) == 48
