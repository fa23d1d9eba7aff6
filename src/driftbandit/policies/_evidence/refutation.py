"""The evidence that estimators of a bank give against each other, and what happens to those it refutes.

Where a shorter memory predicts better than a longer one, evidence gathers against the longer: a sum of log likelihood ratios
that never falls below 0, as in a CUSUM (Page 1954). Enough of it refutes an estimator, which is then rebuilt from what refuted
it, unless louder noise explains as much.
"""

import math

from driftbandit.core.compile import kernel
from driftbandit.core.types import Floats
from driftbandit.policies._evidence.bank import (
    BIRTH,
    CONSTANT,
    COUNTED,
    FIRST,
    LEARNT,
    LENGTH2,
    MAIN,
    MOST_RESTARTS,
    NEWEST,
    NOISE2,
    RESTARTS,
    SETTLE,
    SHIFT,
    SIGNAL2,
    SINCE,
    SOUND,
    VARIED,
    WEIGHT,
    Bank,
)
from driftbandit.policies._evidence.leaning import weigh_gaps
from driftbandit.policies._evidence.refit import fit, record
from driftbandit.policies._evidence.scales import kurtosis, learn_noise, learn_penalty, level, start, take_back
from driftbandit.policies._evidence.sources import compare_sources
from driftbandit.policies._evidence.verbs import duplicate, foresee, size

ON_TRIAL = 6.0  # evidence left against an estimator rebuilt as a copy: more than ``doubt``, so it has to earn its place again
EXCESS = 1.0  # nats by which a change of θ has to explain the rewards better than louder noise, …
LOCATED = 2.0  # … and those that it costs to say when it was
STARTS = 16  # moments that are tried for it, before those near the best of them …
LOCATABLE = 128  # … among so many rewards: in more, a few from before the change do little harm, and each moment takes long
LIGHT, HEAVY = 6.0, 12.0  # kurtosis up to which evidence is Gaussian, and from which on it is a bet


@kernel
def observe(bank: Bank, s: int, now: int, arm: Floats, reward: float, told: bool, refuted: float) -> None:
    """Let every estimator predict and learn the reward of round s, weigh the evidence, and rebuild what is refuted."""
    ring, n = len(bank.rewards), bank.clock[LEARNT]
    clock, squares = bank.clock, bank.squares[n % ring]
    if n == 0:
        start(bank, arm, reward)
    elif reward != bank.scale[FIRST]:
        clock[VARIED] = 1
    r = recall(bank, s, arm, reward)
    for k in range(len(bank.keep)):
        residual, variance = foresee(bank, k, k, n, bank.x, r)
        bank.residual[k], bank.variance[k] = residual, variance
        squares[k], bank.logs[n % ring, k] = residual * residual / variance, math.log(variance)
    weigh_gaps(bank)
    bank.taken[n % ring] = squares[clock[SOUND]]
    clock[LEARNT] = n + 1
    weigh(bank, squares, bank.logs[n % ring])
    for k in range(1, len(bank.keep)):
        j = against(bank, k)
        if bank.evidence[k, j] > refuted and rebuild(bank, j, k, told) and k == len(bank.keep) - 1:
            bank.restarts[clock[RESTARTS] % MOST_RESTARTS] = now
            clock[RESTARTS] += 1
            clock[SINCE] = n + 1
    if not told:
        learn_noise(bank, bank.taken[n % ring])
    learn_penalty(bank)
    compare_sources(bank)
    if n + 1 == SETTLE * size(bank):
        begin_again(bank)


@kernel
def recall(bank: Bank, s: int, arm: Floats, reward: float) -> float:
    """Keep a reward, its arm and its round with the latest ones; return the reward less the constant."""
    x, i = bank.x, bank.clock[LEARNT] % len(bank.rewards)
    for j in range(len(arm)):
        x[j] = bank.arms[i, j] = arm[j]
    if len(x) > len(arm):
        x[len(arm)] = bank.arms[i, len(arm)] = bank.scale[CONSTANT]
    bank.rewards[i] = reward - bank.scale[SHIFT]
    bank.decided[i] = s
    bank.clock[NEWEST] = bank.newest[i] = max(bank.clock[NEWEST], s)
    return float(bank.rewards[i])


@kernel
def start_over(bank: Bank, told: bool) -> None:
    """Forget every reward so far, and what was learnt of the scales."""
    for row in (LEARNT, MAIN, SOUND, SINCE, BIRTH):
        bank.clock[row] = 0
    for row in (COUNTED, WEIGHT, SIGNAL2, LENGTH2):
        bank.scale[row] = 0.0
    if not told:
        bank.scale[NOISE2] = 0.0
    bank.evidence[:] = 0.0
    bank.onset[:] = 0
    bank.gaps[:] = 0.0
    bank.sources[:] = 0.0


@kernel
def begin_again(bank: Bank) -> None:
    """Learn anew from what has been seen, now that the units are known."""
    for k in range(len(bank.keep)):
        fit(bank, k, 0, 0, 0)
        duplicate(bank, len(bank.keep), k)
    bank.evidence[:] = 0.0
    bank.onset[:] = bank.clock[LEARNT]
    bank.gaps[:] = 0.0


@kernel
def weigh(bank: Bank, squares: Floats, logs: Floats) -> None:
    """Add what a reward says to the evidence: the log likelihood ratio of Gaussian noise, or a bet where tails are heavy."""
    noise = level(bank, squares)
    gaussian, precision = min(max((HEAVY - kurtosis(bank)) / (HEAVY - LIGHT), 0.0), 1.0), 1.0 / noise
    for k in range(1, len(squares)):
        evidence, onset, own = bank.evidence[k], bank.onset[k], 0.5 * (logs[k] + squares[k] * precision)
        for j in range(k):
            gain = own - 0.5 * (logs[j] + squares[j] * precision)
            if gaussian < 1.0:
                odds = bet(bank, k, j, noise)
                if gain > 0.0 or odds > 1.0 or evidence[j] > 0.0:  # else none is left, whatever the logarithm is
                    gain = gaussian * gain + (1.0 - gaussian) * math.log(odds)
            evidence[j] += gain
            if evidence[j] <= 0.0:
                evidence[j] = 0.0
                onset[j] = bank.clock[LEARNT]


@kernel
def bet(bank: Bank, k: int, j: int, noise: float) -> float:
    """What a bet on j against k returns, fair whatever the law of the noise, as long as its mean and variance are right.

    With u the residual of k in standard deviations it is 1 + a·u + b·(u² − 1) ≥ 0, whose mean is 1 if k is right, and whose
    logarithm to second order is the Gaussian likelihood ratio. A Gaussian ratio alone takes one click for a refutation.
    """
    ratio = bank.variance[k] / bank.variance[j]
    deviation = math.sqrt(bank.variance[k] * noise)
    u = bank.residual[k] / deviation
    a = ratio * (bank.residual[k] - bank.residual[j]) / deviation
    b = 0.5 * max(1.0 / ratio - 1.0, 0.0)
    return float((1.0 + a * u + a * u * a * u / 3.0 + b * u * u) / (1.0 + a * a / 3.0 + b))


@kernel
def against(bank: Bank, k: int) -> int:
    """The estimator with the most evidence against k, or k itself if no estimator has any."""
    worst = k
    for j in range(k):
        if bank.evidence[k, j] > bank.evidence[k, worst]:
            worst = j
    return worst


@kernel
def first_round(bank: Bank, start: int) -> int:
    """The first round that can have been decided after a change before reward ``start``; 0 if that is not known."""
    ring, now = len(bank.rewards), bank.clock[LEARNT]
    return int(bank.newest[(start - 1) % ring] + 1 if max(now - ring, 0) < start < now else 0)


@kernel
def change_since(bank: Bank, k: int, first: int) -> tuple[int, float]:
    """With which reward k had best begun again, and how plausible that makes those since ``first``; leaves it in the scratch.

    Evidence often begins to gather by chance a little before a change, and one reward from before it would mislead a fresh
    start for long.
    """
    low, high = first, bank.clock[LEARNT]
    if high - low > LOCATABLE:
        high = first + 1
    start, best, step = first, -math.inf, max(1, (high - low) // STARTS)
    while True:
        for later in range(low, high, step):
            plausible = fit(bank, k, first, later, first_round(bank, later)) - (LOCATED if later > first else 0.0)
            if plausible > best:
                start, best = later, plausible
        if step == 1:
            break
        low, high, step = max(low, start - step + 1), min(start + step, high), 1  # now exactly
    fit(bank, k, first, start, first_round(bank, start))
    return start, best


@kernel
def rebuild(bank: Bank, j: int, k: int, told: bool) -> bool:
    """Replace k, which j refutes, by what explains the rewards since then best: a fresh start, or a copy of j.

    After a jump the fresh start is better, and continues with a clean slate: late rewards of rounds before it belong to a
    world that is over. In a drift the copy is better: k forgot too slowly and will again, so it stays on trial until it has
    predicted better than j for a while. If k does as well once the noise is assumed louder, it stays as it is, on trial too,
    and the result is False; but evidence that goes back farther than the rewards kept is believed: noise that loud would
    have been noticed.
    """
    count, now, ring = len(bank.keep), bank.clock[LEARNT], len(bank.rewards)
    first = max(bank.onset[k, j], now - ring)
    start, fresh = change_since(bank, k, first)
    oldest, copied = first_round(bank, start), record(bank, j, first)
    if bank.onset[k, j] >= now - ring and max(fresh, copied) <= record(bank, k, first) + EXCESS:
        for i in range(k):
            bank.evidence[k, i] = min(bank.evidence[k, i], ON_TRIAL)
        return False
    duplicate(bank, count if fresh >= copied else j, k)
    if fresh >= copied:
        bank.gaps[k][:] = 0.0
    if k >= bank.clock[SOUND] and not told:
        take_back(bank, first, j)
    for i in range(k):
        bank.evidence[k, i] = 0.0 if fresh >= copied else ON_TRIAL
        bank.onset[k, i] = now
    for longer in range(k + 1, count):
        bank.evidence[longer, k] = bank.evidence[longer, j]
        bank.onset[longer, k] = bank.onset[longer, j]
    if k == count - 1 and fresh >= copied:
        bank.clock[BIRTH] = oldest
    return True
