"""The Learner: what a user types, what is promised, and what is refused without a change."""

import contextlib
import math
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest

from driftbandit import AdaptiveUCB, Category, Chooser, Context, FixedArms, RestartUCB, StaticUCB
from driftbandit.live import Ask, Learner, Service, Settings
from driftbandit.live.disk.committer import Committer
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.disk.state import recover
from driftbandit.live.errors import Broken, Conflict, Damaged, Invalid, Mismatch, NotFound
from driftbandit.live.export import compact, verify
from driftbandit.live.fold.clock import steady
from driftbandit.live.fold.ids import new_id
from driftbandit.live.fold.make import Spec, make
from driftbandit.live.fold.records import Token
from driftbandit.live.service import AT_ONCE
from live_service import ARMS, FAST, Clock, bits, crash, opened

pytestmark = pytest.mark.plain


@pytest.fixture
def path() -> Iterator[Path]:
    with TemporaryDirectory(dir=FAST) as name:
        yield Path(name) / "shop.db"


def chooser() -> Chooser:
    return Chooser(StaticUCB, ["red", "green"], Context({"device": Category(["phone", "desktop"])}), places=4, arm_norm=1.0)


def test_it_is_made_once_and_then_as_it_was(path: Path) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        Learner.open(path)
    with Learner.open(path, RestartUCB(2, period=9), wait=5.0):
        pass
    with pytest.raises(Conflict, match="another policy"):
        Learner.open(path, RestartUCB(2, period=10))
    with pytest.raises(Conflict, match="other settings"):
        Learner.open(path, wait=6.0)
    with Learner.open(path, RestartUCB(2, period=9), wait=5.0) as learner:
        assert learner.status().settings.wait == 5.0


def test_a_policy_brings_what_it_has_learnt(path: Path) -> None:
    policy = StaticUCB(2)
    for _ in range(20):
        policy.update(policy.select(ARMS), 0.5)
    with Learner.open(path, policy) as learner:
        assert learner.decide(ARMS).round == 20
        policy.select(ARMS)
        assert learner.status().digest == policy.digest().hex()
    with Learner.open(path) as learner:
        assert learner.status().digest == policy.digest().hex()


def test_bad_input_changes_nothing(path: Path) -> None:
    with Learner.open(path, StaticUCB(2)) as learner:
        learner.put_set("shelf", ARMS, labels=["a", "b", "c"])
        learner.decide("shelf", id="known")
        before, records = bits(learner.service), learner.service.commits.next
        bad: list[tuple[Any, dict[str, Any]]] = [
            ([[1.0, 0.0, 0.0]], {}),
            ([[float("nan"), 0.0]], {}),
            ([[3.0, 0.0]], {}),
            ([], {}),
            ("nowhere", {}),
            ({"device": "phone"}, {}),
            (None, {}),
            (ARMS, {"id": "x" * 129}),
            (ARMS, {"id": ""}),
            (ARMS, {"id": "\ud800"}),
            (ARMS, {"id": 7}),
            (ARMS, {"baseline": 3}),
            (ARMS, {"baseline": True}),
            ("shelf", {"baseline": "d"}),
            (np.ones((1001, 2)) / 2, {}),
        ]
        for arms, more in bad:
            with pytest.raises(Invalid):
                learner.decide(arms, **more)
        for value in (float("nan"), 1e60, "1", None):
            with pytest.raises(Invalid):
                learner.reward("known", value)  # type: ignore[arg-type]
        with pytest.raises(Invalid, match="key is for"):
            learner.reward("known", 1.0, key="k")
        with pytest.raises(Invalid):
            learner.put_set("long", [[2.0, 0.0]])
        with pytest.raises(Invalid):
            learner.add("red")
        with pytest.raises(NotFound):
            learner.reward("unknown", 1.0)
        with pytest.raises(Conflict):
            learner.decide(ARMS, id="known")
        assert (bits(learner.service), learner.service.commits.next) == (before, records)


@pytest.mark.parametrize(
    "settings",
    [
        {"wait": 0.0},
        {"explore": 1.5},
        {"gather": "sum"},
        {"late": "learn", "default": 0.0},
        {"learn": "never"},
        {"most_waiting": 0},
        {"default": float("nan")},
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Settings(**settings)


def test_the_preview_is_what_is_decided_and_changes_nothing(path: Path) -> None:
    with Learner.open(path, AdaptiveUCB(2), explore=0.3) as learner:
        for k in range(60):
            before = bits(learner.service)
            expected = learner.preview(ARMS)
            assert bits(learner.service) == before
            answer = learner.decide(ARMS, id=str(k))
            assert (answer.index, answer.round) == (expected.index, expected.round)
            assert len(expected.opinions) == 3
            learner.reward(str(k), float(answer.index == 1))
        explanation = learner.explain("59")
        assert explanation.decision.state == "rewarded"
        assert explanation.opinions[1].estimate > explanation.opinions[2].estimate


def test_propensities_are_exact_or_absent(path: Path) -> None:
    with Learner.open(path, StaticUCB(2), explore=0.5) as learner:
        answers = [learner.decide(ARMS) for _ in range(300)]
        explored = sum(answer.explored for answer in answers)
        assert abs(explored - 150) < 5 * np.sqrt(300) / 2
        for answer in answers:
            assert answer.propensity == pytest.approx(0.5 / 3 + 0.5 * (answer.index == answer.chosen), abs=1e-15)
            assert answer.explored or answer.index == answer.chosen
        assert learner.decide(ARMS, baseline=0).propensity is None
    with Learner.open(path.with_name("other"), StaticUCB(2)) as learner:
        assert learner.decide(ARMS).propensity is None


def test_an_apprentice_learns_from_the_callers_choice(path: Path) -> None:
    with Learner.open(path, StaticUCB(2)) as learner:
        for k in range(30):
            answer = learner.decide(ARMS, id=str(k), baseline=2)
            assert answer.index == 2
            learner.reward(str(k), 1.0)
        counts = learner.status().counts
        assert counts.baselines == 30
        assert 0 < counts.agreed <= 30
        assert learner.service.learner("default").estimate().theta[1] > 0.9  # type: ignore[union-attr]
        assert learner.explain("3").hung_on == "baseline"


def test_sums_need_keys_and_count_each_once(path: Path) -> None:
    clock = Clock()
    with Learner.open(path, StaticUCB(2), wait=10.0, default=0.0, gather="sum", clock=clock) as learner:
        learner.decide(ARMS, id="a")
        with pytest.raises(Invalid, match="key must be given"):
            learner.reward("a", 1.0)
        assert [learner.reward("a", 0.5, key=key).outcome for key in "xyx"] == ["kept", "kept", "duplicate"]
        with pytest.raises(Conflict):
            learner.reward("a", 0.75, key="x")
        clock.now += 11.0
        assert learner.expire() == 1
        assert learner.find("a").reward == 1.0
        assert learner.reward("a", 0.5, key="z").outcome == "late"
        assert learner.find("a").reward == 1.0
        assert learner.status().counts.reward_total == 1.0


def test_actions_by_name(path: Path) -> None:
    with Learner.open(path, chooser()) as shop:
        first = shop.decide({"device": "phone"}, id="a")
        assert first.action in ("red", "green")
        shop.reward("a", 1.0)
        shop.add("blue")
        assert shop.decide({"device": "phone"}, id="b", exclude=["red", "green"]).action == "blue"
        shop.remove("red")
        assert shop.decide({"device": "desktop"}, id="c", baseline="green").action == "green"
        for wrong in ({"devise": "phone"}, {"device": [1]}, {"device": 2**80}):
            with pytest.raises(Invalid):
                shop.decide(wrong)
        with pytest.raises(Invalid, match=r"only one left|unknown"):
            shop.remove("red")
        assert {opinion.action for opinion in shop.explain("b").opinions} == {"blue"}
        before = bits(shop.service)
        crash(shop.service)
    with Learner.open(path, chooser()) as shop:
        assert bits(shop.service) == before
        assert shop.decide({"device": "phone"}, id="a").action == first.action
        assert shop.status().offered == ["green", "blue"]


def test_threads_share_it_and_their_commits(path: Path) -> None:
    with Learner.open(path, StaticUCB(2)) as learner:
        rounds: list[int] = []

        def work(thread: int) -> None:
            for k in range(50):
                rounds.append(learner.decide(ARMS, id=f"{thread}-{k}").round)
                learner.reward(f"{thread}-{k}", 1.0)

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(rounds) == list(range(200))
        assert learner.service.commits.waiting == 0


def test_a_repeat_waits_for_the_commit_of_its_first(path: Path) -> None:
    """The answer to a repeat carries the first's ticket, so whoever waits for it waits for that commit."""
    service = opened(path)
    first, second = (service.decide("shop", "a", Ask(set="shelf")) for _ in range(2))
    assert (first.repeat, second.repeat, first.ticket) == (False, True, second.ticket)
    assert service.commits.durable <= first.ticket
    durable: list[int] = []
    committer = Committer(service.commits, durable.append, lambda error: None)
    committer.wake()
    committer.stop()
    assert durable[-1] > second.ticket
    assert service.reward("shop", "a", 1.0).ticket == service.reward("shop", "a", 1.0).ticket
    service.close()


def test_a_committer_tells_of_what_another_committed(path: Path) -> None:
    service = opened(path)
    told: list[int] = []
    committer = Committer(service.commits, told.append, lambda error: None)
    service.commits.through(service.decide("shop", "a", Ask(set="shelf")).ticket)  # a snapshot's thread does so
    committer.wake()
    committer.stop()
    assert told[-1] == service.commits.next
    service.close()


def test_a_failed_commit_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = opened(path)
    service.commits.through(service.commits.next - 1)
    durable: list[int] = []
    failed: list[Exception] = []

    def full(first: int, records: list[bytes]) -> None:
        raise Broken("no room")

    monkeypatch.setattr(service.journal, "append", full)
    service.decide("shop", "a", Ask(set="shelf"))
    committer = Committer(service.commits, durable.append, failed.append)
    committer.wake()
    committer._thread.join()
    assert ([str(error) for error in failed], durable) == (["no room"], [])
    assert service.broken
    again = service.decide("shop", "a", Ask(set="shelf"))  # known, but it will never be durable
    with pytest.raises(Broken):
        service.commits.through(again.ticket)
    service.close()


def test_a_log_that_cannot_be_moved_is_told_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = opened(path)
    failed: list[Exception] = []

    def full() -> bool:
        raise Broken("no room")

    monkeypatch.setattr(service.journal, "tidy", full)
    committer = Committer(service.commits, lambda durable: None, failed.append)
    committer.wake()
    committer._thread.join()
    assert [str(error) for error in failed] == ["no room"]
    assert service.broken
    service.close()


def test_the_clock_may_jump_a_day_either_way(path: Path) -> None:
    """A running process keeps its pace; one that starts when the clock is behind goes on from the last record."""
    wall, pace = Clock(1e9), Clock(0.0)
    service = opened(path, steady(wall, pace), wait=10.0)
    for k, jump in enumerate([86_400.0, -86_400.0, -86_400.0]):
        service.decide("shop", str(k), Ask(set="shelf"))
        wall.now += jump
        pace.now += 1.0
        assert service.tick() == 0
    pace.now += 9.0
    assert service.tick() == 1
    at = service.find("shop", "2").answer.at
    service.close()
    behind = opened(path, steady(wall, Clock(0.0)), wait=10.0)
    assert behind.decide("shop", "later", Ask(set="shelf")).at >= at
    behind.close()


def test_ids_that_lapse_in_a_silence_are_forgotten_then(path: Path) -> None:
    clock = Clock()
    service = opened(path, clock, wait=10.0, remember=10.0)
    for k in range(AT_ONCE):
        service.decide("shop", str(k), Ask(set="shelf"))
    clock.now += 11.0
    assert (service.tick(), service.tick()) == (1, 0)  # their waits are over
    clock.now += 11.0
    assert (service.tick(), service.tick()) == (1, 0)  # and they are forgotten
    with pytest.raises(NotFound):
        service.find("shop", "0")
    service.snapshot()  # with a witness
    before = bits(service)
    crash(service)
    again = opened(path, clock)
    assert bits(again) == before
    again.close()
    journal = SqliteJournal(path)
    assert recover(journal, use_snapshots=False).freeze().encode() == before
    journal.close()


def test_between_two_ticks_of_a_row_anything_may_happen(path: Path) -> None:
    clock = Clock()
    service = opened(path, clock, wait=10.0)
    for k in range(3 * AT_ONCE):
        service.decide("shop", str(k), Ask(set="shelf"))
    clock.now += 11.0
    ticks = service.ticking()
    next(ticks)
    assert len(service.state.names["shop"].waiting) == 2 * AT_ONCE
    service.reward("shop", str(2 * AT_ONCE), 1.0)  # late: its own wait is ended first
    next(ticks)
    service.delete("shop")
    assert list(ticks) == []
    service.close()
    Service.open(SqliteJournal(path)).close()


def test_export_is_exact_and_what_was_exported_can_be_dropped(path: Path) -> None:
    with Learner.open(path, StaticUCB(2), explore=0.1) as learner:
        answers = {}
        for k in range(40):
            arms = np.random.default_rng(k).uniform(-0.6, 0.6, (3, 2))
            answers[str(k)] = arms, learner.decide(arms, id=str(k))
            learner.reward(str(k), 0.1 * k)
        learner.service.snapshot()
        rows, _ = learner.export(path.with_suffix(".parquet"))
        table = pl.read_parquet(path.with_suffix(".parquet"))
        assert table.height == rows == learner.service.journal.end
        for row in table.filter(kind="Decided").iter_rows(named=True):
            arms, answer = answers[row["id"]]
            assert row["arms"] == arms.tolist()
            assert (row["index"], row["chance"], row["round"]) == (answer.index, answer.propensity, answer.round)
        assert table.filter(kind="Rewarded")["value"].to_list() == [0.1 * k for k in range(40)]
        learner.decide(ARMS, id="last")
        assert learner.export(path.with_suffix(".parquet"), drop=True) == (rows + 1, learner.service.journal.start)
        assert learner.service.journal.start > 0
        before = bits(learner.service)
    with Learner.open(path) as learner:
        assert bits(learner.service) == before
        with pytest.raises(NotFound, match="dropped"):
            learner.explain("3")
        assert compact(learner.service, keep=1e9) == 0
    for snapshot in path.parent.glob("*.snapshot"):
        snapshot.unlink()
    with pytest.raises(Damaged, match="snapshot from then on is needed"):
        Learner.open(path)


def test_another_state_than_the_witness_is_refused_or_adopted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = opened(path)
    for k in range(5):
        service.decide("shop", str(k), Ask(set="shelf"))
        service.reward("shop", str(k), 1.0)
    witness = service.commits.next
    service.snapshot()
    service.keeper.wait()
    crash(service)
    for snapshot in path.parent.glob("*.snapshot"):
        snapshot.unlink()
    teach = StaticUCB._teach
    with monkeypatch.context() as patch:  # a release that rounds otherwise
        patch.setattr(StaticUCB, "_teach", lambda self, t, x, r, own: teach(self, t, x, math.nextafter(r, 2.0), own))
        with pytest.raises(Mismatch, match=f"record {witness}, experiment 'shop'.*serve {path} --adopt") as refused:
            opened(path)
        assert refused.value.record == witness
        with (
            contextlib.closing(SqliteJournal(path)) as journal,
            pytest.raises(Mismatch, match=f"record {witness}.*serve {path} --adopt.*verified here any more"),
        ):
            verify(journal)
        Service.open(SqliteJournal(path), adopt=True).close()
        opened(path).close()  # from the snapshot that was written then
        with contextlib.closing(SqliteJournal(path)) as journal:
            assert verify(journal).first > witness  # what was adopted is not complained of again
    journal = SqliteJournal(path)
    assert verify(journal).records == journal.end  # folded from where it was adopted
    journal.close()


def test_another_choice_than_was_written_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = opened(path)
    for k in range(9):
        service.commits.through(service.decide("shop", str(k), Ask(set="shelf")).ticket)
    crash(service)
    monkeypatch.setattr("driftbandit.policies._base.scratch.luck", lambda seed, start, rounds: np.full((rounds, 4), 0.99))
    with pytest.raises(Mismatch, match="is chosen in round"):
        opened(path)


def test_fixed_arms_are_known_again(path: Path) -> None:
    arms = FixedArms(ARMS)
    with Learner.open(path, StaticUCB(2)) as learner:
        learner.decide(arms)
        learner.decide(FixedArms(ARMS))
        assert len(learner.status().offered) == 1
        learner.put_set("other", [[0.0, 1.0]])
        assert learner.decide("other", id="x").index == 0
        learner.put_set("other", [[1.0, 0.0], [0.0, 0.5]])
        learner.reward("x", 1.0)  # of the set as it was
        assert learner.service.learner("default").estimate().theta[1] == pytest.approx(0.5)  # type: ignore[union-attr]


def test_experiments_and_tokens_come_and_go(path: Path) -> None:
    service = opened(path)
    service.create("second", make(Spec(policy="RestartUCB", dim=2, parameters={"period": 5})))
    service.create("third", make(Spec(actions=["red", "green"], policy="StaticUCB", context=Context({}).to_dict())))
    with pytest.raises(Conflict):
        service.create("second", StaticUCB(2))
    assert service.create("second", RestartUCB(2, period=5)) == service.commits.next - 1
    service.delete("shop")
    with pytest.raises(NotFound):
        service.decide("shop", "a", Ask(set="shelf"))
    token = Token(b"t" * 32, ("decide",), ("second",), "a shop window")
    service.make_token(token)
    service.make_token(Token(b"u" * 32, ("admin",)))
    service.revoke_token(b"u" * 32)
    service.create("shop", StaticUCB(2))
    service.commits.through(service.commits.next - 1)
    before = bits(service)
    crash(service)
    again = opened(path)
    assert bits(again) == before
    assert again.names == ["second", "third", "shop"]
    assert again.tokens == {token.digest: token}
    again.close()
    for wrong in (
        Spec(policy="Nothing", dim=2),
        Spec(dim=0),
        Spec(dim=2000),
        Spec(),
        Spec(actions=[]),
        Spec(dim=2, actions=["a"]),
    ):
        with pytest.raises(Invalid):
            make(wrong)


def test_an_interrupted_step_ends_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = opened(path)
    service.decide("shop", "a", Ask(set="shelf"))
    service.commits.through(service.commits.next - 1)

    def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(service.state.names["shop"]), "_await", interrupted)
        with pytest.raises(KeyboardInterrupt):
            service.decide("shop", "b", Ask(set="shelf"))
    with pytest.raises(Exception, match="memory is ahead"):
        service.decide("shop", "c", Ask(set="shelf"))
    service.close()
    again = opened(path)
    assert set(again.state.names["shop"].waiting) == {"a"}
    again.close()


def test_ids_made_here_rise_with_time() -> None:
    ids = [new_id() for _ in range(100)]
    assert len(set(ids)) == 100
    assert all(id[14] == "7" and id[19] in "89ab" for id in ids)
    assert [id[:8] for id in ids] == sorted(id[:8] for id in ids)


@pytest.mark.skipif(sys.platform == "win32", reason="paths differ")
def test_a_journal_without_a_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot be opened"):
        Learner.open(tmp_path / "no" / "shop.db", StaticUCB(2))


def test_a_chooser_from_plain_data_plays_blocks_as_any_other() -> None:
    visitor = Context({"device": Category(["phone", "desktop"])})
    made = make(Spec(policy="StaticUCB", actions=["red", "green"], context=visitor.to_dict(), places=4))
    assert isinstance(made, Chooser)
    assert made.policy.blocks == chooser().policy.blocks == 4


@pytest.mark.parametrize("noise", [1, 1.0, 2, 0.5])
def test_a_policy_is_known_again_however_its_numbers_were_written(tmp_path: Path, noise: float) -> None:
    for _ in range(2):
        with Learner.open(tmp_path / "shop.db", StaticUCB(2, noise=noise, seed=[7, 2])) as learner:
            learner.decide([[1.0, 0.0], [0.0, 1.0]], id="a")
