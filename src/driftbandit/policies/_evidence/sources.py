"""Noise that depends on the arm: cash has none, and stocks have all of it.

Every feature is a source with a noise variance of its own, and an arm has the mean of those of its features, weighted by
their squares. A source of which little has been heard is taken to have the noise of all.
"""

from driftbandit.core.compile import kernel
from driftbandit.core.types import Floats
from driftbandit.policies._evidence.bank import LEARNT, LENGTH2, LOUDER, NOISE2, Bank
from driftbandit.policies._evidence.verbs import length2, located

HEARD, LOUDNESS = range(2)  # rows of the sources: how much of the arms was theirs, and the squared residuals of that part
ASSUMED = 10.0  # how many rewards of such an arm with the noise of all a source is taken to have had before any
EVERY, FEW = 4, 16  # all sources are compared once in so many rewards, and one more for each so many features


@kernel
def source_of(i: int, shared: int, further: int) -> int:
    """The number among all features of an arm's i-th: see ``located``."""
    return i if i < shared else i + further


@kernel
def count_of(bank: Bank, x: Floats, first: int) -> int:
    """How many features an arm has, without the intercept."""
    return min(bank.features, len(x) - first)


@kernel
def listen(bank: Bank, square: float, left: float) -> None:
    """Learn from a squared residual where noise comes from; this share is left of what was heard before."""
    x, sources = bank.x, bank.sources
    for i in range(sources.shape[1]):
        sources[HEARD, i] *= left
        sources[LOUDNESS, i] *= left
    first, shared, further = located(bank, x)
    for i in range(count_of(bank, x, first)):
        source, share = source_of(i, shared, further), x[first + i] ** 2
        sources[HEARD, source] += share
        sources[LOUDNESS, source] += share * square


@kernel
def unhear(bank: Bank, arm: Floats, excess: float) -> None:
    """This much of a squared residual was no noise."""
    loudness = bank.sources[LOUDNESS]
    first, shared, further = located(bank, arm)
    for i in range(count_of(bank, arm, first)):
        source = source_of(i, shared, further)
        loudness[source] = max(loudness[source] - arm[first + i] ** 2 * excess, 0.25 * loudness[source])


@kernel
def noise_of_arm(bank: Bank) -> float:
    """The noise variance of the arm whose reward has just come."""
    x, sources, noise2 = bank.x, bank.sources, bank.scale[NOISE2]
    length = length2(bank, x)
    if not length > 0.0:
        return float(noise2)
    first, shared, further = located(bank, x)
    assumed, total = ASSUMED * length, 0.0
    for i in range(count_of(bank, x, first)):
        source = source_of(i, shared, further)
        total += x[first + i] ** 2 * (sources[LOUDNESS, source] + assumed * noise2) / (sources[HEARD, source] + assumed)
    return float(total / length)


@kernel
def compare_sources(bank: Bank) -> None:
    """How much louder than the rewards so far a typical arm with noise is, each source weighted by how much came from it.

    If all have the same noise it is as loud; beside an arm without noise, however often that is played, it is louder.
    """
    sources, scale = bank.sources, bank.scale
    if (bank.clock[LEARNT] - 1) % (EVERY + sources.shape[1] // FEW) != 0:
        return
    assumed, loudness, squares = ASSUMED * scale[LENGTH2], 0.0, 0.0
    for i in range(sources.shape[1]):
        of_source = sources[LOUDNESS, i] / scale[NOISE2] + assumed
        loudness += of_source
        squares += of_source * of_source / max(sources[HEARD, i] + assumed, 1e-300)
    scale[LOUDER] = squares / loudness if loudness > 0.0 else 1.0
