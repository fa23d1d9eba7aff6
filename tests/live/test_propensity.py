"""Chances recomputed at export: closed forms where there are some, the policy's own word elsewhere."""

from pathlib import Path

import polars as pl
import pytest

from driftbandit import Chooser, DiscountedTS, Policy, StaticUCB
from driftbandit.cli import main
from driftbandit.live import Learner
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.export import compact, export
from live_service import ARMS, Clock

pytestmark = pytest.mark.plain


def exported(path: Path, draws: int) -> pl.DataFrame:
    """The decisions."""
    journal = SqliteJournal(path)
    export(journal, path.with_suffix(".parquet"), draws=draws)
    journal.close()
    return pl.read_parquet(path.with_suffix(".parquet")).filter(kind="Decided")


def test_ties_and_exploration_have_a_closed_form(tmp_path: Path) -> None:
    """Three arms of equal length tie at first; then one is known, and the two others are better or worse than it."""
    path = tmp_path / "shop.db"
    with Learner.open(path, StaticUCB(3), explore=0.3) as shop:
        arms = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        first = shop.decide(arms, id="a").index
        shop.reward("a", -5.0)
        second = shop.decide(arms, id="b").index
        shop.decide(arms, id="c", baseline=1)
    found = exported(path, 10)["recomputed_chance"].to_list()
    assert found[0] == pytest.approx(1.0 / 3.0)
    assert found[1] == pytest.approx(0.3 / 3.0 + 0.7 * (0.0 if second == first else 0.5))
    assert found[2] is None


def test_it_is_what_the_policy_said_of_itself(tmp_path: Path) -> None:
    """Asked before each decision, in its own state."""
    path, expected = tmp_path / "shop.db", list[float]()
    with Learner.open(path, DiscountedTS(2, discount=0.9, noise=0.3)) as shop:
        for k in range(12):
            policy = shop.service.learner("default")
            assert isinstance(policy, Policy)
            chances = policy.chances(ARMS, 40)
            index = shop.decide(ARMS, id=str(k)).index
            expected.append(float(chances[index]))
            shop.reward(str(k), float(index))
    assert exported(path, 40)["recomputed_chance"].to_list() == expected
    assert len(set(expected)) > 3


def test_of_named_actions_less_those_excluded(tmp_path: Path) -> None:
    path, expected = tmp_path / "shop.db", list[float]()
    with Learner.open(path, Chooser(DiscountedTS, ["red", "green", "blue"], discount=0.9, noise=0.3)) as shop:
        for k in range(12):
            chooser = shop.service.learner("default")
            assert isinstance(chooser, Chooser)
            chances = chooser.chances(exclude=["red"] * (k % 2), draws=40)
            action = shop.decide(id=str(k), exclude=["red"] * (k % 2)).action
            assert action is not None
            expected.append(chances[action])
            shop.reward(str(k), float(action == "blue"))
    assert exported(path, 40)["recomputed_chance"].to_list() == expected


def test_what_cannot_be_replayed_has_none(tmp_path: Path) -> None:
    """Where older records were dropped, replay begins with the older snapshot."""
    path = tmp_path / "shop.db"
    for part in range(3):
        with Learner.open(path, StaticUCB(2), clock=Clock()) as shop:
            for k in range(5):
                shop.decide(ARMS, id=f"{part}-{k}")
            if part == 2:
                compact(shop.service)
                begins = min(shop.service.journal.snapshots())
    found = exported(path, 10)
    assert 0 < found.height < 15
    known = found["recomputed_chance"].is_not_null()
    assert (known == (found["record"] >= begins)).all()
    assert known.any()


def test_the_command_adds_a_column(tmp_path: Path) -> None:
    path, plain, more = tmp_path / "shop.db", tmp_path / "plain.parquet", tmp_path / "more.parquet"
    with Learner.open(path, StaticUCB(2)) as shop:
        shop.decide(ARMS)
    assert main(["journal", "export", str(path), str(plain)]) == 0
    assert main(["journal", "export", str(path), str(more), "--chances", "5"]) == 0
    assert pl.read_parquet(more).drop("recomputed_chance").equals(pl.read_parquet(plain))
    assert pl.read_parquet(more).filter(kind="Decided")["recomputed_chance"].to_list() == [pytest.approx(1.0 / 3.0)]
