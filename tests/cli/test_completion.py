"""``--print-completion``: scripts that shells take, and that know every command."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from driftbandit.cli import main
from driftbandit.cli.completion import SHELLS

ASK = """
source {script}
COMP_WORDS=({words}); COMP_CWORD={place}
_shtab_driftbandit
echo "${{COMPREPLY[@]}}"
"""


def script_for(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["--print-completion", shell])
    assert not stopped.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_is_told_of_the_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = script_for(shell, capsys)
    for word in ("reproduce", "doctor", "claims-only"):
        assert word in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [("driftbandit re", "reproduce replay"), ("driftbandit example pa", "paper"), ("driftbandit suite --ju", "--judge"),
     ("driftbandit compare study.t", "study.toml")],
)  # fmt: skip
def test_bash_completes(words: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "script").write_text(script_for("bash", capsys))
    (tmp_path / "study.toml").touch()
    command = ASK.format(script=tmp_path / "script", words=words, place=len(words.split()) - 1)
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == f"{wanted}\n"


def test_an_unknown_shell_and_a_missing_package_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--print-completion", "fish"])
    assert "invalid choice: 'fish'" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["--print-completion", "bash"]) == 2
    wanted = "driftbandit: --print-completion needs shtab, which is not installed: pip install 'driftbandit[completion]'\n"
    assert capsys.readouterr().err == wanted
