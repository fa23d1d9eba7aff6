"""Several experiments on one journal. One owner, no locks: each command is checked whole, applied, written, answered."""

from collections.abc import Iterator, Sequence
from itertools import repeat

from driftbandit.core import validate
from driftbandit.live.answers import Answer, Ask, Receipt
from driftbandit.live.errors import Broken, Conflict, Full
from driftbandit.live.fold import records as r
from driftbandit.live.fold.asking import LONGEST_ID, asked, is_text, only_set, refused, text, written
from driftbandit.live.fold.entries import UNSHOWN, WAITING, Entry
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.fold.running import runner_of
from driftbandit.live.managing import Managing

WITNESS_EVERY = 10_000  # decisions of an experiment
AT_ONCE = 200  # decisions that expire in one record, so that others hardly wait meanwhile; more if many wait


class Service(Managing):
    """Commands return at once with a ticket; what they did is durable when ``journal`` has committed that record.

    Threads must not share it: one owner (an event loop, or who holds a lock) calls everything here. ``commits``
    (committer.py) is where records gather: ``service.commits.through(ticket)`` makes one durable, from any thread, and a
    ``Committer(service.commits, durable, failed)`` does so in a thread of its own: ``wake()`` it after commands.

    A command that raises Invalid, NotFound, Conflict or Full changed nothing. After Broken, only opening again helps.
    """

    def decide(self, name: str, id: str, ask: Ask) -> Answer:
        """Decide, or give the answer that this id had before."""
        experiment = self._experiment(name)
        told, digest = asked(ask, experiment.player.entries)
        known = experiment.find(text("id", id, LONGEST_ID))
        if known is not None:
            if known.asked != digest:
                raise Conflict(f"id {id!r} stands for another request already: give each decision an id of its own")
            return known.answer(repeat=True)
        if len(experiment.waiting) >= experiment.settings.most_waiting:
            waiting = f"{len(experiment.waiting)} decisions of {name!r} wait for their reward, as many as may"
            raise Full(f"{waiting} (most_waiting): reward them, or let their waits end")
        self._write(written(experiment, self.now(), id, told, digest))
        if experiment.counts.decisions % WITNESS_EVERY == 0:
            self._witness(experiment)
        return experiment.waiting[id].answer(repeat=False)

    def decide_all(self, name: str, ids: Sequence[str], asks: Sequence[Ask]) -> list[Answer | Exception]:
        """As ``decide`` of each in turn; what is wrong with one stands in its place. Less work where all are new and alike."""
        experiment = self._experiment(name)
        runner, before = runner_of(experiment), experiment.counts.decisions
        if runner is None or not alike(experiment, runner.set, ids, asks):
            return [self._tried(name, *each) for each in zip(ids, asks, strict=True)]
        told, digest = asked(asks[0], experiment.player.entries)
        self._write_all(runner, ids, digest, told.deferred)
        if experiment.counts.decisions // WITNESS_EVERY > before // WITNESS_EVERY:
            self._witness(experiment)
        waiting = experiment.waiting
        return [waiting[id].answer(repeat=False) for id in ids]

    def _tried(self, name: str, id: str, ask: Ask) -> Answer | Exception:
        try:
            return self.decide(name, id, ask)
        except Broken:
            raise
        except Exception as error:  # of one, which the others must not suffer from
            return error

    def reward(self, name: str, id: str, value: float, key: str | None = None) -> Receipt:
        """The reward of a decision. Where rewards are summed, each has a ``key`` by which it is known again."""
        with refused("value"):
            value = validate.reward(value)
        experiment, entry = self._entry(name, id)
        if key is not None:
            key = text("key", key, LONGEST_ID)
        entry = self._on_time(experiment, entry)
        outcome = experiment.outcome(entry, value, key)
        if outcome == "duplicate":
            return Receipt(id=id, outcome=outcome, ticket=entry.last)
        self._write(r.Rewarded(self.now(), experiment.number, id, value, key))
        return Receipt(id=id, outcome=outcome, ticket=self._last)

    def shown(self, name: str, id: str) -> Receipt:
        """Word that a deferred decision was shown: its wait begins now."""
        experiment, entry = self._entry(name, id)
        entry = self._on_time(experiment, entry)
        if entry.state == WAITING and entry.pending:
            self._write(r.Shown(self.now(), experiment.number, id))
            return Receipt(id=id, outcome="kept", ticket=self._last)
        return Receipt(id=id, outcome="late" if entry.state == UNSHOWN else "duplicate", ticket=entry.last)

    def _on_time(self, experiment: Experiment, entry: Entry) -> Entry:
        """The entry, whose wait is ended first if it is over."""
        if entry.state == WAITING and entry.deadline <= self.now():
            self._write(r.Expired(self.now(), experiment.number, (entry.id,)))
            entry = experiment.settled.get(entry.id) or entry
        return entry

    def tick(self) -> int:
        """End the waits that are over, and begin a snapshot where one is due: to be called a few times per second.

        How many records that made.
        """
        before = self.commits.next
        for _ in self.ticking():
            pass
        return self.commits.next - before

    def ticking(self) -> Iterator[None]:
        """The same, a record at a time: an owner for whom others wait lets them have their turn in between."""
        for experiment in list(self.state.experiments.values()):
            while self.state.experiments.get(experiment.number) is experiment and self._pass_time(experiment):
                yield
        if self.keeper.due(self.commits.next):
            self.snapshot()

    def _pass_time(self, experiment: Experiment) -> bool:
        """End some waits that are over; whether there were any. What a silence leaves to be forgotten counts as such."""
        now = self.now()
        some = max(AT_ONCE, len(experiment.waiting) // 200)
        ids = experiment.due(now, some)
        if not ids and not experiment.lapsed(now, some):
            return False
        self._write(r.Expired(now, experiment.number, ids))
        return True


def alike(experiment: Experiment, set: str, ids: Sequence[str], asks: Sequence[Ask]) -> bool:
    """Whether all ask for this set alone, by one Ask, and by new ids for which there is room: nothing can be wrong then."""
    if not asks or asks[0].set != set or not only_set(asks[0]) or len({*map(id, asks)}) > 1:
        return False
    waiting, settled = experiment.waiting, experiment.settled
    if len({*ids}) < len(ids) or len(waiting) + len(ids) > experiment.settings.most_waiting:
        return False
    if any(map(waiting.__contains__, ids)) or any(map(settled.__contains__, ids)):
        return False  # asked one by one: to go through a dict that a flood has left hollow takes longer than to decide
    return all(map(is_text, ids, repeat(LONGEST_ID)))
