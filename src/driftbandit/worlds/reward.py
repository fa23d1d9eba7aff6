"""How a reward is drawn from its mean: by added noise, or by a law that one uniform number per round decides."""

import math
from typing import Any, NamedTuple

from driftbandit.core.compile import Verb, kernel

MOST = 1e6  # greater means of counts are clipped: inverting their law would take too long


class Added(NamedTuple):
    """The mean plus the round's noise."""


class Clicked(NamedTuple):
    """1 with the mean as its probability, else 0."""


class Counted(NamedTuple):
    """A Poisson count, but 0 in a fraction ``zeros`` of the rounds."""

    zeros: float


@Verb
def mean_reward(form: Any, expected: float) -> float:
    """⟨x, θ⟩, clipped to the means that this form of reward can have."""
    raise NotImplementedError


@Verb
def draw_reward(form: Any, mean: float, luck: float) -> float:
    """A reward with this mean, given the round's noise or its number uniform on [0, 1): the same for every policy."""
    raise NotImplementedError


@mean_reward.of(Added)
def _any(form: Added, expected: float) -> float:
    return expected


@draw_reward.of(Added)
def _add(form: Added, mean: float, luck: float) -> float:
    return mean + luck


@mean_reward.of(Clicked)
def _share(form: Clicked, expected: float) -> float:
    return min(max(expected, 0.0), 1.0)


@draw_reward.of(Clicked)
def _click(form: Clicked, mean: float, luck: float) -> float:
    return 1.0 if luck < mean else 0.0


@mean_reward.of(Counted)
def _not_negative(form: Counted, expected: float) -> float:
    return min(max(expected, 0.0), MOST * (1.0 - form.zeros))


@draw_reward.of(Counted)
def _count(form: Counted, mean: float, luck: float) -> float:
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
