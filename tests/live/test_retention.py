"""What is old leaves the journal beside the service: written to Parquet first, and nothing is lost or stopped by it."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest

from driftbandit.cli import main
from driftbandit.live import retention
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.export import export, verify
from live_door import AT, shop

pytestmark = pytest.mark.plain


async def decide(client: httpx.AsyncClient, first: int, count: int) -> None:
    asked = [{"id": f"a{k}", "set": "all"} for k in range(first, first + count)]
    (await client.post(f"{AT}/decisions:batch", json={"decisions": asked})).raise_for_status()


async def snapshot(app: Any) -> None:
    service = app.host.service
    service.snapshot()
    app.host.committer.wake()
    await asyncio.to_thread(service.keeper.wait)


async def two_snapshots(app: Any, client: httpx.AsyncClient, rounds: int = 3) -> None:
    for k in range(rounds):
        await decide(client, 10 * k, 10)
        if k >= rounds - 2:
            await snapshot(app)


def test_old_records_are_archived_and_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PART", 15)
    archive = tmp_path / "old"

    async def story() -> tuple[str, int]:
        async with shop(tmp_path, keep=0.0, archive=archive) as (app, client):
            await two_snapshots(app, client)
            await app.retire()
            start = app.host.service.journal.start
            assert start == app.host.service.journal.snapshots()[1]
            await app.retire()  # there is nothing more to do
            assert app.host.service.journal.start == start
            await decide(client, 0, 10)  # the ids are remembered all the same
            await decide(client, 100, 10)
            return (await client.get(AT)).json()["digest"], start

    async def later() -> str:
        async with shop(tmp_path) as (app, client):
            assert app.host.service.journal.start == start
            digest: str = (await client.get(AT)).json()["digest"]
            return digest

    before, start = asyncio.run(story())
    parts = sorted(archive.iterdir())
    assert len(parts) == 2
    assert pl.concat(map(pl.read_parquet, parts))["record"].to_list() == list(range(start))
    assert asyncio.run(later()) == before
    journal = SqliteJournal(tmp_path / "live.db")
    assert verify(journal).records == journal.end
    journal.close()


def test_what_is_young_or_needed_by_a_snapshot_stays(tmp_path: Path) -> None:
    async def story() -> None:
        async with shop(tmp_path, keep=3600.0) as (app, client):
            await two_snapshots(app, client)
            await app.retire()
            assert app.host.service.journal.start == 0
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        async with shop(tmp_path, keep=0.0) as (app, client):
            await decide(client, 0, 10)
            await snapshot(app)  # one alone might be damaged
            await app.retire()
            assert app.host.service.journal.start == 0

    asyncio.run(story())


def test_decisions_go_on_while_old_records_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with shop(tmp_path, keep=0.0, archive=tmp_path / "old") as (app, client):
            loop = asyncio.get_running_loop()

            def slow(*args: Any, **more: Any) -> int:
                asyncio.run_coroutine_threadsafe(decide(client, 500, 10), loop).result(20)
                return export(*args, **more)

            monkeypatch.setattr("driftbandit.live.retention.export", slow)
            await two_snapshots(app, client)
            await app.retire()
            assert app.host.service.journal.start > 0
            assert (await client.get(f"{AT}/decisions/a500")).status_code == 200

    asyncio.run(story())


def test_records_that_cannot_be_archived_are_kept(tmp_path: Path) -> None:
    async def story() -> None:
        tmp_path.joinpath("file").write_text("not a folder")
        async with shop(tmp_path, keep=0.0, archive=tmp_path / "file" / "old") as (app, client):
            await two_snapshots(app, client)
            with pytest.raises(OSError, match="file"):
                await app.retire()
            assert app.host.service.journal.start == 0
            await decide(client, 100, 10)

    asyncio.run(story())


def test_an_archive_needs_a_time_to_keep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(tmp_path / "live.db"), "--archive", str(tmp_path)]) != 0
    assert "--keep-days" in capsys.readouterr().err
