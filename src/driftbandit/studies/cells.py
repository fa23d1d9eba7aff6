"""Finished work: one SQLite file that holds every finished cell, and never part of one."""

import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftbandit.core.types import Floats

SCHEMA = "CREATE TABLE IF NOT EXISTS cells (key TEXT PRIMARY KEY, regret BLOB, seconds REAL, bytes INTEGER)"


class Cell(NamedTuple):
    """One policy in one replicate of one world, or of one log."""

    key: str  # a digest of everything the numbers depend on
    regret: Floats  # (m,): at the checkpoints; of a log the rewards, summed over each block
    seconds: float  # processor time inside the policy
    bytes: int  # the policy's state


class Ledger:
    """Finished cells by key. A commit is all or nothing, even if the process is killed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with closing(self._connect()) as base, base:
                base.execute("PRAGMA journal_mode = WAL")
                base.execute(SCHEMA)
        except sqlite3.DatabaseError as error:
            raise sqlite3.DatabaseError(f"{path}: {error}") from None

    @classmethod
    def in_folder(cls, folder: str | Path | None) -> "Ledger":
        """The ledger of a folder; without one, of a temporary folder that is deleted with the ledger."""
        place = Path(folder or tempfile.mkdtemp(prefix="driftbandit-"))
        ledger = cls(place / "cells.sqlite")
        if folder is None:
            weakref.finalize(ledger, shutil.rmtree, place, ignore_errors=True)
        return ledger

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=60.0)

    def add(self, cells: Iterable[Cell]) -> None:
        rows = [(c.key, c.regret.astype("<f8").tobytes(), c.seconds, c.bytes) for c in cells]
        with closing(self._connect()) as base, base:
            base.executemany("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?)", rows)

    def keys(self) -> set[str]:
        with closing(self._connect()) as base:
            return {key for (key,) in base.execute("SELECT key FROM cells")}

    def read(self, keys: Iterable[str]) -> Iterator[Cell]:
        """The cells with these keys, in this order; a missing one is a KeyError."""
        with closing(self._connect()) as base:
            for key in keys:
                row = base.execute("SELECT regret, seconds, bytes FROM cells WHERE key = ?", (key,)).fetchone()
                if row is None:
                    raise KeyError(key)
                yield Cell(key, np.frombuffer(row[0], "<f8"), row[1], row[2])
