"""Studies: errors that name the key, grids, the tidy table, resuming, and every engine giving the same bits."""

import argparse
import io
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from rich.console import Console
from scipy import stats

from common import SOAK, cells_in, rounds
from driftbandit import SettingsError, StaticUCB, Study, play
from driftbandit.cli import main
from driftbandit.cli.screen import run_studies
from driftbandit.paper.settings import experiment
from driftbandit.studies.engines import run_all
from driftbandit.studies.scaling import fit_exponents
from driftbandit.studies.settings import make_policy, make_world
from driftbandit.studies.study import run_together
from driftbandit.studies.summary import paired
from driftbandit.studies.tasks import play_task

T = rounds(2000, 120)


def settings(**changes: Any) -> dict[str, Any]:
    return {
        "name": "small",
        "horizon": T,
        "replicates": 3,
        "checkpoints": 4,
        "worlds": {
            "switching": {"drift": {"kind": "switching", "every": 300}, "dim": 3, "noise": 0.1, "arms": 5},
            "ball": {
                "drift": "gradual",
                "noise": {"kind": "uniform", "scale": 0.2},
                "arms": {"kind": "ball"},
                "delay": 3,
            },
        },
        "policies": {
            "RestartUCB": {"memory": ["theory", 100]},
            "narrow": {"kind": "WindowUCB", "window": 50, "width": 0.3},
            "BanditOverBandit": {},
        },
        **changes,
    }


def test_a_study_is_play_as_data() -> None:
    study = Study.from_dict(settings()).run()
    table = study.table()
    assert table.height == 2 * 4 * 3 * 4
    world = make_world("w", {**settings()["worlds"]["switching"], "horizon": T}, 0)
    policy = make_policy("p", {"kind": "RestartUCB", "memory": 100}, world, 1)
    expected = play({"p": policy}, world, replicates=[1], checkpoints=4).regret[0, 0]
    rows = table.filter(world="switching", policy="RestartUCB memory=100", replicate=1)
    assert rows["regret"].to_list() == expected.tolist()
    assert rows["round"].to_list() == [T // 4, T // 2, 3 * T // 4, T]
    assert set(table["policy.memory"].to_list()) == {100, None}
    assert study.timing().height == 24
    assert all(size > 0 for size in study.timing()["bytes"])
    assert Study.from_dict(study.settings()).settings() == study.settings()


def test_lists_make_grids_of_worlds_too() -> None:
    worlds = {"w": {"drift": {"kind": "switching", "every": [50, 60]}, "noise": [0.1, 0.2, 0.3], "horizon": [T, 2 * T]}}
    study = Study.from_dict(settings(worlds=worlds, policies={"StaticUCB": {}}))
    assert len(study.world_variants) == 12
    assert study.world_variants[-1].label == f"w horizon={2 * T} drift.every=60 noise=0.3"


def test_a_list_that_is_one_value_is_no_grid() -> None:
    study = Study.from_dict(settings(policies={"BanditOverBandit": {"pool": [10, 20, 40]}}))
    assert len(study.policy_variants) == 1
    study = Study.from_dict(settings(policies={"BanditOverBandit": {"pool": [[10, 20], [40]]}}))
    assert len(study.policy_variants) == 2


def test_every_form_that_the_example_names() -> None:
    worlds: dict[str, dict[str, Any]] = {
        "path": {"drift": {"kind": "path", "theta": [[1.0, 0.0]] * T}, "noise": 0.1},
        "fixed": {"drift": "gradual", "noise": "rademacher", "arms": {"kind": "fixed", "arms": [[1, 0], [0, 1]]}},
        "ellipsoid": {"drift": "gradual", "noise": 0.1, "arms": {"kind": "ellipsoid", "shape": [[0.5, 0], [0, 0.2]]}},
        "several": {"drift": [{"kind": "switching", "every": [20, 30]}, "gradual"], "noise": 0.1},
        "shapes": {
            "drift": "gradual",
            "noise": 0.1,
            "arms": {"kind": "ellipsoid", "shape": [[[1, 0], [0, 1]], [[0.5, 0], [0, 1]]]},
        },
    }
    study = Study(worlds, {"BanditOverBandit": {"pool": [[2, 4], [8, 16]]}}, horizon=T, replicates=1, checkpoints=1)
    assert [variant.name for variant in study.world_variants] == ["path", "fixed", "ellipsoid"] + ["several"] * 3 + [
        "shapes"
    ] * 2
    table = study.run().table()
    assert table.height == 8 * 2
    assert "pool=[2, 4]" in table["policy"][0]
    table.write_csv()  # values that are lists must not stop it


def test_the_last_round_is_always_noted() -> None:
    study = Study.from_dict(settings(checkpoints=[10])).run()
    assert study.table()["round"].unique().sort().to_list() == [10, T]
    assert study.final()["regret"].min() is not None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"replicate": 3}, r"\[study\] has no key 'replicate'; did you mean 'replicates'"),
        ({"worlds": {}}, r"\[worlds\] must not be empty"),
        ({"worlds": {"w": {"drift": "gradual"}}}, r"\[worlds.w\] must have a key 'noise'"),
        ({"worlds": {"w": {"drift": "gradul", "noise": 1}}}, r"\[worlds.w.drift\] unknown drift kind 'gradul'; did you mean"),
        ({"worlds": {"w": {"drift": "gradual", "nose": 1}}}, r"\[worlds.w\] has no key 'nose'; did you mean 'noise'"),
        (
            {"worlds": {"w": {"drift": {"kind": "switching", "evry": 3}, "noise": 1}}},
            r"\[worlds.w.drift\] has no key 'evry'; did you mean 'every'",
        ),
        ({"worlds": {"w": {"drift": "gradual", "noise": -1}}}, r"\[worlds.w.noise\] scale must not be negative"),
        ({"policies": {"RestartUBC": {}}}, r"\[policies.RestartUBC\].*did you mean 'RestartUCB'"),
        ({"policies": {"RestartUCB": {"perod": 3}}}, r"\[policies.RestartUCB\] has no key 'perod'; did you mean 'period'"),
        ({"policies": {"RestartUCB": {}}}, r"\[policies.RestartUCB\] period must be given"),
        ({"policies": {"RestartUCB": {"memory": "theroy"}}}, r"memory must be a number of rounds, or 'theory' or 'early'"),
        ({"policies": {"RestartUCB": 5}}, r"\[policies\] RestartUCB must be a table"),
        ({"replicates": 0}, "replicates must be at least 1"),
        ({"replicates": True}, "replicates must be a whole number"),
        ({"name": "../evil"}, "name must be usable as the name of a folder"),
        ({"worlds": [1]}, "must be tables"),
        ({"figure": "scaling"}, "at least two horizons"),
        ({"checkpoints": "10"}, "checkpoints must be a whole number"),
        ({"policies": {"RestartUCB": {"memory": []}}}, "memory must not be an empty list"),
        ({"policies": {"RestartUCB": {"memory": [20, 20]}}}, "'RestartUCB memory=20' is defined twice"),
        ({"policies": {"RestartUCB": {"period": 5, "factor": 2}}}, "factor requires memory: give memory too"),
        ({"policies": {"RestartUCB": {"period": 5, "memory": 2}}}, "give memory or period, not both"),
        ({"policies": {"RestartUCB": {"memory": -3}}}, r"\[policies.RestartUCB\] memory must be greater than 0, got -3"),
        ({"policies": {"RestartUCB": {"memory": 3, "factor": 0}}}, "factor must be greater than 0, got 0"),
        ({"policies": {"RestartUCB": {"period": 3, "worlds": "w"}}}, "has no key 'worlds'; known: kind, told, memory"),
        ({"horizon": 0}, "^horizon must be at least 1, got 0"),
        ({"horizon": [T, 100_000.0]}, "^horizon must be a whole number, got 100000.0: write 100000$"),
        ({"worlds": {"w": {"drift": "abrupt", "dim": 1, "noise": 1}}}, "dim must be at least 2, since θ moves in a plane"),
        ({"policies": {"RestartUCB": {"memory": 3, "factor": "2"}}}, "factor must be a number, got '2'"),
        ({"policies": {"RestartUCB": {"memory": {"a": 1}}}}, "memory must be a number of rounds"),
        ({"policies": {"StaticUCB": {"dim": 5}}}, "dim must be 3, like the world's"),
        ({"worlds": {"w": {"drift": {"kind": {"a": 1}}, "noise": 1}}}, r"\[worlds.w.drift\] unknown drift kind"),
        ({"figure": "pie"}, "figure must be one of"),
        ({"checkpoints": [10**9]}, "checkpoints must lie between"),
    ],
)  # fmt: skip
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Study.from_dict(settings(**changes))


def test_a_missing_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file .*five.toml: `driftbandit example > .*five.toml` writes"):
        Study.from_file(tmp_path / "five.toml")


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("horizon = = 3")
    with pytest.raises(SettingsError, match=r"broken.toml is not TOML: .*line 1"):
        Study.from_file(tmp_path / "broken.toml")


def test_a_finished_cell_is_never_computed_twice(tmp_path: Path) -> None:
    played: list[int] = []
    study = Study.from_dict(settings()).run(tmp_path, progress=played.append)
    assert played[0] == 0
    assert sum(played) == study.rounds()
    again: list[int] = []
    Study.from_dict(settings()).run(tmp_path, progress=again.append)
    assert again == [study.rounds()]
    more = settings()
    more["policies"]["StaticUCB"] = {}
    added: list[int] = []
    larger = Study.from_dict(more).run(tmp_path, progress=added.append)
    assert added[0] == study.rounds()  # only the new policy is played …
    assert len(added) == 1 + 6
    fresh = Study.from_dict(more).run()
    assert larger.table().equals(fresh.table())  # … and what was there is the same as if played anew


def test_what_studies_share_is_played_once(tmp_path: Path) -> None:
    first, second = (settings(), settings(replicates=2, name="fewer"))
    second["policies"]["StaticUCB"] = {}
    one, two = Study.from_dict(first), Study.from_dict(second)
    played: list[int] = []
    run_together([one, two], tmp_path, progress=played.append)
    shared = 2 * 2 * 4 * T  # worlds × replicates × policies
    assert played[0] == shared
    assert sum(played) == one.rounds() + two.rounds()
    assert cells_in(tmp_path / "cells.sqlite") * T == one.rounds() + two.rounds() - shared
    assert two.table().equals(Study.from_dict(second).run().table())
    assert one.table().equals(Study.from_dict(first).run().table())


def test_the_command_line_runs_studies_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[Study]] = []

    def together(studies: list[Study], *arguments: Any, **options: Any) -> None:
        called.append(studies)
        run_together(studies, *arguments, **options)

    monkeypatch.setattr("driftbandit.studies.study.run_together", together)
    todo = {name: experiment(name, horizon=50, repetitions=2, contenders=["StaticUCB"]) for name in ("abrupt", "gradual")}
    console = Console(file=io.StringIO(), width=200)
    run_studies(console, todo, tmp_path, argparse.Namespace(engine="threads", workers=None, address=None))
    assert called == [list(todo.values())]
    printed = cast(io.StringIO, console.file).getvalue()
    assert printed.startswith("300 rounds, at least a second and ")


def test_what_is_found_finished_is_told_apart_from_what_is_played(tmp_path: Path) -> None:
    def told(repetitions: int) -> str:
        console = Console(file=io.StringIO(), width=200)
        todo = {"abrupt": experiment("abrupt", horizon=50, repetitions=repetitions, contenders=["RestartUCB"])}
        run_studies(console, todo, tmp_path, argparse.Namespace(engine="threads", workers=1, address=None))
        return cast(io.StringIO, console.file).getvalue().splitlines()[-1]

    assert told(2).startswith("100 rounds: 100 played in ")
    assert told(5).startswith("250 rounds: 100 found finished, 150 played in ")


def test_a_folder_of_another_study_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'horizon = 20\nreplicates = 2\n[worlds.w]\ndrift = "abrupt"\nnoise = 0.1\n[policies.StaticUCB]\n'
    for name, code in (("one", 0), ("two", 2), ("one", 0)):
        (tmp_path / "study.toml").write_text(f'name = "{name}"\n{text}')
        assert main(["compare", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out")]) == code
        assert ("holds the study 'one', which 'two' would overwrite" in capsys.readouterr().err) == (name == "two")
    assert {f"{table}.{kind}" for table in ("table", "timing") for kind in ("csv", "parquet")} <= set(
        os.listdir(tmp_path / "out")
    )


def test_differences_are_paired_by_replicate() -> None:
    study = Study.from_dict(settings()).run()
    found, final = study.differences("narrow"), study.final()
    assert found.height == 2 * 3
    row = found.row(by_predicate=(pl.col("world") == "ball") & (pl.col("policy") == "BanditOverBandit"), named=True)
    bob, narrow = (
        final.filter(world="ball", policy=name).sort("replicate")["regret"].to_numpy()
        for name in ("BanditOverBandit", "narrow")
    )
    expected = stats.ttest_rel(bob, narrow)
    ends = expected.confidence_interval(0.95)
    assert row["difference"] == pytest.approx((bob - narrow).mean())
    assert [row["difference"] - row["half_width"], row["difference"] + row["half_width"]] == pytest.approx(
        [ends.low, ends.high]
    )
    assert row["ratio"] == pytest.approx(bob.mean() / narrow.mean())
    assert row["horizon"] == T
    assert "RestartUCB memory=theory" not in study.differences()["policy"]
    with pytest.raises(SettingsError, match="unknown policy 'narow'; did you mean 'narrow'"):
        study.differences("narow")


def test_what_differs_is_compared_with_the_first_policy() -> None:
    study = Study.from_dict(settings()).run()
    grid = paired(study)
    assert grid.caption == "final regret compared with RestartUCB memory=theory, paired, ± 95 %"
    assert [row[:2] for row in grid.rows[:2]] == [
        (f"switching: T = {T:,}", "RestartUCB memory=100"), (f"switching: T = {T:,}", "narrow"),
    ]  # fmt: skip
    assert all("-" not in row[2] and row[2][0] in "+−" for row in grid.rows)


def test_a_figure_is_named_alike_in_python_and_in_toml() -> None:
    study = Study(settings()["worlds"], settings()["policies"], horizon=[T, 2 * T], figure="scaling")
    assert study.figure == study.settings()["figure"] == "scaling"
    assert Study.from_dict(study.settings()) == study


def test_an_error_says_which_policy_broke_and_where(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(StaticUCB):
        def keep(self, arms: Any) -> None:
            raise ZeroDivisionError("as made")

    with pytest.raises(ZeroDivisionError) as caught:
        Study.from_dict(settings(policies={"StaticUCB": {}, "bad": {"kind": "Broken"}})).run(workers=1)
    notes = " ".join(caught.value.__notes__)
    assert "while bad played replicate" in notes
    assert "in the world 'switching'" in notes


def test_changed_settings_never_mix(tmp_path: Path) -> None:
    Study.from_dict(settings()).run(tmp_path)
    for changes in ({"seed": 1}, {"horizon": T + 8}, {"checkpoints": 2}):
        changed = Study.from_dict(settings(**changes)).run(tmp_path)
        assert changed.table().equals(Study.from_dict(settings(**changes)).run().table())


def test_a_study_that_has_not_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="run the study first"):
        Study.from_dict(settings()).table()
    study = Study.from_dict(settings()).run(tmp_path)
    with sqlite3.connect(tmp_path / "cells.sqlite") as base:
        base.execute("DELETE FROM cells WHERE rowid = 1")
    with pytest.raises(KeyError):
        study.table()


@pytest.mark.compiled
def test_killed_again_and_again_the_table_is_that_of_an_uninterrupted_run(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        'name = "killed"\nhorizon = 400_000\nreplicates = 40\ncheckpoints = 5\n'
        '[worlds.w]\ndrift = "gradual"\nnoise = 0.3\n[policies.RestartUCB]\nmemory = [100, 300]\n[policies.StaticUCB]\n'
    )
    command = [sys.executable, "-m", "driftbandit.cli", "compare", str(file), "--out", str(tmp_path / "killed")]
    expected = Study.from_file(file).run().table()
    chance = random.Random(0)
    ledger = tmp_path / "killed" / "cells.sqlite"
    progress = []
    for _ in range(10 if SOAK else 5):
        before, early = cells_in(ledger), chance.random() < 0.2
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not early and cells_in(ledger) == before and process.poll() is None:
            time.sleep(0.05)
        time.sleep(chance.uniform(0.0, 1.5 if early else 0.2))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        progress.append(cells_in(ledger))
    assert progress == sorted(progress)
    subprocess.run(command, check=True, capture_output=True)
    killed = pl.read_parquet(tmp_path / "killed" / "table.parquet")
    assert killed.equals(expected)
    assert cells_in(ledger) == 40 * 3
    assert 0 < progress[-1] < 120, f"the kills came too early or too late to test anything: {progress}"


@pytest.mark.compiled
@pytest.mark.parametrize("engine", ["processes", "dask", "ray"])
def test_every_engine_gives_the_same_table(engine: str) -> None:
    expected = Study.from_dict(settings()).run().table()
    assert Study.from_dict(settings()).run(engine=engine, workers=2).table().equals(expected)


@pytest.mark.compiled
def test_dask_survives_a_worker_killed_half_way(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    larger = settings(replicates=12)
    expected = Study.from_dict(larger).run().table()
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        victims = [worker.process.process.pid for worker in cluster.workers.values()]
        killed: list[int] = []

        def kill_one(played: int) -> None:
            if played and not killed:
                os.kill(victims[0], signal.SIGKILL)
                killed.append(victims[0])

        study = Study.from_dict(larger).run(tmp_path, engine="dask", address=cluster.scheduler_address, progress=kill_one)
    assert killed
    assert study.table().equals(expected)


@pytest.mark.compiled
def test_memory_does_not_grow_with_the_horizon() -> None:
    script = """
import resource, sys
from driftbandit import Study
worlds = {"w": {"drift": "random-walk", "noise": 0.1, "arms": 5}}
policies = {"RestartUCB": {"memory": 100}, "WindowUCB": {"memory": 100}}
for horizon in (100_000, int(sys.argv[1])):
    Study(worlds, policies, horizon=horizon, replicates=1, checkpoints=10).run(workers=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    short, long = (
        int(subprocess.run([sys.executable, "-c", script, str(horizon)], capture_output=True, text=True, check=True).stdout)
        for horizon in (100_000, 10_000_000)
    )
    assert long < 1.05 * short  # kilobytes; the paths alone of 10⁷ rounds would be 160,000 more


def test_engines_are_named() -> None:
    with pytest.raises(ValueError, match="engine must be one of threads, processes, dask, ray"):
        list(run_all(play_task, [], engine="cloud"))
    with pytest.raises(ValueError, match="address is for"):
        list(run_all(play_task, [], engine="threads", address="tcp://nowhere"))


def test_exponents_are_recovered() -> None:
    rows = [
        {"world": "w", "policy": "p", "replicate": r, "horizon": T, "regret": 3.0 * T**0.7 * (1 + 0.01 * (r - 5))}
        for T in (10**3, 10**4, 10**5)
        for r in range(11)
    ]
    fit = fit_exponents(pl.DataFrame(rows)).row(0, named=True)
    assert fit["exponent"] == pytest.approx(0.7, abs=1e-3)
    assert fit["low"] < 0.7 < fit["high"]
    assert fit["high"] - fit["low"] < 0.02


def test_the_paper_as_a_study() -> None:
    study = experiment("abrupt", horizon=T, repetitions=2)
    assert [variant.name for variant in study.policy_variants][-1] == "OracleRestartUCB"
    assert len(experiment("gradual", horizon=T, factor=[1, 10], contenders=["WindowUCB"]).policy_variants) == 2
