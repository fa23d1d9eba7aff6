"""Arms as rows, for estimates in blocks: a row is the number of the block, the shared features, then those of the block."""

from typing import Any

from driftbandit.core.compile import kernel
from driftbandit.core.linalg import add_rows
from driftbandit.core.types import Floats
from driftbandit.core.verbs import forecast_arm

SPARSE = 3  # skipping zeros pays if fewer than one feature in so many is nonzero


@kernel
def appraise_row(theta: Floats, metric: Floats, x: Floats, gain: Floats) -> tuple[float, float]:
    """⟨x, θ̂⟩ and xᵀ·metric·x; leaves metric·x in ``gain``. Skips the zeros of a sparse x."""
    w, count = len(x), 0
    mean = square = 0.0
    for j in range(w):
        gain[j] = 0.0
        count += x[j] != 0.0
    if SPARSE * count < w:
        for j in range(w):
            if x[j] != 0.0:
                row, a = metric[j], x[j]
                for k in range(w):
                    gain[k] += a * row[k]
    else:
        add_rows(gain, x, metric, w)
    for j in range(w):
        mean += x[j] * theta[j]
        square += x[j] * gain[j]
    return mean, square


@kernel
def score_rows(ridge: Any, rows: Floats, score: Floats) -> None:
    """Score rows, with any estimate that can forecast one."""
    for i in range(len(rows)):
        score[0, i], score[1, i] = forecast_arm(ridge, rows, i)


@kernel
def admit_rows(rows: Floats, blocks: int, limit: float) -> int:
    """See ``admit``."""
    for i in range(len(rows)):
        number, square = rows[i, 0], 0.0
        if not (0.0 <= number < blocks and number == int(number)):
            return -2
        for j in range(1, rows.shape[1]):
            entry = float(rows[i, j])  # without the compiler, NumPy's own float would warn on overflow
            square += entry * entry
        if not square <= limit:
            return -1
    return 0


def read_rows(ridge: Any, rows: Floats, columns: Floats) -> Floats:
    """See ``table_of``."""
    return rows


def score_by_row(ridge: Any, table: Floats, score: Floats) -> None:
    """See ``score_arms``."""
    score_rows(ridge, table, score)
