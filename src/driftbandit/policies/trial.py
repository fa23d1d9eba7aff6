"""The evidence between the estimators of a bank, what becomes of those it refutes, and the scales it is weighed with.

Where a shorter memory predicts better than a longer one, evidence gathers against the longer: a sum of log likelihood ratios
that never falls below 0, as in a CUSUM (Page 1954). Enough of it refutes an estimator, which is then rebuilt from what refuted
it: unless louder noise explains as much.
"""

import math

from driftbandit._compile import kernel
from driftbandit._types import Floats
from driftbandit.policies.bank import (
    CONSTANT,
    LEARNT,
    LENGTH2,
    LOUD,
    MAIN,
    MOST_RESTARTS,
    NOISE2,
    PENALTY,
    RESTARTS,
    SETTLE,
    SHIFT,
    SIGNAL2,
    SINCE,
    WEIGHT,
    Bank,
    duplicate,
    empty,
    fit,
    member,
    predict_and_learn,
    record,
)
from driftbandit.ridge import METRIC, THETA

ON_TRIAL = 6.0  # evidence left against an estimator rebuilt as a copy: more than doubt, so it has to earn its place again
EXCESS = 1.0  # nats by which a change of θ has to explain the rewards better than louder noise
BRIEF = 16  # rewards over which the present level of the noise is averaged, and the least memory whose residuals tell it
CLIP = 9.0  # a residual counts for at most three standard deviations: an outlier, or a change, is not the noise
STEADY = 1000.0  # rewards over which the scales are averaged, once there are as many
STALE = 1e12  # a squared residual so many times the noise: the scale was never learnt (the first rewards were all 0)
FIRST_PENALTY = 0.01  # λ until then, for each feature, in units of an arm's length²
LEAST_PENALTY, MOST_PENALTY = 1e-6, 100.0  # and its limits afterwards
LOW = 0.01  # the noise variance starts at this share of the first reward's square: too high a start would linger
LEAST_NOISE2 = 1e-200  # where rewards have no noise at all


@kernel
def rebuild(bank: Bank, j: int, k: int) -> bool:
    """Replace k, which j refutes, by what explains the rewards since then best: a fresh start, or a copy of j.

    After a jump the fresh start is better, and goes on with a clean slate. In a drift the copy is: k forgot too slowly and
    will again, so it stays on trial until it has predicted better than j for a while. Where k does as well if only the noise
    is louder than thought, it stays as it is, on trial too, and the answer is no; but evidence that goes back farther than the
    rewards kept is believed: noise that loud would have been noticed.
    """
    count, now, ring = len(bank.keep), bank.clock[LEARNT], len(bank.rewards)
    first = max(bank.onset[k, j], now - ring)
    fresh, copied = fit(bank, k, first), record(bank, j, first)
    if bank.onset[k, j] >= now - ring and max(fresh, copied) <= record(bank, k, first) + EXCESS:
        for i in range(k):
            bank.evidence[k, i] = min(bank.evidence[k, i], ON_TRIAL)
        return False
    duplicate(bank, count if fresh >= copied else j, k)
    for i in range(k):
        bank.evidence[k, i] = 0.0 if fresh >= copied else ON_TRIAL
        bank.onset[k, i] = now
    for longer in range(k + 1, count):
        bank.evidence[longer, k] = bank.evidence[longer, j]
        bank.onset[longer, k] = bank.onset[longer, j]
    return True


@kernel
def against(bank: Bank, k: int) -> int:
    """The estimator with the most evidence against k: k itself if there is none."""
    worst = k
    for j in range(k):
        if bank.evidence[k, j] > bank.evidence[k, worst]:
            worst = j
    return worst


@kernel
def observe(bank: Bank, t: int, arm: Floats, reward: float, told: bool, refuted: float) -> None:
    """Let every estimator predict and learn a reward, weigh the evidence, rebuild what is refuted."""
    ring, n = len(bank.rewards), bank.clock[LEARNT]
    scale, clock, x = bank.scale, bank.clock, bank.x
    if n == 0:
        start(bank, arm, reward)
    for i in range(len(arm)):
        x[i] = arm[i]
    if len(x) > len(arm):
        x[len(arm)] = scale[CONSTANT]
    r = reward - scale[SHIFT]
    squares, logs = bank.squares[n % ring], bank.logs[n % ring]
    for k in range(len(bank.keep)):
        residual, variance = predict_and_learn(member(bank, k), bank.keep[k], bank.turns[k], bank.features, n, x, r)
        squares[k] = residual * residual / variance
        logs[k] = math.log(variance)
    for i in range(len(x)):
        bank.arms[n % ring, i] = x[i]
    bank.rewards[n % ring] = r
    clock[LEARNT] = n + 1
    weigh(bank, squares, logs)
    for k in range(1, len(bank.keep)):
        j = against(bank, k)
        if bank.evidence[k, j] > refuted and rebuild(bank, j, k) and k == len(bank.keep) - 1:
            bank.restarts[clock[RESTARTS] % MOST_RESTARTS] = t
            clock[RESTARTS] += 1
            clock[SINCE] = n + 1
    learn_scales(bank, squares[clock[MAIN]], told)


@kernel
def weigh(bank: Bank, squares: Floats, logs: Floats) -> None:
    """Add the log likelihood ratios of a reward to the evidence."""
    surprise, level = bank.surprise, loudness(bank, squares)
    for k in range(len(squares)):
        surprise[k] = 0.5 * (logs[k] + squares[k] / level)
        evidence, onset = bank.evidence[k], bank.onset[k]
        for j in range(k):
            evidence[j] += surprise[k] - surprise[j]
            if evidence[j] <= 0.0:
                evidence[j] = 0.0
                onset[j] = bank.clock[LEARNT]


@kernel
def loudness(bank: Bank, squares: Floats) -> float:
    """The noise variance at present, if it is more than on average: louder rewards are not to be taken for a change of θ."""
    scale, k = bank.scale, 0
    while bank.memory[k] < BRIEF:
        k += 1
    if bank.clock[LEARNT] <= SETTLE * len(bank.x) + 1:
        scale[LOUD] = scale[NOISE2]
    most = CLIP * max(scale[LOUD], scale[NOISE2])
    scale[LOUD] += (min(squares[k], most) - scale[LOUD]) / BRIEF
    return float(max(scale[LOUD], scale[NOISE2]))


@kernel
def start(bank: Bank, arm: Floats, reward: float) -> None:
    """The first reward and its arm set the units."""
    scale, dim = bank.scale, len(bank.x)
    length = 0.0
    for i in range(len(arm)):
        length += arm[i] * arm[i]
    length = length if length > 0.0 else 1.0
    if dim > len(arm):
        scale[CONSTANT] = math.sqrt(length)
        scale[SHIFT] = reward
    scale[PENALTY] = FIRST_PENALTY * dim * length
    if scale[NOISE2] == 0.0:
        scale[NOISE2] = max(LOW * (reward - scale[SHIFT]) ** 2, LEAST_NOISE2)
    for k in range(len(bank.keep)):
        empty(bank, k)


@kernel
def learn_scales(bank: Bank, square: float, told: bool) -> None:
    """The noise from standardised residuals; λ as the ratio of noise to signal, by MacKay's evidence framework (1992).

    The signal's variance a feature is ‖θ̂‖²/(d − λ·tr V⁻¹), which counts only the features that the data speak of: so that λ
    does not grow because some were never tried.
    """
    scale, main, d, n = bank.scale, bank.clock[MAIN], bank.features, bank.clock[LEARNT]
    signal = trace = length = 0.0
    for i in range(d):
        signal += bank.vector[main, THETA, i] ** 2
        trace += bank.matrix[main, METRIC, i, i]
        length += bank.x[i] ** 2
    scale[WEIGHT] = min(scale[WEIGHT] + 1.0, STEADY)
    scale[LENGTH2] += (length - scale[LENGTH2]) / scale[WEIGHT]
    scale[SIGNAL2] += (signal / min(max(d - scale[PENALTY] * trace, 1.0), float(d)) - scale[SIGNAL2]) / scale[WEIGHT]
    if not told:
        if square > STALE * scale[NOISE2]:
            scale[NOISE2] = LOW * square
            scale[WEIGHT] = 1.0
        else:
            mean = scale[NOISE2] + (min(square, CLIP * scale[NOISE2]) - scale[NOISE2]) / (scale[WEIGHT] + 1.0)
            scale[NOISE2] = max(mean, LEAST_NOISE2)
    if n >= SETTLE * len(bank.x):
        ratio = scale[NOISE2] / max(scale[SIGNAL2], 1e-200)
        unit = scale[LENGTH2] if scale[LENGTH2] > 0.0 else 1.0  # all arms may have been 0 so far
        scale[PENALTY] = min(max(ratio, LEAST_PENALTY * unit), MOST_PENALTY * unit)
        if n == SETTLE * len(bank.x):  # now that the units are known, begin again with what has been seen
            for k in range(len(bank.keep)):
                fit(bank, k, 0)
                duplicate(bank, len(bank.keep), k)
            bank.evidence[:] = 0.0
            bank.onset[:] = n
