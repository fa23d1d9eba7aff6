"""The table of a study: every setting a column, each of one type, and the same numbers and keys as ever."""

import hashlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from driftbandit import Study
from driftbandit.studies import tasks
from driftbandit.studies.summary import summaries
from driftbandit.studies.tables import LONGEST_TEXT, column, plain

WORLDS: dict[str, dict[str, Any]] = {
    "plain": {"drift": "gradual", "noise": 0.1, "arms": 5, "delay": 3},
    "long": {
        "group": "others",
        "drift": {"kind": "switching", "every": [30, 40]},
        "noise": {"kind": "uniform", "scale": 1},
        "arms": {"count": 6, "fresh": True},
        "delay": {"kind": "timeout", "wait": 9, "delay": {"kind": "geometric", "mean": 2.0, "longest": 8}},
    },
    "ball": {"drift": {"kind": "path", "theta": [[1.0, 0.0]] * 60}, "noise": "rademacher", "arms": {"kind": "ball"}},
}
POLICIES: dict[str, dict[str, Any]] = {
    "RestartUCB": {"memory": ["theory", 10], "factor": 2},
    "narrow": {"kind": "WindowUCB", "memory": 20, "width": 0.5, "told": False},
    "BanditOverBandit": {"pool": [4, 8]},
}


def study(**changes: Any) -> Study:
    return Study(**{"worlds": WORLDS, "policies": POLICIES, "horizon": 60, "replicates": 2, "checkpoints": 2, **changes})


def test_every_setting_has_a_column_of_one_type(tmp_path: Path) -> None:
    table = study().run().table()
    assert table.height == 4 * 4 * 2 * 2
    assert table.columns[:2] == ["world", "policy"]
    assert table.columns[-3:] == ["replicate", "round", "regret"]
    assert dict(table.schema) | {
        "policy.kind": pl.String,
        "policy.tuning": pl.String,
        "policy.memory": pl.Int64,
        "policy.factor": pl.Int64,
        "policy.width": pl.Float64,
        "policy.told": pl.Boolean,
        "policy.pool": pl.String,
        "world.horizon": pl.Int64,
        "world.group": pl.String,
        "world.drift": pl.String,
        "world.drift.every": pl.Int64,
        "world.drift.theta": pl.String,
        "world.noise": pl.String,
        "world.noise.scale": pl.Float64,
        "world.arms": pl.String,
        "world.arms.count": pl.Int64,
        "world.arms.fresh": pl.Boolean,
        "world.delay": pl.String,
        "world.delay.longest": pl.Int64,
        "world.delay.wait": pl.Int64,
        "world.delay.delay": pl.String,
        "world.delay.delay.mean": pl.Float64,
        "world.delay.delay.longest": pl.Int64,
    } == dict(table.schema)
    table.write_csv(tmp_path / "table.csv")
    table.write_parquet(tmp_path / "table.parquet")
    assert pl.read_parquet(tmp_path / "table.parquet").equals(table)


def test_each_row_has_its_own_settings() -> None:
    table = study().run().table()
    of_policy = table.select(pl.col("^policy.*$")).unique().rows_by_key("policy", named=True, unique=True)
    theory, ten, narrow = of_policy["RestartUCB memory=theory"], of_policy["RestartUCB memory=10"], of_policy["narrow"]
    assert (theory["policy.kind"], theory["policy.tuning"], theory["policy.memory"]) == ("RestartUCB", "theory", None)
    assert (ten["policy.kind"], ten["policy.tuning"], ten["policy.memory"], ten["policy.factor"]) == ("RestartUCB", None, 10, 2)
    assert (narrow["policy.kind"], narrow["policy.memory"], narrow["policy.width"]) == ("WindowUCB", 20, 0.5)
    assert of_policy["BanditOverBandit"]["policy.pool"] == "[4, 8]"
    of_world = table.select(pl.col("^world.*$")).unique().rows_by_key("world", named=True, unique=True)
    assert (of_world["plain"]["world.noise"], of_world["plain"]["world.noise.scale"]) == ("gaussian", 0.1)
    assert (of_world["plain"]["world.arms"], of_world["plain"]["world.arms.count"]) == ("unit", 5)
    assert (of_world["plain"]["world.delay"], of_world["plain"]["world.delay.longest"]) == ("fixed", 3)
    assert of_world["long drift.every=40"]["world.drift.every"] == 40
    assert of_world["long drift.every=30"]["world.delay.delay"] == "geometric"
    assert of_world["ball"]["world.drift.theta"].endswith("… (60 entries)")
    assert len(of_world["ball"]["world.drift.theta"]) < LONGEST_TEXT + 20


def test_what_has_no_common_type_is_text() -> None:
    assert column("a", [1, "two", None]).to_list() == ["1", "two", None]
    assert column("a", [1, 0.5]).to_list() == [1.0, 0.5]
    assert column("a", [True, 1]).to_list() == ["True", "1"]
    assert plain([1, 2]) == "[1, 2]"


def test_bytes_are_not_called_memory() -> None:
    grid = summaries(study().run())[0]
    assert grid.headings[-1] == "state (bytes)"
    assert all(int(row[-1].replace(",", "")) > 0 for row in grid.rows)


def test_the_keys_of_cells_are_those_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed key would play again what is finished; a limit and a figure change nothing that is played."""
    monkeypatch.setattr(tasks, "__version__", "0.1.0")
    monkeypatch.setattr(tasks, "RESULTS", 3)
    for one in (study(), study(most_rounds=10**6, most_bytes=10**9, name="other")):
        keys = "".join(key for task in one.tasks() for key in task.keys)
        assert hashlib.sha256(keys.encode()).hexdigest() == "7a8466046be3d2ebaf21898435491c78bcc1452e74f0dd274d6545fd060e865f"
