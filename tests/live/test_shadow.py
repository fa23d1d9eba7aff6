"""What another policy would have done: the same one the same, another what it does in a plain loop; and the true gain."""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from driftbandit import AdaptiveUCB, Chooser, Policy, RestartUCB, StaticUCB, WindowUCB
from driftbandit.cli import main
from driftbandit.live import Ask, Learner, Service, Settings, shadow
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.errors import Conflict, Invalid, Locked, NotFound
from driftbandit.live.export import compact
from driftbandit.live.shadowed import ENOUGH
from driftbandit.live.shadowing import folded, stand_in
from live_service import ARMS, FAST, Clock

pytestmark = pytest.mark.plain

MEANS = [0.2, 0.5, 0.8]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"explore": 0.3},
    {"default": 0.0, "gather": "last"},
    {"late": "learn"},
    {"default": 0.5, "learn": "at-once", "most_remembered": 5},
]


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=FAST) as made:
        yield Path(made)


def busy(path: Path, policy: Policy | Chooser, arms: Any, **settings: Any) -> bytes:
    """Rewards late, twice, never; baselines, decisions that are never shown; what the policy came to."""
    clock, chance = Clock(), np.random.default_rng(3)
    named = isinstance(policy, Chooser)
    with Learner.open(path, policy, clock=clock, wait=10.0, **settings) as shop:
        if not named:
            shop.put_set("shelf", arms)
        for k in range(120):
            clock.now += 1.0
            baseline = ("red" if named else 0) if k % 9 == 0 else None
            shop.decide({} if named else arms if k % 4 == 0 else "shelf", id=str(k), baseline=baseline, deferred=k % 7 == 0)
            if k % 2 and k > 30:
                late = str(k - int(chance.integers(30)) if settings.get("late") else k - int(chance.integers(9)))
                with suppress(Conflict, NotFound):
                    shop.reward(late, float(late) / 120.0)
            if named and k == 50:
                shop.add("blue")
            if named and k == 70:
                shop.remove("red")
                shop.add("red")
        assert shop.status().counts.decisions == 120
        return policy_of(shop).digest()


def policy_of(shop: Learner) -> Policy:
    learner = shop.service.learner("default")
    return learner.policy if isinstance(learner, Chooser) else learner


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("named", [False, True])
def test_the_same_policy_does_the_same(folder: Path, settings: dict[str, Any], named: bool) -> None:
    path = folder / "shop.db"
    learner = Chooser(RestartUCB, ["red", "green"], places=3, period=50) if named else RestartUCB(2, period=50)
    lived = busy(path, learner, ARMS, **settings)
    journal = SqliteJournal(path)
    found = folded(journal, "default", lambda player: stand_in(player, RestartUCB, {"period": 50}))
    assert found.player.policy.digest() == lived
    told = shadow(journal, "default", RestartUCB, period=50)
    assert told.decisions == told.agreed_with_policy == 120
    assert told.agreed == 120 - int((told.choices["index"] != told.choices["chosen"]).sum()) < 120
    assert 0 < told.outcomes < 120
    journal.close()


def test_another_does_what_it_does_in_a_loop(folder: Path) -> None:
    """Asked at each decision, taught what was played, when its reward came."""
    path, chance = folder / "shop.db", np.random.default_rng(7)
    other, waiting = WindowUCB(2, window=20), list[tuple[int, Any, float]]()
    would, taken = [], []
    with Learner.open(path, StaticUCB(2)) as shop:
        for k in range(80):
            arms = chance.uniform(-0.7, 0.7, (4, 2))
            played = shop.decide(arms, id=str(k)).index
            own = other.select(arms)
            other.release(own)
            would.append(own.index)
            taken.append(played)
            waiting.append((k, arms, float(chance.normal(arms[played, 0], 0.2))))
            if k % 3 == 0:
                for known, offer, reward in waiting:
                    shop.reward(str(known), reward)
                    other.learn(known, offer[taken[known]], reward, own=taken[known] == would[known])
                waiting.clear()
    told = shadow(path, "default", WindowUCB, window=20)
    assert told.choices["shadow"].to_list() == would
    assert told.choices["index"].to_list() == taken
    assert told.agreed == sum(a == b for a, b in zip(taken, would, strict=True)) < 80
    assert told.choices["reward"].null_count() == len(waiting) == 80 - told.outcomes
    assert told.gain is None
    assert told.policy == "WindowUCB(dim=2, window=20)"


def test_the_table_by_action(folder: Path) -> None:
    path = folder / "shop.db"
    with Learner.open(path, StaticUCB(2)) as shop:
        shop.put_set("shelf", ARMS, ["red", "green", "blue"])
        for k in range(40):
            shop.decide("shelf", id=str(k), baseline=["red", "green"][k % 2])
            shop.reward(str(k), float(k % 2))
    told = shadow(path, "default", StaticUCB)
    table = {row["action"]: row for row in told.actions.iter_rows(named=True)}
    assert [table[name]["taken"] for name in ("red", "green")] == [20, 20]
    assert sum(row["would"] for row in table.values()) == 40
    assert sum(row["agreed"] for row in table.values()) == told.agreed
    assert [table[name]["mean"] for name in ("red", "green")] == [0.0, 1.0]
    for name in ("red", "green"):
        mine = told.choices.filter(action=name)
        assert table[name]["mean_agreed"] == mine.filter(agreed=True)["reward"].mean()
        assert table[name]["mean_differed"] == mine.filter(agreed=False)["reward"].mean()


def explored(path: Path, decisions: int, share: float, seed: int) -> None:
    chance = np.random.default_rng(seed)
    with Learner.open(path, StaticUCB(3, noise=0.1, seed=seed), explore=share) as shop:
        shop.put_set("shelf", np.eye(3))
        for k in range(decisions):
            index = shop.decide("shelf", id=str(k)).index
            shop.reward(str(k), float(chance.normal(MEANS[index] if k < decisions / 2 else MEANS[2 - index], 0.1)))


def test_the_gain_is_the_true_one(folder: Path) -> None:
    """Where the means are known so is the gain, and nineteen of twenty intervals should hold it: here four of five at least."""
    held = 0
    for seed in range(5):
        path = folder / f"{seed}.db"
        explored(path, 1500, 0.3, seed)
        told = shadow(path, "default", RestartUCB, period=750, noise=0.1)
        chosen, would = told.choices["chosen"].to_numpy(), told.choices["shadow"].to_numpy()
        means = np.where(np.arange(1500)[:, None] < 750, MEANS, MEANS[::-1])
        true = float((means[np.arange(1500), would] - means[np.arange(1500), chosen]).mean())
        gain = told.gain
        assert gain is not None
        assert gain.low is not None
        assert gain.high is not None
        assert gain.high - gain.low < 0.2
        assert gain.differ == int((chosen != would).sum())
        held += gain.low < true < gain.high
    assert held >= 4


def test_nothing_is_said_of_a_gain_that_too_few_bear_out(folder: Path) -> None:
    path = folder / "shop.db"
    explored(path, 60, 0.1, 1)
    told = shadow(path, "default", WindowUCB, window=2)
    assert told.gain is not None
    assert 0 <= told.gain.drawn < ENOUGH < told.gain.differ
    assert told.gain.mean is None
    same = shadow(path, "default", StaticUCB, noise=0.1, seed=1).gain
    assert same is not None
    assert (same.differ, same.mean, same.low, same.high) == (0, 0.0, 0.0, 0.0)


def groups(path: Path) -> list[Any]:
    journal = SqliteJournal(path)
    found = [*journal.read(0), *journal.snapshots()]
    journal.close()
    return found


def test_the_journal_is_as_it_was(folder: Path) -> None:
    path = folder / "shop.db"
    busy(path, RestartUCB(2, period=50), ARMS)
    before = groups(path)
    shadow(path, "default", StaticUCB)
    assert groups(path) == before


def test_where_records_were_dropped_it_begins_later(folder: Path) -> None:
    """With the arm sets that were put before, and without the rewards of decisions that are gone."""
    path = folder / "shop.db"
    with Learner.open(path, StaticUCB(2), clock=Clock()) as shop:
        shop.put_set("shelf", ARMS)
        for k in range(30):
            shop.decide("shelf", id=str(k))
    with Learner.open(path, clock=Clock()) as shop:
        shop.decide("shelf", id="more")
        compact(shop.service)
        start = shop.service.journal.start
        assert start > 30
        shop.reward("7", 1.0)
        shop.shown("8")
        for k in range(30, 50):
            shop.decide("shelf", id=str(k))
            shop.reward(str(k), 1.0)
    told = shadow(path, "default", WindowUCB, window=5)
    assert told.choices["id"].to_list()[-20:] == [str(k) for k in range(30, 50)]
    assert told.decisions < 30
    assert told.outcomes == 20


def test_of_several_the_last_with_this_name(folder: Path) -> None:
    path = folder / "shop.db"
    service = Service.open(SqliteJournal(path))
    for count in (3, 5):
        service.create("shop", StaticUCB(2), Settings())
        service.create(f"mail{count}", StaticUCB(2), Settings())
        service.put_set("shop", "shelf", ARMS)
        for k in range(count):
            service.decide("shop", str(k), Ask(set="shelf"))
        service.delete("shop")
    service.close()
    assert shadow(path, "shop", StaticUCB).decisions == 5
    assert shadow(path, "mail3", StaticUCB).decisions == 0
    with pytest.raises(NotFound, match=r"unknown experiment 'post': .* holds 'shop', 'mail3', 'mail5'"):
        shadow(path, "post", StaticUCB)


def test_what_cannot_be_is_refused(folder: Path) -> None:
    path = folder / "shop.db"
    with pytest.raises(NotFound, match="no journal"):
        shadow(path, "default", StaticUCB)
    assert not path.exists()
    with Learner.open(path, StaticUCB(2)) as shop:
        with pytest.raises(Locked):
            shadow(path, "default", StaticUCB)
        assert shadow(shop.service.journal, "default", StaticUCB).decisions == 0
        with pytest.raises(Invalid, match="windw"):
            shadow(shop.service.journal, "default", WindowUCB, windw=3)


def test_arms_in_blocks_and_of_any_length(folder: Path) -> None:
    path = folder / "shop.db"
    with Learner.open(path, StaticUCB(4, blocks=2, arm_norm=3.0, ridge=9.0)) as shop:
        for k in range(20):
            shop.decide([[0.0, 2.0, 0.0], [1.0, 0.0, 2.5]], id=str(k))
            shop.reward(str(k), 0.5)
    assert shadow(path, "default", StaticUCB, ridge=9.0).agreed == 20


@pytest.mark.parametrize("pair", [(AdaptiveUCB, StaticUCB), (StaticUCB, AdaptiveUCB), (AdaptiveUCB, AdaptiveUCB)])
def test_of_and_by_a_policy_that_is_told_nothing(folder: Path, pair: tuple[type[Policy], type[Policy]]) -> None:
    path = folder / "shop.db"
    busy(path, pair[0](2), ARMS)
    told = shadow(path, "default", pair[1])
    assert (told.agreed_with_policy == told.decisions) == (pair[0] is pair[1])


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = folder / "shop.db", folder / "choices.csv"
    explored(path, 400, 0.5, 2)
    command = ["journal", "shadow", str(path), "default", "--policy", "WindowUCB", "window=40", "noise=0.1"]
    assert main([*command, "--out", str(out)]) == 0
    words = capsys.readouterr().out
    told = shadow(path, "default", WindowUCB, window=40, noise=0.1)
    assert words.startswith(
        "default: 400 decisions, the outcome of 400 is known\nWindowUCB(dim=3, noise=0.1, window=40) would have"
    )
    assert f"{told.agreed} ({told.agreed / 400:.1%}) of them" in words
    assert told.gain is not None
    assert told.gain.mean is not None
    assert f"gain: {told.gain.mean:+.4g} per decision" in words
    assert pl.read_csv(out)["shadow"].to_list() == told.choices["shadow"].to_list()
    assert out.stat().st_mode & 0o777 == 0o600
    wrong = [
        (["--out", str(out)], "exists"),
        (["--out", "choices.txt"], "must end in .csv or .parquet"),
        (["--policy", "Window"], "unknown policy 'Window': one of AdaptiveUCB"),
        (["--policy", "WindowUCB", "40"], "KEY=VALUE"),
        (["--policy", "WindowUCB", "window=few"], "window"),
    ]
    for more, why in wrong:
        assert main([*command, *more]) == 2
        assert why in capsys.readouterr().err
    with Learner.open(path):
        assert main(command) == 2
    assert "driftbandit journal copy" in capsys.readouterr().err


def test_words_where_nothing_can_be_said_of_a_gain(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "shop.db"
    busy(path, RestartUCB(2, period=50), ARMS)
    assert main(["journal", "shadow", str(path), "default", "--policy", "StaticUCB"]) == 0
    assert "gain: cannot be known, since no chances are" in capsys.readouterr().out
    few = folder / "few.db"
    explored(few, 60, 0.1, 1)
    assert main(["journal", "shadow", str(few), "default", "--policy", "WindowUCB", "window=2"]) == 0
    assert "which is too few to say" in capsys.readouterr().out
