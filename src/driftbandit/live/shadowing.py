"""What another policy would have done: it folds the journal of an experiment as an apprentice, beside the one that decided."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from driftbandit.contexts.chooser import Chooser
from driftbandit.live.disk.journal import Journal
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.disk.state import State, tail
from driftbandit.live.errors import Invalid, NotFound
from driftbandit.live.fold import records as r
from driftbandit.live.fold.choosing import ChooserPlayer
from driftbandit.live.fold.entries import Entry
from driftbandit.live.fold.experiment import STEPS, Experiment
from driftbandit.live.fold.players import Player, PolicyPlayer
from driftbandit.live.replaying import beginning
from driftbandit.live.shadowed import Shadowed, Would, summary
from driftbandit.policies._base.policy import Policy

ABOUT_ARMS = ("arm_norm", "blocks", "shared")  # parameters that the arms demand, whoever plays them


def shadow(journal: Journal | str | Path, experiment: str, policy: Callable[..., Policy], **parameters: Any) -> Shadowed:
    """What a policy would have done in an experiment, had it only been asked.

    It is asked at every decision, and learns every reward, of the actions that were really taken: as an apprentice does from
    a baseline. The journal is not changed.

    Parameters:
        journal: a path (no other process may have it open: copy it first), or a journal that is open here.
        experiment: its name; that of a Learner is "default".
        policy: a policy class, or a function that makes a policy from the number of features, as for a Chooser.
        parameters: the policy's own. Actions, fields, arm sets and what was said of arms (arm_norm, blocks, shared) are those
            of the experiment.
    """
    if isinstance(journal, str | Path):
        if not Path(journal).exists():
            raise NotFound(f"there is no journal at {journal}: check the path")
        opened = SqliteJournal(journal)
        try:
            return shadow(opened, experiment, policy, **parameters)
        finally:
            opened.close()
    found = folded(journal, experiment, lambda player: stand_in(player, policy, parameters))
    return summary(experiment, repr(found.player.policy), found.would, found.learnt)


def folded(journal: Journal, name: str, stand_in: Callable[[Player], Player]) -> "Shadow":
    """The last experiment of this name, seen through the eyes of another."""
    state = beginning(journal)  # where records were dropped, what came before is not learnt
    names, known = list(state.names), state.names.get(name)
    found = None if known is None else Shadow(known, stand_in)
    for number, record in tail(journal, state.place):
        if isinstance(record, r.Created):
            names.append(record.name)
            if record.name == name:
                found = Shadow(made(record), stand_in)
        elif found is not None and getattr(record, "of", None) == found.number:
            found.take(number, record)
    if found is None:
        raise NotFound(f"unknown experiment {name!r}: {journal.name} holds {', '.join(map(repr, dict.fromkeys(names)))}")
    return found


def made(record: r.Created) -> Experiment:
    state = State()
    state.apply(record)
    return state.names[record.name]


def stand_in(player: Player, policy: Callable[..., Policy], parameters: dict[str, Any]) -> Player:
    """One that plays what this one plays, by another policy that knows nothing yet."""
    try:
        if isinstance(player, ChooserPlayer):
            known, actions = player.chooser, player.chooser.actions
            offer: Any = actions.features or list(actions.names)
            chooser = Chooser(policy, offer, known.context, model=known.layout.model, places=actions.places, **parameters)
            for name in actions.removed:
                chooser.remove(name)
            return ChooserPlayer(chooser)
        assert isinstance(player, PolicyPlayer)
        was = player.policy
        given = {name: value for name, value in was._given.items() if name in ABOUT_ARMS}
        other = PolicyPlayer(policy(was.dim, **{**given, **parameters}))
    except (ValueError, TypeError) as error:
        raise Invalid(str(error), "parameters") from None
    other.sets, other.versions = player.sets.copy(), player.versions.copy()
    return other


class Shadow(Experiment):
    """An experiment in which every decision is the caller's own: that which was made."""

    def __init__(self, known: Experiment, stand_in: Callable[[Player], Player]) -> None:
        super().__init__(known.number, known.name, known.created, known.origin, stand_in(known.player), known.settings)
        self.would: dict[int, Would] = {}  # by the number of the decision's record
        self.learnt: dict[int, float] = {}

    def take(self, number: int, record: Any) -> None:
        """A step. What was decided before the journal begins is passed over."""
        if isinstance(record, r.Decided):
            self._ask(number, record)
        elif isinstance(record, r.Expired):
            self.expired(number, replace(record, ids=tuple(filter(self.waiting.__contains__, record.ids))))
        elif isinstance(record, r.Rewarded | r.Shown):
            if self.find(record.id) is not None:
                STEPS[type(record)](self, number, record)
        elif not isinstance(record, r.Witness | r.Deleted):
            STEPS[type(record)](self, number, record)
        self.forget(record.at)

    def _ask(self, number: int, record: r.Decided) -> None:
        asked = replace(record, index=-1, chosen=-1, round=-1, action=None, chance=None, baseline=record.index)
        chosen = self.decided(number, asked).chosen
        kept = replace(record, arms=None, fields=None)  # kilobytes, maybe
        self.would[number] = Would(kept, chosen, name_of(self.player, record, chosen))

    def _learn(self, entry: Entry, value: float, at: float | None) -> None:
        super()._learn(entry, value, at)
        self.learnt[entry.first] = value


def name_of(player: Player, record: r.Decided, index: int) -> str | None:
    """The name of what is on offer at this place; it may be withdrawn later, so ask at once."""
    if isinstance(player, ChooserPlayer):
        return player._offered(record)[index]
    assert isinstance(player, PolicyPlayer)
    labels = None if record.set is None else player.sets[record.set].labels
    return None if labels is None else labels[index]
