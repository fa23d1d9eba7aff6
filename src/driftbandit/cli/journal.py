"""``journal``: verify, export and compact what a service wrote."""

import argparse
from pathlib import Path
from typing import Any

from driftbandit.cli.opened import opened, opened_journal
from driftbandit.cli.options import Commands, Examples, at_least


def add_journal(commands: Commands) -> None:
    command = commands.add_parser(
        "journal",
        help="verify, export and compact the journal of a service",
        description="A journal records everything that happened; the state of every policy is computed from it. Only one "
        "process can have it open, so stop the service first, or work on a copy of its files made while it was stopped.",
        epilog="""examples:
  driftbandit journal verify shop.db                       recompute every state and compare with what was recorded
  driftbandit journal export shop.db shop.parquet          one row per record, numbers exact
  driftbandit journal compact shop.db --keep-days 30       drop records that snapshots do not need; export first""",
        formatter_class=Examples,
    )
    verbs = command.add_subparsers(title="what to do", metavar="verify | export | compact", dest="verb", required=True)
    add_verb(verbs, "verify", "recompute every state; check all checksums, witnesses (recorded states) and snapshots", verify)
    export_verb = add_verb(verbs, "export", "write the records to a Parquet file, one row per record", export)
    export_verb.add_argument("out", type=Path, metavar="FILE.parquet")
    compact_verb = add_verb(verbs, "compact", "drop old records that the snapshots do not need", compact)
    compact_verb.add_argument(
        "--keep-days", type=at_least(0), default=30, metavar="N", help="keep younger records (default: 30)"
    )


def add_verb(verbs: Commands, name: str, about: str, run: Any) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
    verb.add_argument("path", type=Path, metavar="PATH", help="the journal")
    verb.set_defaults(run=run)
    return verb


def verify(chosen: argparse.Namespace) -> None:
    from driftbandit.live.export import verify as folded

    with opened_journal(chosen.path) as journal:
        found = folded(journal)
    print(f"{chosen.path}: records {found.first:,} to {found.records:,} replayed, {found.witnesses:,} witnesses agree")
    for name, digest in found.digests.items():
        print(f"  {name}: state {digest}")


def export(chosen: argparse.Namespace) -> None:
    from driftbandit.live.export import export as written

    with opened_journal(chosen.path) as journal:
        print(f"written: {chosen.out}, {written(journal, chosen.out):,} records")


def compact(chosen: argparse.Namespace) -> None:
    from driftbandit.live.export import compact as dropped

    if not chosen.path.exists():
        raise FileNotFoundError(f"there is no journal at {chosen.path}: check the path")
    with opened(chosen.path) as service:
        print(f"{chosen.path}: {dropped(service, 86_400.0 * chosen.keep_days):,} records dropped")
