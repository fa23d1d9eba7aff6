from collections.abc import Sequence
from typing import Any

from coba.primitives import Learner

class Experiment:
    def __init__(self, environments: Sequence[Any], learners: Sequence[Learner]) -> None: ...
    def run(self, quiet: bool) -> Any: ...
