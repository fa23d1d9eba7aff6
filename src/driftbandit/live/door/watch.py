"""Looking on: what was committed is read again, a little later and off the hot path, for those who ask how it goes."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from math import inf
from typing import Any

import msgspec

from driftbandit.live.disk.journal import Group, Journal
from driftbandit.live.door.board import Board
from driftbandit.live.door.status import Explanations, live
from driftbandit.live.fold.entries import UNSHOWN
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.fold.records import Decided, Expired, Rewarded, decode
from driftbandit.live.service import Service
from driftbandit.policies._base.policy import Policy
from driftbandit.policies._evidence.policy import EvidencePolicy

encode = msgspec.json.Encoder().encode

MOST_BEHIND = 200_000  # records that wait to be read; beyond, the oldest are passed over
SLICE, SLICES = 100, 400  # records read at a time, so that decisions hardly wait meanwhile; if many came, how many times
SPREAD = 0.5  # seconds over which reading them is spread
HINDSIGHT = 200_000  # records read again when the service starts


class Watched:
    """A journal that lets someone look over its shoulder."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.seen: deque[Group] = deque()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    def append(self, first: int, records: Sequence[bytes]) -> None:
        self._journal.append(first, records)
        self.seen.append(Group(first, list(records)))


class Watch:
    """A board for each experiment, by its number: a name may be given again."""

    def __init__(self, service: Service, journal: Watched) -> None:
        self.service, self.journal = service, journal
        self.boards: dict[int, Board] = {}
        self.interval = 0.9  # seconds for which a document is shared
        self._documents: dict[tuple[int, str], tuple[float, bytes]] = {}
        self._explanations: dict[int, Explanations] = {}

    def look_back(self) -> None:
        """After a start: what happened lately, so that a page goes on where it was."""
        end = self.journal.end
        self.journal.seen.clear()
        for group in self.journal.read(max(self.journal.start, end - HINDSIGHT)):
            for record in group.records:
                self.fold(record)
        self.settle()

    def read(self) -> Iterator[float]:
        """All that was committed since, a little at a time; for how many seconds to rest after each."""
        seen = self.journal.seen
        count = sum(len(group.records) for group in seen)
        while count > MOST_BEHIND:
            count -= len(seen.popleft().records)
        records = chain.from_iterable(seen.popleft().records for _ in range(len(seen)))
        size = max(SLICE, count // SLICES)
        while part := list(islice(records, size)):
            for record in part:
                self.fold(record)
            yield SPREAD * size / max(count, size)
        self.settle()

    def fold(self, body: bytes) -> None:
        record = decode(body)
        kind = type(record)
        if kind is Decided or kind is Rewarded or kind is Expired:
            experiment = self.service.state.experiments.get(record.of)
            if experiment is not None:
                self._take(record, experiment, self.boards.get(record.of) or self._begin(record.of))

    def _begin(self, number: int) -> Board:
        self.boards[number] = board = Board()
        return board

    def _take(self, record: Any, experiment: Experiment, board: Board) -> None:
        """Entries that were forgotten meanwhile are passed over."""
        if type(record) is Decided:
            board.decided(record)
            return
        expired = type(record) is Expired
        if expired and not experiment.settings.at_deadline:
            return
        for id in record.ids if expired else (record.id,):
            entry = experiment.find(id)
            if entry is None:
                continue
            if not expired:
                board.rewarded(entry, record.at)
            if expired == experiment.settings.at_deadline:
                learnt = experiment.settings.default if entry.reward is None else entry.reward
                if learnt is not None and entry.state != UNSHOWN:
                    board.learnt(entry, record.at, learnt)

    def settle(self) -> None:
        """Into the series; what is kept of experiments that are no more is dropped."""
        experiments = self.service.state.experiments
        self.boards = {number: board for number, board in self.boards.items() if number in experiments}
        self._documents = {key: kept for key, kept in self._documents.items() if key[0] in experiments}
        self._explanations = {number: kept for number, kept in self._explanations.items() if number in experiments}
        for number, board in self.boards.items():
            board.settle(memory_of(experiments[number].player.policy))

    def number(self, name: str) -> int:
        return self.service._experiment(name).number

    def board(self, name: str) -> Board:
        number = self.number(name)
        return self.boards.get(number) or self._begin(number)

    def document(self, name: str) -> bytes:
        """The status of an experiment."""
        explanations = self._explanations.setdefault(self.number(name), Explanations())
        return self._shared(name, "status", lambda: live(self.service, name, self.board(name), explanations))

    def history(self, name: str, span: str) -> bytes:
        return self._shared(name, span, lambda: self.board(name).history(span, self.service.status(name).restarts))

    def _shared(self, name: str, what: str, make: Callable[[], Any]) -> bytes:
        """As JSON, made at most once per interval however many ask."""
        key = self.number(name), what
        made, document = self._documents.get(key, (-inf, b""))
        if time.monotonic() - made > self.interval:
            document = encode(make())
            self._documents[key] = time.monotonic(), document
        return document


def memory_of(policy: Policy) -> float | None:
    return float(policy.status().memory) if isinstance(policy, EvidencePolicy) else None
