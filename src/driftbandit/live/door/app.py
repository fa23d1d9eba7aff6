"""All routes under one roof, and who may come in."""

import asyncio
import copy
import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

import msgspec

from driftbandit.live.disk.journal import Journal
from driftbandit.live.door import tokens
from driftbandit.live.door.aside import again, aside
from driftbandit.live.door.decisions import Decisions
from driftbandit.live.door.experiments import Experiments
from driftbandit.live.door.host import Host
from driftbandit.live.door.http import Call, Door
from driftbandit.live.door.openapi import describe
from driftbandit.live.door.problems import Refused
from driftbandit.live.door.views import Views
from driftbandit.live.door.warm import warm
from driftbandit.live.door.watch import Watch, Watched
from driftbandit.live.retention import retire
from driftbandit.live.service import Service

log = logging.getLogger("driftbandit.live")

HOUR = 3600.0
LOCAL = ("localhost", "127.0.0.1", "::1")


class App:
    """The service with its door, from opening the journal to closing it.

    Parameters:
        journal: opens it; may take its time, in a thread, while /healthz answers.
        folder: where the journal is, whose free space is looked at.
        rate: decisions per second that one experiment takes; None for no limit.
        adopt: take the state as it is found here, whatever a witness says.
        check: raises where a service that has recovered must not be served.
        keep: seconds after which records leave the journal, for good or into Parquet files in ``archive``; None: they stay.
        hosts: names by which it may be called while it has no tokens, so that no page elsewhere can have a browser call it.
    """

    def __init__(
        self,
        journal: Callable[[], Journal],
        folder: Path,
        *,
        rate: float | None = None,
        hosts: Iterable[str] = LOCAL,
        adopt: bool = False,
        check: Callable[[Service], None] = lambda service: None,
        keep: float | None = None,
        archive: Path | None = None,
    ) -> None:
        self.host, self.hosts = Host(folder, rate), frozenset(hosts)
        self._journal, self._adopt, self._check = journal, adopt, check
        self.keep, self.archive = keep, archive
        self.views = Views(self.host)
        routes = (*Decisions(self.host).routes(), *Experiments(self.host).routes(), *self.views.routes())
        self.views.description = msgspec.json.encode(describe(routes))
        self.door = Door(routes, self.admit)
        self._tasks: list[asyncio.Task[None]] = []
        self._neighbours: set[bytes | None] = set()

    async def start(self) -> None:
        """Recover, compile, look back; then take requests."""
        service, watch = await aside(self._open)
        self.views.watch = watch
        self.host.start(service)
        self._tasks.append(asyncio.create_task(again(0.5, self._look, "what was committed could not be read again")))
        if self.keep is not None:
            self._tasks.append(asyncio.create_task(again(HOUR, self.retire, "old records could not be dropped")))

    def _open(self) -> tuple[Service, Watch]:
        journal = Watched(self._journal())
        service = Service.open(cast(Journal, journal), adopt=self._adopt)
        self._check(service)
        for name in service.names:
            warm(copy.deepcopy(service.learner(name)))
        watch = Watch(service, journal)
        watch.look_back()
        return service, watch

    async def _look(self) -> None:
        for rest in self.views.watch.read():
            await asyncio.sleep(rest)

    async def retire(self) -> None:
        """Let old records go, in a thread: decisions go on meanwhile."""
        assert self.keep is not None
        service = self.host.service
        await aside(retire, service.journal, service.now() - self.keep, self.archive)

    async def stop(self) -> None:
        """Nothing, if it had not recovered yet: what is in the journal stays there."""
        if self._tasks:
            for task in self._tasks:
                task.cancel()
            await self.host.stop()

    def admit(self, call: Call) -> None:
        route = call.route
        if route.right is None:
            return
        self.host.admit(route.writes)
        known = self.host.service.tokens
        if not known:
            self._admit_neighbour(call)
            return
        header = call.header(b"authorization")
        if route.of_experiment:
            call.token = tokens.admit(known, header, route.right, call.params[0])
        else:
            call.token = tokens.admit(known, header, route.right, None if route.whole else tokens.SOME)

    def _admit_neighbour(self, call: Call) -> None:
        """Without tokens: only who calls by a name of this machine."""
        header = call.header(b"host")
        if header in self._neighbours:
            return
        asked = (header or b"").decode("latin-1")
        name = asked.rpartition(":")[0] if asked.rpartition(":")[2].isdigit() else asked
        if name.strip("[]").lower() not in self.hosts:
            raise Refused(403, f"without tokens this is served to {', '.join(sorted(self.hosts))} alone, got {asked[:100]!r}")
        self._neighbours = {header, *list(self._neighbours)[:9]}
