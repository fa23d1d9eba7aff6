"""λI in the V of an estimator: restored where forgetting takes it, and raised when λ as learnt has risen.

With clicks, thousands of rewards tell more of the size of θ, and so of λ, than the few that an estimator began with. One that
kept the λ of its beginning would believe too much of what it sees for ever.
"""

import math

from driftbandit.core.compile import kernel
from driftbandit.core.types import Floats

LAPSE = 8.0  # along an axis λI falls to e⁻⁸ at worst before it is restored: if less were left, digits would cancel
RISEN = 1.25  # λ as learnt over the λ in V: from there on V follows


@kernel
def upkeep(built: Floats, place: int, penalty: float, most: float, keep: float, features: int) -> tuple[int, float]:
    """Along how many axes to add to V, and how much, once so much of V is left; keeps account of the λ that is in V.

    What forgetting takes of λI is restored along axes in turn; what λ has risen by is added along all, up to ``most``.
    """
    before, lost, risen = built[place], 1.0 - keep, min(penalty, most)
    if risen > RISEN * before:
        built[place] = risen
        return features, risen - keep * before
    if lost == 0.0:
        return 0, 0.0
    built[place] = keep * before + lost * penalty
    axes = math.ceil(features * lost / LAPSE)
    return axes, features * lost * penalty / axes


@kernel
def known_along_an_axis(rewards: int, memory: float, length2: float, features: int) -> float:
    """What so many rewards add to V on average. A greater λ would hide θ̂, and λ is learnt from the size of θ̂."""
    return min(float(rewards), memory) * length2 / features
