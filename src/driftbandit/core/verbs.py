"""What an estimate can do, whole (ridge.py) or in blocks (blocks.py): a policy's file reads the same for both."""

from typing import Any

from driftbandit.core.compile import Verb
from driftbandit.core.types import Floats


@Verb
def clear(ridge: Any) -> None:
    """Forget everything: V = λI."""


@Verb
def with_penalty(ridge: Any, penalty: float) -> Any:
    """The same arrays with another λ, which takes effect when they are cleared."""
    raise NotImplementedError


@Verb
def absorb(ridge: Any, x: Floats, r: float) -> None:
    """Learn the reward r of arm x."""


@Verb
def observed(ridge: Any) -> int:
    """How many observations are in the estimate."""
    raise NotImplementedError


@Verb
def trace_of_v(ridge: Any) -> float:
    raise NotImplementedError


@Verb
def admit(ridge: Any, rows: Floats, columns: Floats, limit: float) -> int:
    """Prepare fresh arms: 0, or −1 if the squared length of one is above the limit or NaN, −2 if one is in no block."""
    raise NotImplementedError


@Verb
def table_of(ridge: Any, rows: Floats, columns: Floats) -> Floats:
    """Fresh arms as this estimate reads them: as rows, or as columns."""
    raise NotImplementedError


@Verb
def score_arms(ridge: Any, table: Floats, score: Floats) -> None:
    """Score every arm of a table: row 0 ⟨x, θ̂⟩, row 1 its squared width."""


@Verb
def forecast_arm(ridge: Any, table: Floats, i: int) -> tuple[float, float]:
    """⟨x, θ̂⟩ and the squared width of one arm of a table."""
    raise NotImplementedError


@Verb
def theta_of(ridge: Any) -> Floats:
    """θ̂ of all features."""
    raise NotImplementedError


@Verb
def metric_of(ridge: Any) -> Floats:
    """METRIC of all features: (d, d)."""
    raise NotImplementedError
