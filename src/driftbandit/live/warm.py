"""Kernels are compiled, or loaded from disk, before the first request that needs them."""

import numpy as np

from driftbandit.contexts.chooser import Chooser
from driftbandit.core.arms import FixedArms
from driftbandit.policies._base.policy import Policy


def warm(learner: Policy | Chooser) -> None:
    """Go once through all that will be asked of it. Pass one that nobody needs: it learns from this."""
    policy = learner.policy if isinstance(learner, Chooser) else learner
    arms = np.zeros((2, policy.dim))
    arms[0, 0] = min(policy.arm_norm, 1.0)
    for offered in (arms, FixedArms(arms)) if not policy.fixed_only else (FixedArms(arms),):
        policy.update(policy.select(offered), 0.0)
    policy.estimate()
    if hasattr(policy, "status"):
        policy.status()
