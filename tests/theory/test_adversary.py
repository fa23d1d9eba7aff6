"""The instances that try to break the lemmas are as hard as they say."""

from typing import Any, cast

import numpy as np
import pytest

from driftbandit import theory
from driftbandit.theory.adversary import Instance, drift, features, instances

pytestmark = pytest.mark.plain


class Loaded:
    """A generator whose kind of features and whose coin are settled."""

    def __init__(self, kind: int, coin: float, seed: int = 0) -> None:
        self.kind, self.coin, self.rng = kind, coin, np.random.default_rng(seed)

    def integers(self, *limits: int) -> Any:
        return self.kind if limits == (4,) else self.rng.integers(*cast(Any, limits))

    def random(self) -> float:
        return self.coin

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rng, name)


def loaded(kind: int = 0, coin: float = 0.5, seed: int = 0) -> np.random.Generator:
    return cast(np.random.Generator, Loaded(kind, coin, seed))


def test_instances_are_epochs_of_unit_features() -> None:
    found = list(instances(np.random.default_rng(0), 300))
    assert len(found) == 300
    assert {instance.arms.shape[1] for instance in found} == {1, 2, 3, 5, 8, 20, 50}
    assert {instance.ridge for instance in found} == {1.0, 4.0}
    lengths = {len(instance.arms) for instance in found}
    assert min(lengths) <= 3
    assert 110 < max(lengths) < 120
    for instance in found:
        assert instance.theta.shape == (len(instance.arms) + 1, instance.arms.shape[1])
        np.testing.assert_allclose(np.linalg.norm(instance.arms, axis=1), 1.0)
    shorter = [len(instance.arms) for instance in instances(np.random.default_rng(0), 100, longest=4)]
    assert set(shorter) == {2, 3}


def test_the_path_length_by_hand() -> None:
    theta = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 3.0]])
    assert Instance(np.eye(2), theta, 1.0).path_length == pytest.approx(6.0)


def test_features_at_random_point_everywhere() -> None:
    arms = features(loaded(0), 400, 3)
    assert np.linalg.norm(arms.mean(axis=0)) < 0.15
    assert np.linalg.eigvalsh(arms.T @ arms / 400).min() > 0.25


def test_features_all_but_aligned() -> None:
    angles = [np.abs(arms @ arms[0]).min() for arms in (features(loaded(1, seed=seed), 30, 4) for seed in range(20))]
    assert max(angles) > 0.9999
    assert min(angles) < 0.9


def test_features_axis_by_axis() -> None:
    for seed in range(10):
        arms = features(loaded(2, seed=seed), 60, 4)
        axes = np.abs(arms).argmax(axis=1)
        assert np.abs(arms).max(axis=1).min() > 0.85
        assert set(axes) == {0, 1, 2, 3}
        assert (np.diff(axes) >= 0).all()
        assert len(np.unique(arms, axis=0)) == 60


def test_features_of_the_theorem() -> None:
    one, two, first = theory.hard_features(7)
    for dim in (2, 5):
        arms = features(loaded(3), 7, dim)
        np.testing.assert_array_equal(arms[:, :2], [one] * first + [two] * (7 - first))
        np.testing.assert_array_equal(arms[:, 2:], 0.0)
    assert len(np.unique(features(loaded(3), 6, 2), axis=0)) == 2
    for rounds, dim in ((5, 2), (9, 1)):  # too few for it: at random
        assert features(loaded(3), rounds, dim).shape == (rounds, dim)


def test_some_features_change_signs() -> None:
    steady, flipped = features(loaded(1, coin=0.3, seed=3), 40, 3), features(loaded(1, coin=0.29, seed=3), 40, 3)
    signs = np.sign(np.einsum("nd,nd->n", steady, flipped))
    np.testing.assert_allclose(flipped, signs[:, None] * steady)
    assert set(signs) == {-1.0, 1.0}


@pytest.mark.parametrize("rounds", [7, 24, 41])
@pytest.mark.parametrize("ridge", [1.0, 4.0])
@pytest.mark.parametrize("kind", range(4))
def test_the_jump_moves_the_estimate_as_far_as_one_can(rounds: int, ridge: float, kind: int) -> None:
    arms = features(loaded(kind, seed=rounds), rounds, 3)
    theta = drift(loaded(coin=0.3), arms, ridge)
    V = ridge * np.eye(3) + arms.T @ arms
    tried = {rounds // 4, rounds // 3, rounds // 2, 2 * rounds // 3, rounds - 1}
    worst = max(np.linalg.norm(np.linalg.solve(V, arms[: p + 1].T @ arms[: p + 1]), 2) for p in tried)
    assert theory.drift_term(arms, theta, ridge) == pytest.approx(worst, rel=1e-9)
    assert Instance(arms, theta, ridge).path_length == pytest.approx(1.0)


@pytest.mark.parametrize("last", [300, 400, 600, 800, 1199])
def test_the_jump_comes_where_the_features_turn(last: int) -> None:
    """Two features at a small angle: what is learnt along the first alone throws off by one over its sine."""
    arms = np.array([[1.0, 0.0]] * (last + 1) + [[np.cos(0.2), np.sin(0.2)]] * (1199 - last))
    theta = drift(loaded(coin=0.3), arms, 0.01)
    np.testing.assert_allclose(np.linalg.norm(theta[: last + 1], axis=1), 1.0)
    np.testing.assert_array_equal(theta[last + 1 :], 0.0)
    assert theory.drift_term(arms, theta, 0.01) == pytest.approx(1 / np.sin(0.2) if last < 1199 else 1.0, rel=0.01)


def test_or_theta_walks() -> None:
    arms = features(loaded(), 50, 3)
    theta = drift(loaded(coin=0.29), arms, 1.0)
    steps = np.diff(theta, axis=0)
    assert theta.shape == (51, 3)
    assert (steps != 0.0).all()
    assert 0.7 < steps.std() < 1.3
