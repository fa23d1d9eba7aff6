"""What an experiment says of itself: status, previews, explanations. Nothing here changes it."""

from msgspec.structs import replace

from driftbandit.live.answers import Ask, Explanation, Opinion, Preview, Reason, Status
from driftbandit.live.fold.asking import plain, refused, written
from driftbandit.live.fold.entries import Entry
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.fold.players import PolicyPlayer
from driftbandit.live.fold.records import Decided
from driftbandit.policies._base.outlook import Outlook


def previewed(experiment: Experiment, ask: Ask) -> Preview:
    """Tried on a copy."""
    record = written(experiment, 0.0, "preview", plain(ask, experiment.player.entries), b"")
    with refused("arms" if record.fields is None else "fields"):
        twin = experiment.player.twin()
        played = twin.play(record)
        index, _ = experiment.exploring.draw(played.round, played.chosen, len(played.offered))
        index = index if record.baseline is None else record.baseline
        opinions = experiment.player.opinions(record, experiment.player.policy.outlook())
    return Preview(round=played.round, index=index, action=opinions[index].action, opinions=opinions)


def explained(experiment: Experiment, entry: Entry, record: Decided, outlook: Outlook) -> Explanation:
    """As the policy sees it now; actions that were removed since are left out."""
    opinions = opinions_now(experiment, entry, record, outlook)
    best = max(opinions, key=lambda opinion: opinion.score, default=None)
    hung_on: Reason
    if entry.baseline:
        hung_on = "baseline"
    elif entry.explored:
        hung_on = "explored"
    elif best is not None and (best.action or best.index) == (entry.label or entry.index):
        hung_on = "score"
    else:
        hung_on = "chance"
    return Explanation(decision=entry.found(), opinions=opinions, hung_on=hung_on)


def opinions_now(experiment: Experiment, entry: Entry, record: Decided, outlook: Outlook) -> list[Opinion]:
    """Of what was on offer, where that can still be known: not if its set was replaced since."""
    player = experiment.player
    if isinstance(player, PolicyPlayer):
        replaced = record.set is not None and player.sets[record.set].number > entry.first
        return [] if replaced else player.opinions(record, outlook)
    offered = set(player.offered())
    still = tuple(name for name in record.exclude if name in offered)
    return player.opinions(replace(record, exclude=still), outlook)


def status(experiment: Experiment, records: int) -> Status:
    player, policy = experiment.player, experiment.player.policy
    own = policy.status() if hasattr(policy, "status") else None
    return Status(
        name=experiment.name,
        policy=repr(policy),
        kind=player.kind,
        dim=policy.dim,
        settings=experiment.settings,
        created=experiment.created,
        round=policy.rounds,
        waiting=len(experiment.waiting),
        remembered=len(experiment.settled),
        counts=experiment.counts,
        actions=experiment.tallies,
        offered=player.offered(),
        columns=player.columns(),
        theta=policy.theta().tolist(),
        memory=None if own is None else float(own.memory),
        restarts=[] if own is None else [int(t) for t in own.restarts],
        warning=policy.trouble() if hasattr(policy, "trouble") else None,
        records=records,
        digest=policy.digest().hex(),
    )
