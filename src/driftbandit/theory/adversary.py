"""Instances that try to break the lemmas: aligned and alternating features, drift along the worst direction."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from driftbandit.core.types import Floats
from driftbandit.theory.impossibility import hard_features

DIMENSIONS = (1, 2, 2, 2, 3, 5, 8, 20, 50)


class Instance(NamedTuple):
    """An epoch: H features of at most unit length, and the parameters θ_{t0} … θ_t they were observed under."""

    arms: Floats  # (H, d)
    theta: Floats  # (H + 1, d)
    ridge: float  # λ ≥ 1 = L²

    @property
    def path_length(self) -> float:
        return float(np.linalg.norm(np.diff(self.theta, axis=0), axis=1).sum())


def instances(rng: np.random.Generator, count: int, longest: int = 120) -> Iterator[Instance]:
    for _ in range(count):
        dim, rounds = int(rng.choice(DIMENSIONS)), int(rng.integers(2, longest))
        ridge = float(rng.choice([1.0, 1.0, 4.0]))
        arms = features(rng, rounds, dim)
        yield Instance(arms, drift(rng, arms, ridge), ridge)


def features(rng: np.random.Generator, rounds: int, dim: int) -> Floats:
    """Random, nearly aligned, axis by axis, or Theorem 4's: one block, then another that overlaps it."""
    kind = rng.integers(4)
    arms: Floats = np.zeros((rounds, dim))
    if kind == 3 and dim >= 2 and rounds >= 6:
        one, two, first = hard_features(rounds)
        arms[:first, :2], arms[first:, :2] = one, two
        return arms
    arms += rng.standard_normal((rounds, dim))
    if kind == 1:
        arms = rng.standard_normal(dim) + 10.0 ** rng.uniform(-3, 0) * arms
    elif kind == 2:
        arms = np.eye(dim)[np.sort(rng.integers(0, dim, rounds))] + 10.0 ** rng.uniform(-4, -1) * arms
    if rng.random() < 0.3:
        arms = arms * rng.choice([-1.0, 1.0], (rounds, 1))
    unit: Floats = arms / np.linalg.norm(arms, axis=1, keepdims=True)
    return unit


def drift(rng: np.random.Generator, arms: Floats, ridge: float) -> Floats:
    """One jump in the direction that V⁻¹A amplifies most, after the round where it does so most; or a random walk."""
    rounds, dim = arms.shape
    theta = np.zeros((rounds + 1, dim))
    if rng.random() < 0.3:
        return np.cumsum(rng.standard_normal((rounds + 1, dim)), axis=0)
    V = ridge * np.eye(dim) + arms.T @ arms
    best, worst = -1.0, (0, np.zeros(dim))
    for p in {rounds // 4, rounds // 3, rounds // 2, 2 * rounds // 3, rounds - 1}:
        amplified = np.linalg.solve(V, arms[: p + 1].T @ arms[: p + 1])
        _, values, right = np.linalg.svd(amplified)
        if values[0] > best:
            best, worst = float(values[0]), (p, right[0])
    theta[: worst[0] + 1] = worst[1]
    return theta
