"""The package as installed: its names, its machine-code cache, its command, its README."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import driftbandit
from driftbandit.cli import main

ROOT = Path(__file__).parent.parent

PUBLIC = """
    Abrupt Ball BanditOverBandit Block CalmBurst Constant Decision DelayArray Ellipsoid Estimate FixedArms FixedDelay
    Gaussian GeometricDelay Gradual NoiseArray OracleRestartUCB Path Policy Rademacher RandomWalk RestartUCB Result
    Seasonal StaticUCB Switching Uniform UniformDelay UnitArms WeightUCB WindowUCB World checks play theory
"""

PROBE = """
import json
from driftbandit import StaticUCB
from driftbandit.policies.entry import take
from driftbandit.ridge import radius
policy = StaticUCB(2)
policy.update(policy.select([[1.0, 0.0]]), 0.5)
hits, misses = (sum(getattr(take.stats, name).values()) for name in ("cache_hits", "cache_misses"))
print(json.dumps([hits, misses, policy.estimate().radius]))
"""


def test_public_names_are_frozen() -> None:
    assert sorted(dir(driftbandit)) == sorted(PUBLIC.split())
    for name in PUBLIC.split():
        assert getattr(driftbandit, name).__doc__


@pytest.mark.compiled
def test_a_second_process_does_not_compile_and_an_edited_helper_does(tmp_path: Path) -> None:
    package = tmp_path / "driftbandit"
    shutil.copytree(Path(driftbandit.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def probe() -> list[float]:
        done = subprocess.run(
            [sys.executable, "-c", PROBE],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        result: list[float] = json.loads(done.stdout)
        return result

    hits, misses, radius = probe()
    assert (hits, misses) == (0, 1)
    assert probe() == [1, 0, radius]
    helper = package / "ridge.py"
    helper.write_text(helper.read_text().replace("return law.bias +", "return 1000.0 + law.bias +"))
    hits, misses, edited = probe()
    assert (hits, misses) == (0, 1)
    assert edited == pytest.approx(radius + 1000.0)
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_the_help_teaches_without_loading_the_engine() -> None:
    script = "import atexit, sys; from driftbandit.cli import main\n"
    script += "atexit.register(lambda: print('numba' in sys.modules)); main(['--help'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "reproduce" in done.stdout
    assert done.stdout.endswith("False\n")


def test_reproduce_prints_a_row_for_each_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--repetitions", "2", "--horizon", "400"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("RestartUCB") == 3
    assert "abrupt world" in printed
    assert "gradual world" in printed


@pytest.mark.parametrize(
    "arguments", [["reproduce", "--repetitions", "0"], ["reproduce", "--horizon", "x"], ["nonsense"]]
)
def test_bad_arguments_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "error" in capsys.readouterr().err


def test_the_readmes_examples_run() -> None:
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})
