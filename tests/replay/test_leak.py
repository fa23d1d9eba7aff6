"""The order of rows within rounds: a table that gives its rewards away warns, a sound one does not."""

import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

from driftbandit import Replay
from driftbandit.replay import leak
from driftbandit.replay.leak import LeakWarning, gains_by_place
from driftbandit.replay.table import shuffled


def a_table(seed: int, count: int = 400, sizes: tuple[int, int] = (2, 6), tails: float = 3.0) -> pl.DataFrame:
    """Rounds with a common shock, two features, and noise with heavy tails."""
    rng = np.random.default_rng(seed)
    number = np.repeat(np.arange(count), rng.integers(*sizes, count))
    x = rng.uniform(-0.5, 0.5, (len(number), 2))
    shock = 3 * rng.standard_normal(count)[number]
    reward = x @ [1.0, -1.0] + shock + rng.standard_t(tails, len(number))
    return pl.DataFrame({"id": number, "a": x[:, 0], "b": x[:, 1], "reward": reward})


def replay_of(table: pl.DataFrame, **changed: Any) -> Replay:
    return Replay(table, **{"round": "id", "features": ["a", "b"], "reward": "reward", **changed})


def actions(count: int, effects: list[float], seed: int = 0) -> pl.DataFrame:
    """The same actions in the same order in every round, some better than others."""
    rng = np.random.default_rng(seed)
    number, action = np.divmod(np.arange(count * len(effects)), len(effects))
    reward = np.array(effects)[action] + 0.3 * rng.standard_normal(len(number))
    return pl.DataFrame({"id": number, "action": action, "mood": rng.uniform(0, 1, count)[number], "reward": reward})


@pytest.mark.parametrize("descending", [False, True])
def test_rows_in_order_of_their_outcome_are_told(descending: bool) -> None:
    noisy = pl.col("reward") + pl.Series(5 * np.random.default_rng(1).standard_normal(len(a_table(0))))
    with pytest.warns(LeakWarning, match=r"always taking (row \d|the last row) of a round gains [+-].*table\.shuffled"):
        replay_of(a_table(0).sort("id", noisy, descending=[False, descending]))


def test_once_shuffled_they_are_sound() -> None:
    replay_of(shuffled(a_table(0).sort("id", "reward"), "id", seed=0))


def test_a_single_place_that_leaks_is_found_where_it_is() -> None:
    table = a_table(2, sizes=(4, 5)).with_columns(place=pl.int_range(pl.len()).over("id"))
    third = table.with_columns(reward=pl.col("reward") + 1.5 * (pl.col("place") == 2))
    with pytest.warns(LeakWarning, match=r"always taking row 3 of a round gains \+1\."):
        replay_of(third)


def test_what_random_orders_give_is_what_the_limit_says() -> None:
    """Exact moments over all orders, against orders drawn."""
    log = replay_of(a_table(3, count=60)).log
    places, _, _ = gains_by_place(log)
    sizes = np.diff(log.starts)
    place = np.arange(len(log.rewards)) - np.repeat(log.starts[:-1], sizes)
    rest = leak.residuals(log, log.starts[:-1])
    rng, drawn = np.random.default_rng(0), []
    for _ in range(3000):
        mixed = rest[np.lexsort((rng.random(len(rest)), np.repeat(np.arange(len(sizes)), sizes)))]
        drawn.append([mixed[place == 0].mean(), mixed[log.starts[1:] - 1].mean()])
    variance = np.add.reduceat(rest**2, log.starts[:-1]) / sizes
    expected = np.sqrt(variance.sum()) / len(sizes)
    np.testing.assert_allclose(np.std(drawn, axis=0), expected, rtol=0.05)
    assert places.tolist() == [*range(sizes.max()), -1]


def test_sound_tables_raise_no_alarm() -> None:
    """Warnings are errors here. Heavy tails, common shocks, uneven sizes, all sizes of table."""
    for seed in range(200):
        replay_of(a_table(seed, count=10 + seed, tails=1.5 + seed % 3))


def test_actions_in_a_fixed_order_are_sound() -> None:
    table = actions(500, [0.0, 1.0, 3.0, 0.5])
    encoded = table.with_columns((pl.col("action") == k).cast(float).alias(f"is {k}") for k in range(4))
    one_hot = [f"is {k}" for k in range(4)]
    replay_of(encoded, features=one_hot)
    replay_of(encoded, features=[*one_hot, "mood"])
    uneven = encoded.filter(~((pl.col("action") == 1) & (pl.col("mood") < 0.5)))
    replay_of(uneven, features=one_hot)
    blocks = table.with_columns(
        (pl.when(pl.col("action") == k).then("mood").otherwise(0.0)).alias(f"{k}: mood") for k in range(4)
    )
    replay_of(blocks, features=[f"{k}: mood" for k in range(4)])
    rng = np.random.default_rng(0).uniform(-1, 1, (4, 2))
    fixed = table.with_columns(a=pl.Series(rng[table["action"], 0]), b=pl.Series(rng[table["action"], 1]))
    replay_of(fixed)


def test_rows_sorted_by_a_feature_are_sound_but_not_among_ties() -> None:
    rng = np.random.default_rng(4)
    number, price = np.repeat(np.arange(600), 5), rng.integers(0, 4, 3000) / 4
    table = pl.DataFrame({"id": number, "a": price, "b": rng.uniform(0, 1, 3000)})
    table = table.with_columns(reward=(pl.col("a") - 0.4).abs() + pl.Series(0.05 * rng.standard_normal(3000)))
    replay_of(table.sort("id", "a", maintain_order=True))
    with pytest.warns(LeakWarning):
        replay_of(table.sort("id", "a", "reward"))


def test_a_large_table_is_thinned_by_whole_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    table = a_table(5)
    log = replay_of(table).log
    monkeypatch.setattr(leak, "MOST_ROWS", len(table) // 3)
    thin = leak.thinned(log)
    assert np.array_equal(np.diff(thin.starts), np.diff(log.starts)[:: -(-len(table) // (len(table) // 3))])
    assert thin.rewards[: thin.starts[1]].tolist() == log.rewards[: log.starts[1]].tolist()
    with pytest.warns(LeakWarning):
        replay_of(table.sort("id", "reward"))


def test_shuffling_keeps_rounds_and_what_came_before() -> None:
    table = a_table(6).with_columns(row=pl.int_range(pl.len()))
    mixed = shuffled(table, ["id"], seed=1)
    assert mixed["id"].to_list() == table["id"].to_list()
    assert mixed.sort("row").equals(table)
    assert not mixed.equals(table)
    assert mixed.equals(shuffled(table, "id", seed=1))
    half = table.filter(pl.col("id") < 200)
    assert shuffled(half, "id", seed=1).equals(mixed.head(len(half)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        backwards = table.with_columns(id=400 - pl.col("id"))
        assert shuffled(backwards, "id", seed=1)["id"].to_list() == backwards["id"].to_list()
