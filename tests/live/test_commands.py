"""The commands beside the service: nothing is overwritten or dropped by mistake, and what is wrong says what to do."""

import stat
from pathlib import Path

import polars as pl
import pytest

from driftbandit import AdaptiveUCB, DiscountedTS, StaticUCB
from driftbandit.cli import main
from driftbandit.live import Learner, Service
from driftbandit.live.client import Client
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.errors import Conflict, Locked, NotFound
from driftbandit.live.settings import DAY
from driftbandit.policies._base.policy import Policy
from live_door import ARMS, EXPERIMENT, new_app, served
from live_service import Clock

pytestmark = pytest.mark.plain

LONG_AGO = 1e9


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Fifty decisions of long ago, which no snapshot needs."""
    path = tmp_path / "shop.db"
    for part in range(3):
        with Learner.open(path, StaticUCB(2), clock=Clock(LONG_AGO + part)) as shop:
            for k in range(50 if part == 0 else 1):
                shop.decide(ARMS, id=f"{part}-{k}")
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """The status of a command, and what it printed."""
    capsys.readouterr()
    status = main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return status, shown.out + shown.err


def test_an_export_is_a_new_parquet_file_of_its_owner_alone(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong, right = journal.with_name("shop.csv"), journal.with_name("shop.parquet")
    status, words = said(capsys, "journal", "export", journal, wrong)
    assert (status, wrong.exists()) == (2, False)
    assert "must end in .parquet" in words
    right.write_text("mine")
    status, words = said(capsys, "journal", "export", journal, right)
    assert (status, right.read_text()) == (2, "mine")
    assert "exists" in words
    assert "--force" in words
    assert said(capsys, "journal", "export", journal, right, "--force")[0] == 0
    assert pl.read_parquet(right).height > 50
    assert stat.S_IMODE(right.stat().st_mode) == 0o600


def test_nothing_is_dropped_for_good_unless_told(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, words = said(capsys, "journal", "compact", journal, "--keep-days", "0")
    assert status == 2
    assert "records would be deleted permanently: add --archive FOLDER" in words
    assert said(capsys, "journal", "verify", journal)[1].startswith(f"{journal}: records 0 to")
    archive = journal.with_name("old")
    status, words = said(capsys, "journal", "compact", journal, "--keep-days", "0", "--archive", archive)
    (part,) = archive.iterdir()
    kept = pl.read_parquet(part).height
    assert (status, kept > 50) == (0, True)
    assert f"{kept} records dropped, after they were written to {archive}" in words
    assert stat.S_IMODE(part.stat().st_mode) == 0o600
    assert said(capsys, "journal", "verify", journal)[0] == 0


def test_dropping_for_good(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "journal", "compact", journal, "--keep-days", "100000") == (0, f"{journal}: 0 records dropped\n")
    status, words = said(capsys, "journal", "compact", journal, "--yes")
    assert status == 0
    assert int(words.split()[1]) > 50
    assert "dropped permanently" in words


def test_a_learner_says_what_it_dropped_and_overwrites_no_only_copy(journal: Path) -> None:
    first, second = journal.with_name("a.parquet"), journal.with_name("b.parquet")
    with Learner.open(journal, clock=Clock(LONG_AGO + DAY)) as shop:
        assert shop.export(first).dropped == 0
        found = shop.export(first, drop=True)  # nothing was dropped before: the new file has all that the old one had
        assert found.rows == pl.read_parquet(first).height
        assert found.dropped == shop.service.journal.start > 50
        with pytest.raises(Conflict, match=r"a\.parquet exists, and may be the only copy of records that were dropped"):
            shop.export(first)
        assert shop.export(second).dropped == 0


def test_a_journal_that_is_open_here(journal: Path) -> None:
    with Learner.open(journal), pytest.raises(Locked, match="open already, here or in another process"):
        Learner.open(journal)


def test_a_learner_on_the_file_of_a_service(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    service = Service.open(SqliteJournal(path))
    service.create("shop", StaticUCB(2))
    service.create("mail", StaticUCB(2))
    service.close()
    with pytest.raises(NotFound, match=r"experiments of a service \('shop', 'mail'\).*driftbandit serve"):
        Learner.open(path)


def test_one_witness_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Learner.open(tmp_path / "shop.db", StaticUCB(2)):
        pass
    assert "1 witness agrees" in said(capsys, "journal", "verify", tmp_path / "shop.db")[1]


def test_a_path_that_comes_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["token", "make", "--rights", "admin", str(tmp_path / "shop.db")])
    assert "put the path first: driftbandit token make" in capsys.readouterr().err


def test_a_command_without_its_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DRIFTBANDIT_TOKEN", raising=False)
    with served(new_app(tmp_path)) as url:
        status, token = said(capsys, "token", "make", url, "--rights", "admin")
        assert status == 0
        status, words = said(capsys, "token", "list", url)
        assert status == 2
        assert "set DRIFTBANDIT_TOKEN to an admin's token" in words
        monkeypatch.setenv("DRIFTBANDIT_TOKEN", token.strip())
        assert said(capsys, "token", "list", url)[0] == 0


def test_the_number_that_is_answered_is_the_record_s_own(tmp_path: Path) -> None:
    with served(new_app(tmp_path)) as url, Client(url, timeout=10.0) as client:
        made = client.create("shop", **EXPERIMENT)["record"]
        shelf = client.put_set("shop", "all", ARMS)["record"]
        client.decide("shop", id="a", set="all")
        client.reward("shop", "a", 1.0)
        assert client.flush(10)
        again = client.ask("POST", "experiments/shop/decisions", {"id": "a", "set": "all"})
        assert client.find("shop", "a")["answer"]["ticket"] == again["ticket"]
        assert client.put_set("shop", "all", ARMS)["record"] == shelf
        assert client.create("shop", **EXPERIMENT)["record"] >= made
        kinds = {one["record"]: one["kind"] for one in client.ask("GET", "experiments/shop/journal")[:-1]}
        assert (kinds[made], kinds[shelf], kinds[again["ticket"]]) == ("created", "setput", "decided")


def test_a_misspelt_name_is_told_with_the_known_ones(tmp_path: Path) -> None:
    with served(new_app(tmp_path)) as url, Client(url, timeout=10.0) as client:
        client.create("shop", **EXPERIMENT)
        with pytest.raises(Exception, match=r"unknown field `sets`: known are .*set.*deferred"):
            client.decide("shop", sets="all")


def test_a_reward_that_came_too_late_is_told_apart(tmp_path: Path) -> None:
    clock = Clock(LONG_AGO)
    with Learner.open(tmp_path / "shop.db", StaticUCB(2), clock=clock, wait=10.0, default=0.0) as shop:
        shop.decide(ARMS, id="a")
        clock.now += 11
        assert shop.reward("a", 1.0).outcome == "late"
        found = shop.find("a")
        assert (found.state, found.reward, found.late) == ("expired", None, 1.0)


@pytest.mark.parametrize(("policy", "later"), [(AdaptiveUCB(2), True), (DiscountedTS(2, discount=0.99), False)])
def test_a_width_that_is_not_known_is_not_zero(tmp_path: Path, policy: Policy, later: bool) -> None:
    """Nothing is learnt yet; a policy that draws has none at all."""
    with Learner.open(tmp_path / "shop.db", policy) as shop:
        shop.decide(ARMS, id="a")
        assert [one.width for one in shop.explain("a").opinions] == [None] * 3
        shop.reward("a", 1.0)
        assert all((one.width is not None) == later for one in shop.preview(ARMS).opinions)
