"""What `pip install driftbandit` gives in an environment that has nothing else: the policies, and plain words for the rest."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
from pathlib import Path

import pytest

from driftbandit import __version__
from driftbandit.core.extras import EXTRAS, needed_for

ROOT = Path(__file__).parent.parent

MISSING = {
    "from driftbandit import Study": "driftbandit.Study needs polars, which is not installed: pip install 'driftbandit[lab]'",
    "from driftbandit import Replay": "driftbandit.Replay needs polars, which is not installed: pip install 'driftbandit[lab]'",
    "from driftbandit.figures import LIGHT": "driftbandit.figures.LIGHT needs polars",
    "from driftbandit.replay.real import TABLES": "driftbandit.replay needs polars",
    "from driftbandit import DetectUCB; DetectUCB(2).history()": "DetectUCB.history needs polars",
    "import driftbandit.adapters.coba": "driftbandit.adapters.coba needs coba, which is not installed: "
    "pip install 'driftbandit[coba]'",
    "import driftbandit.adapters.river": "driftbandit.adapters.river needs river",
    "import driftbandit.adapters.gymnasium": "driftbandit.adapters.gymnasium needs gymnasium",
    "from driftbandit import (RestartUCB, World, Gaussian, Switching, play, checks, theory, SettingsError)": "",
}

ASK = """
import json, sys
def answer(line):
    try:
        exec(line, {})
        return ""
    except ImportError as error:
        return str(error)
print(json.dumps([answer(line) for line in json.loads(sys.argv[1])]))
"""


PROBE = """
from driftbandit import RestartUCB
policy = RestartUCB(2, period=10)
policy.update(policy.select([[1.0, 0.0]]), 0.5)
print(policy.estimate().theta)
"""


def run(*command: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | settings
    return subprocess.run([str(part) for part in command], env=alone, capture_output=True, text=True, encoding="utf-8")


@pytest.mark.compiled
def test_the_bare_install(tmp_path: Path) -> None:
    """One test, so that the environment is made once."""
    python = clean_environment(tmp_path)
    is_light_and_says_what_the_rest_needs(python)
    the_command_helps_and_says_what_it_needs(python)
    plays_the_first_example(python)
    compiles(python)


def clean_environment(folder: Path) -> Path:
    """The interpreter of an environment with the bare install."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    tried = run(python, "-m", "pip", "download", "--no-deps", "--dest", folder / "tried", "lazy-loader")
    if tried.returncode:
        pytest.skip(f"pip reaches no package registry from here: {tried.stderr.strip().splitlines()[-1]}")
    sdist, wheel = built(folder, python)
    installed = run(python, "-m", "pip", "install", "--quiet", wheel)
    assert installed.returncode == 0, installed.stderr
    the_source_installs_the_same(python, sdist, folder / "from source")
    return python


def built(folder: Path, python: Path) -> tuple[Path, Path]:
    """The source archive, and the wheel made from it, by tools that stay outside the environment."""
    tools, dist = folder / "tools", folder / "dist"
    fetched = run(python, "-m", "pip", "install", "--quiet", "--target", tools, "build")
    assert fetched.returncode == 0, fetched.stderr
    done = run(python, "-m", "build", "--outdir", dist, ROOT, PYTHONPATH=str(tools))
    assert done.returncode == 0, done.stderr
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    assert sdist.name == f"driftbandit-{__version__}.tar.gz"
    assert wheel.name == f"driftbandit-{__version__}-py3-none-any.whl"
    with tarfile.open(sdist) as archive:
        kept = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "Makefile", "tests/naive.py", "pyproject.toml"} <= kept
    assert not [name for name in kept if name.startswith((".venv", "out/", "dist/", ".git/"))]
    return sdist, wheel


def the_source_installs_the_same(python: Path, sdist: Path, folder: Path) -> None:
    done = run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", folder, sdist)
    assert done.returncode == 0, done.stderr
    package = ROOT / "src" / "driftbandit"
    wanted = {file.relative_to(package) for file in package.rglob("*") if file.is_file() and file.suffix != ".pyc"}
    assert {
        file.relative_to(folder / "driftbandit") for file in (folder / "driftbandit").rglob("*") if file.is_file()
    } == wanted


def plays_the_first_example(python: Path) -> None:
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert found
    done = run(python, "-c", found[1], NUMBA_DISABLE_JIT="1")  # to compile it takes a minute; the next does that for less
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("blue Opinion(action='blue'")


def compiles(python: Path) -> None:
    done = run(python, "-c", PROBE, NUMBA_CACHE_DIR=str(python.parent.parent / "cache"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[0.25 0.  ]\n"


def is_light_and_says_what_the_rest_needs(python: Path) -> None:
    listed = json.loads(run(python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check").stdout)
    names = {package["name"].lower() for package in listed}
    assert {"driftbandit", "numba", "numpy", "scipy"} <= names
    assert not names & {package.lower() for package in EXTRAS}
    answers = json.loads(run(python, "-c", ASK, json.dumps(list(MISSING))).stdout)
    for (line, wanted), answer in zip(MISSING.items(), answers, strict=True):
        assert answer.startswith(wanted), line
        assert bool(answer) == bool(wanted), (line, answer)


def the_command_helps_and_says_what_it_needs(python: Path) -> None:
    command = python.with_name("driftbandit")
    assert "reproduce" in run(command, "--help").stdout
    assert "contenders" in run(command, "suite", "--help").stdout
    assert "[worlds." in run(command, "example").stdout
    found = run(command, "doctor", NUMBA_DISABLE_JIT="1")
    assert (found.returncode, found.stderr) == (0, "")
    assert "pip install 'driftbandit[lab]'" in found.stdout
    done = run(command, "verify")
    assert (done.returncode, done.stdout) == (2, "")
    wanted = "driftbandit: the command 'verify' needs rich, which is not installed: pip install 'driftbandit[lab]'\n"
    assert done.stderr == wanted


def test_every_optional_package_is_in_the_extra_that_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {
        extra: {re.split(r"[\[>]", wanted)[0] for wanted in requirements}
        for extra, requirements in project["optional-dependencies"].items()
    }
    for package, extra in EXTRAS.items():
        assert package in extras[extra]
    assert extras["lab"] <= set(EXTRAS)
    assert not {re.split(r"[\[>]", wanted)[0] for wanted in project["dependencies"]} & set(EXTRAS)


def test_the_outermost_need_speaks_and_other_modules_keep_their_own_error() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^a needs ray, which is not installed: pip install 'driftbandit\[ray\]'$"):  # noqa: SIM117
        with needed_for("a"), needed_for("b"):
            raise ModuleNotFoundError("No module named 'ray.util'", name="ray.util")
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'nowhere'$"), needed_for("a"):
        raise ModuleNotFoundError("No module named 'nowhere'", name="nowhere")
