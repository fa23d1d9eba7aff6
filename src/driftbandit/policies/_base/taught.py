"""For callers that keep track of decisions themselves: chances, learning by round and arm, and a policy as bytes."""

import hashlib
import io
import json
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from driftbandit.core import validate
from driftbandit.core.arms import FixedArms
from driftbandit.core.types import Floats
from driftbandit.policies._base import saved as store
from driftbandit.policies._base.chances import chances
from driftbandit.policies._base.decision import Decision
from driftbandit.policies._base.entry import SLACK
from driftbandit.policies._base.leaves import leaves
from driftbandit.policies._base.scratch import LUCK_ROUNDS, Scratch, is_plain
from driftbandit.policies._base.verbs import disown


class Taught(Scratch):
    """What a policy can do without its own table of waiting decisions."""

    def release(self, decision: Decision) -> None:
        """Stop waiting for this decision's reward: it will come through ``learn``, or never."""
        self._waiting.pop(decision.round, None)

    def _choose(self, arms: FixedArms) -> int:
        """Like ``select`` and ``release`` at once, for a set known to be valid: the number of its chosen arm."""
        t = self.rounds
        place = t - self._luck_from
        if place >= LUCK_ROUNDS:
            place = self._draw_luck()
        if arms is not self._met:
            self._meet(arms)
        desk = self._desk
        index = self._decide_kept(desk.handle, t, place)
        self.rounds = t + 1
        self._waiting.pop(t - self.most_waiting, None)
        return index

    def chances(self, arms: ArrayLike | FixedArms, draws: int = 1000) -> Floats:
        """The probability of each arm to be chosen by the next ``select``, over the policy's luck; changes nothing.

        Where only ties are left to chance (RestartUCB, WindowUCB, WeightUCB and their like) it is exact: 1 for the best arm,
        or even shares for those that tie. Else (AdaptiveUCB, DetectUCB, DiscountedTS, Master, BanditOverBandit, and policies
        of your own) it is a share of ``draws`` choices with luck of their own: the same each time it is asked, off by about
        √(p(1 − p)/draws), and 0 for an arm that none of them chose.
        """
        return chances(copy(self), arms, draws)

    def learn(self, round: int, arm: ArrayLike, reward: float, *, own: bool = True) -> None:
        """Learn the reward of an arm that was played in a round which this policy decided.

        own: whether the arm was its own choice. From another's it learns the same, but does not judge its own choice by it.
        Nothing prevents a reward from being learnt twice: that is up to the caller.
        """
        if not (isinstance(reward, float) and -validate.LARGEST <= reward <= validate.LARGEST):
            reward = validate.reward(reward)
        round, x = validate.whole("round", round, least=0), self._as_arm(arm)
        if round >= self.rounds:
            raise ValueError(f"round must be one that was decided, so below {self.rounds}, got {round}")
        with self._alone():
            self._teach(round, x, reward, own)

    def _teach(self, round: int, arm: Floats, reward: float, own: bool) -> None:
        """Like ``learn``, for arguments known to be valid."""
        self._waiting.pop(round, None)
        if not own:
            disown(self.state, round)
        take, desk = self._take or self._bind_take(), self._desk
        take(desk.handle, round, arm, reward)

    def _as_arm(self, arm: ArrayLike) -> Floats:
        x = arm if isinstance(arm, np.ndarray) and is_plain(arm) else validate.array("arm", arm, 1)
        if x.shape != (self._entries,):
            raise ValueError(f"arm must have {self._entries} entries, got shape {x.shape}")
        x, whole = x[int(self.blocks > 1) :], x  # an arm in a block begins with its number
        if self.blocks > 1 and not (0 <= whole[0] < self.blocks and whole[0] == int(whole[0])):
            raise self._no_block(whole[:1])
        longest = self.arm_norm * SLACK
        if not float(x @ x) <= longest * longest:
            rows = validate.array("arm", x, 1).reshape(1, -1)
            raise validate.too_long(self.arm_norm, validate.longest_row("arm", rows))
        return whole

    def to_bytes(self) -> bytes:
        """What ``save`` would write to a file."""
        return self._packed(None)

    def _packed(self, about: dict[str, Any] | None) -> bytes:
        buffer = io.BytesIO()
        with self._alone():
            store.write_to(buffer, *self._parts(about))
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The policy that ``to_bytes`` wrote, which continues exactly as the original would; checked like a file."""
        return cls._read(io.BytesIO(data), "this policy as bytes")

    def digest(self) -> bytes:
        """16 bytes that differ if any bit of the parameters, the round or the state does; waiting decisions are left out."""
        digest = hashlib.blake2b(digest_size=16)
        with self._alone():
            digest.update(json.dumps([type(self).__name__, self._given, self.rounds], sort_keys=True).encode())
            for name, array in leaves(self.state).items():
                digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
                digest.update(np.ascontiguousarray(array).data if array.size else b"")
        return digest.digest()
