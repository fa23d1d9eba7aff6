"""Many records in a row: folded as one by one, but with all that they share looked up once."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from driftbandit.live.fold.entries import REWARDED, Entry
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.fold.players import PolicyPlayer
from driftbandit.live.fold.records import Decided, Rewarded


def run(experiment: Experiment, number: int, records: Iterable[Any]) -> int:
    """Fold what most of a journal is, decisions on a lone set and first rewards that are learnt as they come; how many.

    It ends before a record that is anything else, or of another experiment: that is for the experiment's own steps.
    """
    runner = runner_of(experiment)
    return 0 if runner is None else runner.run(number, records)


def runner_of(experiment: Experiment) -> "Runner | None":
    player = experiment.player
    if not isinstance(player, PolicyPlayer) or len(player.sets) != 1 or not player.lone:
        return None
    if experiment.exploring.share or not experiment.at_once:
        return None
    return Runner(experiment, player)


class Runner:
    """An experiment that takes a run of records, from where it stands."""

    def __init__(self, experiment: Experiment, player: PolicyPlayer) -> None:
        self.experiment, self.policy = experiment, player.policy
        ((self.set, made),) = player.sets.items()
        self.made, self.labels = made.number, made.labels
        self.fixed, self.rows = player.fixed(made.number)
        self.wait, self.waiting, self.settled = experiment.settings.wait, experiment.waiting, experiment.settled
        self.counts, self.tallies, self.order = experiment.counts, experiment.tallies, experiment.order
        self.await_, self.recall = experiment.deadlines.add, experiment.recent.append

    def run(self, start: int, records: Iterable[Any]) -> int:
        experiment, mine, order, settled = self.experiment, self.experiment.number, self.order, self.settled
        most, remember, number = experiment.settings.most_remembered, experiment.settings.remember, start
        steps: dict[type, Callable[[int, Any], bool]] = {Decided: self.decided, Rewarded: self.rewarded}
        for record in records:
            step = steps.get(type(record))
            if step is None or record.of != mine or not step(number, record):
                break
            if order and (len(order) > most or settled[order[0]].deadline < record.at - remember):
                experiment.forget(record.at)
            number += 1
        experiment.deadlines.tidy(experiment.waiting)
        return number - start

    def decide(self, start: int, at: float, ids: Iterable[str], asked: bytes, deferred: bool) -> list[Decided]:
        """New decisions, all asked for alike and at once, as records."""
        experiment, policy, set, fixed, labels = self.experiment, self.policy, self.set, self.fixed, self.labels
        made = list[Decided]()
        for number, id in enumerate(ids, start):
            round, chosen = policy.rounds, policy._choose(fixed)
            action = None if labels is None else labels[chosen]
            record = Decided(at, experiment.number, id, asked, chosen, chosen, round, action, set=set, deferred=deferred)
            self._await(number, record, round)
            made.append(record)
        experiment.forget(at)
        return made

    def decided(self, number: int, record: Decided) -> bool:
        """As Experiment.decided; False, with nothing changed, if it is not such a one."""
        if record.set != self.set or record.arms is not None or record.baseline is not None or record.index < 0:
            return False
        if record.fields is not None or record.exclude:
            return False
        round, chosen = self.policy.rounds, self.policy._choose(self.fixed)
        if record.index != chosen or record.chosen != chosen or record.round != round:
            self.experiment.differs(number, f"arm {chosen} is chosen in round {round}, where arm {record.chosen} was")
        self._await(number, record, round)
        return True

    def _await(self, number: int, record: Decided, round: int) -> None:
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

    def rewarded(self, number: int, record: Rewarded) -> bool:
        """As Experiment.rewarded; False, with nothing changed, if it is not such a one."""
        id, value, at, counts = record.id, record.value, record.at, self.counts
        entry = self.waiting.get(id)
        if entry is None or record.key is not None or entry.arm != self.made:
            return False
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
        return True
