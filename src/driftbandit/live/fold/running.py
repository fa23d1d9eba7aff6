"""Many records in a row: folded as one by one, but with all that they share looked up once."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from driftbandit.live.fold.entries import REWARDED, Entry
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.fold.players import PolicyPlayer
from driftbandit.live.fold.records import Decided, Rewarded


def run(experiment: Experiment, number: int, records: Iterable[Any]) -> list[Any]:
    """Fold what most of a journal is, decisions on a lone set and first rewards that are learnt as they come; which.

    It ends before a record that is anything else, or of another experiment: that is for the experiment's own steps.
    """
    set = lone_set(experiment)
    return [] if set is None else Runner(experiment, set).run(number, records)


def lone_set(experiment: Experiment) -> str | None:
    """The name of the set that decisions of a run are on; None where there are no runs."""
    player = experiment.player
    if not isinstance(player, PolicyPlayer) or len(player.sets) != 1 or not player.lone:
        return None
    if experiment.exploring.share or not experiment.at_once:
        return None
    return next(iter(player.sets))


class Runner:
    """An experiment that takes a run of records, from where it stands."""

    def __init__(self, experiment: Experiment, set: str) -> None:
        player = experiment.player
        assert isinstance(player, PolicyPlayer)
        made = player.sets[set]
        self.experiment, self.policy, self.set = experiment, player.policy, set
        self.made, self.labels = made.number, made.labels
        self.fixed, self.rows = player.fixed(made.number)
        self.wait, self.waiting, self.settled = experiment.settings.wait, experiment.waiting, experiment.settled
        self.counts, self.tallies, self.order = experiment.counts, experiment.tallies, experiment.order
        self.await_, self.recall = experiment.deadlines.add, experiment.recent.append

    def run(self, start: int, records: Iterable[Any]) -> list[Any]:
        mine, forget, taken = self.experiment.number, self.experiment.forget, list[Any]()
        steps: dict[type, Callable[[int, Any], Any]] = {Decided: self.decided, Rewarded: self.rewarded}
        for number, record in enumerate(records, start):
            step = steps.get(type(record))
            if step is None or record.of != mine or (done := step(number, record)) is None:
                break
            forget(record.at)
            taken.append(done)
        self.experiment.deadlines.tidy(self.waiting)
        return taken

    def decided(self, number: int, record: Decided) -> Decided | None:
        """As Experiment.decided; None, with nothing changed, if it is not such a one."""
        if record.set != self.set or record.arms is not None or record.baseline is not None:
            return None
        if record.fields is not None or record.exclude:
            return None
        round, chosen = self.policy.rounds, self.policy._choose(self.fixed)
        if record.index < 0:
            label = None if self.labels is None else self.labels[chosen]
            record = replace(record, index=chosen, chosen=chosen, round=round, action=label)
        elif record.index != chosen or record.chosen != chosen or record.round != round:
            self.experiment.differs(number, f"arm {chosen} is chosen in round {round}, where arm {record.chosen} was")
        id, at, index, action = record.id, record.at, record.index, record.action
        self.waiting[id] = entry = Entry(
            id, number, number, record.asked, at, round, index, record.chosen, action,
            False, False, record.chance, self.made, at + self.wait, record.deferred,
        )  # fmt: skip
        self.await_(entry)
        self.recall(id)
        name = action or str(index)
        (self.tallies.get(name) or self.experiment.tally(name)).played += 1
        self.counts.decisions += 1
        return record

    def rewarded(self, number: int, record: Rewarded) -> Rewarded | None:
        """As Experiment.rewarded; None, with nothing changed, if it is not such a one."""
        id, value, at, counts = record.id, record.value, record.at, self.counts
        entry = self.waiting.get(id)
        if entry is None or record.key is not None or entry.arm != self.made:
            return None
        index = entry.index
        self.policy._teach(entry.round, self.rows[index], value, index == entry.chosen)
        tally = self.tallies[entry.label or str(index)]
        tally.rewarded += 1
        tally.total += value
        tally.squares += value * value
        counts.rewards += 1
        counts.reward_total += value
        counts.delay_total += at - entry.at
        del self.waiting[id]
        self.settled[id] = replace(entry, last=number, deadline=at, arm=None, state=REWARDED, reward=value, pending=False)
        self.order.append(id)
        return record
