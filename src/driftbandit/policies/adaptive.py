"""AdaptiveUCB: forgetting guided by evidence. It is given no horizon, path length, noise level or memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from driftbandit.core import validate
from driftbandit.policies._evidence.policy import EvidencePolicy
from driftbandit.policies._evidence.state import DOUBT, Rule


@dataclass(repr=False, eq=False, kw_only=True)
class AdaptiveUCB(EvidencePolicy):
    """Forget as much as the rewards justify, told nothing but the number of features.

    A bank of estimators, with memories of 4, 16, 64, … rewards (in blocks 10, 40, 160, …) and one that is unlimited, learns
    from every reward. The longest memory that no shorter one contradicts is played, leaning towards the next shorter one where
    that predicts better; one that is refuted is rebuilt from what came since. An archive that never forgets is asked too, and
    decides where forgetting does not pay. Rewards may follow any law (clicks at 1 %, heavy tails, counts), be noisier for some
    arms than for others, and arrive late: they count in the order of arrival, except those decided before a restart, which are
    dropped, and those whose delay gives them away, which wait until those decided with them have arrived.

    >>> from driftbandit import AdaptiveUCB
    >>> policy = AdaptiveUCB(2)
    >>> for _ in range(200):
    ...     decision = policy.select([[1.0, 0.0], [0.0, 1.0]])
    ...     policy.update(decision, reward=decision.arm[1])
    >>> policy.select([[1.0, 0.0], [0.0, 1.0]]).index
    1

    Caveat: κ = 0.45 standard deviations, more for arms hardly known, is calibrated, not a confidence radius; there is no regret
    bound.

    Its own parameters:
        doubt: evidence, in nats, that keeps a memory from being played.
    """

    doubt: float = DOUBT

    memories: ClassVar[Sequence[int]] = [4, 16, 64, 256, 1024, 4096, 16384]
    block_memories: ClassVar[Sequence[int]] = [10, 40, 160, 640, 2560, 10240, 40960]
    pen = 6

    def _rule(self) -> Rule:
        self.doubt = validate.not_negative("doubt", self.doubt)
        return Rule(self._kappa, self.doubt, self.refuted, self.probe, self.noise_known, endless=False)
