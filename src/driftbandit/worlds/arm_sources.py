"""Arm sources: random arm sets of a world, one for all rounds or a fresh one each round. No arm is longer than 1."""

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from driftbandit.core import validate
from driftbandit.core.types import Floats
from driftbandit.worlds.part import Part


class ArmSource(Part):
    count: int
    fresh: bool

    @property
    def longest(self) -> float:
        return 1.0

    @abstractmethod
    def draw(self, rng: np.random.Generator, dim: int, sets: int) -> Floats:
        """(sets, dim, count), one arm per column."""


@dataclass(frozen=True)
class UnitArms(ArmSource):
    """``count`` random arms of unit length: one set for all rounds, or a ``fresh`` one each round."""

    count: int = 20
    fresh: bool = False

    def __post_init__(self) -> None:
        validate.settle(self, count=validate.whole("count", self.count))

    def draw(self, rng: np.random.Generator, dim: int, sets: int) -> Floats:
        arms = rng.standard_normal((sets, dim, self.count))
        arms /= np.sqrt(np.einsum("sdn,sdn->sn", arms, arms))[:, None, :]
        return arms


@dataclass(frozen=True)
class UnevenArms(UnitArms):
    """Random arms with lengths between ``shortest`` and 1, whose j-th feature varies ``decay``^j as much as the first."""

    shortest: float = 1.0
    decay: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("shortest", "decay"):
            validate.settle(self, **{name: validate.positive(name, getattr(self, name))})
            if getattr(self, name) > 1.0:
                raise ValueError(f"{name} must be at most 1, got {getattr(self, name):g}")

    def draw(self, rng: np.random.Generator, dim: int, sets: int) -> Floats:
        arms = super().draw(rng, dim, sets) * self.decay ** np.arange(dim)[:, None]
        lengths = rng.uniform(self.shortest, 1.0, (sets, 1, self.count))
        arms *= lengths / np.sqrt(np.einsum("sdn,sdn->sn", arms, arms))[:, None, :]
        return arms


@dataclass(frozen=True)
class DisjointArms(ArmSource):
    """``actions`` that share a context of ``features`` numbers, new each round, and nothing else: arm a = e_a ⊗ context.

    So dim = actions × features. A context has unit length; its first number is always features^-½, the rest are random.
    """

    actions: int = 6
    features: int = 4
    fresh = True

    def __post_init__(self) -> None:
        actions, features = validate.whole("actions", self.actions), validate.whole("features", self.features)
        validate.settle(self, actions=actions, features=features, count=actions)

    @property
    def dim(self) -> int:
        return self.actions * self.features

    def draw(self, rng: np.random.Generator, dim: int, sets: int) -> Floats:
        context = rng.standard_normal((sets, self.features))
        rest = context[:, 1:]
        rest /= np.sqrt(np.einsum("sf,sf->s", rest, rest))[:, None]
        rest *= math.sqrt(1.0 - 1.0 / self.features)
        context[:, 0] = 1.0 / math.sqrt(self.features)
        arms: Floats = np.einsum("ab,sf->safb", np.eye(self.actions), context)
        return arms.reshape(sets, dim, self.actions)
