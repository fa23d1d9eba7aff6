"""Our policies as coba learners, to run in a coba ``Experiment``."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from driftbandit.core.extras import needed_for
from driftbandit.policies._base.decision import Decision
from driftbandit.policies._base.policy import Policy

with needed_for(__name__):
    from coba.encodings import InteractionsEncoder
    from coba.primitives import Learner


class CobaLearner(Learner):
    """A policy as a coba learner. A copy plays; the policy passed in stays unchanged.

    ``features`` says in coba's notation what an arm consists of: "a" is the action, "x" the context, "ax" their products, and
    a number a constant. All must be dense, with ``policy.dim`` numbers in total. A policy learns only from its own choices, so
    the evaluator must learn on-policy; it does not know the probability of its choice, so there is no ``score``. Like a
    policy, a learner must be used by one thread at a time.
    """

    def __init__(self, policy: Policy, features: Sequence[str | float] = ("a",)) -> None:
        self.policy = copy.deepcopy(policy)
        self.features = tuple(features)
        self._encoder = InteractionsEncoder(self.features)

    @property
    def params(self) -> dict[str, Any]:
        own = {field.name: getattr(self.policy, field.name) for field in fields(self.policy)}
        return {"family": type(self.policy).__name__, **own, "features": self.features}

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Decision]]:
        decision = self.policy.select([self._arm(context, action) for action in actions])
        assert decision.index is not None
        return {"action": actions[decision.index]}, {"decision": decision}

    def learn(
        self, context: Any, action: Any, reward: float, probability: float | None, decision: Decision | None = None
    ) -> None:
        if decision is None:
            raise ValueError("learn got no decision: a policy learns from its own choices only, so pass what predict returned")
        self.policy.update(decision, reward)

    def _arm(self, context: Any, action: Any) -> Sequence[float]:
        arm = self._encoder.encode(x=[] if context is None else context, a=action)
        if isinstance(arm, Mapping):
            raise ValueError(
                f"actions and contexts must be dense (numbers, or sequences of them), got {action!r} and {context!r}"
            )
        return arm
