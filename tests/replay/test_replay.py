"""A logged world: the compiled loop against an obvious one, delays, errors, gains and their intervals."""

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from common import KINDS, every_policy, rounds
from driftbandit import DetectionAugmentedUCB, DiscountedTS, Policy, Replay, SettingsError, StaticUCB, figures
from driftbandit.cli import main
from driftbandit.replay.files import load
from driftbandit.replay.gains import BEST, FIXED, RANDOM, RESAMPLES, Gains
from driftbandit.replay.study import LogStudy
from driftbandit.replay.tasks import Known
from driftbandit.studies.tasks import expand

FEATURES = ["a", "b", "c"]


def a_log(count: int, seed: int = 0, slowest: float = 30.0) -> pl.DataFrame:
    """Rounds of 1 to 5 arms at uneven times, several at the same; rewards known after uneven delays, some exactly on time."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, count)
    time = np.repeat(np.cumsum(rng.integers(0, 3, count)), sizes)
    x = rng.uniform(-0.5, 0.5, (len(time), 3))
    wait = rng.choice([0.0, 1.0, 2.5, slowest], len(time))
    reward = x @ [0.6, -0.5, 0.2] + 0.3 * rng.standard_normal(len(time))
    columns = {name: x[:, j] for j, name in enumerate(FEATURES)}
    return pl.DataFrame(
        {"id": np.repeat(np.arange(count), sizes), "time": time, **columns, "reward": reward, "known": time + wait}
    )


def by_hand(policy: Policy, table: pl.DataFrame) -> list[float]:
    """Live through the table row by row: before each decision look through all that waits."""
    waiting: list[tuple[float, Any, float]] = []
    got = []
    for _, part in table.group_by("id", maintain_order=True):
        if len(part) == 1:
            continue
        now = part["time"][0]
        for known, decision, reward in list(waiting):
            if known <= now:
                policy.update(decision, reward)
                waiting.remove((known, decision, reward))
        decision = policy.select(part.select(FEATURES).to_numpy())
        assert decision.index is not None
        got.append(part["reward"][decision.index])
        waiting.append((part["known"][decision.index], decision, got[-1]))
    return got


def replay_of(table: pl.DataFrame | str | Path, **changed: Any) -> Replay:
    columns = {"round": "id", "features": FEATURES, "reward": "reward", "time": "time", "known": "known"}
    return Replay(table, **{**columns, **changed})


@pytest.mark.parametrize("kind", KINDS)
def test_a_replay_is_an_obvious_loop_to_the_last_bit(kind: str) -> None:
    table = a_log(rounds(3000, 150))
    policy = every_policy(3)[kind]
    got = replay_of(table).play(policy, replicate=4)
    assert got.tolist() == by_hand(policy.spawn(4), table)
    assert policy.rounds == 0


def test_any_player_plays_as_ours_do() -> None:
    class Wrapped:
        def __init__(self, policy: Policy, hide: bool) -> None:
            self.policy, self.hide = policy, hide

        def select(self, arms: Any) -> Any:
            decision = self.policy.select(arms)
            self.waiting = {**getattr(self, "waiting", {}), decision.round: decision}
            return Hidden(decision) if self.hide else decision

        def update(self, decision: Any, reward: float) -> None:
            self.policy.update(self.waiting[decision.round], reward)

    class Hidden:
        """A decision that names its arm, not the arm's number."""

        def __init__(self, decision: Any) -> None:
            self.arm, self.round = decision.arm, decision.round

    replay, policy = replay_of(a_log(150)), StaticUCB(3)
    ours = replay.choices(policy).tolist()
    for hide in (False, True):
        assert replay.choices(Wrapped(policy.spawn(0), hide)).tolist() == ours

    class Outside:
        def select(self, arms: Any) -> int:
            return len(arms)

        def update(self, decision: Any, reward: float) -> None: ...

    with pytest.raises(ValueError, match=r"Outside.select must return an arm: one of the . offered.*in round 0 it returned"):
        replay.play(Outside())


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ([1, 2, 2, 5], [(1, 0.0), (2, 1.0), (3, 2.0)]),
        ([1.5, 2.5, 3.5, 5], [(1, 0.0), (3, 1.0)]),
        ([3, 9, 2, 5], [(3, 0.0), (3, 2.0)]),
        (None, [(1, 0.0), (2, 1.0), (3, 2.0)]),
    ],
)
def test_a_reward_is_told_before_the_first_decision_that_is_not_before_it(known: Any, expected: Any) -> None:
    """Decisions at 1, 2, 2 and 3: a reward known at 2 is told before the one at 2 that follows its own, if any."""
    told = []

    class Listener:
        decided = 0

        def select(self, arms: Any) -> int:
            self.decided += 1
            return 0

        def update(self, decision: int, reward: float) -> None:
            told.append((self.decided, reward))

    columns = {"id": range(4), "time": [1, 2, 2, 3], "known": known or 0, "reward": [0.0, 1.0, 2.0, 3.0], "a": 0.1}
    table = pl.DataFrame({name: np.repeat(np.broadcast_to(column, 4), 2) for name, column in columns.items()})
    replay_of(table, features=["a"], known=known and "known").play(Listener())
    assert told == expected


def test_what_hindsight_and_chance_get() -> None:
    table = a_log(100)
    replay = replay_of(table)
    parts = [part for _, part in table.group_by("id", maintain_order=True) if len(part) > 1]
    assert (replay.rounds, replay.dropped) == (len(parts), 100 - len(parts))
    assert replay.table.equals(pl.concat(parts))
    np.testing.assert_array_equal(replay.best, [part["reward"].max() for part in parts])
    np.testing.assert_allclose(replay.random, [np.mean(part["reward"].to_numpy()) for part in parts], atol=1e-15)
    x, r = replay.table.select(FEATURES).to_numpy(), replay.table["reward"].to_numpy()
    theta = np.linalg.lstsq(np.vstack([x, np.eye(3)]), np.append(r, np.zeros(3)))[0]
    values = [part["reward"][int(np.argmax(part.select(FEATURES).to_numpy() @ theta))] for part in parts]
    np.testing.assert_array_equal(replay.fixed(), values)


def test_files_and_times_are_read_as_they_are(tmp_path: Path) -> None:
    table = a_log(60)
    expected = replay_of(table).choices(StaticUCB(3)).tolist()
    epoch = datetime.datetime(2013, 1, 1)
    seconds = [
        (pl.lit(epoch) + pl.duration(milliseconds=(1000 * pl.col(name)).cast(int))).alias(name) for name in ("time", "known")
    ]
    clock = table.with_columns(seconds)
    clock.write_parquet(tmp_path / "log.parquet")
    clock.write_csv(tmp_path / "log.csv")
    zoned = clock.with_columns(pl.col("time", "known").dt.replace_time_zone("America/New_York"))
    for source in (tmp_path / "log.parquet", str(tmp_path / "log.csv"), zoned):
        assert replay_of(source).choices(StaticUCB(3)).tolist() == expected
    assert replay_of(table, round=["time", "id"], time=None).choices(StaticUCB(3)).tolist() == expected
    with pytest.raises(SettingsError, match=r"\.parquet or \.csv"):
        replay_of(tmp_path / "log.xls")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    a_log(60).write_parquet(tmp_path / "whole.parquet")
    a_log(60).write_csv(tmp_path / "whole.csv")
    parquet, text = (tmp_path / "whole.parquet").read_bytes(), (tmp_path / "whole.csv").read_bytes()
    rng = np.random.default_rng(0)
    broken = {
        "empty.parquet": b"",
        "cut.parquet": parquet[: len(parquet) // 2],
        "text.parquet": text,
        "headless.parquet": b"PAR1" + rng.bytes(200) + b"PAR1",
        "footless.parquet": parquet[:-60] + rng.bytes(52) + parquet[-8:],
        "empty.csv": b"",
        "bytes.csv": b"id,time\n1,\xff\xfe\n",
        "ragged.csv": b"id,time\n1,2,3,4\n",
        "parquet.csv": parquet,
    }
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SettingsError, match=rf"table .*{name} cannot be read as \.(csv|parquet): \w"):
            replay_of(tmp_path / name)
    changed(a_log(60).with_columns(pl.col("a").cast(str)), 2, a="1,5").write_csv(tmp_path / "word.csv")
    with pytest.raises(SettingsError, match=r"column 'a' must hold numbers, got String, such as '1,5' in row 2, counted"):
        replay_of(tmp_path / "word.csv")
    (tmp_path / "mine.toml").write_text(STUDY.replace("log.csv", "ragged.csv"))
    with pytest.raises(SettingsError, match=r"\[log\] table .*ragged.csv cannot be read as .csv"):
        load(tmp_path / "mine.toml")


def changed(table: pl.DataFrame, row: int, **values: Any) -> pl.DataFrame:
    here = pl.int_range(pl.len()) == row
    return table.with_columns(pl.when(here).then(pl.lit(value)).otherwise(name).alias(name) for name, value in values.items())


def test_a_table_that_cannot_be_meant_is_refused() -> None:
    table = a_log(20)
    last = len(table) - 1
    text, clock = pl.col("time").cast(str), pl.datetime(2013, 1, 1) + pl.duration(hours="time")
    wrong: list[tuple[pl.DataFrame, dict[str, Any], str]] = [
        (table, {"reward": "rewrad"}, "reward: the table has no column 'rewrad'; did you mean 'reward'"),
        (table, {"features": ["a", "q"]}, "features: the table has no column 'q'; known: id, time, a"),
        (table, {"features": []}, "features must be a list"),
        (table, {"features": "a"}, "features must be a list"),
        (table, {"round": "di"}, "round: the table has no column 'di'; did you mean 'id'"),
        (table, {"known": "knwon"}, "known: the table has no column"),
        (table, {"time": "tiem"}, "time: the table has no column"),
        (changed(table, 7, b=float("nan")), {}, "features: column 'b' must be finite, got null, NaN or infinity in row 7,"),
        (changed(table, 5, reward=None), {}, "reward: column 'reward' must be finite.* in row 5,"),
        (changed(table, 5, known=None), {}, "known: .* in row 5,"),
        (changed(table, 5, id=None), {}, "round: column 'id' must have a value in every row, got null in row 5,"),
        (table.with_columns(clock.alias("time"), known=None), {}, "known: "),
        (changed(table, last, time=-1), {}, f"time: column 'time' must .* in row {last},"),
        (table.reverse(), {}, "time: column 'time' must not decrease, but does in row"),
        (changed(table, last, id=0), {}, f"rows of a round must be contiguous, but an earlier round comes back in row {last},"),
        (table.with_columns(known=pl.col("time") - 1), {}, "known: column 'known' must not be before the decision.* row 0"),
        (table.with_columns(a=text), {}, "features: column 'a' must hold numbers, got String"),
        (table.with_columns(time=text), {}, "time: column 'time' must hold numbers, got String"),
        (table.with_columns(time=clock), {}, "known: column 'known' must be of the same kind as the time"),
        (table.unique("id", maintain_order=True), {}, "table must have a round with at least two arms"),
        (table.clear(), {}, "table must not be empty"),
    ]  # fmt: skip
    for frame, columns, message in wrong:
        with pytest.raises(SettingsError, match=message):
            replay_of(frame, **columns)


def test_a_policy_that_cannot_play_is_refused() -> None:
    replay = replay_of(a_log(20))
    with pytest.raises(ValueError, match="dim = 3"):
        replay.play(StaticUCB(2))
    with pytest.raises(ValueError, match="longer than arm_norm"):
        replay.play(StaticUCB(3, arm_norm=0.1))
    with pytest.raises(ValueError, match="arms that change between rounds"):
        replay.play(DetectionAugmentedUCB(3, horizon=100))


# --- gains -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [1, 3])
def test_intervals_are_those_of_resampled_days(together: int) -> None:
    rng = np.random.default_rng(1)
    rewards, count = rng.standard_normal((2, 10)), rng.integers(1, 5, 10)
    gains = Gains(("one", "other"), pl.Series("day", range(10)), count, rewards, together, seed=3)
    same, drawn = np.random.default_rng(3), []
    for _ in range(RESAMPLES):
        starts = same.integers(0, 10, -(-10 // together))
        days = [(int(start) + k) % 10 for start in starts for k in range(together)][:10]
        drawn.append(sum(rewards[1, day] - rewards[0, day] for day in days) / sum(count[day] for day in days))
    mean, low, high = (end[1] for end in gains.over("one"))
    np.testing.assert_allclose((low, high), np.quantile(drawn, [0.025, 0.975]), atol=1e-12)
    assert mean == pytest.approx((rewards[1] - rewards[0]).sum() / count.sum())
    assert [end[0] for end in gains.over("one")] == [0, 0, 0]
    with pytest.raises(SettingsError, match="did you mean 'other'"):
        gains.over("others")


def a_study(replay: Replay, policies: dict[str, Any], seed: int = 0, block: str = "day", **account: Any) -> LogStudy:
    made = {policy.label: policy for policy in expand("policies", policies)}
    return LogStudy({"name": "mine", "account": account}, replay, made, block, Known(replay.dim), seed)


def test_gains_are_sums_over_blocks_of_the_mean_of_replicates() -> None:
    table = a_log(80).with_columns(day=pl.col("time") // 10)
    replay = replay_of(table)
    study = a_study(replay, {"DiscountedTS": {"memory": [10, 30], "noise": 0.3}}, seed=5, replicates=2, scale=60)
    assert list(study.policies) == ["DiscountedTS memory=10", "DiscountedTS memory=30"]
    policies = [task.make() for task in study.tasks[::2]]
    assert policies[0] == DiscountedTS(3, noise=0.3, seed=5, discount=0.9)
    finished: list[int] = []
    gains = study.run(progress=finished.append).gains()
    assert finished == [0, *[replay.rounds] * 4]
    days = replay.table["day"].gather(replay.log.starts[:-1]).to_numpy()
    both = [replay.play(policies[1], replicate=k) for k in range(2)]
    played = np.mean(both, axis=0)
    assert gains.blocks.to_list() == sorted(set(days))
    for name, got in (
        ("DiscountedTS memory=30", played),
        (RANDOM, replay.random),
        (FIXED, replay.fixed()),
        (BEST, replay.best),
    ):
        np.testing.assert_allclose(
            gains.rewards[gains.names.index(name)], [60 * got[days == day].sum() for day in gains.blocks], atol=1e-9
        )
    curve = gains.curves(RANDOM, points=3).filter(policy="DiscountedTS memory=30")
    assert curve["gain"][-1] == pytest.approx(60 * (played - replay.random).sum())
    assert (curve["low"] <= curve["gain"]).all()
    grid = gains.grid("DiscountedTS memory=10")
    assert grid.rows[0][0] == BEST
    for column, message in (("dya", "did you mean 'day'"), ("reward", "must not decrease")):
        with pytest.raises(SettingsError, match=message):
            a_study(replay, {"StaticUCB": {}}, block=column)


def test_the_table_is_that_of_any_study() -> None:
    replay = replay_of(a_log(80).with_columns(day=pl.col("time") // 10))
    study = a_study(replay, {"DiscountedTS": {"memory": [10, 30], "noise": 0.3}}, replicates=2, scale=60).run()
    table = study.table()
    columns = ["world", "policy", "policy.memory", "replicate", "round", "block", "regret", "reward"]
    assert table.columns == columns
    assert set(table["world"]) == {"mine"}
    days = replay.table["day"].gather(replay.log.starts[:-1]).to_numpy()
    for replicate in range(2):
        part = table.filter(policy="DiscountedTS memory=30", replicate=replicate)
        got = replay.play(study.tasks[-1].make(), replicate=replicate)
        assert part["round"].to_list() == [int((days <= day).sum()) for day in part["block"]]
        np.testing.assert_allclose(part["reward"], [60 * got[days <= day].sum() for day in part["block"]], atol=1e-9)
        lost = replay.best - got
        np.testing.assert_allclose(part["regret"], [60 * lost[days <= day].sum() for day in part["block"]], atol=1e-9)
    assert set(table.filter(policy=BEST)["regret"]) == {0.0}
    assert len(figures.regret_over_time(table).axes[0].lines) > 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"memory": 0}, "memory must be greater than 0"),
        ({"factor": 2}, "factor requires memory: give memory too, or leave factor out"),
        ({"memry": 3}, "has no key 'memry'; did you mean 'memory'"),
        ({"memory": "theory"}, "memory must be a number of rounds: a log has no path length"),
        ({"memory": 9, "period": 5}, "give memory or period, not both"),
        ({"period": 5, "dim": 2}, "dim must be 3"),
    ],
)
def test_a_policy_that_a_study_refuses_a_log_refuses_too(table: dict[str, Any], message: str) -> None:
    replay = replay_of(a_log(20).with_columns(day=0))
    with pytest.raises(SettingsError, match=rf"\[policies.RestartUCB\] {message}"):
        a_study(replay, {"RestartUCB": table})


def test_no_policies_and_change_points_that_nobody_knows_are_refused() -> None:
    replay = replay_of(a_log(20).with_columns(day=0))
    with pytest.raises(SettingsError, match=r"\[policies\] must not be empty"):
        a_study(replay, {})
    with pytest.raises(SettingsError, match=r"\[policies.OracleRestartUCB\].*change_points"):
        a_study(replay, {"OracleRestartUCB": {}})
    (task,) = a_study(replay, {"OracleRestartUCB": {"change_points": [3, 7]}}).tasks
    assert task.make().change_points == [3, 7]


STUDY = """
name = "mine"
[log]
table = "log.csv"
round = "id"
time = "time"
known = "known"
reward = "reward"
features = ["a", "b", "c"]
[account]
block = "day"
[policies.StaticUCB]
[policies.RestartUCB]
memory = [10, 20]
"""


def test_a_log_of_ones_own_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_log(80).with_columns(day=pl.col("time") // 10).write_csv(tmp_path / "log.csv")
    (tmp_path / "mine.toml").write_text(STUDY)
    arguments = ["replay", str(tmp_path / "mine.toml"), "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "RestartUCB" in printed
    assert "rounds that offered a single arm" in printed
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {
        "gains.png",
        "gains.svg",
        "gains-dark.png",
        "gains-dark.svg",
        "gains.md",
        "settings.json",
        "table.csv",
        "table.parquet",
        "cells.sqlite",
    }
    first = (tmp_path / "out" / "table.csv").read_bytes()
    assert main(arguments) == 0
    assert (tmp_path / "out" / "table.csv").read_bytes() == first


def test_a_mistake_in_a_log_study_is_named(tmp_path: Path) -> None:
    a_log(20).with_columns(day=0).write_csv(tmp_path / "log.csv")
    file = tmp_path / "mine.toml"
    for right, wrong, message in (
        ('reward = "reward"', "", r"\[log\] must have a key 'reward'"),
        ('reward = "reward"', 'reward = "rewrad"', r"\[log\] reward: the table has no column 'rewrad'; did you mean 'reward'"),
        ("[account]", '[account]\nagainst = "StatcUCB"', r"\[account\] against: .* did you mean 'StaticUCB'"),
        ("[account]", "[acount]", r"\[study\] has no key 'acount'; did you mean 'account'"),
        ("block", "blok", r"\[account\] has no key 'blok'; did you mean 'block'"),
        ("[account]", "[account", "mine.toml is not TOML"),
        (
            '"b", "c"]',
            '"b", "reward"]',
            r"\[log\] features must not list 'reward', the column of reward: it gives the outcome away",
        ),
        (
            '"b", "c"]',
            '"b", "known"]',
            r"\[log\] features must not list 'known', the column of known: it gives the outcome away",
        ),
        ("memory = [10, 20]", "memory = 10\nperiod = 10", r"\[policies.RestartUCB\] give memory or period, not both"),
        ("[account]", "[account]\nscale = 'x'", r"\[account\] scale must be a number, got 'x'"),
        ("[account]", "[account]\nreplicates = 0", r"\[account\] replicates must be at least 1"),
        ('"day"', '"dya"', r"block: the table has no column 'dya'; did you mean 'day'"),
        ("[account]\n", "account = 3\n[other]\n", r"\[study\] has no key 'other'"),
    ):
        file.write_text(STUDY.replace(right, wrong))
        with pytest.raises(SettingsError, match=message):
            load(file)
