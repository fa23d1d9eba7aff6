"""What is played of a bank in blocks: read in place, since copying every block would cost more than the round."""

from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.blocks import forecast_row, whole_metric, whole_theta
from driftbandit.core.compile import kernel
from driftbandit.core.ridge import METRIC, THETA
from driftbandit.core.rows import admit_rows, read_rows, score_by_row
from driftbandit.core.types import Floats, Ints
from driftbandit.core.verbs import admit, clear, forecast_arm, metric_of, score_arms, table_of, theta_of
from driftbandit.policies._evidence.block_bank import estimator
from driftbandit.policies._evidence.verbs import lean_to, play


class Played(NamedTuple):
    """What is played: θ̂ of one estimator, leaning to the one before, and METRIC of the same or another, all in the bank."""

    bank: Any
    which: Ints  # (2,): the estimator of θ̂, and that of METRIC
    share: Floats  # (1,): how far θ̂ leans


def played_of(bank: Any) -> Played:
    return Played(bank, np.zeros(2, np.int64), np.zeros(1))


@kernel
def forecast_played(played: Played, row: Floats) -> tuple[float, float]:
    bank, main, other, share = played.bank, played.which[0], played.which[1], played.share[0]
    mean, square = forecast_row(estimator(bank, main), row)
    if share > 0.0:
        shorter, _ = forecast_row(estimator(bank, main - 1), row)
        mean += share * (shorter - mean)
    if other != main:
        _, square = forecast_row(estimator(bank, other), row)
    return mean, square / bank.left[other]


@kernel
def forget_played(bank: Any) -> None:
    """Until a reward has been learnt, nothing is known and all arms tie."""
    bank.matrix[:] = 0.0
    bank.vector[:] = 0.0
    bank.mixing[:] = 0.0
    bank.shared_matrix[:] = 0.0
    bank.shared_vector[:] = 0.0
    bank.left[:] = 1.0
    bank.summed[:] = 0


table_of.of(Played)(read_rows)
score_arms.of(Played)(score_by_row)


@play.of(Played)
def _play(ridge: Played, bank: Any, main: int, share: float, played: int) -> None:
    ridge.which[0], ridge.which[1] = main, played
    ridge.share[0] = share


@clear.of(Played)
def _clear(ridge: Played) -> None:
    forget_played(ridge.bank)


@admit.of(Played)
def _admit(ridge: Played, rows: Floats, columns: Floats, limit: float) -> int:
    return admit_rows(rows, ridge.bank.matrix.shape[1], limit)


@forecast_arm.of(Played)
def _forecast_arm(ridge: Played, table: Floats, i: int) -> tuple[float, float]:
    return forecast_played(ridge, table[i])


@theta_of.of(Played)
def _theta_of(ridge: Played) -> Floats:
    bank, main, share = ridge.bank, ridge.which[0], ridge.share[0]
    theta = whole_theta(bank.vector[main, :, THETA], bank.mixing[main], bank.shared_vector[main, THETA])
    if share > 0.0:
        lean_to(bank, main - 1, share, theta)
    return theta


@metric_of.of(Played)
def _metric_of(ridge: Played) -> Floats:
    bank, other = ridge.bank, ridge.which[1]
    metric: Floats = whole_metric(bank.matrix[other, :, METRIC], bank.mixing[other], bank.shared_matrix[other, METRIC])
    metric /= bank.left[other]
    return metric
