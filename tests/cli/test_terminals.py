"""The command on terminals of any width and encoding, and interrupted."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from driftbandit import __version__
from driftbandit.cli.characters import encodable, spelt
from driftbandit.cli.screen import print_grid, print_verdicts
from driftbandit.report.tables import Grid, Verdict

EXAMPLES = Path(__file__).parents[2] / "src" / "driftbandit" / "examples"
COMMAND = [sys.executable, "-m", "driftbandit"]
GRID = Grid(("policy", "regret, mean ± std"), [("RestartUCB [τ]", "1,234 ± 56"), ("BanditOverBandit", "78 ± 9")], "a [world]")
STUDY = """
name = "θ"
replicates = 2
checkpoints = 2
[worlds.w]
drift = "gradual"
noise = 0.3
[policies."optimist β"]
kind = "StaticUCB"
"""


def printed(arguments: list[str], **settings: str) -> bytes:
    done = subprocess.run([*COMMAND, *arguments], env={**os.environ, **settings}, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout


ASCII = [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]


@pytest.mark.parametrize("settings", ASCII)
def test_help_and_examples_come_through_where_only_ascii_does(settings: dict[str, str]) -> None:
    assert b"--policies NAME" in printed(["suite", "--help"], **settings)
    assert printed(["example", "flights"], **settings) == (EXAMPLES / "flights.toml").read_bytes()


def test_a_study_is_told_in_ascii_and_in_ten_columns(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("horizon = 60" + STUDY, encoding="utf-8")
    arguments = ["compare", str(tmp_path / "study.toml"), "--out", str(tmp_path / "θ")]
    shown = printed(arguments, PYTHONIOENCODING="ascii", COLUMNS="10").decode("ascii")
    assert "| optimist beta |" in shown
    assert " +/- " in shown
    assert f"written: {tmp_path / 'theta'}" in shown
    assert (tmp_path / "θ" / "table.parquet").exists()


@pytest.mark.parametrize("width", [1, 10, 30, 45, 80])
def test_every_cell_can_be_read_at_any_width(width: int) -> None:
    for terminal in (True, False):
        console = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)
        print_grid(console, GRID)
        print_verdicts(console, "claims", [Verdict("Lemma [1]", "1 < 2", True), Verdict("Lemma 2", "2 < 3", None, "no time")])
        assert isinstance(console.file, io.StringIO)
        words = console.file.getvalue().split()
        assert {"RestartUCB", "[τ]", "BanditOverBandit", "1,234", "56", "[world]", "[1]", "holds", "tested"} <= set(words)


@pytest.mark.parametrize(
    ("sign", "ascii_only"),
    [("β", "beta"), ("λ", "lambda"), ("Σ", "Sigma"), ("±", "+/-"), ("−", "-"), ("²", "^2"), ("⁻", "^-"), ("½", "1/2"),
     ("é", "e"), ("\u0302", ""), ("…", "..."), ("√", "sqrt "), ("漢", "?"), ("\udcff", "?"), ("x", "x")],
)  # fmt: skip
def test_signs_are_spelt_out(sign: str, ascii_only: str) -> None:
    assert spelt(sign) == ascii_only
    assert encodable(f"a{sign}b", "ascii") == f"a{ascii_only}b"


def test_what_can_be_encoded_stays() -> None:
    assert encodable("θ ± 1", "utf-8") == "θ ± 1"
    assert encodable("θ ± 1", "latin-1") == "theta ± 1"


@pytest.mark.compiled
def test_ctrl_c_is_answered_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("horizon = 900_000_000" + STUDY.replace("replicates = 2", "replicates = 90"), "utf-8")
    arguments = ["compare", str(tmp_path / "study.toml"), "--workers", "1", "--out", str(tmp_path)]
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "cells.sqlite").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    error = process.communicate()[1]
    assert error == "driftbandit: interrupted; to resume a study, run the same command again\n"
    assert process.returncode == 130


def test_the_module_is_the_command() -> None:
    assert printed(["--version"]).decode() == f"driftbandit {__version__}\n"
