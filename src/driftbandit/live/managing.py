"""Experiments, arm sets, actions and tokens: made, changed and ended."""

import copy
from collections.abc import Sequence

from numpy.typing import ArrayLike

from driftbandit.contexts.chooser import Chooser
from driftbandit.live.answering import Answering
from driftbandit.live.errors import Conflict, Full, Invalid, NotFound
from driftbandit.live.fold import records as r
from driftbandit.live.fold.asking import LONGEST_ID, plain_set, refused, text
from driftbandit.live.fold.experiment import Experiment
from driftbandit.live.fold.make import described, packed
from driftbandit.live.fold.players import PolicyPlayer
from driftbandit.live.settings import Settings
from driftbandit.policies._base.policy import Policy

MOST_EXPERIMENTS, MOST_TOKENS = 100, 1000


class Managing(Answering):
    """Each returns the ticket of its record, or, where nothing was to be written, one that is no earlier."""

    def create(self, name: str, policy: Policy | Chooser, settings: Settings | None = None) -> int:
        """A new experiment; the ticket. The policy is taken as it is, with what it has learnt; the caller keeps its own.

        The same again (kind, parameters, settings) is harmless; another under a taken name is a Conflict.
        """
        name, settings = text("name", name, LONGEST_ID), Settings() if settings is None else settings
        origin, known = described(policy), self.state.names.get(name)
        if known is not None:
            if known.origin != origin or known.settings != settings:
                as_it_is = f"as {known.origin} with {known.settings}"
                raise Conflict(f"experiment {name!r} exists, {as_it_is}: delete it, or take another name")
            return self._last
        if len(self.state.names) >= MOST_EXPERIMENTS:
            raise Full(f"there are {MOST_EXPERIMENTS} experiments, as many as there may be: delete one")
        self._write(r.Created(self.now(), self.state.made, name, packed(policy), settings))
        return self._last

    def delete(self, name: str) -> int:
        """Its records stay in the journal; its name is free."""
        self._write(r.Deleted(self.now(), self._experiment(name).number))
        return self._last

    def put_set(self, name: str, set: str, arms: ArrayLike, labels: Sequence[str] | None = None) -> int:
        """Name an arm set, or replace one from now on; ``labels`` name its arms. The same again is harmless."""
        experiment = self._experiment(name)
        made = plain_set(experiment, set, arms, labels)
        if made is None:
            return number_of(experiment, set)
        self._write(r.SetPut(self.now(), experiment.number, *made))
        return self._last

    def add_action(self, name: str, action: str, features: Sequence[float] | None = None) -> int:
        """Of a Chooser: offer a new action, or one again that was removed. The same again is harmless."""
        chooser = self._chooser(name)
        given = None if features is None else tuple(map(float, features))
        if action in chooser.actions.active and given == features_of(chooser, action):
            return self._last
        with refused("action"):
            copy.deepcopy(chooser.actions).add(text("action", action), given)
        self._write(r.ActionAdded(self.now(), self._experiment(name).number, action, given))
        return self._last

    def remove_action(self, name: str, action: str) -> int:
        chooser = self._chooser(name)
        with refused("action"):
            copy.deepcopy(chooser.actions).remove(text("action", action))
        self._write(r.ActionRemoved(self.now(), self._experiment(name).number, action))
        return self._last

    def _chooser(self, name: str) -> Chooser:
        learner = self.learner(name)
        if not isinstance(learner, Chooser):
            raise Invalid(f"{name!r} has no actions: a policy decides there, over arms", "action")
        return learner

    def make_token(self, token: r.Token) -> int:
        """Know a token by its digest: the caller draws its bits, and alone sees them."""
        if len(token.digest) != 32:
            raise Invalid(f"digest must be a SHA-256, 32 bytes, got {len(token.digest)}", "digest")
        if len(self.state.tokens) >= MOST_TOKENS:
            raise Full(f"there are {MOST_TOKENS} tokens, as many as there may be: revoke one")
        self._write(r.TokenMade(self.now(), token))
        return self._last

    def revoke_token(self, digest: bytes) -> int:
        if digest not in self.state.tokens:
            raise NotFound("unknown token: it was never made, or is revoked already")
        self._write(r.TokenRevoked(self.now(), digest))
        return self._last

    @property
    def tokens(self) -> dict[bytes, r.Token]:
        """By digest."""
        return self.state.tokens


def number_of(experiment: Experiment, set: str) -> int:
    """Of the record that put it."""
    assert isinstance(experiment.player, PolicyPlayer)
    return experiment.player.sets[set].number


def features_of(chooser: Chooser, action: str) -> tuple[float, ...] | None:
    """Its own, where actions have some."""
    own = chooser.actions.features.get(action)
    return None if own is None else tuple(own.tolist())
