"""The archive: an estimator that never forgets, next to a policy that does, and how far to trust forgetting.

Evidence tells which memory predicts rewards best, not which chooses best: on a day that is bad for all arms, the shortest
memory predicts well and ranks badly. So where the policy and the archive disagree, chance decides which is followed, and the
reward tells how much of what the policy expects of its own choice comes true. The archive learns how rewards differ from the
latest ones by how the arms differ, so that what all arms share cancels out.

Dimensions: d features; of an intercept it knows nothing, since differences have none.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from driftbandit.core.blocks import Blocks, learn_row
from driftbandit.core.compile import kernel
from driftbandit.core.counter import key_of, uniform
from driftbandit.core.ridge import THETA, Ridge
from driftbandit.core.types import Floats, Ints
from driftbandit.core.verbs import clear, with_penalty
from driftbandit.policies._evidence.bank import LEARNT, PENALTY, Bank, predict_and_learn
from driftbandit.policies._evidence.verbs import remember, shared

TRUST, INFORMATION, PROBING, SPREAD2, BANK_SPREAD2, COMPARED, AVERAGED = range(7)  # rows of the scale
DOUBTFUL = 4.0  # the least information: trust is known give or take ½, as before any comparison
LASTING = 6000.0  # comparisons over which the spread of rewards is averaged
RECENT = 16.0  # rewards over which the part that all arms share is averaged
OUTLYING = 3.0  # a reward counts for at most so many standard deviations
OUTSTANDING = 2048  # rounds after which a comparison is given up
CLAIM, OTHER, BASE, BANK_BASE = range(4)  # columns of what is outstanding


class Archive(NamedTuple):
    ridge: Any  # a Ridge, or Blocks; of differences
    x: Floats  # (d,): scratch, a difference of arms; none in blocks
    average: Floats  # (d + 1,): of the last arms, and of their rewards; in blocks (1,), of the unexpected part of these
    scale: Floats  # trust ŵ; what is known of it, 1/variance; whether this round is a probe; the spread σ² of
    # rewards about what the archive expects, and the bank; how many it averages; how many rewards are in the averages
    outstanding: Floats  # (OUTSTANDING, 4): by round, z, what the archive adds, the reward that it and the bank expect
    rounds: Ints  # (OUTSTANDING,): those rounds, counted from 1


class Estimates(NamedTuple):
    """Estimates of the reward of the policy's choice and of the archive's, by the policy and by the archive."""

    mine: float
    mine_of_other: float
    its: float
    its_of_other: float


def new_archive(ridge: Ridge | Blocks) -> Archive:
    dim = len(ridge.columns) if isinstance(ridge, Ridge) else 0
    scale = np.zeros(7)
    scale[TRUST], scale[INFORMATION] = 1.0, DOUBTFUL
    outstanding = np.zeros((OUTSTANDING, 4))
    return Archive(ridge, np.zeros(dim), np.zeros(dim + 1), scale, outstanding, np.zeros(OUTSTANDING, np.int64))


@kernel
def open_archive(archive: Archive, bank: Bank) -> None:
    """Learn everything that the bank has kept, now that the units are known."""
    clear(with_penalty(archive.ridge, bank.scale[PENALTY]))
    archive.average[:] = 0.0
    archive.scale[AVERAGED] = 0.0
    for n in range(bank.clock[LEARNT]):
        remember(archive.ridge, archive, bank.arms[n], bank.rewards[n])


@remember.of(Ridge)
def _remember(ridge: Ridge, archive: Archive, x: Floats, r: float) -> None:
    remember_difference(archive, x, r)


@kernel
def remember_difference(archive: Archive, x: Floats, r: float) -> None:
    average, scale, d = archive.average, archive.scale, len(archive.x)
    if scale[AVERAGED] > 0.0:
        for i in range(d):
            archive.x[i] = x[i] - average[i]
        predict_and_learn(archive.ridge, archive.x, r - average[d])
    scale[AVERAGED] = min(scale[AVERAGED] + 1.0, RECENT)
    for i in range(d):
        average[i] += (x[i] - average[i]) / scale[AVERAGED]
    average[d] += (r - average[d]) / scale[AVERAGED]


@kernel
def certainty(archive: Archive) -> float:
    """One over the standard deviation of trust."""
    return math.sqrt(archive.scale[INFORMATION])


@kernel
def drawn_trust(archive: Archive, luck: Floats) -> float:
    """This round's w, about ŵ: Thompson sampling between the policy and the archive.

    Below ŵ it is normal, with variance 1/information; above, Student's t with 4 degrees of freedom, so that the policy is still
    tried now and then when trust seems settled: an archive that was right for long may be out of date.
    """
    first, second = key_of(luck[2]), key_of(luck[3])
    normal = math.sqrt(-2.0 * math.log(uniform(first, second, 0))) * math.cos(2.0 * math.pi * uniform(first, second, 1))
    if normal > 0.0:
        normal /= math.sqrt(-0.5 * math.log(uniform(first, second, 2) * uniform(first, second, 3)))
    return float(archive.scale[TRUST] + normal / certainty(archive))


@kernel
def chance_above(z: float) -> float:
    """The chance that this round's w is more than z standard deviations above ŵ."""
    if z < 0.0:
        return 0.5 * math.erfc(z * math.sqrt(0.5))
    y = z / math.sqrt(1.0 + 0.25 * z * z)
    return 0.5 - 0.375 * y * (1.0 - y * y / 12.0)


@shared.of(Ridge)
def _shared(ridge: Ridge, archive: Archive) -> float:
    d = len(archive.x)
    rest = archive.average[d]
    for i in range(d):
        rest -= archive.average[i] * ridge.vector[THETA, i]
    return float(rest)


@remember.of(Blocks)
def _remember_apart(ridge: Blocks, archive: Archive, x: Floats, r: float) -> None:
    """A difference of arms of two blocks would lie in both, so what rewards share is subtracted here instead of cancelling."""
    scale, own = archive.scale, r - archive.average[0]
    mean, _ = learn_row(ridge, x, own, 1.0, True)
    scale[AVERAGED] = min(scale[AVERAGED] + 1.0, RECENT)
    archive.average[0] += (own - mean) / scale[AVERAGED]


@shared.of(Blocks)
def _shared_apart(ridge: Blocks, archive: Archive) -> float:
    return float(archive.average[0])


@kernel
def follow(archive: Archive, drawn: float, t: int, gain: float, loss: float, estimates: Estimates) -> bool:
    """Whether to follow the policy: its choice is better by ``gain`` in its own eyes, worse by ``loss`` in the archive's.

    The expected reward is kept, centred by the known chance, so that what shifts both choices alike cancels out.
    """
    mine, other = estimates.mine - estimates.mine_of_other, estimates.its - estimates.its_of_other
    scale, kept = archive.scale, archive.outstanding[t % OUTSTANDING]
    edge = loss / (gain + loss)
    chance = chance_above((edge - scale[TRUST]) * certainty(archive))
    follows = drawn > edge
    centred = (1.0 if follows else 0.0) - chance
    kept[CLAIM], kept[OTHER] = centred * (mine - other), centred * other
    kept[BASE], kept[BANK_BASE] = estimates.its_of_other + chance * other, estimates.mine_of_other + chance * mine
    archive.rounds[t % OUTSTANDING] = t + 1
    return bool(follows)


@kernel
def compare(archive: Archive, s: int, r: float, noise2: float, n: int) -> None:
    """Learn from the n-th reward how far to trust the policy: regress what it is beyond expectation on the policy's claim.

    Trust is followed as by a Kalman filter. What is known of it ages: half is lost while n doubles, since an archive of n
    rewards differs from one of n/2, and what was settled early would never be tried again. It stays above 0: claims that turn
    out false, as they do until a change is noticed, are no reason to distrust more than entirely.
    """
    scale, kept = archive.scale, archive.outstanding[s % OUTSTANDING]
    scale[INFORMATION] = max(scale[INFORMATION] * (1.0 - 1.0 / n), DOUBTFUL)
    if archive.rounds[s % OUTSTANDING] != s + 1:
        return
    archive.rounds[s % OUTSTANDING] = 0
    residual, bank_residual, claim = r - kept[BASE], r - kept[BANK_BASE], kept[CLAIM]
    scale[COMPARED] = min(scale[COMPARED] + 1.0, LASTING)
    scale[SPREAD2] += (residual * residual - scale[SPREAD2]) / scale[COMPARED]
    scale[BANK_SPREAD2] += (bank_residual * bank_residual - scale[BANK_SPREAD2]) / scale[COMPARED]
    if scale[BANK_SPREAD2] < scale[SPREAD2]:  # either will do, and the one that predicts rewards better tells more
        residual = bank_residual
    spread2 = max(min(scale[SPREAD2], scale[BANK_SPREAD2]), noise2)
    most = OUTLYING * math.sqrt(spread2)
    surprise = min(max(residual - kept[OTHER] - scale[TRUST] * claim, -most), most)
    scale[INFORMATION] += claim * claim / spread2
    scale[TRUST] = max(scale[TRUST] + claim * surprise / (spread2 * scale[INFORMATION]), 0.0)
