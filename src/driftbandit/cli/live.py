"""``serve``: decisions over HTTP."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from driftbandit.cli.options import Commands, Examples, at_least

if TYPE_CHECKING:
    from driftbandit.live.door.host import Host
    from driftbandit.live.service import Service


def add_serve(commands: Commands) -> None:
    command = commands.add_parser(
        "serve",
        help="serve decisions over HTTP, each on disk before it is answered, with a page that shows progress",
        description="Serve experiments over HTTP. Each decision and reward is in the journal, a SQLite file at PATH, before it "
        "is answered; after a crash the service restarts in the same state. The page at / shows whether it is learning, "
        "/openapi.json describes the interface, /metrics is for Prometheus. On SIGTERM it finishes requests in progress, "
        "writes a snapshot and exits within 5 seconds.",
        epilog="""examples:
  driftbandit serve --demo                        with a simulated shop; open the address that it prints
  driftbandit serve shop.db                       then, from another terminal:
    curl --json '{"actions": ["red", "green"]}' -X PUT localhost:8000/v1/experiments/shop
    curl --json '{"id": "visit-1", "context": {}}' localhost:8000/v1/experiments/shop/decisions
    curl --json '{"reward": 1}' localhost:8000/v1/experiments/shop/decisions/visit-1/reward
  driftbandit token make shop.db --rights admin   make a token; then the service may listen beyond this machine:
  driftbandit serve shop.db --host 0.0.0.0        behind a proxy with TLS""",
        formatter_class=Examples,
    )
    command.add_argument("path", nargs="?", type=Path, metavar="PATH",
                         help="the journal, created if missing (default: live.db; with --demo: demo.db)")  # fmt: skip
    command.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (default: 127.0.0.1, this "
                         "machine only); any other address needs a token in the journal")  # fmt: skip
    command.add_argument("--port", type=at_least(0), default=8000, metavar="N", help="port (default: 8000; 0: any free one)")
    command.add_argument("--demo", action="store_true", help="simulate a shop with eight visitors per second")
    command.add_argument("--rate", type=at_least(1), metavar="N", help="decisions per second allowed for each experiment; "
                         "beyond that the answer is 429 (default: no limit but the experiment's own)")  # fmt: skip
    command.add_argument("--keep-days", type=at_least(0), metavar="N", help="every hour, drop records that are older than "
                         "this and that no snapshot needs (default: keep all)")  # fmt: skip
    command.add_argument("--archive", type=Path, metavar="FOLDER", help="first write dropped records to Parquet files there")
    command.add_argument("--adopt", action="store_true", help="start even if this machine or release computes different "
                         "last bits from the one that wrote the journal")  # fmt: skip
    command.set_defaults(run=serve)


def serve(chosen: argparse.Namespace) -> None:
    if chosen.archive is not None and chosen.keep_days is None:
        raise ValueError("--archive is for records dropped from the journal: say which with --keep-days")
    path = chosen.path or Path("demo.db" if chosen.demo else "live.db")
    if chosen.demo:
        skip_a_long_compilation()
    import logging

    from driftbandit.cli.opened import plainly
    from driftbandit.live.disk.sqlite import SqliteJournal
    from driftbandit.live.door.app import LOCAL, App
    from driftbandit.live.door.server import bind, more_files, run
    from driftbandit.live.settings import DAY

    logging.basicConfig(level=logging.WARNING, format="driftbandit: %(message)s")
    more_files()
    bound = bind(chosen.host, chosen.port)
    url = f"http://{shown(chosen.host)}:{bound.getsockname()[1]}"
    app = App(
        lambda: SqliteJournal(path),
        path.absolute().parent,
        rate=chosen.rate,
        hosts=(*LOCAL, chosen.host),
        adopt=chosen.adopt,
        keep=None if chosen.keep_days is None else DAY * chosen.keep_days,
        archive=chosen.archive,
        check=lambda service: refuse_strangers(service, chosen.host in LOCAL, chosen.host, path),
    )
    print(f"driftbandit: opening {path}; {url}/readyz says when it is ready", flush=True)

    async def ready() -> None:
        if chosen.demo:
            from driftbandit.cli.visitors import open_shop

            open_shop(app.host)
        print(f"driftbandit: serving {path} at {url}  (Ctrl-C to stop)", flush=True)
        if chosen.demo:
            await entertain(app.host)

    with plainly():
        run(app, bound, ready)
    print("driftbandit: stopped; everything answered is in the journal", flush=True)


async def entertain(host: "Host") -> None:
    from driftbandit.cli.visitors import play

    await play(host)


def skip_a_long_compilation() -> None:
    """Turn the compiler off: its first run takes minutes, the demo is fast enough without, and numbers are the same."""
    from driftbandit.core.compile import COMPILED

    if COMPILED:  # whatever is in the cache: it may be of a model without blocks
        print("driftbandit: the demo runs without the compiler, whose first run would take one to three minutes", flush=True)
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "driftbandit.cli", *sys.argv[1:]])


def shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def refuse_strangers(service: "Service", local: bool, host: str, path: Path) -> None:
    if not local and not service.tokens:
        raise ValueError(
            f"{host} is reachable from other machines, and {path} has no tokens, so anyone could do anything: make one first "
            f"with `driftbandit token make {path} --rights admin`, or listen on 127.0.0.1"
        )
