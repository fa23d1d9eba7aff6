"""Rewards whose delay gives them away: clicks that come at once, and zeros that come after a timeout.

Learnt as they come, they would make every new arm look good until its zeros come, and then bad. If delays give rewards away,
these are held until those decided with them have come too, and then learnt in the order of their rounds.
"""

import math
from typing import NamedTuple

import numpy as np

from driftbandit.core.compile import kernel
from driftbandit.core.types import Floats, Ints

MEAN_LOG, MEAN_REWARD, LOG2, REWARD2, PRODUCT, COUNT, LONGEST, LONGEST_BEFORE, SINCE = range(9)  # rows of the moments
DECIDED, CURSOR, HELD, HOLDING = range(4)  # rows of the clock
NEVER, NOW, NO_MORE = range(3)  # are rewards held?
STEADY = 1000.0  # rewards that the moments average; the longest delay is taken over two such spans
TELLING = 0.5  # the correlation from which on a delay gives the reward away …
SURE = 200.0  # … after so many rewards: with fewer, a change of θ would look like it
MOST_HELD = 4096  # rounds: a reward that takes longer is not waited for


class Lateness(NamedTuple):
    moments: Floats  # of ln(1 + delay) and rewards: means, variances, covariance; how many; the longest delays of two spans
    clock: Ints  # rounds decided; the next whose reward is to be learnt; how many are held; NEVER, NOW or NO_MORE
    arms: Floats  # (MOST_HELD, d)
    rewards: Floats  # (MOST_HELD,)
    rounds: Ints  # (MOST_HELD,): counted from 1


def new_lateness(features: int) -> Lateness:
    held = np.zeros((MOST_HELD, features)), np.zeros(MOST_HELD), np.zeros(MOST_HELD, np.int64)
    return Lateness(np.zeros(9), np.zeros(4, np.int64), *held)


@kernel
def notice(lateness: Lateness, s: int, r: float) -> bool:
    """Learn from when a reward comes; return whether its delay is now first found to give it away."""
    m, clock = lateness.moments, lateness.clock
    delay = float(clock[DECIDED] - 1 - s)
    m[SINCE] += 1.0
    m[LONGEST] = max(m[LONGEST], delay)
    if m[SINCE] >= STEADY:
        m[SINCE], m[LONGEST_BEFORE], m[LONGEST] = 0.0, m[LONGEST], delay
    m[COUNT] = min(m[COUNT] + 1.0, STEADY)
    later, more = math.log(1.0 + delay) - m[MEAN_LOG], r - m[MEAN_REWARD]
    m[MEAN_LOG] += later / m[COUNT]
    m[MEAN_REWARD] += more / m[COUNT]
    rest = 1.0 - 1.0 / m[COUNT]
    m[LOG2] += (rest * later * later - m[LOG2]) / m[COUNT]
    m[REWARD2] += (rest * more * more - m[REWARD2]) / m[COUNT]
    m[PRODUCT] += (rest * later * more - m[PRODUCT]) / m[COUNT]
    telling = m[COUNT] >= SURE and m[PRODUCT] * m[PRODUCT] > TELLING * TELLING * m[LOG2] * m[REWARD2]
    first = telling and clock[HOLDING] == NEVER
    if telling or clock[HOLDING] != NEVER:
        clock[HOLDING] = NOW if telling else NO_MORE
    return bool(first)


@kernel
def hold(lateness: Lateness, s: int, x: Floats, r: float) -> bool:
    """Hold a reward back if that is called for, and say whether it was."""
    clock, slot = lateness.clock, s % MOST_HELD
    if clock[HOLDING] != NOW or s < clock[CURSOR]:
        return False
    for i in range(len(x)):
        lateness.arms[slot, i] = x[i]
    lateness.rewards[slot] = r
    lateness.rounds[slot] = s + 1
    clock[HELD] += 1
    return True


@kernel
def next_ripe(lateness: Lateness) -> int:
    """The place of the next reward that has been held for long enough, or −1; it is then released."""
    m, clock = lateness.moments, lateness.clock
    edge = clock[DECIDED] - 1 - int(min(max(m[LONGEST], m[LONGEST_BEFORE]), MOST_HELD - 1.0))
    if clock[HELD] == 0:
        clock[CURSOR] = max(clock[CURSOR], edge + 1)
    while clock[CURSOR] <= edge:
        slot = clock[CURSOR] % MOST_HELD
        clock[CURSOR] += 1
        if lateness.rounds[slot] == clock[CURSOR]:
            lateness.rounds[slot] = 0
            clock[HELD] -= 1
            return int(slot)
    return -1
