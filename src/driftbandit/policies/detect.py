"""DetectUCB: restarts triggered by evidence, the paper's open question (its Section 6), in constant memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from driftbandit.policies._evidence.policy import EvidencePolicy
from driftbandit.policies._evidence.state import DOUBT, Rule


@dataclass(repr=False, eq=False, kw_only=True)
class DetectUCB(EvidencePolicy):
    """Never forget until a shorter memory proves the longest wrong; then begin again with what came since.

    Epochs last as long as the world permits. Three challengers, with memories of 4, 32 and 256 rewards, watch the estimator
    that is played, which leans towards the last of them where that predicts better, and is rebuilt once one of them refutes
    it. Seven tenths of AdaptiveUCB's cost; best where changes are abrupt. Widths, probes, rewards of any law, late rewards and
    the archive are as in AdaptiveUCB.

    Caveat: no regret bound; a change that does not show at the arms it plays is found late.
    """

    memories: ClassVar[Sequence[int]] = [4, 32, 256]
    block_memories: ClassVar[Sequence[int]] = memories
    pen = 7

    def _rule(self) -> Rule:
        return Rule(self._kappa, DOUBT, self.refuted, self.probe, self.noise_known, endless=True)
