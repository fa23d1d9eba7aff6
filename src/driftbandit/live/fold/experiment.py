"""One policy with its arm sets, waiting decisions and ids: a pure fold over records, the same bits wherever it is folded."""

import zlib
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any

from msgspec.structs import replace

from driftbandit.live.answers import Counts, Outcome, Tally
from driftbandit.live.errors import Mismatch
from driftbandit.live.fold import records as r
from driftbandit.live.fold.choosing import ChooserPlayer
from driftbandit.live.fold.deadlines import Deadlines
from driftbandit.live.fold.entries import EXPIRED, REWARDED, UNSHOWN, WAITING, Entry
from driftbandit.live.fold.exploring import Exploring
from driftbandit.live.fold.gathering import gathered, outcome
from driftbandit.live.fold.players import ArmSet, Played, Player, PolicyPlayer
from driftbandit.live.settings import Settings

RECENT = 50  # decisions that are shown


class Experiment:
    """Changed by STEPS alone, one for each kind of record, and by ``forget`` after each."""

    def __init__(self, number: int, name: str, created: float, origin: str, player: Player, settings: Settings) -> None:
        self.number, self.name, self.created = number, name, created
        self.origin = origin  # what it was made as, in JSON: see make.py
        self.player, self.settings = player, settings
        self.at_once = not settings.at_deadline
        self.adopting = False  # whether to go on where replay differs …
        self.mismatch: int | None = None  # … and where it did first
        self.waiting: dict[str, Entry] = {}
        self.settled: dict[str, Entry] = {}  # remembered, though nothing more is expected
        self.order: deque[str] = deque()  # of the settled, as they were settled …
        self._oldest = -inf  # … and when the first was, if that is known
        self.counts, self.tallies = Counts(), dict[str, Tally]()
        self.recent: deque[str] = deque(maxlen=RECENT)
        self.deadlines = Deadlines()
        self.exploring = Exploring(player.policy.seed, settings.explore)

    def find(self, id: str) -> Entry | None:
        return self.waiting.get(id) or self.settled.get(id)

    # --- deciding ------------------------------------------------------------------------------------------------

    def decided(self, number: int, record: r.Decided) -> r.Decided:
        """Choose; the record with the choice in it. A record that has one already must agree."""
        played = self.player.play(record)
        index, explored = played.chosen, False
        if record.baseline is not None:
            index = record.baseline
        elif self.exploring.share:
            index, explored = self.exploring.draw(played.round, played.chosen, len(played.offered))
        fresh = record.index < 0
        if not fresh and (record.index != index or record.chosen != played.chosen or record.round != played.round):
            self.differs(number, f"arm {played.chosen} is chosen in round {played.round}, where arm {record.chosen} was")
        arm, label = self.player.kept(record, played, index if fresh else record.index)
        if fresh:
            record = self._filled(record, played, index, label)
        self._await(record, Entry(
            record.id, number, number, record.asked, record.at, played.round, record.index, record.chosen, record.action,
            explored, record.baseline is not None, record.chance, arm, record.at + self.settings.wait, record.deferred,
        ))  # fmt: skip
        return record

    def _filled(self, record: r.Decided, played: Played, index: int, label: str | None) -> r.Decided:
        """With the choice, and what a reader of the journal wants to know of it."""
        drawn = record.baseline is None and self.exploring.share
        chance = self.exploring.chance(index, played.chosen, len(played.offered)) if drawn else None
        return replace(record, index=index, chosen=played.chosen, round=played.round, action=label, chance=chance)

    def _await(self, record: r.Decided, entry: Entry) -> None:
        id, counts = record.id, self.counts
        self.waiting[id] = entry
        self.deadlines.add(entry)
        self.recent.append(id)
        self.tally(entry.label or str(entry.index)).played += 1
        counts.decisions += 1
        if entry.explored:
            counts.explored += 1
        if entry.baseline:
            counts.baselines += 1
            counts.agreed += entry.own

    def tally(self, name: str) -> Tally:
        return self.tallies.get(name) or self.tallies.setdefault(name, Tally())

    # --- learning ------------------------------------------------------------------------------------------------

    def outcome(self, entry: Entry, value: float, key: str | None) -> Outcome:
        """What a reward would do; Conflict, Invalid or Full if it cannot be."""
        return outcome(self.settings, entry, value, key)

    def rewarded(self, number: int, record: r.Rewarded) -> None:
        entry = self.waiting.get(record.id)
        if entry is not None and self.at_once and record.key is None:  # as most are: the first, learnt as it comes
            self._learn(entry, record.value, record.at)
            self._settle(entry, number, record.at, REWARDED, record.value, False)
            self.deadlines.tidy(self.waiting)
            return
        entry = entry or self.settled[record.id]
        result = self.outcome(entry, record.value, record.key)
        keys, reward = gathered(entry, record)
        if result == "learnt":
            self._learn(entry, record.value, record.at)
        if entry.state != WAITING:
            self.counts.late += 1
            state = REWARDED if result == "learnt" else entry.state
            self.settled[entry.id] = replace(entry, last=number, reward=reward, keys=keys, state=state, arm=None)
        elif result == "learnt":
            self._settle(entry, number, record.at, REWARDED, reward, False)
            self.deadlines.tidy(self.waiting)
        else:
            after = replace(entry, last=number, reward=reward, keys=keys, pending=False)
            if entry.pending:
                after = self._postponed(after, record.at)  # who rewards it has seen it
            self.waiting[entry.id] = after

    def _learn(self, entry: Entry, value: float, at: float | None) -> None:
        """``at``: when the reward came; None for a default."""
        self.player.learn(entry, value)
        tally = self.tally(entry.label or str(entry.index))
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
        after = replace(entry, deadline=at + self.settings.wait)
        self.deadlines.add(after)
        return after

    # --- the end of a wait ---------------------------------------------------------------------------------------

    def due(self, now: float, most: int) -> tuple[str, ...]:
        """The decisions whose wait is over by now, at most so many."""
        return self.deadlines.due(self.waiting, now, most)

    def expired(self, number: int, record: r.Expired) -> None:
        for id in record.ids:
            entry = self.waiting[id]
            value = self.settings.default if entry.reward is None else entry.reward
            state = UNSHOWN if entry.pending else EXPIRED if entry.reward is None else REWARDED
            if value is not None and state != UNSHOWN:
                self._learn(entry, value, None if entry.reward is None else record.at)
            self.counts.unshown += state == UNSHOWN
            self.counts.expired += state == EXPIRED
            self._settle(entry, number, record.at, state, entry.reward, entry.pending)
        self.deadlines.tidy(self.waiting)

    def _settle(self, entry: Entry, number: int, at: float, state: int, reward: float | None, pending: bool) -> None:
        """Nothing more is expected of it; the id is remembered for a while."""
        id, arm = entry.id, entry.arm if state != REWARDED and self.settings.late == "learn" else None
        del self.waiting[id]
        self.settled[id] = replace(entry, last=number, deadline=at, arm=arm, state=state, reward=reward, pending=pending)
        self.order.append(id)

    def forget(self, at: float) -> None:
        order, settled, most, since = self.order, self.settled, self.settings.most_remembered, at - self.settings.remember
        if self._oldest >= since and len(order) <= most:
            return
        while order and (len(order) > most or settled[order[0]].deadline < since):
            del settled[order.popleft()]
        self._oldest = settled[order[0]].deadline if order else -inf

    def lapsed(self, now: float, many: int) -> bool:
        """Whether as many ids are to be forgotten by now. Each record forgets, so that only grows while none is written."""
        order = self.order
        return len(order) >= many and self.settled[order[many - 1]].deadline < now - self.settings.remember

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

    def witnessed(self, number: int, record: r.Witness) -> r.Witness:
        """The record with the digest in it. One that has it already must agree."""
        digest = self.digest()  # takes half a millisecond: once will do
        if record.digest and record.digest != digest:
            self.differs(number, f"the state after {self.player.policy.rounds} rounds is not what it was")
        return record if record.digest else replace(record, digest=digest)

    def differs(self, number: int, what: str) -> None:
        """Replay does not agree with this record."""
        if not self.adopting:
            raise Mismatch(f"record {number}, experiment {self.name!r}: replayed here, {what}", number)
        self.mismatch = number if self.mismatch is None else self.mismatch

    def digest(self) -> bytes:
        """Of the policy's state and of what has happened, in 24 bytes."""
        counts = self.counts
        told = (counts.decisions, counts.rewards, counts.expired, counts.reward_total, len(self.waiting), len(self.settled))
        return self.player.policy.digest() + zlib.crc32(repr(told).encode()).to_bytes(8)


STEPS: dict[type, Callable[[Experiment, int, Any], Any]] = {
    r.Decided: Experiment.decided,
    r.Rewarded: Experiment.rewarded,
    r.Shown: Experiment.shown,
    r.Expired: Experiment.expired,
    r.SetPut: Experiment.set_put,
    r.ActionAdded: Experiment.action_added,
    r.ActionRemoved: Experiment.action_removed,
    r.Witness: Experiment.witnessed,
}
