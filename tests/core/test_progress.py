"""Progress: a function of the caller's, a bar in a terminal, a bar in a notebook, or nothing."""

import io
import sys
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
from rich.console import Console

from driftbandit import Constant, Gaussian, StaticUCB, Study, UnitArms, World, play
from driftbandit.core.compile import kernel
from driftbandit.core.progress import COMPILING, progress_bar, reported, say_compiling

STUDY: dict[str, Any] = {"worlds": {"w": {"drift": "constant", "noise": 0.1, "horizon": 40}}, "policies": {"StaticUCB": {}}}


def console_is(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> io.StringIO:
    screen = io.StringIO()
    console = Console(file=screen, width=100, color_system=None, **settings)
    monkeypatch.setattr("rich.console.Console", lambda: console)
    return screen


def test_a_function_is_told_every_round() -> None:
    told: list[int] = []
    Study(**STUDY, replicates=3).run(progress=told.append)
    assert sum(told) == 120
    world = World(Constant(2), Gaussian(0.1), 40, UnitArms(3))
    told.clear()
    play([StaticUCB(2), StaticUCB(2, width=2.0)], world, replicates=3, progress=told.append)
    assert sum(told) == 240


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_shown_to_who_does_not_ask(progress: bool | None, capsys: pytest.CaptureFixture[str]) -> None:
    Study(**STUDY, replicates=3).run(progress=progress)
    assert capsys.readouterr().out == ""


def test_true_shows_a_bar_that_ends_full(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = console_is(monkeypatch, force_terminal=True)
    Study(**STUDY, replicates=3).run(progress=True)
    assert "100%" in screen.getvalue()
    world = World(Constant(2), Gaussian(0.1), 40, UnitArms(3))
    play(StaticUCB(2), world, replicates=2, progress=True)
    assert screen.getvalue().count("playing") >= 2


def test_a_notebook_gets_its_bar_as_a_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []

    class Output:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...
        def clear_output(self, wait: bool) -> None: ...
        def close(self) -> None:
            shown.append("closed")

    monkeypatch.setitem(sys.modules, "ipywidgets", SimpleNamespace(Output=Output))
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=shown.append))
    monkeypatch.setattr("rich.jupyter.display", lambda segments, text: shown.append(text))
    console_is(monkeypatch, force_jupyter=True)
    Study(**STUDY, replicates=3).run(progress=True)
    assert any(isinstance(one, Output) for one in shown)
    assert any("playing" in str(one) for one in shown)
    assert "closed" in shown


def test_a_notebook_without_widgets_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    console_is(monkeypatch, force_jupyter=True)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    wanted = r"^progress=True in a notebook needs ipywidgets, .* pip install 'driftbandit\[notebook\]'$"
    with pytest.raises(ModuleNotFoundError, match=wanted), reported(True, 1):
        pass


class Mine(NamedTuple):
    number: float


@kernel
def doubled(mine: Mine) -> float:  # of a user's own, so that it is never kept on disk
    return 2.0 * mine.number


@pytest.mark.compiled
def test_where_no_bar_is_seen_a_line_says_that_it_compiles(capsys: pytest.CaptureFixture[str]) -> None:
    say_compiling.cache_clear()
    progress_bar(Console(file=io.StringIO()))
    for number in (1.0, 2.0):
        assert doubled(Mine(number)) == 2.0 * number
    assert capsys.readouterr().err == f"{COMPILING}\n"
