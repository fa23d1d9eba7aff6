"""How a reward is drawn from its mean: by added noise, or by a law that one uniform number per round decides."""

import math
from typing import NamedTuple

from driftbandit.core.compile import kernel

MOST = 1e6  # greater means of counts are clipped: inverting their law would take too long
ADDED, CLICKED, COUNTED = range(3)


class Form(NamedTuple):
    """What becomes of a mean: data rather than a type, so that one compiled loop plays them all."""

    kind: int
    least: float = -math.inf  # of the means that it can have
    most: float = math.inf
    zeros: float = 0.0  # the fraction of rounds in which a count is 0 whatever its mean


def added() -> Form:
    """The mean plus the round's noise."""
    return Form(ADDED)


def clicked() -> Form:
    """1 with the mean as its probability, else 0."""
    return Form(CLICKED, 0.0, 1.0)


def counted(zeros: float) -> Form:
    """A Poisson count, but 0 in a fraction ``zeros`` of the rounds."""
    return Form(COUNTED, 0.0, MOST * (1.0 - zeros), zeros)


@kernel
def mean_reward(form: Form, expected: float) -> float:
    """⟨x, θ⟩, clipped to the means that this form of reward can have."""
    return min(max(expected, form.least), form.most)


@kernel
def draw_reward(form: Form, mean: float, luck: float) -> float:
    """A reward with this mean, given the round's noise or its number uniform on [0, 1): the same for every policy."""
    if form.kind == ADDED:
        return mean + luck
    if form.kind == CLICKED:
        return 1.0 if luck < mean else 0.0
    if luck < form.zeros:
        return 0.0
    left = 1.0 - form.zeros
    return poisson(mean / left, (luck - form.zeros) / left)


@kernel
def poisson(mean: float, luck: float) -> float:
    """The least k with P(N ≤ k) > luck, where N is Poisson with this mean.

    The sum begins and ends ten standard deviations from the mean: what lies beyond is less than float64 can tell from 0.
    """
    far = 10.0 * math.sqrt(mean)
    count = float(int(max(mean - far, 0.0)))
    chance = math.exp(-mean if count == 0.0 else count * math.log(mean) - mean - math.lgamma(count + 1.0))
    below = chance
    while luck >= below and count < mean + far + 40.0:
        count += 1.0
        chance *= mean / count
        below += chance
    return count
