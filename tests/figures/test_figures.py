"""Figures drawn from small made-up tables, and the page that holds them."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import cache, partial
from itertools import combinations, product
from pathlib import Path

import matplotlib
import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.path import Path as MarkPath
from matplotlib.text import Annotation, Text

from driftbandit import RestartUCB, figures
from driftbandit.core.types import Floats
from driftbandit.figures.look import DARK, LIGHT, Theme, contrast, ink, kin_pens, own_pens, pen, pens_of, spread
from driftbandit.report.page import Plate, Section, write_page
from driftbandit.report.tables import Grid, Verdict

pytestmark = pytest.mark.compiled

FIXED = (
    "OracleRestartUCB", "RestartUCB", "WindowUCB", "WeightUCB", "StaticUCB", "BanditOverBandit", "AdaptiveUCB", "DetectUCB",
)  # fmt: skip
POLICIES = list(FIXED[:5])
WORLDS = ["abrupt", "gradual"]
THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def regrets(policies: list[str] = POLICIES, worlds: list[str] = WORLDS, x: str = "round") -> pl.DataFrame:
    """The policies end within a few per cent of each other: the hardest case for labels."""
    rounds = [1000, 10_000, 20_000, 50_000]
    cells = product(worlds, enumerate(policies), range(3), rounds)
    rows = [(w, name, k, t, (1 + 0.01 * i) * (1 + 0.1 * k) * t**0.7) for w, (i, name), k, t in cells]
    return pl.DataFrame(rows, schema=["world", "policy", "replicate", x, "regret"], orient="row")


def timing() -> pl.DataFrame:
    cells = product(WORLDS, enumerate(POLICIES), range(3))
    rows = [(w, name, k, 1e-4 * (1 + i) * (1 + 0.1 * k), 1000) for w, (i, name), k in cells]
    return pl.DataFrame(rows, schema=["world", "policy", "replicate", "seconds", "rounds"], orient="row")


def memory() -> pl.DataFrame:
    cells = product(POLICIES, [1000, 10_000, 1_000_000])
    rows = [(name, t, t * 8 if name == "WindowUCB" else 700) for name, t in cells]
    return pl.DataFrame(rows, schema=["policy", "horizon", "bytes"], orient="row")


def one_run() -> pl.DataFrame:
    return pl.DataFrame({"round": range(0, 1000, 10), "error": 1 / np.sqrt(1 + np.arange(100) % 25)})


def episodes() -> pl.DataFrame:
    rows = [(k, 40 * k, 40 * k + 40, k % 3, 2 ** (k % 3), [0.2, 0.3, 0.5], 0.1 * k) for k in range(8)]
    return pl.DataFrame(rows, schema=["episode", "start", "stop", "choice", "memory", "chance", "reward"], orient="row")


def fits(policies: list[str] = POLICIES[:3]) -> pl.DataFrame:
    rows = [(w, name, 0.7, 0.68, 0.72) for w, name in product(WORLDS, policies)]
    return pl.DataFrame(rows, schema=["world", "policy", "exponent", "low", "high"], orient="row")


Draw = Callable[..., Figure]
FIGURES: dict[str, tuple[Draw, int]] = {
    "regret": (partial(figures.regret_over_time, regrets()), 2),
    "time": (partial(figures.running_time, timing()), 2),
    "memory": (partial(figures.memory_growth, memory()), 1),
    "restarts": (partial(figures.restarts, one_run(), [250, 500, 750], [400]), 1),
    "meta": (partial(figures.meta_choices, episodes(), [1, 2, 4]), 3),  # the colour bar is the third
    "scaling": (partial(figures.scaling, regrets(POLICIES[:3], x="horizon"), fits()), 2),
}


@cache
def drawn(name: str, theme: Theme = LIGHT) -> Figure:
    return FIGURES[name][0](theme=theme)


def points(shape: Line2D | MarkPath) -> Floats:
    """The corners of a line or of a mark, one a row."""
    return np.asarray(shape.get_xydata() if isinstance(shape, Line2D) else shape.vertices, dtype=np.float64)


def end_labels(axes: Axes) -> list[Annotation]:
    return [text for text in axes.texts if isinstance(text, Annotation) and text.arrow_patch is not None]


@THEMES
@pytest.mark.parametrize("name", FIGURES)
def test_every_panel_is_there_and_says_what_it_shows(name: str, theme: Theme) -> None:
    figure = drawn(name, theme)
    assert len(figure.axes) == FIGURES[name][1]
    assert figure.get_facecolor() == matplotlib.colors.to_rgba(theme.page)
    for axes in figure.axes:
        assert axes.get_xlabel() or axes.get_ylabel()
        words = [axes.xaxis.label, axes.yaxis.label, *axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()]
        assert all(contrast(matplotlib.colors.to_hex(word.get_color()), theme.page) >= 4.5 for word in words if word.get_text())


@THEMES
@pytest.mark.parametrize("name", ["regret", "memory", "scaling"])
def test_labels_at_the_lines_ends_do_not_touch_and_stay_on_the_figure(name: str, theme: Theme) -> None:
    figure = drawn(name, theme)
    figure.draw_without_rendering()
    for axes in figure.axes:
        boxes = [Text.get_window_extent(label) for label in end_labels(axes)]
        assert len(boxes) >= 5
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
        assert all(figure.bbox.containsx(box.x1) and figure.bbox.containsy(box.y0) for box in boxes)


def test_regret_is_logarithmic_with_one_line_and_one_positive_band_a_policy() -> None:
    noisy = regrets().with_columns(regret=pl.col("regret") * 50 ** (pl.col("replicate") == 2).cast(pl.Float64))
    for axes in figures.regret_over_time(noisy).axes:
        assert axes.get_xlabel() == "round (of 50,000)"
        assert axes.get_ylabel() == "dynamic regret, mean ± std of 3 draws"
        assert axes.get_yscale() == "log"
        assert len(axes.lines) == len(axes.collections) == len(POLICIES)
        assert [label.get_text() for label in end_labels(axes)] == POLICIES
        assert all(points(path)[:, 1].min() > 0 for band in axes.collections for path in band.get_paths())
        looks = {(line.get_color(), line.get_marker(), str(line.get_linestyle())) for line in axes.lines}
        assert len(looks) == len(POLICIES)
        first = noisy.filter(world=axes.get_title(loc="left"), policy=POLICIES[0], round=50_000)["regret"]
        assert points(axes.lines[0])[-1] == pytest.approx([50_000, first.to_numpy().mean()])


def test_regret_of_nothing_and_of_one_replicate_can_be_drawn() -> None:
    table = regrets(worlds=["calm"]).filter(pl.col("replicate") == 0)
    zero = table.with_columns(regret=pl.when(pl.col("policy") == POLICIES[0]).then(0.0).otherwise(pl.col("regret")))
    for nothing in (zero, table.with_columns(regret=pl.lit(0.0))):
        assert figures.as_svg(figures.regret_over_time(nothing)).startswith("<svg")


def test_many_policies_get_a_legend_below() -> None:
    names = [f"policy {i}" for i in range(15)]
    (axes,) = figures.regret_over_time(regrets(names, ["abrupt"])).axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == names
    assert not end_labels(axes)
    assert legend.get_window_extent().y1 < axes.bbox.y0


@pytest.mark.parametrize(("worlds", "rows"), [(1, 1), (3, 1), (4, 2), (5, 2), (7, 3)])
def test_panels_wrap_after_three(worlds: int, rows: int) -> None:
    figure = figures.regret_over_time(regrets(POLICIES[:1], [f"world {i}" for i in range(worlds)]))
    assert len({round(axes.get_position().y0, 3) for axes in figure.axes}) == rows


def test_times_are_nanoseconds_a_round_printed_at_the_bars() -> None:
    one_slow = timing().with_columns(seconds=pl.col("seconds") * (1 + 9 * (pl.col("replicate") == 2).cast(pl.Float64)))
    for axes in figures.running_time(one_slow).axes:
        assert [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)] == pytest.approx(
            [110.0 * (1 + i) for i in range(5)]
        )
        assert [text.get_text() for text in axes.texts] == ["110", "220", "330", "440", "550"]
        assert [tick.get_text() for tick in axes.get_yticklabels()] == POLICIES


def test_memory_says_what_grows() -> None:
    (axes,) = figures.memory_growth(memory()).axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    labels = {label.get_text() for label in end_labels(axes)}
    assert {"WindowUCB: grows with w", "RestartUCB: constant"} <= labels


def test_scaling_shows_the_fitted_slope_its_interval_and_two_guides() -> None:
    for axes in drawn("scaling").axes:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        labels = [label.get_text() for label in end_labels(axes)]
        assert labels[:3] == ["slope 2/3", "slope 3/4", "OracleRestartUCB\n0.70 [0.68, 0.72]"]
        ends = {tuple(points(line)[-1]): points(line) for line in axes.lines if len(points(line))}
        rises = [np.log(line[-1] / line[0]) for line in (ends[tuple(label.xy)] for label in end_labels(axes))]
        slopes = [y / x for x, y in rises]
        np.testing.assert_allclose(slopes, [2 / 3, 3 / 4, 0.7, 0.7, 0.7])


def test_restarts_marks_every_restart_and_change() -> None:
    (axes,) = drawn("restarts").axes
    marks = {str(mark.get_label()): mark.get_paths() for mark in axes.collections}
    assert [points(path)[0, 0] for path in marks["restart"]] == [250, 500, 750]
    assert [points(path)[0, 0] for path in marks["the world changes"]] == [400]
    assert [points(path)[:, 0].min() for path in marks["every other epoch"]] == [250, 750]
    assert figures.restarts(one_run(), [], []).axes


class Plain(RestartUCB):
    """No pen of its own, so not that of its base."""


class Copycat(RestartUCB):
    pen = 1


def test_policies_wear_their_own_pens() -> None:
    assert {name: entry for name, entry in own_pens().items() if name in FIXED} == {name: k for k, name in enumerate(FIXED)}
    pens = pens_of(["Plain", "Copycat", "RestartUCB"], LIGHT)
    assert pens == {"Plain": pen(0, LIGHT), "Copycat": pen(2, LIGHT), "RestartUCB": pen(1, LIGHT)}
    assert pens_of(["Copycat"], LIGHT) == {"Copycat": pen(1, LIGHT)}


def test_pens_are_fixed_by_name_and_never_shared() -> None:
    names = [*(f"mine {i}" for i in range(20)), *FIXED]
    pens = pens_of(names, LIGHT)
    assert all(pens[name] == pens_of([name], LIGHT)[name] for name in FIXED)
    assert len(set(pens.values())) == len(names)
    assert len({pen.colour for pen in pens_of(FIXED, LIGHT).values()}) == len(FIXED)
    assert pens == pens_of(names, LIGHT)


@THEMES
def test_lines_can_be_seen_and_their_names_read(theme: Theme) -> None:
    assert all(contrast(colour, theme.page) >= 2 for colour in theme.palette)
    assert all(contrast(ink(colour, theme), theme.page) >= 4.5 for colour in theme.palette)


def test_spread_keeps_gap_order_and_what_need_not_move() -> None:
    places = spread([0.5, 0.52, 0.9, 0.51, 1.0], 0.1)
    np.testing.assert_allclose(places, [0.41, 0.61, 0.9, 0.51, 1.0])
    assert spread([1.0, 1.0, 1.0], 0.2) == pytest.approx([0.6, 0.8, 1.0])


def test_saved_twice_the_same_and_no_setting_changed(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    for name in ("one", "two"):
        figures.save(FIGURES["meta"][0](), tmp_path / "new", name)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["one.png", "one.svg", "two.png", "two.svg"]
    written = (tmp_path / "new" / "one.svg").read_bytes()
    assert written == (tmp_path / "new" / "two.svg").read_bytes()
    assert "scaled to [0, 1]</text>" in written.decode()
    assert (tmp_path / "new" / "one.png").read_bytes().startswith(b"\x89PNG")
    assert dict(matplotlib.rcParams) == before


def test_threads_draw_the_same() -> None:
    before = dict(matplotlib.rcParams)
    with ThreadPoolExecutor(4) as threads:
        drawn = set(threads.map(lambda _: figures.as_svg(FIGURES["restarts"][0]()), range(6)))
    assert len(drawn) == 1
    assert dict(matplotlib.rcParams) == before


@pytest.fixture
def page(tmp_path: Path) -> str:
    light, dark = drawn("restarts", LIGHT), drawn("restarts", DARK)
    plates = [Plate(f"plate {i}", "Below.", light, dark) for i in range(2)]
    verdicts = [Verdict("a", "1", True), Verdict("b", "2", False, "why <so>"), Verdict("c", "", None)]
    verdicts.append(Verdict("d", "0 ± 1", None, undecided=True))
    sections = [
        Section("Claims & <b>verdicts</b>", ["<script>alert(1)</script>", "Run `a < b` now."], verdicts=verdicts),
        Section("Pictures", plates=plates),
        Section("Numbers", grids=[Grid(["policy", "regret"], [["<RestartUCB>", "1,234"]], "The last round.")]),
    ]
    path = tmp_path / "new" / "index.html"
    write_page(path, "A <title>", 'A "lead"', sections, "The foot.")
    assert list(path.parent.iterdir()) == [path]
    return path.read_text(encoding="utf-8")


def test_the_page_needs_nothing_else(page: str) -> None:
    assert not re.search(r"https?://|<script src|@import|url\(", page)
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(address.startswith(("data:", "#")) for address in addresses)
    assert {address[1:] for address in addresses if address[0] == "#"} == set(re.findall(r' id="([^"]*)"', page))


def test_the_page_holds_everything_and_escapes_it(page: str) -> None:
    assert page.count("<section") == page.count("<li>") == 3
    assert page.count('<img class="light" alt="plate') == page.count('<img class="dark" alt="plate') == 2
    assert len(set(re.findall(r'src="(data:image/svg[^"]*)"', page))) == 2  # the two plates are the same figure
    for text in (
        "Claims &amp; &lt;b&gt;",
        "&lt;script&gt;alert",
        "why &lt;so&gt;",
        "&lt;RestartUCB&gt;",
        "A &lt;title&gt;",
        "Run <code>a &lt; b</code> now.",
    ):
        assert text in page
    assert "alert(1)</script>" not in page
    assert re.findall(r'<td class="verdict [a-z-]*">(.*?)</td>', page) == ["holds", "fails", "not tested", "undecided"]
    assert '<td class="number">1,234</td>' in page
    assert page.count("The foot.") == page.count("The last round.</caption>") == 1


def test_addresses_are_links(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", "Title", "See (https://arxiv.org/abs/2103.05324).", [], "The foot.")
    link = '(<a href="https://arxiv.org/abs/2103.05324">https://arxiv.org/abs/2103.05324</a>).'
    assert link in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("broken", ["driftbandit.report.page._picture", "os.replace"])
def test_a_page_that_fails_leaves_the_old_one(broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise OSError("no room")

    monkeypatch.setattr(broken, fail)
    path = tmp_path / "index.html"
    path.write_text("old")
    plate = Plate("name", "caption", drawn("restarts"), drawn("restarts"))
    with pytest.raises(OSError, match="no room"):
        write_page(path, "title", "lead", [Section("heading", plates=[plate])], "foot")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@THEMES
def test_gains_show_every_policy_but_the_one_held_against_and_its_interval(theme: Theme) -> None:
    names, days = ["RestartUCB memory=300", "StaticUCB"], pl.date_range(date(2013, 1, 1), date(2013, 12, 31), eager=True)
    parts = [
        pl.DataFrame({"over": f"over {over}", "policy": name, "day": days}).with_columns(
            gain=(names.index(name) - k) * pl.int_range(pl.len()), low=pl.lit(-400.0), high=pl.lit(400.0)
        )
        for k, over in enumerate(names)
        for name in names
    ]
    figure = figures.gains(pl.concat(parts), unit="minutes", theme=theme)
    for axes, other in zip(figure.axes, reversed(names), strict=True):
        assert [text.get_text() for text in axes.texts] == [other]
        assert len(axes.collections) == 1
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("day", "minutes gained so far")
        assert "Jul" in [label.get_text() for label in axes.get_xticklabels()]
    pens = kin_pens(names, theme)
    assert list(pens.values()) == list(pens_of(["RestartUCB", "StaticUCB"], theme).values())
    alike = kin_pens(["RestartUCB memory=300", "RestartUCB memory=10"], theme)
    assert len(set(alike.values())) == 2


def test_a_yardstick_has_a_pen_of_no_policy_and_numbers_below_zero_a_true_minus() -> None:
    rows = [("over random", name, t, -1.0 * t, -2.0 * t, 0.0) for name in ("mine", "hindsight", "RestartUCB") for t in (1, 500)]
    table = pl.DataFrame(rows, schema=["over", "policy", "day", "gain", "low", "high"], orient="row")
    (axes,) = figures.gains(table, unit="minutes", yardsticks=["hindsight"]).axes
    mine, hindsight, restart, _ = axes.lines
    assert (hindsight.get_color(), hindsight.get_marker()) == (LIGHT.muted, "")
    assert [line.get_color() for line in (mine, restart)] == [LIGHT.palette[0], LIGHT.palette[1]]
    assert "−400" in [label.get_text() for label in axes.get_yticklabels()]


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_the_scale_of_a_small_suite_can_be_read(count: int) -> None:
    rows = [("first", world, f"Policy{k}", 0.5 + k) for world in ("jumps", "walk") for k in range(count)]
    figure = figures.suite(pl.DataFrame(rows, schema=["group", "world", "policy", "ratio"], orient="row"))
    figure.draw_without_rendering()
    scale = figure.axes[1]
    boxes = [label.get_window_extent() for label in scale.get_xticklabels()]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    title = scale.xaxis.label.get_window_extent()
    assert figure.bbox.containsx(title.x0)
    assert figure.bbox.containsx(title.x1)
