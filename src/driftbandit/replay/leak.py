"""Does the place of a row within its round give the outcome away? If so, a policy that takes the first row is an oracle.

It happens where a table keeps the order of events: flights as they departed, offers as they were taken.

Dimensions: N rows, R rounds, d features, K places within a round.
"""

import warnings
from statistics import NormalDist

import numpy as np

from driftbandit.core.types import Floats, Ints
from driftbandit.replay.table import Log

RARE = 1e-4  # the chance of a false alarm, whatever the number of places
SLIGHT = 0.05  # standard deviations of the rewards: a smaller gain is no leak, but nonlinearity that the features miss
MOST_ROWS = 200_000  # of a larger table only evenly spaced rounds are checked
MOST_PLACES = 50


class LeakWarning(UserWarning):
    """The order of rows within a round reveals more about the reward than the features do."""


def warn_of_leak(log: Log) -> None:
    places, gains, limits = gains_by_place(thinned(log))
    if (np.abs(gains) > limits).any():
        worst = int(np.argmax(np.abs(gains) / limits))
        row = "the last row" if places[worst] < 0 else f"row {places[worst] + 1}"
        warnings.warn(
            f"the order of rows within rounds gives rewards away: always taking {row} of a round gains {gains[worst]:+.3g} "
            f"over its mean beyond what the features explain; in a random order it would stay within ±{limits[worst]:.2g}. "
            "Shuffle the rows within rounds, for example with driftbandit.replay.table.shuffled(table, round, seed=0)",
            LeakWarning,
            stacklevel=3,
        )


def thinned(log: Log) -> Log:
    """Evenly spaced rounds, few enough to be checked quickly."""
    step = -(-len(log.rewards) // MOST_ROWS)
    if step == 1:
        return log
    sizes = np.diff(log.starts)
    taken = np.arange(len(sizes)) % step == 0
    rows = np.repeat(taken, sizes)
    return Log(log.rows[rows], log.rewards[rows], np.concatenate([[0], np.cumsum(sizes[taken])]), log.due[rows])


def gains_by_place(log: Log) -> tuple[Ints, Floats, Floats]:
    """For each place (−1: the last): the mean, over the rounds that have it, of the reward there minus the round's mean, beyond
    what the best fixed θ explains; and the limit within which it stays if the rows are in a random order.

    Over all orders of a round's rows its mean is exactly 0 and its variance exactly that of the round; the limit is normal, and
    for all places at once. If rows are sorted by a feature, only the order of rows that are equal in it is checked. Nothing is
    returned if a place identifies an action, as with the same arms in each round.
    """
    sizes = np.diff(log.starts)
    place = np.arange(len(log.rewards)) - np.repeat(log.starts[:-1], sizes)
    if is_action(log.rows, sizes):
        return np.empty(0, np.int64), np.empty(0), np.empty(0)
    starts = alike(log.rows, place)
    rest, count = residuals(log, starts), np.diff(starts, append=len(place))
    variance = np.repeat(np.add.reduceat(rest**2, starts) / count, count)
    several = min(int(sizes.max()), MOST_PLACES)
    places, number = np.append(np.arange(several), -1), np.minimum(place, several)
    total, spread, rounds = (
        np.append(np.bincount(number, values, several + 1)[:several], values[log.starts[1:] - 1].sum())
        for values in (rest, variance, np.ones(len(rest)))
    )
    limit = NormalDist().inv_cdf(1 - RARE / (2 * len(places)))
    least = SLIGHT * np.sqrt(np.mean(rest**2))
    return places, total / rounds, np.maximum(limit * np.sqrt(spread) / rounds, least)


def is_action(rows: Floats, sizes: Ints) -> bool:
    """Whether each place has features of its own, or always the same: then it is an action, which may well be better."""
    if (sizes != sizes[0]).any():
        return False
    shaped = rows.reshape(len(sizes), sizes[0], -1)
    used = (shaped != 0).any(axis=0)  # (K, d)
    return bool((used.sum(axis=0) <= 1).all() or (shaped == shaped[0]).all())


def alike(rows: Floats, place: Ints) -> Ints:
    """Where runs of rows begin that share a round and are equal in every feature by which all rounds are sorted."""
    steps, same = np.diff(rows, axis=0), place[1:] > 0
    rises, falls = ((sign * steps[same] >= 0).all(axis=0) for sign in (1, -1))
    new = ~same | (steps[:, rises | falls] != 0).any(axis=1)
    return np.append(0, 1 + np.flatnonzero(new))


def residuals(log: Log, starts: Ints) -> Floats:
    """What the features leave unexplained of the rewards, both centred within the runs that begin there."""
    known, rewards = (centred(part, starts) for part in (log.rows, log.rewards[:, None]))
    theta = np.linalg.lstsq(known.T @ known, known.T @ rewards, rcond=1e-10)[0]
    return np.asarray((rewards - known @ theta)[:, 0])


def centred(values: Floats, starts: Ints) -> Floats:
    count = np.diff(starts, append=len(values))
    return np.asarray(values - np.repeat(np.add.reduceat(values, starts, axis=0) / count[:, None], count, axis=0))
