"""Worlds: paths and their lengths, noise, delays, and rounds that do not depend on how they are cut."""

import math
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import poisson as poissons_law

from common import rounds
from driftbandit import (
    Abrupt,
    Accelerating,
    Alternating,
    Ball,
    BaseRate,
    Breathing,
    CalmBurst,
    Clicks,
    Constant,
    Counts,
    DelayArray,
    DisjointArms,
    Ellipsoid,
    FixedDelay,
    Gaussian,
    GeometricDelay,
    Gradual,
    HeavyDelay,
    Hidden,
    Late,
    NoiseArray,
    Path,
    Rademacher,
    RandomWalk,
    Rarer,
    Returning,
    Scaled,
    Seasonal,
    StudentT,
    Swaying,
    Switching,
    Timeout,
    UnevenArms,
    Uniform,
    UniformDelay,
    UnitArms,
    World,
    axes,
)
from driftbandit.worlds.drift import Drift
from driftbandit.worlds.reward import MOST, draw_reward, mean_reward, poisson

T = rounds(20_000, 5_000)
DRIFTS: dict[str, Any] = {
    "abrupt": Abrupt(3),
    "gradual": Gradual(2),
    "seasonal": Seasonal(4, period=700),
    "constant": Constant(5),
    "switching": Switching(3, every=300),
    "burst": CalmBurst(2, every=200),
    "walk": RandomWalk(3, step=0.01),
    "hidden": Hidden(5),
    "returning": Returning(3, every=700, count=3),
    "rarer": Rarer(3, first=150),
    "late": Late(4),
    "accelerating": Accelerating(3, angle=5.0),
    "swaying": Swaying(3, period=900),
    "breathing": Breathing(3, period=900),
    "scaled": Scaled(RandomWalk(3, step=0.01), 0.1),
    "base-rate": BaseRate(Switching(6, every=300), rate=0.05, features=2),
    "array": Path(np.random.default_rng(0).uniform(-1, 1, (T, 2))),
}


def path_of(world: World, replicate: int = 0, block: int = 4096) -> Any:
    return np.concatenate([rounds.theta for rounds in world.deal(replicate, block)])


def test_every_drift_is_put_to_the_test() -> None:
    assert set(Drift.kinds().values()) <= {type(drift) for drift in DRIFTS.values()}


@pytest.mark.parametrize("name", DRIFTS)
def test_a_path_has_its_length_however_it_is_cut(name: str) -> None:
    world = World(DRIFTS[name], Gaussian(0.1), T, UnitArms(2))
    theta = path_of(world)
    assert theta.shape == (T, world.dim)
    if name not in ("array", "hidden", "swaying", "breathing", "scaled", "base-rate"):
        np.testing.assert_allclose(np.linalg.norm(theta, axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(theta, path_of(world, block=333))
    steps = np.linalg.norm(np.diff(theta, axis=0), axis=1)
    assert world.path_length() == pytest.approx(steps.sum(), rel=1e-12)
    assert world.change_points() == (np.flatnonzero(steps) + 1).tolist()


def test_the_papers_paths() -> None:
    abrupt = World(Abrupt(), Gaussian(), 50_000)
    assert abrupt.path_length() == pytest.approx(4 + 2 * math.sqrt(2))  # 6.83
    assert abrupt.change_points() == [6250, 12_500, 18_750, 25_000]
    theta = path_of(abrupt)
    corners = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 0], [1, 0]]
    np.testing.assert_array_equal(theta[[0, 6250, 12_500, 18_750, 25_000, 49_999]], corners)
    gradual = World(Gradual(), Gaussian(), 50_000)
    assert gradual.path_length() == pytest.approx(math.pi, rel=1e-9)
    np.testing.assert_allclose(path_of(gradual)[[0, -1]], [[1, 0], [-1, 0]], atol=1e-12)


def test_drifts_do_what_their_names_say() -> None:
    switches = np.diff([0, *World(Switching(3, every=300), Gaussian(), T).change_points()])
    assert 150 <= switches.min() <= switches.max() <= 450
    assert switches.mean() == pytest.approx(300, rel=0.1 if T > 10_000 else 0.3)
    burst = np.array(World(CalmBurst(2, every=200), Gaussian(), T).change_points())
    assert burst[0] == T // 2
    assert burst[-1] < T // 2 + T // 4
    walk = World(RandomWalk(3, step=0.01), Gaussian(), T)
    steps = np.linalg.norm(np.diff(path_of(walk), axis=0), axis=1)
    assert np.sqrt((steps**2).mean()) == pytest.approx(0.01, rel=0.03)
    season = path_of(World(Seasonal(2, period=700), Gaussian(), 2100))
    np.testing.assert_array_equal(season[:700], season[1400:])
    assert World(Constant(5), Gaussian(), T).path_length() == 0.0


def test_paths_that_trouble() -> None:
    hidden = path_of(World(Hidden(5), Gaussian(), 6000))
    rest: list[list[float]] = [[0, 0, 0, 0], [0.85, 0, 0, 0], [0, 0, 0, 0], [0, 0.85, 0, 0], [0, 0, 0, 0], [0, 0, 0.85, 0]]
    np.testing.assert_array_equal(hidden, np.repeat([[0.5, *others] for others in rest], 1000, axis=0))
    seasons = World(Returning(3, every=700, count=3), Gaussian(), 4900)
    assert seasons.change_points() == [700, 1400, 2100, 2800, 3500, 4200]
    np.testing.assert_array_equal(path_of(seasons)[:2100], path_of(seasons)[2100:4200])
    assert World(Rarer(3, first=100), Gaussian(), 5000).change_points() == [100, 300, 700, 1500, 3100]
    assert World(Late(4), Gaussian(), 5000).change_points() == [4500]
    faster = path_of(World(Accelerating(3, angle=8.0), Gaussian(), 5001))
    angle = np.unwrap(np.arctan2(faster[:, 1], faster[:, 0]))
    np.testing.assert_allclose(angle[[0, 2500, 5000]], [0.0, 2.0, 8.0], atol=1e-9)
    swaying = path_of(World(Swaying(4, period=1000), Gaussian(), 2000))
    assert (swaying[:, 1:] == swaying[0, 1:]).all()
    np.testing.assert_allclose(swaying[[0, 500, 1000], 0], np.sqrt(0.5) * np.array([1, -1, 1]))
    np.testing.assert_allclose(np.linalg.norm(swaying[0]), 1.0)
    breathing = path_of(World(Breathing(4, period=1000), Gaussian(), 2000))
    np.testing.assert_allclose(np.linalg.norm(breathing[[0, 500]], axis=1), [1.0, 0.2])
    np.testing.assert_allclose(breathing[500], 0.2 * breathing[0])
    plain, longer = (World(drift, Gaussian(), T, UnitArms(2)) for drift in (Switching(3), Scaled(Switching(3), 10.0)))
    np.testing.assert_array_equal(path_of(longer), 10.0 * path_of(plain))


def test_a_rotation_keeps_to_its_plane_in_any_dimension() -> None:
    for dim in (2, 5, 10):
        world = World(Gradual(dim, angle=20.0), Gaussian(), 5000)
        theta = path_of(world)
        assert world.path_length() == pytest.approx(20.0, rel=1e-5)
        assert not theta[:, 2:].any()
        np.testing.assert_allclose(theta[-1, :2], [math.cos(20.0), math.sin(20.0)])


def test_arms_of_other_shapes() -> None:
    np.testing.assert_array_equal(axes(3), [*np.eye(3), *-np.eye(3)])
    for fresh in (False, True):
        world = World(Constant(4), Gaussian(), 500, UnevenArms(50, fresh=fresh, shortest=0.3, decay=0.5))
        columns = next(world.deal()).arms[0].reshape(-1, 4, 50)
        lengths = np.linalg.norm(columns, axis=1)
        assert 0.3 <= lengths.min() < 0.4
        assert 0.9 < lengths.max() <= 1.0 + 1e-12
        spread = np.sqrt((columns**2).mean(axis=(0, 2)))
        assert (np.diff(spread) < 0).all()
        assert (columns[:, 3] ** 2).mean() < 0.1 * (columns[:, 0] ** 2).mean()
    even, uneven = (next(World(Constant(4), Gaussian(), 5, kind(7)).deal()).arms[0] for kind in (UnitArms, UnevenArms))
    np.testing.assert_allclose(even, uneven, rtol=1e-12)


@pytest.mark.parametrize(
    "arms",
    [
        UnitArms(7),
        UnitArms(7, fresh=True),
        UnevenArms(7, fresh=True, shortest=0.1),
        DisjointArms(actions=3, features=1),
        Ball(0.5),
        Ellipsoid(np.diag([0.5, 1.0, 0.1])),
        np.eye(3),
    ],
)
def test_blocks_of_any_size_hold_the_same_rounds(arms: Any) -> None:
    def flat(block: int) -> list[Any]:
        world = World(RandomWalk(3), Uniform(0.2), 9000, arms, UniformDelay(30), seed=(4, 2))
        blocks = list(world.deal(3, block))
        fields: list[Any] = [np.concatenate([getattr(b, name) for b in blocks]) for name in ("theta", "noise", "best")]
        told = [b.arrivals[b.upto[i] : b.upto[i + 1]].tolist() for b in blocks for i in range(len(b.noise))]
        dealt = blocks[0].arms[0] if not getattr(arms, "fresh", False) else np.concatenate([b.arms[0] for b in blocks])
        return [*fields, dealt, told]

    whole = flat(9000)
    for block in (1000, 77, 4096):
        for first, second in zip(whole, flat(block), strict=True):
            assert first == second if isinstance(first, list) else np.array_equal(first, second)


def test_replicates_and_seeds_differ_and_streams_are_independent() -> None:
    def first(seed: Any, replicate: int) -> Any:
        return next(World(Switching(4), Gaussian(), 50, UnitArms(3), seed=seed).deal(replicate))

    blocks = [first(0, 0), first(0, 1), first(1, 0), first((0, 1), 0)]
    for field in ("noise", "theta"):
        assert len({getattr(block, field).tobytes() for block in blocks}) == 4
    other_noise = next(World(Switching(4), Rademacher(), 50, UnitArms(3)).deal(0))
    np.testing.assert_array_equal(other_noise.theta, blocks[0].theta)
    np.testing.assert_array_equal(other_noise.arms[0], blocks[0].arms[0])


def test_the_best_value_is_the_best() -> None:
    for arms in (UnitArms(9), UnitArms(9, fresh=True)):
        block = next(World(Gradual(3), Gaussian(), 300, arms).deal())
        columns = np.broadcast_to(block.arms[0], (300, 3, 9))
        np.testing.assert_allclose(block.best, np.einsum("td,tdn->tn", block.theta, columns).max(axis=1))
    block = next(World(Gradual(2), Gaussian(), 300, Ball(0.5)).deal())
    np.testing.assert_allclose(block.best, 0.5)


def test_disjoint_arms_share_a_context_and_nothing_else() -> None:
    world = World(Constant(12), Gaussian(), 5000, DisjointArms(actions=4, features=3))
    columns = np.concatenate([block.arms[0] for block in world.deal(block=999)])
    arms = columns.transpose(0, 2, 1).reshape(5000, 4, 4, 3)  # round, arm, action, feature
    context = arms[:, 0, 0]
    np.testing.assert_array_equal(arms, np.eye(4)[None, :, :, None] * context[:, None, None, :])
    np.testing.assert_array_equal(context[:, 0], 1 / math.sqrt(3))
    np.testing.assert_allclose(np.linalg.norm(context, axis=1), 1.0)
    np.testing.assert_allclose((context**2).mean(axis=0), 1 / 3, rtol=0.05)
    assert np.abs(context[:, 1:].mean(axis=0)).max() < 0.03
    alone = next(World(Constant(4), Gaussian(), 2, DisjointArms(actions=4, features=1)).deal())
    np.testing.assert_array_equal(alone.arms[0], [np.eye(4)] * 2)


def means_of(world: World, replicate: int = 0) -> Any:
    """(T, n): what each arm of each round gives on average."""
    blocks = list(world.deal(replicate))
    expected = np.concatenate([np.einsum("td,tdn->tn", block.theta, block.arms[0]) for block in blocks])
    return np.vectorize(lambda value: mean_reward(world.noise.form, value))(expected)


def test_a_base_rate_is_what_actions_give_on_average() -> None:
    drift = BaseRate(Switching(24, every=5), rate=0.05, features=4, spread=0.4)
    world = World(drift, Gaussian(), 5000, DisjointArms())
    means = means_of(world)
    assert means.mean() == pytest.approx(0.05, rel=0.03)
    assert means.std() == pytest.approx(0.4 * 0.05, rel=0.03)
    lengths = np.linalg.norm(path_of(world), axis=1)
    assert 0.7 * drift.length < lengths.max() <= drift.length
    steady = World(BaseRate(Constant(24), rate=0.05, features=4, spread=0.0), Gaussian(), 50, DisjointArms())
    np.testing.assert_allclose(means_of(steady), 0.05)
    assert steady.drift.length == pytest.approx(np.linalg.norm(path_of(steady)[0]))  # type: ignore[attr-defined]


def test_a_hidden_change_among_actions() -> None:
    means = means_of(World(BaseRate(Hidden(24, features=4), rate=0.1, features=4), Clicks(), 6000, DisjointArms()))
    np.testing.assert_allclose(means[:, 0], 0.1 * (1 + 0.25 * math.sqrt(6)))
    best = means.argmax(axis=1).reshape(6, 1000)
    np.testing.assert_array_equal(best, np.repeat([[0], [1], [0], [2], [0], [3]], 1000, axis=1))
    np.testing.assert_allclose(means.max(axis=1)[1000:2000], 0.1 * (1 + 0.425 * math.sqrt(6)))
    np.testing.assert_allclose(means[:, 4:], 0.1)


@pytest.mark.parametrize(
    ("law", "expected", "mean", "variance"),
    [
        (Clicks(), 0.05, 0.05, 0.05 * 0.95),
        (Clicks(), 0.7, 0.7, 0.21),
        (Clicks(), 1.3, 1.0, 0.0),
        (Clicks(), -0.2, 0.0, 0.0),
        (Counts(), 0.3, 0.3, 0.3),
        (Counts(), 12.0, 12.0, 12.0),
        (Counts(), -0.2, 0.0, 0.0),
        (Counts(zeros=0.8), 0.5, 0.5, 0.5 + 0.25 * 4),
        (Counts(zeros=0.5), 300.0, 300.0, 300.0 + 300.0**2),
        (Counts(zeros=0.5), 1e9, MOST / 2, MOST**2 / 4),
    ],
)
def test_rewards_have_the_mean_and_variance_of_their_law(law: Any, expected: float, mean: float, variance: float) -> None:
    draws = rounds(40_000, 10_000)
    luck = np.concatenate([block.noise for block in World(Constant(1), law, draws, [[1.0]]).deal()])
    assert mean_reward(law.form, expected) == mean
    rewards = np.array([draw_reward(law.form, mean, u) for u in luck])
    assert rewards.min() >= 0.0
    assert not (rewards % 1).any()
    assert rewards.mean() == pytest.approx(mean, abs=4 * math.sqrt(variance / draws))
    assert rewards.var() == pytest.approx(variance, rel=0.1)
    greater = np.array([draw_reward(law.form, mean_reward(law.form, 1.5 * mean), u) for u in luck])
    assert (greater >= rewards).all()  # the same luck


def test_scales_are_the_deviation_that_they_say() -> None:
    assert Clicks().scale == 0.5
    assert Counts().scale == 1.0
    assert Counts(zeros=0.8, typical=0.5).scale == pytest.approx(math.sqrt(0.5 + 0.25 * 4))


@pytest.mark.parametrize("mean", [0.0, 0.01, 1.0, 50.0, 99.9, 100.1, 5000.0])
def test_counts_invert_poissons_law(mean: float) -> None:
    luck = np.random.default_rng(0).random(500)
    np.testing.assert_array_equal([poisson(mean, u) for u in luck], poissons_law.ppf(luck, mean))
    assert poisson(mean, 0.0) <= mean <= poisson(mean, 1 - 2.0**-53) <= mean + 10 * math.sqrt(mean) + 41


@pytest.mark.parametrize(
    ("noise", "mean_square"),
    [
        (Gaussian(0.5), 0.25),
        (Uniform(0.6), 0.12),
        (Rademacher(0.5), 0.25),
        (StudentT(0.5, freedom=6.0), 0.25),
        (Alternating(0.5, quiet=0.2, every=900), 0.25 * (1 + 0.04) / 2),
    ],
)
def test_noise_has_its_scale(noise: Any, mean_square: float) -> None:
    values = np.concatenate([b.noise for b in World(Constant(1), noise, 40_000, [[1.0]]).deal()])
    assert abs(values.mean()) < 0.02
    assert (values**2).mean() == pytest.approx(mean_square, rel=0.05)


def test_noise_is_heavy_or_alternates() -> None:
    def values(noise: Any) -> Any:
        return np.concatenate([b.noise for b in World(Constant(1), noise, 40_000, [[1.0]]).deal(block=333)])

    assert abs(values(StudentT(1.0))).max() > 10 > 6 > abs(values(Gaussian(1.0))).max()
    by_turns = abs(values(Alternating(1.0, quiet=0.01, every=5000))).reshape(8, 5000).mean(axis=1)
    np.testing.assert_allclose(by_turns, np.tile([1.0, 0.01], 4) * math.sqrt(2 / math.pi), rtol=0.05)


def test_delays_stay_in_their_range_and_every_reward_comes_once() -> None:
    for delay in (FixedDelay(7), UniformDelay(20, shortest=5), GeometricDelay(4.0, longest=50)):
        world = World(Constant(1), Gaussian(), 5000, [[1.0]], delay)
        told: dict[int, int] = {}
        for block in world.deal(0, 512):
            for i in range(len(block.noise)):
                for s in block.arrivals[block.upto[i] : block.upto[i + 1]]:
                    assert s not in told
                    told[int(s)] = block.start + i - int(s)
        assert set(range(5000 - delay.longest)) <= told.keys()
        waits = np.array([told[s] for s in range(4900)])
        assert waits.max() <= delay.longest
        if isinstance(delay, GeometricDelay):
            assert waits.mean() == pytest.approx(4.0, rel=0.1)
        else:
            assert waits.min() == (7 if isinstance(delay, FixedDelay) else 5)


def test_a_heavy_tail_is_as_heavy_as_it_says() -> None:
    delay = HeavyDelay(10.0, longest=300, tail=1.5)
    waits = np.concatenate(list(delay.deal(40_000, lambda page: np.random.default_rng(page))))
    for k in (0, 1, 5, 20, 100, 300):
        assert (waits >= k).mean() == pytest.approx((1 + k / 10) ** -1.5, rel=0.2, abs=1e-4)
    assert waits.max() == 300


def test_arrays_of_ones_own_are_played_as_given() -> None:
    theta = np.array([[0.5, 0.0], [0.0, 0.5], [0.1, 0.1]])
    world = World(Path(theta), NoiseArray([0.1, 0.2, 0.3]), 3, np.eye(2), DelayArray([2, 0, 0]))
    block = next(world.deal())
    np.testing.assert_array_equal(block.theta, theta)
    np.testing.assert_array_equal(block.noise, [0.1, 0.2, 0.3])
    assert block.arrivals.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: World(Abrupt(), Gaussian(), 0), "horizon must be at least 1"),
        (lambda: World(Abrupt(), Gaussian(), 10, np.eye(3)), "arms must have 2 columns"),
        (
            lambda: list(World(Path(np.eye(2)), Gaussian(), 3).deal()),
            "theta must have an entry for each of 3 rounds",
        ),
        (lambda: list(World(Abrupt(), NoiseArray([1.0]), 3).deal()), "values must have an entry"),
        (lambda: Path([[np.nan]]), "theta must be finite"),
        (lambda: Abrupt(1), "dim must be at least 2"),
        (lambda: Switching(2, every=0), "every must be at least 1"),
        (lambda: StudentT(1.0, freedom=2.0), "freedom must exceed 2"),
        (lambda: Alternating(1.0, quiet=2.0), "quiet must be at most 1"),
        (lambda: UnevenArms(3, decay=2.0), "decay must be at most 1"),
        (lambda: Hidden(1), "dim must be at least 2"),
        (lambda: Late(2, at=1.0), "at must lie strictly between 0 and 1"),
        (lambda: Scaled(Abrupt(), 0.0), "length must be greater than 0"),
        (lambda: Gaussian(-1.0), "scale must not be negative"),
        (lambda: UniformDelay(3, shortest=4), "longest must be at least 4"),
        (lambda: DelayArray([0.5]), "values must be whole numbers"),
        (lambda: UnitArms(0), "count must be at least 1"),
        (lambda: Gradual(angle=math.nan), "angle must be finite"),
        (lambda: World(Abrupt(), cast(Any, 0.1), 10), "noise must be a Noise"),
        (lambda: World(Abrupt(), Gaussian(), 10, Ellipsoid(np.eye(3))), "shape must be"),
        (lambda: list(World(Abrupt(), Gaussian(), 10).deal(block=0)), "block must be at least 1"),
        (lambda: DelayArray([1e300]), "values must be whole numbers"),
        (lambda: Counts(zeros=1.0), "zeros must be less than 1"),
        (lambda: Counts(typical=0.0), "typical must be greater than 0"),
        (lambda: HeavyDelay(0.0, longest=5), "scale must be greater than 0"),
        (lambda: Timeout(-1), "wait must be at least 0"),
        (lambda: Timeout(5, FixedDelay(6)), "delay must be at most the wait of 5"),
        (lambda: Timeout(5, Timeout(2)), "delay must be a Delay other than Timeout"),
        (lambda: Timeout(5, cast(Any, 3)), "delay must be a Delay"),
        (lambda: DisjointArms(0), "actions must be at least 1"),
        (lambda: World(Abrupt(5), Clicks(), 10, DisjointArms(2, 3)), "arms must have 5 columns, like the drift, got 6"),
        (lambda: BaseRate(cast(Any, Scaled(Constant(4), 2.0)), 0.1, features=2), "drift must have unit length"),
        (lambda: BaseRate(Constant(5), 0.1, features=2), "features must divide the 5 dimensions"),
        (lambda: BaseRate(Constant(4), 0.0, features=2), "rate must be greater than 0"),
        (lambda: Hidden(4, features=4), "features must leave room for two actions"),
    ],
)
def test_bad_worlds_are_named(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
