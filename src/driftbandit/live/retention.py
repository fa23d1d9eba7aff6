"""What is old leaves the journal: archived, then dropped, some at a time, while the service goes on."""

from pathlib import Path

from driftbandit.live.disk.journal import Journal
from driftbandit.live.disk.sqlite import sync_folder
from driftbandit.live.export import droppable, export

PART = 100_000  # records archived at a time, in one file
STEP = 5_000  # records dropped at a time, since meanwhile nothing is committed


def retire(journal: Journal, limit: float, archive: Path | None = None) -> int:
    """Drop what was written before this time and no snapshot needs; how many records. For a thread of its own.

    archive: a folder for Parquet files, one for each part, named by its first record.
    """
    begin = journal.start
    while (end := droppable(journal, limit, PART)) > journal.start:
        if archive is not None:
            archive.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = archive / f"records-{journal.start:012d}.parquet"
            export(journal, path, end=end)
            sync_folder(path)  # before they are dropped
        for before in (*range(journal.start + STEP, end, STEP), end):
            journal.drop(before)
    return journal.start - begin
