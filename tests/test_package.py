"""The package as installed: its names, its machine-code cache, its command, its README."""

import contextlib
import io
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

import driftbandit
from driftbandit import figures
from driftbandit.cli import main
from driftbandit.core.compile import ROOMS
from driftbandit.report.tables import Verdict

ROOT = Path(__file__).parent.parent

PUBLIC = """
Abrupt
Accelerating
AdaptiveUCB
Alternating
AssumptionWarning
Ball
BanditOverBandit
BaseRate
Block
Breathing
CalmBurst
Category
Choice
Chooser
Clicks
Constant
Context
Counts
CusumUCB
Cyclic
Decision
DelayArray
DetectUCB
DetectionAugmentedUCB
DiscountedTS
DisjointArms
Ellipsoid
Estimate
FixedArms
FixedDelay
Flag
Gaussian
GeometricDelay
Gradual
Hashed
HeavyDelay
Hidden
Late
LeakWarning
LightWeightUCB
Master
NoiseArray
Number
OracleRestartUCB
Path
Policy
Rademacher
RandomWalk
Rarer
Replay
RestartUCB
Result
Returning
Scaled
Seasonal
SettingsError
StaticUCB
StudentT
Study
Swaying
Switching
Timeout
Transformed
UnevenArms
Uniform
UniformDelay
UnitArms
WeightUCB
WindowUCB
World
axes
checks
figures
play
theory
"""

PROBE = """
import contextlib
import io
import json
from driftbandit import StaticUCB
from driftbandit.policies._base.entry import take

policy = StaticUCB(2)
policy.update(policy.select([[1.0, 0.0]]), 0.5)
hits, misses = (sum(getattr(take.stats, name).values()) for name in ("cache_hits", "cache_misses"))
print(json.dumps([hits, misses, policy.estimate().radius]))
"""


def test_public_names_are_frozen() -> None:
    found, public = set(dir(driftbandit)), set(PUBLIC.split())
    assert found - public == set(), "add these names to PUBLIC of tests/test_package.py"
    assert public - found == set(), "add these names to src/driftbandit/__init__.pyi"
    for name in PUBLIC.split():
        assert getattr(driftbandit, name).__doc__


@pytest.mark.parametrize("package", [driftbandit, figures])
def test_no_module_has_the_name_of_a_public_function_or_class(package: ModuleType) -> None:
    """Once imported, a module takes its name in the package: `from driftbandit import play` would then give the module."""
    modules = {found.name for found in pkgutil.iter_modules(package.__path__)}
    public = {name for name in dir(package) if not isinstance(getattr(package, name), ModuleType)}
    assert not modules & public


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
    with (package / "live" / "learner.py").open("a") as far_away:
        far_away.write("# no kernel uses this\n")
    assert probe() == [1, 0, radius]
    helper = package / "policies" / "restart.py"
    helper.write_text(helper.read_text().replace("return radius(", "return 1000.0 + radius("))
    hits, misses, edited = probe()
    assert (hits, misses) == (0, 1)
    assert edited == pytest.approx(radius + 1000.0)
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_kernels_are_only_in_rooms_whose_edits_are_noticed() -> None:
    package = Path(driftbandit.__file__).parent
    made = re.compile(r"^@(kernel|allocating_kernel|Verb|\w+\.of\()|^(import|from) numba", re.MULTILINE)
    found = {path.relative_to(package).parts[0] for path in package.rglob("*.py") if made.search(path.read_text())}
    assert "core" in found
    assert found <= set(ROOMS), "add the room to ROOMS of core/compile.py"


def test_the_help_teaches_without_loading_the_engine() -> None:
    script = "import atexit, sys; from driftbandit.cli import main\n"
    script += "atexit.register(lambda: print('numba' in sys.modules)); main(['--help'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "reproduce" in done.stdout
    assert done.stdout.endswith("False\n")


@pytest.mark.compiled
def test_reproduce_writes_the_whole_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report"
    assert main(["reproduce", "--repetitions", "2", "--horizon", "1000", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    for name in ("OracleRestartUCB", "WindowUCB", "WeightUCB", "StaticUCB", "BanditOverBandit"):
        assert name in printed
    assert sum(printed.count(word) for word in ("holds", "fails", "undecided")) >= 11
    page = (out / "index.html").read_text()
    for figure in ("regret", "untold", "factor", "time", "memory", "restarts", "choices", "sigma", "bound"):
        assert (out / f"{figure}.png").stat().st_size > 10_000
        assert (out / f"{figure}.svg").exists()
    assert "slightly better than WindowUCB" in page
    for words in ("What the paper left open", "Abrupt: AdaptiveUCB is better than those told the path length"):
        assert words in page
    assert "://" not in re.sub(r"<a [^>]*>.*?</a>", "", page), "the page must need nothing from the network"
    table = pl.read_parquet(out / "table.parquet")
    assert table.height == 11 * 2 * 200
    assert pl.read_csv(out / "table.csv").height == table.height
    about = json.loads((out / "settings.json").read_text())
    assert about["studies"]["abrupt"]["replicates"] == 2


def test_verify_prints_a_verdict_for_each_statement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts = [Verdict("Lemma 0", "1 = 1", True), Verdict("Claim", "1 = 2", False, "no", expected=False)]
    monkeypatch.setattr("driftbandit.paper.verify.theorems.verify", lambda effort, tick: verdicts)
    assert main(["verify", "--seed", "3"]) == 0
    verdicts += [Verdict("Lemma 2", "", None), Verdict("Lemma 3", "0 ± 1", None, undecided=True)]
    assert main(["verify"]) == 0  # nothing is known to fail that should not
    verdicts.append(Verdict("Lemma 1", "2 > 1", False))
    assert main(["verify"]) == 1
    printed = capsys.readouterr().out
    for word in ("holds", "fails", "not tested", "undecided"):
        assert word in printed


def test_claims_only_draws_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["reproduce", "--repetitions", "2", "--horizon", "1000", "--claims-only", "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    assert not (tmp_path / "out" / "index.html").exists()
    assert "StaticUCB ranks last" in " ".join(capsys.readouterr().out.split())


def test_compare_runs_the_example_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example"]) == 0
    text = capsys.readouterr().out.replace("horizon = 20_000", "horizon = 300").replace("replicates = 20", "replicates = 2")
    (tmp_path / "first.toml").write_text(text)
    assert main(["compare", str(tmp_path / "first.toml"), "--out", str(tmp_path / "out")]) == 0
    assert "walking-with-delay" in capsys.readouterr().out
    assert (tmp_path / "out" / "regret.png").exists()
    assert main(["example", "scaling"]) == 0
    assert "theorem-four" in capsys.readouterr().out


@pytest.mark.compiled
def test_the_scaling_study_draws_its_exponents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["example", "scaling"])
    text = re.sub(r"horizon = \[.*\]", "horizon = [300, 1000, 3000]", capsys.readouterr().out)
    (tmp_path / "scaling.toml").write_text(text.replace("replicates = 10", "replicates = 3"))
    assert main(["compare", str(tmp_path / "scaling.toml"), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "scaling.svg").exists()
    assert "− 3/4" in capsys.readouterr().out


def test_a_mistake_in_a_study_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wrong.toml").write_text('[worlds.w]\ndrift = "gradul"\nnoise = 1\nhorizon = 9\n[policies.StaticUCB]\n')
    assert main(["compare", str(tmp_path / "wrong.toml")]) == 2
    assert capsys.readouterr().err == "driftbandit: [worlds.w.drift] unknown drift kind 'gradul'; did you mean 'gradual'?\n"
    assert main(["compare", str(tmp_path / "nowhere.toml")]) == 2
    assert main(["compare", str(tmp_path)]) == 2
    (tmp_path / "right.toml").write_text('[worlds.w]\ndrift = "gradual"\nnoise = 1\nhorizon = 9\n[policies.StaticUCB]\n')
    (tmp_path / "cells.sqlite").write_text("no database, and long enough to tell" * 9)
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "right.toml"), "--out", str(tmp_path)]) == 2
    assert "cells.sqlite: file is not a database" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["reproduce", "--repetitions", "0"], ["reproduce", "--horizon", "x"], ["nonsense"]])
def test_bad_arguments_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "error" in capsys.readouterr().err


@pytest.mark.compiled
def test_the_readmes_examples_run() -> None:
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert examples
    for example in examples:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(example, "README.md", "exec"), {})
        assert any(digit in printed.getvalue() for digit in "123456789"), printed.getvalue()
