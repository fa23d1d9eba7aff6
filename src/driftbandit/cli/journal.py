"""``journal``: verify, export, compact, copy and shadow what a service wrote."""

import argparse
from pathlib import Path
from typing import Any

from driftbandit.cli.opened import must_exist, opened, plainly, read_journal
from driftbandit.cli.options import Commands, Examples, at_least
from driftbandit.cli.shadow import add_shadow, shadow


def add_journal(commands: Commands) -> None:
    command = commands.add_parser(
        "journal",
        help="verify, export, compact and copy the journal of a service; ask what another policy would have done",
        description="A journal records everything that happened; the state of every policy is computed from it. Only one "
        "process can have it open, so stop the service first, or work on a copy, which can be made while it runs.",
        epilog="""examples:
  driftbandit journal verify shop.db                       recompute every state and compare with what was recorded
  driftbandit journal export shop.db shop.parquet          one row per record, numbers exact
  driftbandit journal export shop.db shop.parquet --chances 1000
                                                           the same, with the recomputed probability of each decision
  driftbandit journal copy shop.db copy.db                 also while the service runs; checked, a backup
  driftbandit journal shadow copy.db shop --policy WindowUCB window=5000
                                                           what another policy would have done, and gained
  driftbandit journal compact shop.db --keep-days 30 --archive old/
                                                           move older records that snapshots do not need to old/""",
        formatter_class=Examples,
    )
    verbs = command.add_subparsers(
        title="what to do", metavar="verify | export | copy | shadow | compact", dest="verb", required=True
    )
    add_verb(verbs, "verify", "recompute every state; check all checksums, witnesses (recorded states) and snapshots", verify)
    export_verb = add_verb(verbs, "export", "write the records to a Parquet file, one row per record", export)
    export_verb.add_argument("out", type=Path, metavar="FILE.parquet")
    export_verb.add_argument("--force", action="store_true", help="replace an existing file")
    export_verb.add_argument("--chances", type=at_least(1), metavar="N", help="add the probability with which each decision "
                             "was to be made, recomputed by replay: exact, or with N draws for policies that draw")  # fmt: skip
    copy_verb = add_verb(verbs, "copy", "copy it to a new file, also while a service has it open, and check the copy", copy)
    copy_verb.add_argument("out", type=Path, metavar="NEW")
    add_shadow(add_verb(verbs, "shadow", "show what another policy would have done in an experiment, and gained", shadow))
    compact_verb = add_verb(verbs, "compact", "drop old records that the snapshots do not need", compact)
    compact_verb.add_argument(
        "--keep-days", type=at_least(0), default=30, metavar="N", help="keep younger records (default: 30)"
    )
    compact_verb.add_argument("--archive", type=Path, metavar="FOLDER", help="first write them to Parquet files there")
    compact_verb.add_argument("--yes", action="store_true", help="without --archive: delete them permanently")


def add_verb(verbs: Commands, name: str, about: str, run: Any) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
    verb.add_argument("path", type=Path, metavar="PATH", help="the journal")
    verb.set_defaults(run=run)
    return verb


def verify(chosen: argparse.Namespace) -> None:
    from driftbandit.live.export import verify as folded

    with read_journal(chosen.path) as journal:
        found = folded(journal)
    print(f"{chosen.path}: records {found.first:,} to {found.records:,} replayed, {agreement(found.witnesses)}")
    for name, digest in found.digests.items():
        print(f"  {name}: state {digest}")


def agreement(witnesses: int) -> str:
    return "1 witness agrees" if witnesses == 1 else f"{witnesses:,} witnesses agree"


def export(chosen: argparse.Namespace) -> None:
    from driftbandit.live.export import export as written

    if chosen.out.suffix != ".parquet":
        raise ValueError(f"{chosen.out} must end in .parquet, since that is what is written")
    if chosen.out.exists() and not chosen.force:
        raise FileExistsError(f"{chosen.out} exists: choose another name, or replace it with --force")
    with read_journal(chosen.path) as journal:
        print(f"written: {chosen.out}, {written(journal, chosen.out, draws=chosen.chances):,} records")


def copy(chosen: argparse.Namespace) -> None:
    from driftbandit.live.copying import copy_journal

    must_exist(chosen.path)
    with plainly():
        print(f"written: {chosen.out}, up to record {copy_journal(chosen.path, chosen.out):,}, every checksum right")


def compact(chosen: argparse.Namespace) -> None:
    from driftbandit.live.export import droppable, secure
    from driftbandit.live.retention import retire

    must_exist(chosen.path)
    with opened(chosen.path) as service:
        secure(service)
        journal, limit = service.journal, service.now() - 86_400.0 * chosen.keep_days
        number = droppable(journal, limit) - journal.start
        if number and not chosen.archive and not chosen.yes:
            advice = "add --archive FOLDER to write them to Parquet files first, or --yes"
            raise ValueError(f"{chosen.path}: {number:,} records would be deleted permanently: {advice}")
        dropped = retire(journal, limit, chosen.archive)
    how = f", after they were written to {chosen.archive}" if chosen.archive else " permanently"
    print(f"{chosen.path}: {dropped:,} records dropped{how if dropped else ''}")
