"""When waits end, in order: all waits of an experiment are of one length, so a queue will do."""

from collections import deque
from collections.abc import Mapping

from driftbandit.live.fold.entries import Entry

SLACK = 1000  # deadlines that are not worth clearing out


class Deadlines:
    """Not part of the state: it follows from the decisions that wait. One that has another deadline by now is passed over."""

    def __init__(self) -> None:
        self._queue: deque[tuple[float, str]] = deque()

    def add(self, deadline: float, id: str) -> None:
        """No earlier than those before."""
        self._queue.append((deadline, id))

    def due(self, waiting: Mapping[str, Entry], now: float, most: int) -> tuple[str, ...]:
        """Those that are over by now, at most so many."""
        found: list[str] = []
        while self._queue and self._queue[0][0] <= now and len(found) < most:
            deadline, id = self._queue.popleft()
            if stands(waiting, deadline, id):
                found.append(id)
        return tuple(found)

    def tidy(self, waiting: Mapping[str, Entry]) -> None:
        """Most decisions have their reward long before their deadline: clear those out now and then."""
        if len(self._queue) > 2 * len(waiting) + SLACK:
            self._queue = deque(pair for pair in self._queue if stands(waiting, *pair))


def stands(waiting: Mapping[str, Entry], deadline: float, id: str) -> bool:
    entry = waiting.get(id)
    return entry is not None and entry.deadline == deadline
