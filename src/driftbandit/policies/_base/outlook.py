"""How a policy will see the next round, ahead of time: one copy of its state answers any number of questions."""

from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.choice import width
from driftbandit.core.linalg import with_constants
from driftbandit.core.types import Floats
from driftbandit.core.verbs import metric_of, score_arms, table_of, theta_of
from driftbandit.policies._base.decision import Estimate


class Outlook(NamedTuple):
    state: Any  # as it will be when the round begins
    dim: int
    constants: int  # features of 1 that the policy adds to every arm
    radius: float  # β
    novelty: float

    @property
    def theta(self) -> Floats:
        theta: Floats = theta_of(self.state.ridge)[: self.dim]
        return theta

    def estimate(self) -> Estimate:
        return Estimate(self.theta, metric_of(self.state.ridge)[: self.dim, : self.dim], self.radius, self.novelty)

    def appraise(self, rows: Floats) -> tuple[Floats, Floats]:
        """Each arm's estimate, and the width added to it."""
        ridge, score = self.state.ridge, np.empty((3, len(rows)))
        table = with_constants(rows.T, self.constants)
        score_arms(ridge, table_of(ridge, rows, table), score)
        return score[0], np.array([width(self.radius, self.novelty, square) for square in score[1]])
