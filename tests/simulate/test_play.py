"""The loop: the same numbers however it is run, for ours and for anyone's policies."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from common import LONG, every_policy, rounds
from driftbandit import (
    Abrupt,
    Ball,
    BaseRate,
    Clicks,
    Counts,
    Decision,
    DelayArray,
    DetectionAugmentedUCB,
    DisjointArms,
    FixedDelay,
    Gaussian,
    Gradual,
    OracleRestartUCB,
    Path,
    Policy,
    RandomWalk,
    RestartUCB,
    StaticUCB,
    Switching,
    Timeout,
    UniformDelay,
    UnitArms,
    World,
    play,
)

T = rounds(3000, 150)
ARMS: dict[str, Any] = {"fixed": UnitArms(6), "fresh": UnitArms(6, fresh=True), "ball": Ball(0.8)}


class FromOutside:
    """Our policy behind a plain select and update, so that it is played by the Python loop."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def select(self, arms: Any) -> Any:
        return self.policy.select(arms)

    def update(self, decision: Any, reward: float) -> None:
        self.policy.update(decision, reward)


def world_of(arms: str, delay: int) -> World:
    return World(Switching(3, every=rounds(400, 40)), Gaussian(0.3), T, ARMS[arms], UniformDelay(delay))


@pytest.mark.parametrize("delay", [0, 37])
@pytest.mark.parametrize("arms", [pytest.param(arms, marks=LONG) if arms == "ball" else arms for arms in ARMS])
def test_blocks_threads_and_loops_give_the_same_bits(arms: str, delay: int) -> None:
    world = world_of(arms, delay)
    policies = every_policy(3, scale=rounds(200, 30), fixed=arms == "fixed")
    result = play(policies, world, replicates=3, checkpoints=T, threads=2)
    assert result.regret.shape == (len(policies), 3, T)
    assert np.diff(result.regret, axis=2, prepend=0.0).min() >= -1e-12
    for block, threads in ((100, 1), (10_000, 2)):
        again = play(policies, world, replicates=3, checkpoints=T, block=block, threads=threads)
        np.testing.assert_array_equal(result.regret, again.regret)
    outside = {name: lambda w, r, p=p: FromOutside(p.spawn(r)) for name, p in policies.items()}
    python = play(outside, world, replicates=[2], checkpoints=T)
    np.testing.assert_array_equal(result.regret[:, 2], python.regret[:, 0])


@pytest.mark.parametrize(
    ("law", "delay"),
    [
        (Clicks(), UniformDelay(9)),
        (Counts(zeros=0.4), FixedDelay(0)),
        (Clicks(), Timeout(37, UniformDelay(9))),
    ],
    ids=["clicks", "counts", "timeout"],
)
def test_a_shop_gives_the_same_bits_however_it_is_played(law: Any, delay: Any) -> None:
    world = World(BaseRate(Switching(6, every=rounds(400, 40)), 0.3, features=2), law, T, DisjointArms(3, 2), delay)
    policies = {name: every_policy(6, scale=rounds(200, 30))[name] for name in ("restart", "window", "adaptive")}
    result = play(policies, world, replicates=3, checkpoints=T, threads=2)
    again = play(policies, world, replicates=3, checkpoints=T, block=100, threads=1)
    np.testing.assert_array_equal(result.regret, again.regret)
    outside = {name: lambda w, r, p=p: FromOutside(p.spawn(r)) for name, p in policies.items()}
    python = play(outside, world, replicates=[2], checkpoints=T)
    np.testing.assert_array_equal(result.regret[:, 2], python.regret[:, 0])
    assert np.diff(result.regret, axis=2, prepend=0.0).min() >= 0.0
    assert len(set(result.regret[:, 0, -1])) == 3


class Clerk:
    """Plays at random, and notes what is told after which of its decisions."""

    def __init__(self) -> None:
        self.rng, self.chosen = np.random.default_rng(5), list[int]()
        self.told: dict[int, list[tuple[int, float]]] = {}

    def select(self, arms: Any) -> Any:
        self.chosen.append(int(self.rng.integers(len(arms))))
        return Decision(len(self.chosen) - 1, self.chosen[-1], arms[self.chosen[-1]])

    def update(self, decision: Any, reward: float) -> None:
        self.told.setdefault(len(self.chosen) - 1, []).append((decision.round, reward))


@pytest.mark.parametrize("block", [64, 4096])
def test_a_click_is_told_in_its_time_and_a_zero_after_the_timeout(block: int) -> None:
    waits = np.random.default_rng(1).integers(0, 21, 1000)
    drift = BaseRate(Switching(6, every=100), 0.3, features=2)
    world = World(drift, Clicks(), 1000, DisjointArms(3, 2), Timeout(20, DelayArray(waits)))
    clerk = Clerk()
    play({"clerk": lambda world, replicate: clerk}, world, block=block)
    expected: dict[int, list[tuple[int, float]]] = {}
    (whole,) = world.deal()
    for t, (theta, arms, luck) in enumerate(zip(whole.theta, whole.arms[0], whole.noise, strict=True)):
        reward = float(luck < theta @ arms[:, clerk.chosen[t]])
        due = t + (int(waits[t]) if reward else 20)
        if due < 1000:
            expected.setdefault(due, []).append((t, reward))
    assert clerk.told == expected
    assert 200 < sum(reward for told in expected.values() for _, reward in told) < 400


def test_regret_is_that_of_the_means_as_they_are_cut() -> None:
    class Second:
        def select(self, arms: Any) -> int:
            return 1

        def update(self, decision: Any, reward: float) -> None:
            pass

    theta = [[1.5, 1.2], [-0.5, -0.1], [0.3, -0.2], [1.5, 0.6]]
    for law, regret in ((Clicks(), [0.0, 0.0, 0.3, 0.4]), (Counts(), [0.3, 0.0, 0.3, 0.9])):
        result = play({"second": Second()}, World(Path(theta), law, 4, np.eye(2)), checkpoints=4)
        np.testing.assert_allclose(np.diff(result.regret[0, 0], prepend=0.0), regret, atol=1e-12)
    cut = World(Path(np.full((50, 2), [3.0, 2.0])), Clicks(), 50, np.eye(2))
    assert play(RestartUCB(2, period=5), cut).regret.max() == 0.0


def test_the_best_arm_has_no_regret_at_all() -> None:
    class Oracle:
        def __init__(self, world: World, replicate: int) -> None:
            self.theta = iter(np.concatenate([b.theta for b in world.deal(replicate)]))

        def select(self, arms: Any) -> int:
            theta = next(self.theta)
            values = [sum(a * b for a, b in zip(arm, theta, strict=True)) for arm in getattr(arms, "rows", arms)]
            return int(np.argmax(values))

        def update(self, decision: Any, reward: float) -> None:
            assert isinstance(decision, int)

    for arms in ("fixed", "fresh"):
        assert play({"oracle": Oracle}, world_of(arms, 0)).regret.max() == 0.0


def test_policies_are_left_alone_and_replicates_differ() -> None:
    policy = RestartUCB(2, period=50)
    result = play([policy], World(Abrupt(), Gaussian(0.3), T), replicates=4, checkpoints=[1, T // 2, T])
    assert policy == RestartUCB(2, period=50)
    assert result.names == ("RestartUCB(dim=2, period=50)",)
    assert result.checkpoints.tolist() == [1, T // 2, T]
    assert len(set(result.final(result.names[0]))) == 4
    np.testing.assert_allclose(result.mean[0, -1], result.regret[0, :, -1].mean())
    np.testing.assert_allclose(result.std[0, -1], result.regret[0, :, -1].std(ddof=1))


def test_a_result_as_a_table() -> None:
    policies = {"a": RestartUCB(2, period=20), "b": RestartUCB(2, period=50)}
    result = play(policies, World(Abrupt(), Gaussian(0.3), T), replicates=[3, 1], checkpoints=[T // 2, T])
    table = result.table()
    assert table.schema == {"policy": pl.String, "replicate": pl.Int64, "round": pl.Int64, "regret": pl.Float64}
    assert table.height == 2 * 2 * 2
    for k, name in enumerate("ab"):
        for r, replicate in enumerate((3, 1)):
            part = table.filter(policy=name, replicate=replicate)
            assert part["round"].to_list() == [T // 2, T]
            assert part["regret"].to_list() == result.regret[k, r].tolist()


def test_an_interrupted_play_does_not_play_to_the_end() -> None:
    played: list[int] = []

    def interrupt(rounds: int) -> None:
        played.append(rounds)
        if len(played) == 3:
            raise KeyboardInterrupt

    world = World(Gradual(), Gaussian(0.3), 10**9)
    with pytest.raises(KeyboardInterrupt):
        play(RestartUCB(2, period=50), world, replicates=2, block=10, threads=2, progress=interrupt)
    assert sum(played) < 10**6


def test_an_error_says_whose_it_is() -> None:
    with pytest.raises(ValueError, match="one of the 20 offered") as caught:
        play({"honest": Greedy(), "liar": Liar()}, World(Gradual(), Gaussian(0.1), 10), replicates=[4])
    assert caught.value.__notes__ == ["while liar played replicate 4"]


def test_every_policy_meets_the_same_noise() -> None:
    """Published comparisons have drawn anew for each policy."""
    policy = RestartUCB(3, period=50)
    result = play({"a": policy, "b": policy, "c": policy}, world_of("fresh", 0))
    np.testing.assert_array_equal(result.regret[0], result.regret[1])
    np.testing.assert_array_equal(result.regret[0], result.regret[2])


def test_makers_know_the_world_and_the_replicate() -> None:
    world = World(Switching(2, every=rounds(300, 30)), Gaussian(0.1), T)
    made = []

    def oracle(world: World, replicate: int) -> OracleRestartUCB:
        made.append(replicate)
        return OracleRestartUCB(2, change_points=world.change_points(replicate), noise=0.1)

    result = play({"oracle": oracle, "never": RestartUCB(2, period=T, noise=0.1)}, world, replicates=4)
    assert sorted(made) == [0, 1, 2, 3]
    assert result.final("oracle").mean() < result.final("never").mean()


def test_delays_cost_regret() -> None:
    world = World(Gradual(), Gaussian(0.3), T)
    late = World(Gradual(), Gaussian(0.3), T, delay=UniformDelay(T // 10))
    policy = {"p": RestartUCB(2, period=T // 4, noise=0.3)}
    replicates = rounds(20, 6)
    prompt, delayed = (play(policy, w, replicates=replicates).final("p").mean() for w in (world, late))
    assert delayed > prompt


def test_progress_counts_every_round() -> None:
    seen: list[int] = []
    policies = [RestartUCB(2, period=50), StaticUCB(2)]
    play(policies, World(RandomWalk(), Gaussian(), T), replicates=2, threads=1, progress=seen.append)
    assert sum(seen) == 2 * 2 * T


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replicates": 0}, "replicates must be at least 1"),
        ({"checkpoints": [T + 1]}, "checkpoints must lie between 1 and the horizon"),
        ({"checkpoints": []}, "checkpoints"),
        ({"block": 0}, "block must be at least 1"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"replicates": []}, "number of replicates must be at least 1"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        play([RestartUCB(2, period=5)], World(Abrupt(), Gaussian(), T), **options)


def test_arms_longer_than_a_policy_allows_are_refused_by_either_loop() -> None:
    policy = RestartUCB(2, period=50)
    for player in (policy, FromOutside(policy)):
        with pytest.raises(ValueError, match="arm_norm"):
            play({"p": player}, World(Gradual(), Gaussian(0.1), 50, Ball(50.0)))
    with pytest.raises(ValueError, match="arm_norm"):
        play(RestartUCB(2, period=50, arm_norm=0.1), World(Gradual(), Gaussian(0.1), 50, UnitArms(3, fresh=True)))


@pytest.mark.parametrize("arms", ["fresh", "ball"])
def test_a_policy_for_fixed_arms_refuses_others_in_either_loop(arms: str) -> None:
    policy = DetectionAugmentedUCB(3, horizon=T, noise=0.3)
    for player in (policy, FromOutside(policy)):
        with pytest.raises(ValueError, match="arms must be"):
            play({"p": player}, world_of(arms, 0))


class Vandal:
    def select(self, arms: Any) -> int:
        with pytest.raises(ValueError, match="read-only"):
            np.asarray(arms)[:] *= 10.0
        return 0

    def update(self, decision: Any, reward: float) -> None:
        pass


def test_a_policy_cannot_change_the_world() -> None:
    for dim in (1, 2):
        for fresh in (False, True):
            play({"v": Vandal()}, World(RandomWalk(dim), Gaussian(0.1), 20, UnitArms(1, fresh=fresh)))


class Greedy:
    def __init__(self) -> None:
        self.theta = np.ones(2)

    def select(self, arms: Any) -> int:
        return int(np.argmax(arms @ self.theta))

    def update(self, decision: Any, reward: float) -> None:
        self.theta = 0.9 * self.theta + 0.1 * reward


def test_plain_numpy_policies_play_fixed_arms() -> None:
    result = play({"greedy": Greedy()}, World(Gradual(), Gaussian(0.1), 100), replicates=2)
    assert np.isfinite(result.regret).all()


class Liar(Greedy):
    def select(self, arms: Any) -> Any:
        return Decision(0, None, np.array([9.0, 9.0]))


def test_an_arm_that_was_not_offered_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Liar.select must return an arm: one of the 20 offered.*in round 0 it returned Deci"):
        play({"liar": Liar()}, World(Gradual(), Gaussian(0.1), 10))


class Says:
    """Says this in the third round, and before that what is right."""

    def __init__(self, what: Any) -> None:
        self.what, self.told = what, list[Any]()

    def select(self, arms: Any) -> Any:
        return SimpleNamespace(arm=np.array([0.3, 0.4])) if len(self.told) < 2 else self.what

    def update(self, decision: Any, reward: float) -> None:
        self.told.append(decision)


OFFERED = [[0.3, 0.4], [0.0, 1.0]]


@pytest.mark.parametrize(
    "what",
    [-1, 2, True, 1.0, None, "0", [0.3, 0.4], (0.3, 0.4), np.array([0.3, 0.4]), np.int64(-1), SimpleNamespace(index=2)]
    + [SimpleNamespace(arm=arm) for arm in (0.3, [0.3], [[0.3, 0.4]], [0.3, 0.5], ["a", "b"], [np.nan, 0.4], None)],
    ids=repr,
)
def test_what_is_no_arm_is_refused_with_player_round_and_value(what: Any) -> None:
    world = World(Gradual(), Gaussian(0.1), 10, OFFERED)
    with pytest.raises(ValueError, match=r"Says.select must return an arm: one of the 2 offered.*in round 2 it ret") as error:
        play({"p": Says(what)}, world)
    assert str(error.value).endswith(repr(what))
    ball = World(Gradual(), Gaussian(0.1), 10, Ball(0.5))
    if getattr(what, "arm", None) != [0.3, 0.5]:
        with pytest.raises(ValueError, match=r"must return an arm: one of Ball\(radius=0.5\), as 2 numbers.*in round 2"):
            play({"p": Says(what)}, ball)


def test_an_arm_outside_the_ball_is_refused() -> None:
    world = World(Gradual(), Gaussian(0.1), 10, Ball(0.5))
    play({"p": Says(SimpleNamespace(arm=[0.0, 0.5]))}, world)
    with pytest.raises(ValueError, match="in round 2"):
        play({"p": Says(SimpleNamespace(arm=[0.0, 0.51]))}, world)


@pytest.mark.parametrize("what", [0, np.int8(0), SimpleNamespace(arm=[0.3, 0.4]), SimpleNamespace(index=0, arm=None)], ids=repr)
def test_an_arm_is_meant_by_number_or_by_itself(what: Any) -> None:
    player = Says(what)
    world = World(Gradual(), Gaussian(0.1), 10, OFFERED)
    first = play({"p": lambda world, replicate: player, "zero": Says(0)}, world).regret
    np.testing.assert_array_equal(first[0], first[1])
    assert player.told[-1] is what


class Dealer(Says):
    def spawn(self, replicate: int) -> "Dealer":
        return Dealer(replicate)


def test_a_player_that_can_spawn_has_luck_of_its_own_in_each_replicate() -> None:
    world = World(Gradual(), Gaussian(0.1), 10, OFFERED)
    dealt = play({"p": Dealer(None)}, world, replicates=2).regret[0]
    for replicate in (0, 1):
        np.testing.assert_array_equal(
            dealt[replicate], play({"p": Says(replicate)}, world, replicates=[replicate]).regret[0, 0]
        )
    assert dealt[0, -1] != dealt[1, -1]


@pytest.mark.parametrize("what", [5, object(), lambda world, replicate: 5, SimpleNamespace(select=print)])
def test_what_cannot_play_is_refused(what: Any) -> None:
    with pytest.raises(ValueError, match="policies must have the methods select and update, got"):
        play({"p": what}, World(Gradual(), Gaussian(0.1), 10))


def used_policy(world: World, replicate: int) -> Policy:
    policy = RestartUCB(2, period=5)
    policy.select(np.eye(2))
    return policy


def test_used_and_doubled_policies_are_refused() -> None:
    world = World(Gradual(), Gaussian(0.1), 50)
    with pytest.raises(ValueError, match="must be fresh"):
        play({"used": used_policy}, world)
    with pytest.raises(ValueError, match="must be given by name"):
        play([RestartUCB(2, period=5), RestartUCB(2, period=5)], world)
    two, three = cast(Any, (np.int64(2), np.int64(3)))
    assert play(RestartUCB(2, period=5), world, replicates=two, checkpoints=three).regret.shape == (1, 2, 3)


def test_rewards_that_never_come() -> None:
    world = World(Gradual(), Gaussian(0.1), 60, delay=FixedDelay(10**12))
    assert np.isfinite(play(RestartUCB(2, period=5), world).regret).all()


def test_a_policy_of_another_dimension_is_refused() -> None:
    with pytest.raises(ValueError, match="dim = 2"):
        play([RestartUCB(3, period=5)], World(Abrupt(), Gaussian(), T))
    with pytest.raises(ValueError, match="policies must not be empty"):
        play([], World(Abrupt(), Gaussian(), T))
