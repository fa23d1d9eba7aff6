"""When waits end, in order: all waits of an experiment are of one length, so a queue will do."""

from collections import deque
from collections.abc import Mapping

from driftbandit.live.fold.entries import Entry

SLACK = 1000  # deadlines that are not worth clearing out


class Deadlines:
    """Not part of the state: it follows from the decisions that wait. One that has another deadline by now is passed over."""

    def __init__(self) -> None:
        self._queue: deque[Entry] = deque()  # as they were when their wait began
        self.add = self._queue.append  # each with a deadline no earlier than those before

    def due(self, waiting: Mapping[str, Entry], now: float, most: int) -> tuple[str, ...]:
        """Those that are over by now, at most so many."""
        found: dict[str, None] = {}  # each once, though it may stand twice: shown in the moment in which it was decided
        while self._queue and self._queue[0].deadline <= now and len(found) < most:
            entry = self._queue.popleft()
            if waiting.get(entry.id) is entry or stands(waiting, entry):
                found[entry.id] = None
        return tuple(found)

    def tidy(self, waiting: Mapping[str, Entry]) -> None:
        """Most decisions have their reward long before their deadline: clear those out now and then."""
        if len(self._queue) > 2 * len(waiting) + SLACK:
            kept = [entry for entry in self._queue if stands(waiting, entry)]
            self._queue.clear()
            self._queue.extend(kept)


def stands(waiting: Mapping[str, Entry], entry: Entry) -> bool:
    known = waiting.get(entry.id)
    return known is not None and known.deadline == entry.deadline
