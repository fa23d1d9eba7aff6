"""A copy of a journal that a service goes on writing: whole, up to some commit, whatever happens meanwhile."""

import multiprocessing
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from driftbandit import StaticUCB
from driftbandit.cli import main
from driftbandit.live import Learner, copying
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.disk.state import tail
from driftbandit.live.errors import Damaged, JournalError
from driftbandit.live.export import verify
from live_door import ARMS, AT, EXPERIMENT, Process
from live_service import Clock, scribble

pytestmark = pytest.mark.plain


def ids(path: Path) -> list[str]:
    journal = SqliteJournal(path)
    verify(journal)
    found = [record.id for _, record in tail(journal, 0) if type(record).__name__ == "Decided"]
    journal.close()
    return found


def test_while_a_service_has_it_open(tmp_path: Path) -> None:
    with Process(tmp_path).ready() as service, httpx.Client(base_url=service.url) as client:
        client.put(AT, json=EXPERIMENT).raise_for_status()
        for k in range(2):
            client.post(f"{AT}/decisions", json={"id": str(k), "arms": ARMS}).raise_for_status()
            assert main(["journal", "copy", str(tmp_path / "live.db"), str(tmp_path / f"copy{k}.db")]) == 0
        with Process(tmp_path) as second:
            assert second.process.wait(60) == 2  # the lock is where it was
    assert [ids(tmp_path / f"copy{k}.db") for k in range(2)] == [["0"], ["0", "1"]]
    assert (tmp_path / "copy0.db").stat().st_mode & 0o777 == 0o600


def test_while_the_log_begins_anew_again_and_again(tmp_path: Path) -> None:
    """What was committed before is in the copy, and every group is whole."""
    path, spawn = tmp_path / "shop.db", multiprocessing.get_context("spawn")
    told, tell = spawn.Pipe(duplex=False)
    writer = spawn.Process(target=scribble, args=(str(path), tell), daemon=True)
    writer.start()
    tell.close()  # here, so that its end is noticed
    ends, begun, committed = [0], set[bytes](), 0
    try:
        while len(begun) < 5 or len(ends) < 5:
            while told.poll() or committed <= ends[-1]:
                committed = told.recv()
            begun.add(copying.head(path))
            try:
                ends.append(copying.copy_journal(path, tmp_path / f"{committed}.db"))
            except Damaged:
                raise
            except JournalError:  # it was written faster than it can be copied
                continue
            assert ends[-1] >= committed
    finally:
        writer.kill()
        writer.join()


def small(path: Path, count: int = 5) -> None:
    with Learner.open(path, StaticUCB(2), clock=Clock()) as shop:
        for k in range(count):
            shop.decide(ARMS, id=str(k))


def test_of_a_journal_at_rest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, to = tmp_path / "shop.db", tmp_path / "a" / "copy.db"
    small(path)
    to.parent.mkdir()
    assert main(["journal", "copy", str(path), str(to)]) == 0
    assert "up to record" in capsys.readouterr().out
    assert sorted(each.name.replace("copy", "shop") for each in to.parent.iterdir()) == sorted(
        each.name for each in tmp_path.iterdir() if each.is_file()
    )
    assert ids(to) == ids(path) == [str(k) for k in range(5)]
    assert main(["journal", "copy", str(path), str(to)]) == 2
    assert main(["journal", "copy", str(tmp_path / "none.db"), str(tmp_path / "b.db")]) == 2
    assert "copy.db exists: choose another name" in capsys.readouterr().err
    to.unlink()
    assert main(["journal", "copy", str(path), str(to)]) == 2
    assert ".snapshot exists: choose another name, or move it away" in capsys.readouterr().err


def test_where_the_log_begins_anew_it_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, heads = tmp_path / "shop.db", [b"1", b"2", b"2", b"2"]
    small(path)
    monkeypatch.setattr(copying, "head", lambda path: heads.pop(0))
    assert copying.copy_journal(path, tmp_path / "copy.db") > 5
    assert not heads
    count = iter(range(100))
    monkeypatch.setattr(copying, "head", lambda path: str(next(count)).encode())
    with pytest.raises(JournalError, match="faster than it can be copied"):
        copying.copy_journal(path, tmp_path / "other.db")
    assert not list(tmp_path.glob("*other*"))


def test_what_is_damaged_is_not_left_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, tries = tmp_path / "shop.db", list[int]()
    small(path, 200)

    def spoilt(source: Any, place: Any) -> None:
        shutil.copyfile(source, place)
        if str(place).endswith("copy.db"):
            tries.append(1)
            body = bytearray(Path(place).read_bytes())
            body[-100] ^= 1
            Path(place).write_bytes(body)

    monkeypatch.setattr(shutil, "copy2", spoilt)
    with pytest.raises(Damaged):
        copying.copy_journal(path, tmp_path / "copy.db")
    assert len(tries) == copying.TRIES
    assert not list(tmp_path.glob("*copy*"))
