"""The scales by which evidence is weighed: the noise, how heavy its tails are, and the size of θ.

Nothing is clipped: with clicks at 1 % nearly all of the variance is in one reward of a hundred, and a clip would lose it.
"""

import math

from driftbandit.core.compile import kernel
from driftbandit.core.types import Floats
from driftbandit.policies._evidence.bank import (
    CONSTANT,
    COUNTED,
    FIRST,
    FOURTH,
    LEARNT,
    LENGTH2,
    LOUD,
    NOISE2,
    PENALTY,
    SETTLE,
    SHIFT,
    SIGNAL2,
    SOUND,
    WEIGHT,
    Bank,
)
from driftbandit.policies._evidence.sources import listen, noise_of_arm, unhear
from driftbandit.policies._evidence.verbs import empty, length2, size, summary

STEADY = 1000.0  # rewards over which the scales are averaged, once there are as many; for the noise …
RARE, MOST_COUNTED = 30.0, 1e6  # … this many times the kurtosis if that is more: with clicks at 1 %, about 30 must be in it
CERTAIN = 2.0  # standard errors of the noise's variance that evidence allows for
BRIEF = 16  # rewards over which the present noise level is averaged, and the shortest memory whose residuals show it
CLIP = 9.0  # there a residual counts for at most three standard deviations
SILENT = 1e12  # a squared residual this many times the noise: all rewards before were 0
LOW = 0.01  # the noise variance starts at this share of the first reward's square: too high a start would linger
LEAST_NOISE2 = 1e-200  # where rewards have no noise at all
FIRST_PENALTY = 0.01  # λ until the scales have settled, for each feature, in units of an arm's length²
LEAST_PENALTY, MOST_PENALTY = 1e-6, 1e4  # and its limits afterwards


@kernel
def start(bank: Bank, arm: Floats, reward: float) -> None:
    """The first reward and its arm set the units."""
    scale, length = bank.scale, length2(bank, arm)
    length = length if length > 0.0 else 1.0
    scale[FIRST] = reward
    if size(bank) > bank.features:
        scale[CONSTANT] = math.sqrt(length)
        scale[SHIFT] = reward
    scale[PENALTY] = FIRST_PENALTY * size(bank) * length
    if scale[NOISE2] == 0.0:
        scale[NOISE2] = max(LOW * (reward - scale[SHIFT]) ** 2, LEAST_NOISE2)
    scale[FOURTH] = 3.0 * scale[NOISE2] * scale[NOISE2]  # as for Gaussian noise
    for k in range(len(bank.keep)):
        empty(bank, k)


@kernel
def kurtosis(bank: Bank) -> float:
    """The kurtosis of the noise: 3 if it is Gaussian, about 1/p for clicks at a low rate p."""
    return float(bank.scale[FOURTH] / max(bank.scale[NOISE2] * bank.scale[NOISE2], 1e-300))


@kernel
def level(bank: Bank, squares: Floats) -> float:
    """The noise variance by which evidence is weighed: the one learnt and its uncertainty, or the present one if louder.

    Neither louder rewards nor an arm louder than others nor noise not yet known must be taken for a change of θ.
    """
    scale, k = bank.scale, 0
    while bank.memory[k] < BRIEF:
        k += 1
    if bank.clock[LEARNT] <= SETTLE * size(bank) + 1:
        scale[LOUD] = scale[NOISE2]
    most = CLIP * max(scale[LOUD], scale[NOISE2])
    scale[LOUD] += (min(squares[k], most) - scale[LOUD]) / BRIEF
    error = math.sqrt(max(kurtosis(bank) - 1.0, 0.0) / (scale[COUNTED] + 1.0))
    return float(max(scale[LOUD], max(scale[NOISE2], noise_of_arm(bank)) * (1.0 + CERTAIN * error)))


@kernel
def learn_noise(bank: Bank, square: float) -> None:
    """Learn from a squared residual of the longest memory that nothing refutes, over its variance in units of the noise's."""
    scale, n, left = bank.scale, bank.clock[LEARNT], 1.0
    if square > SILENT * scale[NOISE2]:  # the first that is not 0, after n − 1 that were
        scale[COUNTED] = n - 1.0
        scale[NOISE2], scale[FOURTH] = square / n, square * square / n
    else:
        count = scale[COUNTED] + 1.0
        scale[COUNTED] = min(count, max(STEADY, min(RARE * kurtosis(bank), MOST_COUNTED)))
        scale[FOURTH] += (square * square - scale[FOURTH]) / (scale[COUNTED] + 1.0)
        scale[NOISE2] = max(scale[NOISE2] + (square - scale[NOISE2]) / (scale[COUNTED] + 1.0), LEAST_NOISE2)
        left = scale[COUNTED] / count
    listen(bank, square, left)


@kernel
def take_back(bank: Bank, first: int, j: int) -> None:
    """What was counted as noise since reward ``first`` was a change: count estimator j's residuals instead."""
    scale, ring = bank.scale, len(bank.rewards)
    two = four = 0.0
    for n in range(first, bank.clock[LEARNT]):
        i = n % ring
        counted, square = bank.taken[i], bank.squares[i, j]
        two += counted - square
        four += counted * counted - square * square
        bank.taken[i] = square
        unhear(bank, bank.arms[i], counted - square)
    count = scale[COUNTED] + 1.0
    scale[NOISE2] = max(scale[NOISE2] - two / count, 0.25 * scale[NOISE2])
    scale[FOURTH] = max(scale[FOURTH] - four / count, scale[NOISE2] * scale[NOISE2])


@kernel
def learn_penalty(bank: Bank) -> None:
    """λ as the ratio of noise to signal, by MacKay's evidence framework (1992).

    The signal's variance per feature is ‖θ̂‖²/(d − λ·tr V⁻¹), which counts only the features that the data inform, so
    that λ does not grow because some were never tried.
    """
    scale, main, d = bank.scale, bank.clock[SOUND], bank.features
    signal, unknown, length = summary(bank, main)
    scale[WEIGHT] = min(scale[WEIGHT] + 1.0, STEADY)
    scale[LENGTH2] += (length - scale[LENGTH2]) / scale[WEIGHT]
    scale[SIGNAL2] += (signal / min(max(d - scale[PENALTY] * unknown, 1.0), float(d)) - scale[SIGNAL2]) / scale[WEIGHT]
    if bank.clock[LEARNT] >= SETTLE * size(bank):
        ratio = scale[NOISE2] / max(scale[SIGNAL2], 1e-200)
        unit = scale[LENGTH2] if scale[LENGTH2] > 0.0 else 1.0  # all arms may have been 0 so far
        scale[PENALTY] = min(max(ratio, LEAST_PENALTY * unit), MOST_PENALTY * unit)
