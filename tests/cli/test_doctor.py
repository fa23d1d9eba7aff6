"""``driftbandit doctor``: what it finds, and that it finds what is broken."""

import tempfile
from pathlib import Path

import pytest

from driftbandit import __version__
from driftbandit.cli import doctor as clinic
from driftbandit.cli import main
from driftbandit.core import compile as compiler


@pytest.fixture(autouse=True)
def other_people_have_other_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"polars": "lab", "rich": "lab", "nowhere": "elsewhere", "hidden": "elsewhere"}
    monkeypatch.setattr(clinic, "EXTRAS", known)


def test_all_is_in_order_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    for part in (f"driftbandit    {__version__} in ", "numba", "polars ", str(Path.cwd()), str(compiler.cache_folder())):
        assert part in said
    assert "  -        elsewhere      nowhere, hidden not installed (optional): pip install 'driftbandit[elsewhere]'\n" in said
    assert "gave the expected result" in said
    assert said.endswith("everything is in order\n")


def test_another_outcome_of_the_game_is_broken(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(clinic, "REGRET", clinic.REGRET * (1 + 1e-6))
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "  broken   known run      gave regret 33.9" in said
    assert said.endswith("1 thing is broken: see above\n")


def test_what_fails_is_told_and_the_rest_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail() -> tuple[float, tuple[float, ...]]:
        raise RuntimeError("no more luck")

    (tmp_path / "file").touch()
    monkeypatch.setattr(clinic, "game", fail)
    monkeypatch.setattr(clinic, "REQUIRED", ("numpy", "unheard-of"))
    monkeypatch.setattr(compiler, "cache_folder", lambda: tmp_path / "file" / "cache")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "gone"))
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "  broken   failed         RuntimeError: no more luck\n" in said
    assert "  broken   unheard-of     not installed: pip install driftbandit\n" in said
    assert "cache: not writable, so every process compiles anew: set NUMBA_CACHE_DIR\n" in said
    assert f"  broken   temporary      {tmp_path / 'gone'} is not writable (No such file or directory)" in said
    assert said.endswith("4 things are broken: see above\n")


def test_a_current_folder_that_is_read_only_is_no_more_than_a_note(tmp_path: Path) -> None:
    finding = clinic.writable("current", tmp_path / "gone", clinic.NOTE)
    assert (finding.word, finding.name) == ("note", "current")
    assert finding.found.endswith("choose another, such as --out FOLDER")
