"""Questions to a service: they change nothing."""

from driftbandit.contexts.chooser import Chooser
from driftbandit.live.answers import Ask, Explanation, Found, Preview, Status
from driftbandit.live.disk.dropped import dropped
from driftbandit.live.disk.state import tail
from driftbandit.live.errors import NotFound
from driftbandit.live.fold.choosing import ChooserPlayer
from driftbandit.live.fold.entries import Entry
from driftbandit.live.fold.records import Decided
from driftbandit.live.fold.telling import explained, previewed, status
from driftbandit.live.writing import Writing
from driftbandit.policies._base.policy import Policy


class Answering(Writing):
    """What can be asked without being written."""

    def find(self, name: str, id: str) -> Found:
        return self._entry(name, id)[1].found()

    def preview(self, name: str, ask: Ask) -> Preview:
        """What would be decided, and what is thought of each arm; nothing is kept."""
        return previewed(self._experiment(name), ask)

    def explain(self, name: str, id: str) -> Explanation:
        """What the policy thinks now of what was on offer then.

        Of named actions: of those on offer now that were not excluded then.
        """
        entry = self.entry(name, id)
        self.commits.through(entry.last)
        return self.explained(name, entry, self.record_of(entry))

    def entry(self, name: str, id: str) -> Entry:
        return self._entry(name, id)[1]

    def record_of(self, entry: Entry) -> Decided:
        """What was written when this was decided, once that is durable. Any thread may read it."""
        with dropped(self.journal, entry.first):
            record: Decided = next(tail(self.journal, entry.first))[1]
        return record

    def explained(self, name: str, entry: Entry, record: Decided) -> Explanation:
        experiment = self._experiment(name)
        if experiment.number != record.of:
            raise NotFound(f"experiment {name!r} is another one now, and {entry.id!r} was decided in the one before")
        return explained(experiment, entry, record, experiment.player.policy.outlook())

    def status(self, name: str) -> Status:
        return status(self._experiment(name), self.commits.durable)

    def recent(self, name: str) -> list[Found]:
        """The last decisions, at most 50, the newest first."""
        experiment = self._experiment(name)
        found = map(experiment.find, reversed(experiment.recent))
        return [entry.found() for entry in found if entry is not None]

    def learner(self, name: str) -> Policy | Chooser:
        """What decides, to read only: ``history()``, ``status()``, ``estimate()``."""
        player = self._experiment(name).player
        return player.chooser if isinstance(player, ChooserPlayer) else player.policy

    @property
    def names(self) -> list[str]:
        return list(self.state.names)
