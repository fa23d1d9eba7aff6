"""The chance with which each decision was to be what it was, worked out afterwards from the state in which it was made."""

from typing import Any

from driftbandit.live.disk.journal import Journal
from driftbandit.live.disk.state import State
from driftbandit.live.fold.records import Decided
from driftbandit.live.replaying import replay


def recomputed(journal: Journal, draws: int) -> dict[int, float]:
    """By the number of the decision's record; a baseline has none, nor has what cannot be replayed any more.

    With ``explore`` = ε and n arms it is ε/n + (1 − ε)p, where p is the policy's own chance of this arm: see
    ``Policy.chances``.
    """
    found: dict[int, float] = {}

    def look(state: State, record: Any) -> None:
        if isinstance(record, Decided) and record.baseline is None:
            experiment = state.experiments[record.of]
            share, own = experiment.settings.explore, experiment.player.chances(record, draws)
            found[state.place] = share / len(own) + (1.0 - share) * own[record.index]

    replay(journal, look)
    return found
