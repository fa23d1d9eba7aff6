"""One policy with its arm sets, waiting decisions and ids: a pure fold over records, the same bits wherever it is folded."""

import zlib
from collections import deque
from typing import Any, ClassVar

from msgspec.structs import replace

from driftbandit.live import records as r
from driftbandit.live.answers import Counts, Outcome, Tally
from driftbandit.live.entries import EXPIRED, REWARDED, UNSHOWN, WAITING, Entry
from driftbandit.live.errors import Mismatch
from driftbandit.live.exploring import Exploring
from driftbandit.live.gathering import gathered, outcome
from driftbandit.live.players import ArmSet, ChooserPlayer, Played, Player, PolicyPlayer
from driftbandit.live.settings import Settings

RECENT = 50


class Experiment:
    """``apply`` alone changes it; the rest of what is here asks."""

    def __init__(self, number: int, name: str, created: float, origin: str, player: Player, settings: Settings) -> None:
        self.number, self.name, self.created = number, name, created
        self.origin = origin  # what it was made as, in JSON: see make.py
        self.player, self.settings = player, settings
        self.adopting = False  # whether to go on where replay differs …
        self.mismatch: int | None = None  # … and where it did first
        self.waiting: dict[str, Entry] = {}
        self.settled: dict[str, Entry] = {}  # remembered, though nothing more is expected
        self.order: deque[str] = deque()  # of the settled, as they were settled
        self.counts, self.tallies = Counts(), dict[str, Tally]()
        self.recent: deque[str] = deque(maxlen=RECENT)
        self.deadlines: deque[tuple[float, str]] = deque()  # rising; an entry that has another by now is passed over
        self.exploring = Exploring(player.policy.seed, settings.explore)

    def find(self, id: str) -> Entry | None:
        return self.waiting.get(id) or self.settled.get(id)

    def apply(self, number: int, record: Any) -> Any:
        """Record ``number`` has happened."""
        done = self._steps[type(record)](self, number, record)
        self._forget(record.at)
        return done

    # --- deciding ------------------------------------------------------------------------------------------------

    def decided(self, number: int, record: r.Decided) -> r.Decided:
        """Choose; the record with the choice in it. A record that has one already must agree."""
        played = self.player.play(record)
        index, explored = self.exploring.draw(played.round, played.chosen, len(played.offered))
        if record.baseline is not None:
            index, explored = record.baseline, False
        if record.index < 0:
            record = self._filled(record, played, index)
        if (record.index, record.chosen, record.round) != (index, played.chosen, played.round):
            self._differs(f"arm {played.chosen} is chosen in round {played.round}, where arm {record.chosen} was", number)
        self._await(self._entry(number, record, played, explored))
        return record

    def _filled(self, record: r.Decided, played: Played, index: int) -> r.Decided:
        """With the choice, and what a reader of the journal wants to know of it."""
        _, label = self.player.kept(record, played, index)
        chance = None if record.baseline is not None else self.exploring.chance(index, played.chosen, len(played.offered))
        return replace(record, index=index, chosen=played.chosen, round=played.round, action=label, chance=chance)

    def _entry(self, number: int, record: r.Decided, played: Played, explored: bool) -> Entry:
        arm, _ = self.player.kept(record, played, record.index)
        return Entry(
            record.id,
            number,
            number,
            record.asked,
            record.at,
            played.round,
            record.index,
            record.chosen,
            record.action,
            explored,
            record.baseline is not None,
            record.chance,
            arm,
            record.at + self.settings.wait,
            record.deferred,
        )

    def _await(self, entry: Entry) -> None:
        self.waiting[entry.id] = entry
        self.deadlines.append((entry.deadline, entry.id))
        self.recent.append(entry.id)
        self._tally(entry).played += 1
        counts = self.counts
        counts.decisions += 1
        counts.explored += entry.explored
        counts.baselines += entry.baseline
        counts.agreed += entry.baseline and entry.own

    def _tally(self, entry: Entry) -> Tally:
        return self.tallies.setdefault(entry.label or str(entry.index), Tally())

    # --- learning ------------------------------------------------------------------------------------------------

    def outcome(self, entry: Entry, value: float, key: str | None) -> Outcome:
        """What a reward would do; Conflict, Invalid or Full if it cannot be."""
        return outcome(self.settings, entry, value, key)

    def rewarded(self, number: int, record: r.Rewarded) -> None:
        entry = self.find(record.id)
        assert entry is not None
        result = self.outcome(entry, record.value, record.key)
        after = gathered(self.settings, entry, number, record)
        if entry.pending and entry.state == WAITING:
            after = self._postponed(after, record.at)  # who rewards it has seen it
        if result == "learnt":
            self._learn(entry, record.value, record.at)
            after = replace(after, state=REWARDED)
        self.counts.late += entry.state != WAITING
        if entry.state != WAITING:
            self.settled[entry.id] = replace(after, deadline=entry.deadline, arm=None)
        elif result == "learnt":
            self._settle(after, record.at)
        else:
            self.waiting[entry.id] = after

    def _learn(self, entry: Entry, value: float, at: float | None) -> None:
        """``at``: when the reward came; None for a default."""
        self.player.learn(entry, value)
        tally = self._tally(entry)
        tally.rewarded += 1
        tally.total += value
        tally.squares += value * value
        if at is not None:
            self.counts.rewards += 1
            self.counts.reward_total += value
            self.counts.delay_total += at - entry.at

    def shown(self, number: int, record: r.Shown) -> None:
        entry = replace(self.waiting[record.id], last=number, pending=False)
        self.waiting[entry.id] = self._postponed(entry, record.at)

    def _postponed(self, entry: Entry, at: float) -> Entry:
        deadline = at + self.settings.wait
        self.deadlines.append((deadline, entry.id))
        return replace(entry, deadline=deadline)

    # --- the end of a wait ---------------------------------------------------------------------------------------

    def due(self, now: float, most: int) -> tuple[str, ...]:
        """The decisions whose wait is over by now, at most so many."""
        found: list[str] = []
        while self.deadlines and self.deadlines[0][0] <= now and len(found) < most:
            deadline, id = self.deadlines.popleft()
            entry = self.waiting.get(id)
            if entry is not None and entry.deadline == deadline:
                found.append(id)
        return tuple(found)

    def expired(self, number: int, record: r.Expired) -> None:
        for id in record.ids:
            entry = replace(self.waiting[id], last=number)
            value = self.settings.default if entry.reward is None else entry.reward
            if entry.pending:
                entry = replace(entry, state=UNSHOWN)
                self.counts.unshown += 1
            else:
                if value is not None:
                    self._learn(entry, value, None if entry.reward is None else record.at)
                entry = replace(entry, state=EXPIRED if entry.reward is None else REWARDED)
                self.counts.expired += entry.reward is None
            self._settle(entry, record.at)

    def _settle(self, entry: Entry, at: float) -> None:
        """Nothing more is expected of it; the id is remembered for a while."""
        del self.waiting[entry.id]
        late = entry.state != REWARDED and self.settings.late == "learn"
        self.settled[entry.id] = replace(entry, deadline=at, arm=entry.arm if late else None)
        self.order.append(entry.id)

    def _forget(self, at: float) -> None:
        before, order = at - self.settings.remember, self.order
        while order and (len(order) > self.settings.most_remembered or self.settled[order[0]].deadline < before):
            del self.settled[order.popleft()]

    # --- what is on offer ----------------------------------------------------------------------------------------

    def set_put(self, number: int, record: r.SetPut) -> None:
        assert isinstance(self.player, PolicyPlayer)
        entries = [*self.waiting.values(), *self.settled.values()]
        needed = {entry.arm for entry in entries if isinstance(entry.arm, int)}
        self.player.put(ArmSet(number, record.set, record.shape[1], record.arms, record.labels), needed)

    def action_added(self, number: int, record: r.ActionAdded) -> None:
        assert isinstance(self.player, ChooserPlayer)
        self.player.chooser.add(record.action, record.features)

    def action_removed(self, number: int, record: r.ActionRemoved) -> None:
        assert isinstance(self.player, ChooserPlayer)
        self.player.chooser.remove(record.action)

    def witnessed(self, number: int, record: r.Witness) -> None:
        if record.digest != self.digest():
            self._differs(f"the state after {self.player.policy.rounds} rounds is not what it was", number)

    def _differs(self, what: str, number: int) -> None:
        if not self.adopting:
            advice = "open it where it was written, or adopt the state as it is found here"
            raise Mismatch(f"record {number}, experiment {self.name!r}: folded here, {what}: {advice}", number)
        self.mismatch = number if self.mismatch is None else self.mismatch

    def digest(self) -> bytes:
        """Of the policy's state and of what has happened, in 24 bytes."""
        counts = self.counts
        told = (counts.decisions, counts.rewards, counts.expired, counts.reward_total, len(self.waiting), len(self.settled))
        return self.player.policy.digest() + zlib.crc32(repr(told).encode()).to_bytes(8)

    _steps: ClassVar[dict[Any, Any]] = {
        r.Decided: decided,
        r.Rewarded: rewarded,
        r.Shown: shown,
        r.Expired: expired,
        r.SetPut: set_put,
        r.ActionAdded: action_added,
        r.ActionRemoved: action_removed,
        r.Witness: witnessed,
    }
