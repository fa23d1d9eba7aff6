"""The suite: roles, stages that repeat nothing, ratios as one would compute them by hand, the shipped file, the figure."""

import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from common import LONG, rounds
from driftbandit import (
    BaseRate,
    GeometricDelay,
    Hidden,
    OracleRestartUCB,
    Policy,
    SettingsError,
    StaticUCB,
    Study,
    Timeout,
    figures,
)
from driftbandit.cli import main
from driftbandit.figures.look import DARK, LIGHT, Theme, contrast
from driftbandit.policies._base.confident import ConfidentPolicy
from driftbandit.report.tables import Grid, as_markdown
from driftbandit.studies import suite
from driftbandit.studies.hindsight import by_world, ratios, summaries, summary
from driftbandit.studies.settings import make_policy, make_world

T = rounds(1500, 60)
FILE = f"""
name = "tiny"
horizon = {T}
replicates = 7
seed = 3
judge_seed = 4
checkpoints = 1

[worlds.jumps]
group = "first"
drift = {{ kind = "switching", every = {T // 4} }}
noise = 0.1
arms = 5

[worlds.short-arms]
group = "second"
drift = "constant"
noise = 0.1
arms = {{ kind = "fixed", arms = [[0.5, 0.0], [0.0, 0.5]] }}

[policies.RestartUCB]
memory = [{T // 50}, {T // 8}, {T}]
width = [1, 0.1]

[policies.WindowUCB]
memory = [{T // 8}, {T}]

[policies.OracleRestartUCB]
width = [1, 0.1]

[policies.StaticUCB]

[policies.small]
kind = "StaticUCB"
arm_norm = 0.5
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "tiny.toml").write_text(FILE)
    return tmp_path / "tiny.toml"


def cells(folder: Path) -> int:
    """How many are in the ledger so far."""
    try:
        with sqlite3.connect(folder / "cells.sqlite") as base:
            return int(base.execute("SELECT COUNT(*) FROM cells").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


class Watch:
    """The stages of a run: rounds in all, then those told, the first of which were found finished."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.stages: list[tuple[int, list[int]]] = []

    def __call__(self, name: str, total: int) -> Callable[[int], None]:
        self.names.append(name)
        self.stages.append((total, []))
        return self.stages[-1][1].append


def test_what_is_tuned_in_hindsight_and_what_contends(file: Path) -> None:
    roles = {policy.label: suite.role(policy) for policy in suite.load(file).policy_variants}
    assert roles[f"RestartUCB memory={T} width=1"] == roles[f"WindowUCB memory={T}"] == "tuned"
    assert roles[f"RestartUCB memory={T} width=0.1"] == roles["OracleRestartUCB width=0.1"] == "wide"
    assert roles["OracleRestartUCB width=1"] == "oracle"
    assert roles["StaticUCB"] == roles["small"] == "contender"


def test_the_stages_play_what_may_win_and_nothing_twice(file: Path, tmp_path: Path) -> None:
    study, first = suite.load(file), Watch()
    table = suite.run(study, tmp_path / "a", stage=first)
    (scouted, told), (played, found) = first.stages
    assert all(" (at least a second and " in name for name in first.names)
    hindsight = 6 + 2 + 2
    assert told[0] == 0
    assert scouted == sum(told) == 2 * suite.SCOUTS * hindsight * T
    contending = 2 + 1  # arms of length 1 are too long for `small`
    survivors = played // (7 * T) - contending
    assert played == sum(found) == 7 * T * (survivors + contending)
    assert 2 <= survivors <= 2 * hindsight
    assert found[0] == survivors * suite.SCOUTS * T
    assert cells(tmp_path / "a") * T == scouted + played - found[0]

    again = Watch()
    assert suite.run(study, tmp_path / "a", stage=again).equals(table)
    assert again.stages == [(scouted, [scouted]), (played, [played])]
    moved = tmp_path / "moved.toml"
    moved.write_text(FILE.replace('"second"', '"first"'))
    regrouped = Watch()
    other = suite.run(suite.load(moved), tmp_path / "a", stage=regrouped)
    assert regrouped.stages == again.stages
    assert other.drop("group").equals(table.drop("group"))


def test_staging_changes_no_ratio(file: Path, tmp_path: Path) -> None:
    study = suite.load(file)
    table = suite.run(study, tmp_path / "staged")
    for world in study.world_variants:
        policies = [policy for policy in study.policy_variants if world.label == "short-arms" or policy.label != "small"]
        everything = suite.in_world(study, world, policies, 7).run()
        mean = dict(everything.final().group_by("policy").agg(pl.col("regret").mean()).iter_rows())
        tuned = min(v for k, v in mean.items() if k.startswith("WindowUCB") or (k.startswith("Restart") and k.endswith("=1")))
        oracle = mean["OracleRestartUCB width=1"]
        best = min(v for k, v in mean.items() if k not in ("StaticUCB", "small"))
        row = table.filter(world=world.label, policy="StaticUCB").row(0, named=True)
        assert [row[key] for key in ("tuned", "oracle", "best", "regret")] == [tuned, oracle, best, mean["StaticUCB"]]
        assert row["ratio"] == mean["StaticUCB"] / min(tuned, oracle)
        assert mean[row["tuned_by"]] == tuned
        assert mean[row["best_by"]] == best


def test_only_what_a_policy_says_it_cannot_play_is_left_out(file: Path) -> None:
    fresh = "arms = { count = 5, fresh = true }"
    policies = FILE + "\n[policies.DetectionAugmentedUCB]\n"
    file.write_text(policies)
    study = suite.load(file)
    jumps, short = study.world_variants
    names = ["StaticUCB", "small", "DetectionAugmentedUCB"]
    assert [policy.label for policy in suite.contenders(study, jumps)] == ["StaticUCB", "DetectionAugmentedUCB"]
    assert [policy.label for policy in suite.contenders(study, short)] == names
    file.write_text(policies.replace("arms = 5", fresh))
    study = suite.load(file)
    assert [policy.label for policy in suite.contenders(study, study.world_variants[0])] == ["StaticUCB"]


@pytest.mark.parametrize("kind", [ValueError, ZeroDivisionError])
def test_any_other_error_of_a_contender_is_told(file: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]) -> None:
    def broken(self: Policy, arms: Any) -> None:
        raise kind("as made")

    study = suite.load(file)
    monkeypatch.setattr(StaticUCB, "keep", broken)
    message = rf"\[policies.StaticUCB\] StaticUCB fails in the world 'jumps': {kind.__name__}: as made"
    with pytest.raises(SettingsError, match=message):
        suite.contenders(study, study.world_variants[0])


def test_those_far_from_the_best_of_their_class_are_given_up(file: Path) -> None:
    hindsight = [policy for policy in suite.load(file).policy_variants if suite.role(policy) != "contender"]
    regret = {
        f"RestartUCB memory={T // 50} width=1": 100.0,  # the best at width 1
        f"RestartUCB memory={T // 8} width=1": 149.0,
        f"RestartUCB memory={T} width=1": 151.0,
        f"WindowUCB memory={T // 8}": 160.0,
        f"WindowUCB memory={T}": 120.0,
        f"RestartUCB memory={T // 50} width=0.1": 10.0,  # the best of all
        f"RestartUCB memory={T // 8} width=0.1": 14.9,
        f"RestartUCB memory={T} width=0.1": 99.0,
        "OracleRestartUCB width=1": 1e6,
        "OracleRestartUCB width=0.1": 15.1,
    }
    final = pl.DataFrame(
        [(name, k, value + k) for name, value in regret.items() for k in (-1.0, 1.0)],
        schema=["policy", "replicate", "regret"],
        orient="row",
    )
    kept = [policy.label for policy in suite.worth_playing(hindsight, final)]
    assert kept == [
        f"RestartUCB memory={T // 50} width=1",
        f"RestartUCB memory={T // 50} width=0.1",
        f"RestartUCB memory={T // 8} width=1",
        f"RestartUCB memory={T // 8} width=0.1",
        f"WindowUCB memory={T}",
        "OracleRestartUCB width=1",
    ]


def made_up() -> pl.DataFrame:
    """Final regrets of two groups, one contender not playing everywhere."""
    rng = np.random.default_rng(0)
    names = {"a": "tuned", "b": "tuned", "c": "wide", "o": "oracle", "x": "contender", "y": "contender"}
    rows = [
        (group, world, policy, role, k, float(rng.uniform(1, 100)))
        for group, world in (("G", "w1"), ("G", "w2"), ("H", "w3"))
        for policy, role in names.items()
        for k in range(4)
        if (world, policy) != ("w2", "y")
    ]
    return pl.DataFrame(rows, schema=["group", "world", "policy", "role", "replicate", "regret"], orient="row")


def test_ratios_are_what_one_computes_by_hand() -> None:
    runs: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in made_up().iter_rows(named=True):
        runs[row["world"], row["policy"]].append(row["regret"])
    mean = {key: sum(values) / len(values) for key, values in runs.items()}
    table = ratios(made_up())
    assert table.select("world", "policy").rows() == [(w, p) for w in ("w1", "w2", "w3") for p in "xy"]
    for row in table.iter_rows(named=True):
        world, policy = row["world"], row["policy"]
        tuned, oracle = min(mean[world, "a"], mean[world, "b"]), mean[world, "o"]
        best = min(tuned, oracle, mean[world, "c"])
        assert [row["tuned"], row["oracle"], row["best"]] == pytest.approx([tuned, oracle, best])
        if (world, policy) == ("w2", "y"):
            assert row["regret"] is row["ratio"] is row["ratio_tuned"] is row["ratio_best"] is row["worst_run"] is None
            continue
        assert row["ratio"] == pytest.approx(mean[world, policy] / min(tuned, oracle))
        assert row["ratio_tuned"] == pytest.approx(mean[world, policy] / tuned)
        assert row["ratio_best"] == pytest.approx(mean[world, policy] / best)
        assert row["worst_run"] == pytest.approx(max(runs[world, policy]) / tuned)
    (x, y, z, v) = summary(table).iter_rows(named=True)
    assert [row["worlds"] for row in (x, y, z, v)] == [2, 1, 1, 1]
    w1, w2 = (table.filter(policy="x", world=world)["ratio"].item() for world in ("w1", "w2"))
    assert (x["ratio_mean"], x["ratio_worst"]) == pytest.approx(((w1 * w2) ** 0.5, max(w1, w2)))


def test_the_tables_show_a_dash_where_a_policy_does_not_play() -> None:
    table = ratios(made_up())
    grid = by_world(table)
    assert grid.headings == ("world", "tuned", "oracle", "best", "x", "y")
    assert [row[-1] == "–" for row in grid.rows] == [False, True, False]
    first, second = summaries(table)
    assert first.caption.startswith("G: ")
    assert "2 worlds" in first.caption
    assert {row[0]: row[-1] for row in first.rows} == {"x": "2", "y": "1"}
    assert len(second.rows) == 2
    assert as_markdown(Grid(("a", "b"), [("1", "2")], "c")) == "**c**\n\n| a | b |\n| --- | ---: |\n| 1 | 2 |\n"
    no_oracle = ratios(made_up().filter(pl.col("role") != "oracle"))
    assert (no_oracle["ratio"] * no_oracle["tuned"]).to_list() == pytest.approx(no_oracle["regret"].to_list(), nan_ok=True)


def test_a_selection_is_by_name_with_hints(file: Path, tmp_path: Path) -> None:
    chosen = suite.load(file, worlds="j*", policies=["StaticUCB"], replicates=2)
    assert list(chosen.worlds) == ["jumps"]
    assert list(suite.load(file, worlds="short-*, jumps").worlds) == ["jumps", "short-arms"]
    assert list(chosen.policies) == ["RestartUCB", "WindowUCB", "OracleRestartUCB", "StaticUCB"]
    assert (chosen.replicates, chosen.seed) == (2, 3)
    judged = suite.load(file, judge=True)
    assert (judged.replicates, judged.seed) == (suite.JUDGED, 4)
    for arguments, message in (
        ({"worlds": "jumsp*"}, "no world matches 'jumsp\\*'; did you mean 'jumps'"),
        ({"policies": ["StaticUBC"]}, "no contender 'StaticUBC'; did you mean 'StaticUCB'"),
        ({"worlds": "jumps,wlaks"}, "no world matches 'wlaks'"),
        ({"policies": ["WindowUCB"]}, "'WindowUCB' is tuned in hindsight and always played: pick from .*, StaticUCB"),
    ):
        with pytest.raises(SettingsError, match=message):
            suite.load(file, **arguments)
    file.write_text(FILE.replace("judge_seed = 4", ""))
    with pytest.raises(SettingsError, match="must have a key 'judge_seed'"):
        suite.load(file, judge=True)
    file.write_text(FILE.replace("judge_seed = 4", "judge_seed = -4"))
    with pytest.raises(ValueError, match="judge_seed must be at least 0"):
        suite.load(file)
    file.write_text('horizon = 9\n[worlds.w]\ndrift = "gradual"\nnoise = 1\n[policies.StaticUCB]\n')
    with pytest.raises(SettingsError, match="must have one with a list of memories"):
        suite.load(file)


def test_the_shipped_file_is_sound() -> None:
    study = suite.load()  # builds every policy in every world
    groups = [world.settings["group"] for world in study.world_variants]
    assert [groups.count(group) for group in ("listed", "hidden")] == [26, 1]
    assert groups.count("own") >= 10
    assert [groups.count(group) for group in ("clicks", "delays")] == [15, 8]
    assert study.judge_seed != study.seed
    tables = [json.dumps(world.settings, sort_keys=True) for world in study.world_variants]
    assert len(set(tables)) == len(tables)
    for world in study.world_variants:
        block = next(make_world(world.where, world.settings, study.seed).deal(0, 2))
        assert np.isfinite(block.best).all()
    tuned = [policy for policy in study.policy_variants if suite.role(policy) == "tuned"]
    assert len(tuned) == 4 * 12
    assert len([policy for policy in study.policy_variants if suite.role(policy) == "wide"]) == 2 * (4 * 12 + 1)


def test_what_a_policy_is_told() -> None:
    table = {"dim": 2, "drift": {"kind": "gradual", "length": 10.0}, "noise": {"kind": "student-t", "scale": 0.2}, "horizon": T}
    world = make_world("w", table, 0)
    told = make_policy("p", {"kind": "StaticUCB"}, world, 0)
    assert isinstance(told, ConfidentPolicy)
    assert (told.noise, told.theta_norm, told.horizon) == (0.2, 10.0, T)
    untold = make_policy("p", {"kind": "StaticUCB", "told": False}, world, 0)
    assert isinstance(untold, ConfidentPolicy)
    assert (untold.dim, untold.noise, untold.theta_norm, untold.horizon) == (2, 1.0, 1.0, None)
    with pytest.raises(SettingsError, match="told must be true or false, got 'nothing'"):
        make_policy("p", {"kind": "StaticUCB", "told": "nothing"}, world, 0)
    with pytest.raises(SettingsError, match="has no key 'lenght'; did you mean 'length'"):
        make_world("w", {**table, "drift": {"kind": "gradual", "lenght": 2.0}}, 0)


def test_what_a_policy_is_told_of_a_shop() -> None:
    table = {
        "dim": 24,
        "drift": {"kind": "hidden", "rate": 0.05, "features": 4, "spread": 0.4},
        "arms": {"kind": "disjoint", "actions": 6, "features": 4},
        "noise": "clicks",
        "delay": {"kind": "timeout", "wait": 60, "delay": {"kind": "geometric", "mean": 5.0, "longest": 50}},
        "horizon": T,
    }
    world = make_world("w", table, 0)
    assert world.delay == Timeout(60, GeometricDelay(5.0, longest=50))
    assert world.drift == BaseRate(Hidden(24, features=4), rate=0.05, features=4, spread=0.4)
    told = make_policy("p", {"kind": "OracleRestartUCB"}, world, 0)
    assert isinstance(told, OracleRestartUCB)
    assert told.noise == 0.5
    assert told.theta_norm == pytest.approx(0.05 * 24**0.5 * 1.4)
    assert told.change_points == [T * k // 6 for k in range(1, 6)]
    counting = make_world("w", {**table, "noise": {"kind": "counts", "zeros": 0.8, "typical": 0.5}}, 0)
    counts = make_policy("p", {"kind": "StaticUCB"}, counting, 0)
    assert isinstance(counts, ConfidentPolicy)
    assert counts.noise == pytest.approx(math.sqrt(0.5 + 0.25 * 0.8 / 0.2))
    for wrong, message in (
        ({"drift": {"kind": "hidden", "spread": 0.4}}, "has no key 'spread'"),
        ({"drift": {"kind": "hidden", "rate": 0.1, "drift": 1, "features": 4}}, "has no key 'drift'"),
        ({"drift": {"kind": "hidden", "rate": 0.1}}, "features"),
        ({"drift": {"kind": "constant", "rate": 0.1, "features": 4, "length": 2.0}}, "drift must have unit length"),
        ({"noise": {"kind": "clicks", "scale": 0.1}}, "has no key 'scale'"),
        ({"delay": {"kind": "timeout", "wait": 3, "delay": {"kind": "fixd"}}}, r"\[w.delay.delay\] unknown delay kind 'fixd'"),
        ({"arms": {"kind": "disjoint", "actions": 5, "features": 4}}, "arms must have 24 columns, like the drift, got 20"),
    ):
        with pytest.raises(SettingsError, match=message):
            make_world("w", {**table, **wrong}, 0)


@LONG
@pytest.mark.compiled
def test_killed_and_run_again_the_table_is_the_same(file: Path, tmp_path: Path) -> None:
    file.write_text(FILE.replace(f"horizon = {T}", "horizon = 300_000"))
    expected = suite.run(suite.load(file), tmp_path / "whole")
    command = [sys.executable, "-m", "driftbandit.cli", "suite", str(file), "--workers", "1", "--out", str(tmp_path / "killed")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while cells(tmp_path / "killed") == 0 and process.poll() is None:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < cells(tmp_path / "killed") < cells(tmp_path / "whole")
    subprocess.run(command, check=True, capture_output=True)
    assert pl.read_parquet(tmp_path / "killed" / "table.parquet").equals(expected)
    assert cells(tmp_path / "killed") == cells(tmp_path / "whole")


@pytest.mark.compiled
def test_the_command_writes_its_folder(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["suite", str(file), "--judge", "--replicates", "2", "--policies", "StaticUCB, small", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "first: ratio of mean final regret" in printed
    for name in ("suite.png", "suite.svg", "suite-dark.png", "suite-dark.svg", "table.csv", "table.parquet"):
        assert (out / name).stat().st_size > 500
    page = (out / "suite.md").read_text()
    assert "| jumps |" in page
    assert page.count("–") == 1  # `small` in the world whose arms are too long for it
    about = json.loads((out / "settings.json").read_text())
    assert (about["study"]["seed"], about["study"]["replicates"]) == (4, 2)
    assert Study.from_dict(about["study"]).settings() == about["study"]
    assert main(["suite", str(file), "--policies", "smal"]) == 2
    assert "did you mean 'small'" in capsys.readouterr().err


@pytest.mark.compiled
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_figure_has_a_number_in_every_cell_that_can_be_read(theme: Theme) -> None:
    table = ratios(made_up()).with_columns(
        ratio=pl.when(pl.col("world") == "w1").then(pl.Series([1.0, 0.05] * 3)).otherwise(pl.col("ratio"))
    )
    figure = figures.suite(table, theme=theme)
    axes, bar = figure.axes
    assert figure.get_facecolor() == matplotlib.colors.to_rgba(theme.page)
    words = [text.get_text() for text in axes.texts]
    names = ["G", "w1", "w2", "geometric mean", "worst", "H", "w3"]
    assert [word for word in words if word in names] == names
    assert words.count("–") == 1
    patches = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert len(patches) == 2 * 5
    fills: dict[tuple[float, float], str] = {(p.get_x() + 0.5, p.get_y() + 0.5): to_hex(p.get_facecolor()) for p in patches}
    for text in axes.texts:
        on = fills.get(text.get_position(), theme.page)
        assert contrast(to_hex(text.get_color()), on) >= 4.5
    shade: Any = {text.get_text(): fills[text.get_position()] for text in axes.texts if text.get_position() in fills}
    assert shade["1.00"] == theme.page
    assert shade["0.05"] == theme.palette[2]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["x", "y"]
    assert "hindsight" in bar.get_xlabel()
    assert figures.as_svg(figure).startswith("<svg")
