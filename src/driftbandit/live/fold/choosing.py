"""A Chooser that decides in an experiment."""

import copy

import numpy as np

from driftbandit.contexts.chooser import Chooser
from driftbandit.live.answers import Kind, Opinion
from driftbandit.live.errors import Invalid
from driftbandit.live.fold.entries import Entry
from driftbandit.live.fold.players import Played, Player, opinion
from driftbandit.live.fold.records import Decided
from driftbandit.policies._base.outlook import Outlook


class ChooserPlayer(Player):
    """Fields and actions by name."""

    kind: Kind = "chooser"

    def __init__(self, chooser: Chooser) -> None:
        super().__init__(chooser.policy)
        self.chooser = chooser

    def play(self, record: Decided) -> Played:
        if record.set is not None or record.arms is not None:
            raise Invalid("arms and set are for a policy; here a Chooser decides: give fields", "arms")
        if record.exclude:
            self._check(record.exclude)
        offered = self._offered(record)
        choice = self.chooser.select(record.fields, exclude=record.exclude)
        self.policy.release(choice.decision)
        assert choice.decision.index is not None
        return Played(choice.decision.round, choice.decision.index, offered, choice.context.tobytes())

    def kept(self, record: Decided, played: Played, index: int) -> tuple[bytes | int | None, str | None]:
        return played.context, played.offered[index]

    def learn(self, entry: Entry, reward: float) -> None:
        assert isinstance(entry.arm, bytes)
        assert entry.label is not None
        self.chooser.learn(entry.round, entry.label, np.frombuffer(entry.arm), reward, own=entry.own)

    def opinions(self, record: Decided, outlook: Outlook) -> list[Opinion]:
        context = self.chooser.context.encode({} if record.fields is None else record.fields)
        found = {each.action: each for each in self.chooser.opinions(context, outlook)}
        offered = enumerate(self._offered(record))
        return [opinion(outlook, i, name, found[name].estimate, found[name].width) for i, name in offered]

    def chances(self, record: Decided, draws: int) -> list[float]:
        return list(self.chooser.chances(record.fields, exclude=record.exclude, draws=draws).values())

    def _check(self, exclude: tuple[str, ...]) -> None:
        try:
            self.chooser.actions.offered(exclude)
        except ValueError as error:
            raise Invalid(str(error), "exclude") from None

    def _offered(self, record: Decided) -> list[str]:
        out = set(record.exclude)
        return [name for name in self.chooser.actions.active if name not in out]

    def twin(self) -> "ChooserPlayer":
        made = copy.copy(self.chooser)
        made.policy, made.actions = copy.copy(self.policy), copy.deepcopy(self.chooser.actions)
        for name in ("out_of_range", "_chosen", "_rewarded", "_total"):
            setattr(made, name, getattr(self.chooser, name).copy())
        return ChooserPlayer(made)

    def offered(self) -> list[str]:
        return list(self.chooser.actions.active)

    def columns(self) -> list[str]:
        return self.chooser.columns

    def to_bytes(self) -> bytes:
        return self.chooser.to_bytes()
