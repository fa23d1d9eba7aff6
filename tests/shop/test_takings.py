"""Keeping the shop: every reward once and in time, the same numbers from the same seed, and what the command writes."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection

from common import rounds
from driftbandit import figures
from driftbandit.cli import main
from driftbandit.figures.look import DARK, LIGHT, Theme
from driftbandit.shop import Shop, keepers, vowpal
from driftbandit.shop.keepers import KEEPERS, FromFields, keep
from driftbandit.shop.storefront import BANNERS, SOON, TIMEOUT, open_shop, share
from driftbandit.shop.takings import Plan, Takings, account, captured, grid

OURS = ["AdaptiveUCB", "DetectUCB", "StaticUCB", "DiscountedTS"]


class Noted(NamedTuple):
    action: str
    number: int


class Notary:
    """Shows the banners in turn and notes when it is told what."""

    def __init__(self) -> None:
        self.met = 0
        self.heard: dict[int, tuple[int, float]] = {}

    def select(self, fields: Mapping[str, Any]) -> Noted:
        self.met += 1
        return Noted(BANNERS[(self.met - 1) % len(BANNERS)], self.met - 1)

    def update(self, choice: Noted, reward: float) -> None:
        assert choice.number not in self.heard
        self.heard[choice.number] = self.met - choice.number - 1, reward


@pytest.mark.parametrize("late", [False, True])
def test_every_reward_is_told_once_and_when_it_is_known(late: bool) -> None:
    notary, decisions, played = Notary(), 3000, list[int]()
    kept = keep(notary, Shop(4, late), decisions, played.append)
    assert kept.chosen.tolist() == [k % len(BANNERS) for k in range(decisions)]
    assert sum(played) == decisions
    traffic = open_shop(4, decisions, late)
    clicked = traffic.luck < traffic.chances[np.arange(decisions), kept.chosen]
    delays = {False: set[int](), True: set[int]()}
    for number, (delay, reward) in notary.heard.items():
        assert reward == clicked[number]
        delays[bool(reward)].add(delay)
    assert delays[False] == {TIMEOUT if late else 0}
    assert max(delays[True]) <= (SOON if late else 0)
    assert set(range(decisions - TIMEOUT - 1)) <= notary.heard.keys()


@pytest.mark.parametrize("name", OURS)
def test_ours_play_from_named_fields_and_the_same_again(name: str) -> None:
    first, again = (keep(KEEPERS[name].keeper(3), Shop(3, late=True), rounds(700, 5)).chosen for _ in range(2))
    assert first.tolist() == again.tolist()
    assert len(set(first.tolist())) > 1


def test_the_captured_share_ends_at_the_whole_and_is_1_for_the_oracle() -> None:
    traffic = open_shop(1, 2000)
    chosen = np.arange(2000) % len(BANNERS)
    assert captured(traffic, chosen)[-1] == pytest.approx(share(traffic, chosen))
    assert captured(traffic, chosen)[499] == pytest.approx(share(open_shop(1, 500), chosen[:500]))
    assert captured(traffic, traffic.chances.argmax(axis=1)) == pytest.approx(1)


def test_the_grid_ranks_by_what_was_captured() -> None:
    plan = Plan(["StaticUCB", "AdaptiveUCB"], [1, 2], 2000)
    tables = []
    for seed in plan.seeds:
        traffic = open_shop(seed, 2000)
        tables.append(account("StaticUCB", seed, traffic.chances.argmin(axis=1), traffic))
        tables.append(account("AdaptiveUCB", seed, traffic.chances.argmax(axis=1), traffic))
    shown = grid(plan, Takings(pl.concat(tables), {"StaticUCB": 0.2, "AdaptiveUCB": 0.4}))
    assert [row[0] for row in shown.rows] == ["an oracle", "AdaptiveUCB", "StaticUCB", "random choice"]
    assert list(shown.rows[1][:4]) == ["AdaptiveUCB", "nothing", "100.0 ± 0.0", "100.0, 100.0"]
    assert shown.rows[1][5] == "100 µs"
    assert shown.rows[2][2].startswith("-")
    assert float(shown.rows[0][4]) > float(shown.rows[3][4]) > 2
    assert "seeds 1, 2, seasons in each 1, 1;" in shown.caption


class Workspace:
    """As VowpalWabbit's: it always prefers the second action, and keeps what it is taught."""

    made: "list[Workspace]" = []  # noqa: RUF012

    def __init__(self, options: str) -> None:
        self.options, self.taught = options, list[list[str]]()
        self.made.append(self)

    def predict(self, lines: list[str]) -> list[float]:
        assert len(lines) == 1 + len(BANNERS)
        return [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]

    def learn(self, lines: list[str]) -> None:
        self.taught.append(lines)


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch) -> type[Workspace]:
    module = ModuleType("vowpalwabbit")
    module.Workspace = Workspace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vowpalwabbit", module)
    monkeypatch.setattr(keepers, "installed", lambda: True)
    return Workspace


def test_vowpal_wabbit_gets_the_same_numbers_in_its_own_words(workspace: type[Workspace]) -> None:
    player = FromFields("--squarecb", seed=3)
    fields = {"country": "FR", "device": "phone", "hour": 6.0, "basket": 0, "returning": True}
    choice = player.select(fields)
    assert choice.action == BANNERS[1]
    player.update(choice, 1.0)
    (taught,) = workspace.made[-1].taught
    assert "--random_seed 3 --squarecb" in workspace.made[-1].options
    shared = "shared |c constant:0.40824829 country=FR:0.40824829 device=phone:0.40824829 hour_(sin):0.40824829"
    assert taught[0].startswith(shared)
    assert taught[0].endswith("basket:-0.40824829 returning:0.40824829")
    assert taught[1:4] == ["|b sale", "0:-1:1 |b new", "|b gifts"]


def shop_of(tmp_path: Path, *more: str) -> list[str]:
    return ["shop", "--seeds", "1", "2", "--decisions", str(rounds(700, 40)), "--out", str(tmp_path / "out"), *more]


def test_the_command_plays_prints_and_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], workspace: type[Workspace]
) -> None:
    assert main(shop_of(tmp_path, "--late", "--policies", "StaticUCB, VowpalWabbit,DetectUCB")) == 0
    printed = capsys.readouterr().out
    for word in ("an oracle", "StaticUCB", "VowpalWabbit", "DetectUCB", "width 0.1", "after 500", "written:"):
        assert word in printed
    out = tmp_path / "out"
    table = pl.read_parquet(out / "table.parquet")
    assert table["policy"].unique(maintain_order=True).to_list() == ["StaticUCB", "VowpalWabbit", "DetectUCB"]
    assert pl.read_csv(out / "table.csv").height == table.height
    assert table.group_by("seed", "policy").agg(pl.col("decision").max())["decision"].to_list() == [rounds(700, 40)] * 6
    visitors = pl.read_csv(out / "visitors.csv")
    assert visitors.columns[:6] == ["visit", "country", "device", "hour", "basket", "returning"]
    assert visitors.height == rounds(700, 40)
    assert json.loads((out / "settings.json").read_text())["late"] is True
    assert "| DetectUCB |" in (out / "shop.md").read_text()
    for name in ("shop", "shop-dark"):
        assert (out / f"{name}.png").stat().st_size > 10_000
        assert "% captured so far" in (out / f"{name}.svg").read_text()


def test_the_same_seeds_write_the_same_table() -> None:
    plan = Plan(["StaticUCB", "DetectUCB"], [4], rounds(600, 20), late=True)
    first, again = plan.run().table, plan.run().table
    assert first.equals(again)
    assert first["captured"].n_unique() > 10


@pytest.mark.compiled
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_figure_marks_the_seasons_of_each_shop(theme: Theme) -> None:
    rows = [(seed, name, t, 0.1 * seed) for seed in (1, 2) for name in OURS for t in range(100, 40_001, 100)]
    table = pl.DataFrame(rows, schema=["seed", "policy", "decision", "captured"], orient="row")
    figure = figures.captured(table, Plan(OURS, [1, 2], 40_000).changes(), theme=theme)
    assert [axes.get_title("left") for axes in figure.axes] == ["shop with seed 1", "shop with seed 2"]
    for axes, starts, level in zip(figure.axes, ([31_683], [13_376]), (10, 20), strict=True):
        words = [text.get_text() for text in axes.texts]
        assert words == ["season 1", "season 2", *OURS]
        (marks,) = [part for part in axes.collections if isinstance(part, LineCollection)]
        assert [segment[0, 0] for segment in marks.get_segments()] == starts
        for line in axes.lines:
            assert np.asarray(line.get_ydata()) == pytest.approx(level)
        assert axes.get_xlabel() == "decision"
        assert axes.get_ylabel().startswith("% captured so far")


def test_the_command_says_who_cannot_play(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vowpal, "find_spec", lambda name: None)
    assert main(shop_of(tmp_path, "--policies", "StaticUCB,VowpalWabbit")) == 0
    missing = "VowpalWabbit is not installed, so VowpalWabbit cannot play: pip install vowpalwabbit"
    assert missing in capsys.readouterr().out
    assert main(shop_of(tmp_path, "--policies", "VowpalWabbit")) == 2
    assert capsys.readouterr().err == f"driftbandit: {missing}\n"
    assert main(shop_of(tmp_path, "--policies", "StatikUCB")) == 2
    assert "--policies: unknown player 'StatikUCB'; did you mean 'StaticUCB'?" in capsys.readouterr().err
