"""The table of peers: the same rounds as ``play``, every contender in it, nobody dropped in silence."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import contenders
import numpy as np
import peers
import pytest
from contenders import Coba, Contender, Ours, Player, Problem, River

from common import rounds, unit_rows
from driftbandit import Abrupt, Gaussian, RestartUCB, UnitArms, World, play
from driftbandit.paper.settings import ARMS, DIM, NOISE


def test_the_rounds_dealt_to_files_are_those_of_play(tmp_path: Path) -> None:
    horizon = rounds(2000, 200)
    world = World(Abrupt(DIM), Gaussian(NOISE), horizon, UnitArms(ARMS))
    memory = peers.memory_of(world, 1)
    folder = peers.deal(tmp_path / "rounds", horizon, 2, 10)
    assert len(list(folder.iterdir())) == 2 + 2 * 2
    with np.load(folder / "abrupt-001.npz") as dealt:
        assert dealt["memory"] == memory
        problem = Problem(dealt["rows"], NOISE, memory, seed=(0, 1))  # type: ignore[arg-type]  # the seed as spawned
        regret = contenders.regret_of(Ours(problem, "RestartUCB"), dealt["means"], dealt["noise"])
    policy = RestartUCB(DIM, period=memory, noise=NOISE)
    assert regret == pytest.approx(play({"ours": policy}, world, replicates=[1]).final("ours")[0], abs=1e-8)


@pytest.mark.parametrize("make", [River, lambda problem: River(problem, forgets=True), Coba])
def test_an_encoding_finds_the_best_arm(make: Callable[[Problem], Player]) -> None:
    rows = np.asarray(unit_rows(np.random.default_rng(0), 6, 2), np.float64)
    player, best = make(Problem(rows, 0.1, 100, seed=1)), int(rows[:, 0].argmax())
    chosen = []
    for _ in range(200):
        chosen.append(player.select())
        player.update(float(rows[chosen[-1], 0]))
    assert chosen[-50:].count(best) > 40


@pytest.mark.compiled
def test_one_run_writes_one_table_and_drops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(contenders.CONTENDERS, "Absent", Contender("no-such-package", Coba, ""))
    monkeypatch.setitem(contenders.CONTENDERS, "Broken", Contender("numpy", Coba, ""))  # unknown where it is to play
    out = tmp_path / "peers.md"
    names = ["RestartUCB", "coba LinUCBLearner", "Absent", "Broken"]
    peers.main(["--horizon", "60", "--replicates", "2", "--rounds", "30", "--only", *names, "--out", str(out)])
    text = out.read_text()
    lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert [line.split("|")[1].split(" (")[0].strip() for line in lines] == names
    assert "–" not in lines[0] + lines[1]
    assert "not installed" in lines[2]
    assert "failed: KeyError" in lines[3]
    assert "as fast as the fastest peer (coba LinUCBLearner)" in text
    assert str(Path.home()) not in text


def test_ratios_are_taken_against_the_fastest_peer_of_the_run() -> None:
    rows = [
        peers.Row("RestartUCB", [1.0, 2.0]),
        peers.Row("WeightUCB", [4.0, 2.5]),
        peers.Row("coba LinUCBLearner", [100.0, 50.0]),
        peers.Row("MABWiser LinUCB", [60.0, 70.0]),
        peers.Row("VowpalWabbit squarecb", trouble="not installed"),
    ]
    first, second = peers.ratios(rows)
    assert "RestartUCB 60× as fast as the fastest peer (MABWiser LinUCB), our slowest (WeightUCB) 15×" in first
    assert "met by RestartUCB, missed by our slowest" in first
    assert "RestartUCB 25× as fast as the fastest peer (coba LinUCBLearner)" in second
    assert "missed by RestartUCB" in second
    assert peers.ratios(rows[2:]) == []


def test_peak_memory_is_the_process_own_and_not_its_parents() -> None:
    held = np.ones(2**26)  # 512 MB, many times what a child with NumPy takes
    script = "import contenders; print(contenders.peak_megabytes())"
    folder = str(Path(contenders.__file__).parent)
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    assert 1 < float(done.stdout) < held.nbytes / 2**20 / 2
