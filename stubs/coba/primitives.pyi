from collections.abc import Sequence
from typing import Any

class Learner: ...

class SimulatedInteraction:
    def __init__(self, context: Any, actions: Sequence[Any], rewards: Sequence[float]) -> None: ...
