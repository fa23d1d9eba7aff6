"""Our policies as contextual bandit policies of River."""

import copy
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftbandit.core.extras import needed_for
from driftbandit.policies._base.decision import Decision
from driftbandit.policies._base.policy import Policy

with needed_for(__name__):
    from river.bandit.base import ArmID, ContextualPolicy


class RiverPolicy(ContextualPolicy):
    """A policy with River's interface: ``pull(arm_ids, context)``, then ``update(arm_id, context, reward)``, now or later.

    River's arms have names, ours have features: ``features(arm_id, context)`` returns those of an arm, ``policy.dim`` numbers.
    A copy plays; the policy passed in stays unchanged, so that ``clone`` starts afresh. A reward belongs to the latest pull
    of its arm in its context that still waits for one. Like a policy, this must be used by one thread at a time.
    """

    def __init__(self, policy: Policy, features: Callable[[ArmID, Any], ArrayLike]) -> None:
        super().__init__()
        self.policy = policy
        self.features = features
        self._playing = copy.deepcopy(policy)
        self._waiting: deque[tuple[ArmID, Decision]] = deque(maxlen=policy.most_waiting)

    def _pull(self, arm_ids: Iterable[ArmID], context: Any) -> ArmID:  # type: ignore[override]  # as River's own does
        ids = list(arm_ids)
        decision = self._playing.select([self.features(arm_id, context) for arm_id in ids])  # type: ignore[arg-type]
        assert decision.index is not None
        self._waiting.append((ids[decision.index], decision))
        return ids[decision.index]

    def update(self, arm_id: ArmID, context: Any, reward: float) -> None:
        place = self._find(arm_id, context)
        self._playing.update(self._waiting[place][1], reward)
        del self._waiting[place]
        super().update(arm_id, context, reward)  # type: ignore[no-untyped-call]

    def _find(self, arm_id: ArmID, context: Any) -> int:
        """The place of the waiting decision that this reward belongs to, searched from the latest back."""
        arm = np.asarray(self.features(arm_id, context), np.float64)
        for place in range(len(self._waiting) - 1, -1, -1):
            pulled, decision = self._waiting[place]
            if pulled == arm_id and np.array_equal(decision.arm, arm):
                return place
        raise ValueError(f"arm_id must be one that was pulled in this context and still waits for a reward, got {arm_id!r}")
