"""What a bank of estimators, what is played of it, and an archive can do, whole or in blocks."""

from functools import partial
from typing import Any

from driftbandit.core.compile import Verb
from driftbandit.core.types import Floats


@Verb
def size(bank: Any) -> int:
    """D: all features, and the intercept if there is one."""
    raise NotImplementedError


@Verb
def foresee(bank: Any, place: int, k: int, n: int, x: Floats, r: float) -> tuple[float, float]:
    """Let the estimator in a place forget as k does, predict the n-th reward, learn it: see ``predict_and_learn``."""
    raise NotImplementedError


@Verb
def empty(bank: Any, k: int) -> None:
    """V = λI."""


@Verb
def duplicate(bank: Any, source: int, target: int) -> None:
    """Make one estimator a copy of another."""


@Verb
def length2(bank: Any, x: Floats) -> float:
    """The squared length of an arm, without the intercept."""
    raise NotImplementedError


@Verb
def located(bank: Any, x: Floats) -> tuple[int, int, int]:
    """Where an arm's features are in x, how many come before those of its block, and by how many these are further on."""
    raise NotImplementedError


@Verb
def trace(bank: Any, k: int) -> float:
    """The trace of V."""
    raise NotImplementedError


@Verb
def unseen(bank: Any, k: int) -> float:
    """Of how many features a change of weight would not show in the rewards that estimator k remembers: Σλ/V_ii."""
    raise NotImplementedError


@Verb
def summary(bank: Any, k: int) -> tuple[float, float, float]:
    """‖θ̂‖², the trace of METRIC and the squared length of the last arm, all without the intercept."""
    raise NotImplementedError


@Verb
def describe(bank: Any, k: int, radius: float, novelty: float, theta: Floats, widths: Floats) -> None:
    """Write down an estimate, and the width of each of its coordinates."""


@Verb
def lean_to(bank: Any, k: int, share: float, theta: Floats) -> None:
    """Move an estimate by this share of the way to that of estimator k."""


@Verb
def play(ridge: Any, bank: Any, main: int, share: float, played: int) -> None:
    """Choose from now on by θ̂ of ``main``, moved by this share towards that of the next shorter memory, and by METRIC of
    ``played``, which is ``main`` except in a probe."""


@partial(Verb, optional=True)
def remember_constant(bank: Any, k: int) -> None:
    """Give an empty estimator what the one that never forgets knows of the intercept: θ changes, the constant does not.

    Not what a short memory knows: it takes for the constant what the arm it always plays earns.
    """


@Verb
def remember(ridge: Any, archive: Any, x: Floats, r: float) -> None:
    """Learn how a reward differs from the last ones by how its arm differs from theirs."""


@Verb
def shared(ridge: Any, archive: Any) -> float:
    """What the last rewards had in common, beyond what the archive expects of their arms."""
    raise NotImplementedError
