"""A policy of one's own: its file, and "module:Class" wherever a policy is named. It plays, is checked, drawn and resumed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import forgetful
from common import LONG, rounds
from driftbandit import Gaussian, Gradual, SettingsError, Study, World, play
from driftbandit.checks import check_policy
from driftbandit.checks.policy import CHECKS
from driftbandit.figures.look import LIGHT, pen
from driftbandit.replay.replay import Replay
from driftbandit.replay.tasks import Known, Task
from driftbandit.studies import suite
from driftbandit.studies.kinds import MEMORY
from driftbandit.studies.settings import make_policy, make_world
from driftbandit.studies.summary import summaries
from driftbandit.studies.tasks import expand
from forgetful import ForgetfulUCB, Habit

T = rounds(1000, 120)
STUDY = """
horizon = {T}
replicates = 2
checkpoints = 4
worlds.w = {{ drift = "random-walk", dim = 3, noise = 0.1, arms = {{ count = 5, fresh = true }} }}
[policies.RestartUCB]
memory = 40
[policies.ForgetfulUCB]
kind = "forgetful:ForgetfulUCB"
memory = [20, 40]
width = 0.3
[policies.habit]
kind = "forgetful:Habit"
memory = 30
"""
LABELS = ["RestartUCB", "ForgetfulUCB memory=20", "ForgetfulUCB memory=40", "habit"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(STUDY.format(T=T))
    return path


def own(kind: str, **settings: Any) -> dict[str, Any]:
    worlds = {"w": {"drift": "gradual", "noise": 0.1}}
    return {"worlds": worlds, "policies": {"mine": {"kind": kind, **settings}}, "horizon": 50, "replicates": 1}


def test_a_study_names_a_policy_of_ones_own_like_any_other(file: Path) -> None:
    study = Study.from_file(file).run()
    table = study.table()
    assert table["policy"].unique(maintain_order=True).to_list() == LABELS
    world = make_world("w", study.world_variants[0].settings, 0)
    mine: dict[str, Any] = {
        "f": ForgetfulUCB(3, period=20, width=0.3, noise=0.1, horizon=T),
        "h": Habit(3, memory_of_mine=30.0, seed=1),
    }
    expected = play(mine, world, replicates=[1], checkpoints=4)
    for place, name in enumerate((LABELS[1], LABELS[3])):
        assert table.filter(policy=name, replicate=1)["regret"].to_list() == expected.regret[place, 0].tolist()
    assert dict(study.timing().filter(replicate=0).select("policy", "bytes").iter_rows())["habit"] == 0
    assert {row[0]: row[3] for row in summaries(study)[0].rows}["habit"] == "–"


@LONG
def test_processes_import_it_by_themselves(file: Path) -> None:
    expected = Study.from_file(file).run().table()
    assert Study.from_file(file).run(engine="processes", workers=2).table().equals(expected)


@LONG
@pytest.mark.compiled
def test_clusters_import_it_by_themselves(file: Path) -> None:
    expected = Study.from_file(file).run().table()
    assert Study.from_file(file).run(engine="dask", workers=2).table().equals(expected)


def test_it_plays_is_checked_and_wears_its_pen() -> None:
    policy = ForgetfulUCB(3, period=rounds(400, 60), noise=0.1)
    assert check_policy(policy) == list(CHECKS)
    world = World(Gradual(3), Gaussian(0.1), T)
    assert 0.0 < play({"mine": policy}, world).final("mine")[0] < 2.0 * T
    study = Study({"w": {"drift": "gradual", "noise": 0.1}}, {"ForgetfulUCB": {"kind": "forgetful:ForgetfulUCB"}}, horizon=50)
    (line,) = (line for line in study.run().draw().axes[0].lines if line.get_marker())
    assert (line.get_color(), line.get_marker()) == (pen(8, LIGHT).colour, pen(8, LIGHT).marker)


def test_the_suite_holds_it_against_hindsight_and_never_tunes_hindsight_with_it(file: Path, tmp_path: Path) -> None:
    file.write_text(STUDY.format(T=T).replace("memory = 40", "memory = [40, 80]"))
    study = suite.load(file)
    assert [suite.role(policy) for policy in study.policy_variants] == ["tuned"] * 2 + ["contender"] * 3
    table = suite.run(study, tmp_path / "out")
    assert set(table["policy"]) == set(LABELS[1:])
    assert "ForgetfulUCB" not in MEMORY


def test_a_replay_names_it_too() -> None:
    rng = np.random.default_rng(0)
    features = rng.uniform(-0.5, 0.5, (120, 2))
    log = {"round": np.arange(120) // 4, "a": features[:, 0], "b": features[:, 1], "reward": features @ [1.0, 0.5]}
    replay = Replay(pl.DataFrame(log), round="round", features=["a", "b"], reward="reward")
    tables: dict[str, dict[str, Any]] = {
        "mine": {"kind": "forgetful:ForgetfulUCB", "memory": [5, 10]},
        "habit": {"kind": "forgetful:Habit", "memory": 9, "stubborn": True},
    }
    made = {policy.label: Task("", policy, Known(2), 0, 0).make() for policy in expand("policies", tables)}
    assert list(made) == ["mine memory=5", "mine memory=10", "habit"]
    assert made["mine memory=5"] == ForgetfulUCB(2, period=5)
    assert all(replay.play(policy).sum() > replay.random.sum() for policy in made.values())
    habit = expand("policies", tables)[-1]
    luck = [Task("", habit, Known(2), seed, k).make().rng.random() for seed, k in ((0, 0), (0, 1), (7, 0))]
    assert luck == [np.random.default_rng(seed).random() for seed in (0, 1, 7)]


def test_what_a_constructor_asks_for_is_told() -> None:
    world = make_world("w", {**own("")["worlds"]["w"], "horizon": 50}, 0)
    assert make_policy("p", {"kind": "forgetful:ForgetfulUCB"}, world, 0).horizon == 50
    assert make_policy("p", {"kind": "forgetful:ForgetfulUCB", "told": False}, world, 0).horizon is None
    luck = [make_policy("p", {"kind": "forgetful:Habit"}, world, k).rng.random() for k in (0, 1, 1)]
    assert luck[0] != luck[1] == luck[2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (own("nowhere:Class"), r"\[policies.mine\] kind 'nowhere:Class': 'nowhere' cannot be imported \(ModuleNotFoundError: "),
        (own("nowhere:Class"), "it must be importable here and on every worker"),
        (own("forgetful:Nobody"), r"kind 'forgetful:Nobody': there is no class 'Nobody' in <module 'forgetful'"),
        (own("forgetful:habit"), "there is no class 'habit' in .*; did you mean 'Habit'"),
        (own("forgetful.py:Habit"), "must name the module without .py: write 'forgetful:Habit'"),
        (own("forgetful.Habit"), "unknown policy kind 'forgetful.Habit' .*; did you mean 'forgetful:Habit'"),
        (own("forgetful:Curious"), r"\[policies.mine\] Curious needs path_length, .* set `path_length = …` here, or give it a"),
        (own("forgetful:Mute"), "must be a class with the methods select and update, got <class 'forgetful.Mute'>"),
        (own("forgetful:np"), "must be a class with the methods select and update, got <module 'numpy'"),
        (own("forgetful:Unaware"), "must have a constructor that takes dim"),
        (own(":Class"), "kind ':Class': '' cannot be imported"),
        (own("forgetful:"), "there is no class ''"),
        (own("ForgetfulUBC"), "unknown policy kind 'ForgetfulUBC' .one of your own is 'module:Class'.; did you mean"),
        (own("forgetful:Habit", stuborn=True), r"\[policies.mine\] has no key 'stuborn'; did you mean 'stubborn'"),
        (own("forgetful:Habit", memory=5, memory_of_mine=6.0), "give memory or memory_of_mine, not both"),
        (own("forgetful:ForgetfulUCB", dim=7), "dim must be 2, like the world's"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_it_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Study.from_dict(settings)


BROKEN = 'raise RuntimeError("half written")\n'
MINE = """
class Mine:
    def __init__(self, dim):
        pass

    def select(self, arms):
        return 0

    def update(self, decision, reward):
        pass
"""


def command(folder: Path, file: str = "own.toml") -> "subprocess.CompletedProcess[str]":
    """As the script does it, whose path does not begin with the current directory."""
    script = "import sys; sys.path = [p for p in sys.path if p]; from driftbandit.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["compare", file, "--out", "out", "--engine", "processes", "--workers", "1"]
    return subprocess.run([sys.executable, "-c", script, *arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_the_command_finds_it_in_the_current_directory_and_an_edited_one_plays_anew(tmp_path: Path) -> None:
    world = '[worlds.w]\ndrift = "gradual"\nnoise = 0.1\nhorizon = 40\narms = 4\n'
    (tmp_path / "own.toml").write_text(f'{world}[policies.mine]\nkind = "my_policy:Mine"\n')
    (tmp_path / "my_policy.py").write_text(BROKEN)
    failed = command(tmp_path)
    assert failed.returncode == 2
    assert "'my_policy' cannot be imported (RuntimeError: half written)" in failed.stderr
    final = []
    for arm in (0, 0, 3):
        (tmp_path / "my_policy.py").write_text(MINE.replace("return 0", f"return {arm}"))
        done = command(tmp_path)
        assert done.returncode == 0, done.stderr
        final.append(pl.read_parquet(tmp_path / "out" / "table.parquet")["regret"][-1])
    assert final[0] == final[1] != final[2]


def test_the_command_finds_it_beside_the_file_that_names_it(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    world = '[worlds.w]\ndrift = "gradual"\nnoise = 0.1\nhorizon = 40\narms = 4\n'
    (folder / "own.toml").write_text(f'{world}[policies.mine]\nkind = "my_policy:Mine"\n')
    (folder / "my_policy.py").write_text(MINE)
    done = command(tmp_path, "study/own.toml")
    assert done.returncode == 0, done.stderr


PROBE = """
from my_forgetful import ForgetfulUCB
policy = ForgetfulUCB(2, period=1)  # forgets in every round
for _ in range(20):
    policy.update(policy.select([[1.0, 0.0]]), 0.5)
print(policy.state.start[0])
"""


@pytest.mark.compiled
def test_an_edited_one_is_compiled_anew(tmp_path: Path) -> None:
    """Machine code is kept on disk, and numba would not see the edit."""
    source = Path(forgetful.__file__).read_text()
    started = []
    for edited in (source, source.replace("luck[3] < state.chance", "luck[3] < -state.chance")):
        (tmp_path / "my_forgetful.py").write_text(edited)
        done = subprocess.run([sys.executable, "-c", PROBE], cwd=tmp_path, capture_output=True, text=True, check=True)
        started.append(done.stdout.strip())
    assert started == ["19", "0"]
