"""Several experiments on one journal. One owner, no locks: each command is checked whole, applied, written, answered."""

from collections.abc import Callable, Sequence
from typing import Self

from numpy.typing import ArrayLike

from driftbandit.contexts.chooser import Chooser
from driftbandit.live.answers import Answer, Ask, Explanation, Found, Preview, Receipt, Status
from driftbandit.live.committer import Commits
from driftbandit.live.journal import Journal
from driftbandit.live.records import Token
from driftbandit.live.settings import Settings
from driftbandit.policies._base.policy import Policy


class Service:
    """Commands return at once with a ticket; what they did is durable when ``journal`` has committed that record.

    Threads must not share it: one owner (an event loop, or who holds a lock) calls everything here. ``commits``
    (committer.py) is where records gather: ``service.commits.through(ticket)`` makes one durable, from any thread, and a
    ``Committer(service.commits, durable, failed)`` does so in a thread of its own: ``wake()`` it after commands.

    A command that raises Invalid, NotFound, Conflict or Full changed nothing. After Broken, only opening again helps.
    """

    commits: Commits
    broken: bool  # a commit failed, or a step broke off: all commands raise Broken

    @classmethod
    def open(cls, journal: Journal, *, clock: Callable[[], float] | None = None, adopt: bool = False) -> Self:
        """Recover: the latest good snapshot, then the records after it, checked against the witnesses.

        adopt: take the state as it is found here, whatever a witness says (and write a snapshot of it).
        """
        raise NotImplementedError

    # --- experiments ---------------------------------------------------------------------------------------------

    def create(self, name: str, policy: Policy | Chooser, settings: Settings | None = None) -> int:
        """A new experiment; the ticket. The policy is taken over, with what it has learnt, and is not the caller's any more.

        The same again (kind, parameters, settings) is harmless; another under a taken name is a Conflict.
        """
        raise NotImplementedError

    def delete(self, name: str) -> int:
        """Its records stay in the journal; its name is free."""
        raise NotImplementedError

    def put_set(self, name: str, set: str, arms: ArrayLike, labels: Sequence[str] | None = None) -> int:
        """Name an arm set, or replace one from now on; ``labels`` name its arms."""
        raise NotImplementedError

    def add_action(self, name: str, action: str, features: Sequence[float] | None = None) -> int:
        """Of a Chooser: offer a new action, or one again that was removed."""
        raise NotImplementedError

    def remove_action(self, name: str, action: str) -> int:
        raise NotImplementedError

    # --- decisions -----------------------------------------------------------------------------------------------

    def decide(self, name: str, id: str, ask: Ask) -> Answer:
        """Decide, or give the answer that this id had before."""
        raise NotImplementedError

    def reward(self, name: str, id: str, value: float, key: str | None = None) -> Receipt:
        """The reward of a decision. Where rewards are summed, each has a ``key`` by which it is known again."""
        raise NotImplementedError

    def shown(self, name: str, id: str) -> Receipt:
        """Word that a deferred decision was shown: its wait begins now."""
        raise NotImplementedError

    def tick(self) -> int:
        """End the waits that are over, and begin a snapshot where one is due: to be called a few times per second.

        How many records that made.
        """
        raise NotImplementedError

    # --- questions, which change nothing -------------------------------------------------------------------------

    def find(self, name: str, id: str) -> Found:
        raise NotImplementedError

    def preview(self, name: str, ask: Ask) -> Preview:
        raise NotImplementedError

    def explain(self, name: str, id: str) -> Explanation:
        raise NotImplementedError

    def status(self, name: str) -> Status:
        raise NotImplementedError

    def recent(self, name: str) -> list[Found]:
        """The last decisions, at most 50, the newest first."""
        raise NotImplementedError

    def learner(self, name: str) -> Policy | Chooser:
        """What decides, to read only: ``history()``, ``status()``, ``estimate()``."""
        raise NotImplementedError

    @property
    def names(self) -> list[str]:
        raise NotImplementedError

    # --- tokens --------------------------------------------------------------------------------------------------

    def make_token(self, token: Token) -> int:
        """Know a token by its digest: the caller draws its bits, and alone sees them."""
        raise NotImplementedError

    def revoke_token(self, digest: bytes) -> int:
        raise NotImplementedError

    @property
    def tokens(self) -> dict[bytes, Token]:
        """By digest."""
        raise NotImplementedError

    # --- durability ----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Commit the rest, write a snapshot, let the journal go. After Broken it only lets the journal go."""
        raise NotImplementedError
