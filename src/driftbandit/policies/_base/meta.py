"""Meta-learners for bandits-over-bandits: Exp3 (Auer et al. 2002) and Exp3.IX (Neu 2015), for rewards in [0, 1]."""

import math
from typing import NamedTuple

import numpy as np

from driftbandit.core.compile import kernel
from driftbandit.core.types import Floats
from driftbandit.policies._base.sound import demand


class Meta(NamedTuple):
    log_weight: Floats  # (K,)
    chance: Floats  # (K,): the probabilities of the present choice
    rate: float  # Exp3: γ/K; Exp3.IX: η
    mix: float  # Exp3: γ, the share of uniform exploration; Exp3.IX: 0
    implicit: float  # Exp3.IX: η/2, added to the probability that divides the loss; Exp3: 0


def exp3(choices: int, plays: int) -> Meta:
    """γ = min(1, √(K ln K / ((e − 1) n))): Auer et al., Corollary 3.2, for n plays."""
    mix = min(1.0, math.sqrt(choices * math.log(choices) / ((math.e - 1.0) * plays)))
    return Meta(np.zeros(choices), np.zeros(choices), mix / choices, mix, 0.0)


def exp3_ix(choices: int, plays: int) -> Meta:
    """η = √(2 ln(K + 1) / (K n)): Neu, Theorem 1; holds with high probability, not only in expectation."""
    rate = math.sqrt(2.0 * math.log(choices + 1.0) / (choices * plays))
    return Meta(np.zeros(choices), np.zeros(choices), rate, 0.0, rate / 2.0)


def check_meta(meta: Meta, choice: int) -> None:
    """Refuse a state that no draw can leave: the probabilities follow from the weights."""
    if meta.chance.any():
        fresh = meta._replace(chance=meta.chance.copy())
        draw(fresh, 0.0)
        demand(np.allclose(meta.chance, fresh.chance, rtol=1e-9), "the probabilities do not match the weights")
        demand(meta.chance[choice] > 0.0, "the choice from the pool has probability 0")


@kernel
def draw(meta: Meta, u: float) -> int:
    """Update the probabilities and draw a choice by u in [0, 1)."""
    count = len(meta.chance)
    top, total = meta.log_weight[0], 0.0
    for i in range(1, count):
        top = max(top, meta.log_weight[i])
    for i in range(count):
        meta.chance[i] = math.exp(meta.log_weight[i] - top)
        total += meta.chance[i]
    for i in range(count):
        meta.chance[i] = (1.0 - meta.mix) * meta.chance[i] / total + meta.mix / count
    for i in range(count):
        u -= meta.chance[i]
        if u < 0.0:
            return i
    return count - 1


@kernel
def reward(meta: Meta, choice: int, y: float) -> None:
    """Exp3 raises the choice by its gain y/p; Exp3.IX lowers it by its loss (1 − y)/(p + η/2)."""
    if meta.implicit > 0.0:
        meta.log_weight[choice] -= meta.rate * (1.0 - y) / (meta.chance[choice] + meta.implicit)
    else:
        meta.log_weight[choice] += meta.rate * y / meta.chance[choice]
