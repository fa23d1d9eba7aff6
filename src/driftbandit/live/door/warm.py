"""Kernels are compiled, or loaded from disk, before the first request that needs them."""

from typing import Any

import numpy as np

from driftbandit.contexts.chooser import Chooser
from driftbandit.core.arms import FixedArms
from driftbandit.policies._base.policy import Policy


def warm(learner: Policy | Chooser) -> None:
    """Go once through all that will be asked of it. Pass one that nobody needs: it learns from this."""
    policy = learner.policy if isinstance(learner, Chooser) else learner
    arms = np.zeros((2, policy._entries))
    arms[0, -1] = min(policy.arm_norm, 1.0)
    sets: list[Any] = [] if policy.blocks > 1 else [FixedArms(arms)]
    for offered in sets if policy.fixed_only else (arms, *sets):
        policy.update(policy.select(offered), 0.0)
    policy.estimate()
    if hasattr(policy, "status"):
        policy.status()
