"""Our policies and worlds inside coba, River and Gymnasium themselves."""

import copy
import pickle
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from coba import Experiment
from coba.primitives import SimulatedInteraction
from gymnasium.utils.env_checker import check_env
from river import bandit

from common import rounds, unit_rows
from driftbandit import Abrupt, Ball, Clicks, FixedDelay, Gaussian, RestartUCB, StaticUCB, UnitArms, WeightUCB, World, play
from driftbandit.adapters.coba import CobaLearner
from driftbandit.adapters.gymnasium import WorldEnv
from driftbandit.adapters.river import RiverPolicy

NAMED = "driftbandit.adapters.gymnasium:driftbandit"


def small_world(**changes: Any) -> World:
    settings: dict[str, Any] = {"arms": UnitArms(5, fresh=True), "noise": Gaussian(0.1), **changes}
    return World(Abrupt(), horizon=rounds(5000, 300), **settings)


class CobaWorld:
    """A replicate of a world, as coba reads environments; a reward is dealt for every arm."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.params: dict[str, Any] = {"world": "abrupt"}

    def read(self) -> Any:
        for block in self.world.deal(0):
            for theta, columns, noise in zip(block.theta, block.arms.columns, block.noise, strict=True):  # type: ignore[union-attr]
                means = [sum(float(a) * float(b) for a, b in zip(arm, theta, strict=True)) for arm in columns.T]
                actions = [tuple(arm.tolist()) for arm in columns.T]
                yield SimulatedInteraction(None, actions, [mean + float(noise) for mean in means])


def rewards_of(policy: Any, world: World) -> list[float]:
    """What the policy earns in replicate 0, played by hand."""
    env, earned, over = WorldEnv(world), [], False
    arms, _ = env.reset(options={"replicate": 0})
    while not over:
        decision = policy.select(arms)
        arms, reward, over, _, _ = env.step(np.int64(decision.index))
        policy.update(decision, reward)
        earned.append(reward)
    return earned


def test_a_coba_experiment_earns_what_our_own_loop_does() -> None:
    world = small_world()
    policies = [RestartUCB(2, period=100, noise=0.1), WeightUCB(2, discount=0.99, noise=0.1)]
    learners = [CobaLearner(policy) for policy in policies]
    result = Experiment([CobaWorld(world), CobaWorld(small_world(seed=1))], learners).run(quiet=True)
    rows = list(result.interactions.to_dicts())
    for k, policy in enumerate(policies):
        earned = [row["reward"] for row in rows if row["learner_id"] == k and row["environment_id"] == 0]
        assert earned == [round(reward, 5) for reward in rewards_of(copy.deepcopy(policy), world)]  # coba records five digits
        assert policy.rounds == 0
    table = list(result.learners.to_dicts())
    assert [row["family"] for row in table] == ["RestartUCB", "WeightUCB"]
    assert table[0]["period"] == 100
    assert len(rows) == 4 * world.horizon


def test_coba_contexts_cross_with_actions() -> None:
    learner = CobaLearner(StaticUCB(4, arm_norm=2.0, ridge=4.0), features=["a", "xa"])
    _, extra = learner.predict([2.0], [[0.5, 0.0], [0.0, 0.5]])
    assert sorted(extra["decision"].arm) == [0.0, 0.0, 0.5, 1.0]


def test_coba_learners_refuse_what_they_cannot_learn_from() -> None:
    learner = CobaLearner(StaticUCB(2))
    with pytest.raises(ValueError, match="must be dense"):
        learner.predict(None, ["red", "blue"])
    with pytest.raises(ValueError, match="pass what predict returned"):
        learner.learn(None, (1.0, 0.0), 0.5, None)
    assert learner.policy == StaticUCB(2)


def test_river_pulls_what_our_own_loop_selects_and_a_clone_is_fresh() -> None:
    world = small_world()
    policy = RestartUCB(2, period=100, noise=0.1)
    adapter = RiverPolicy(policy, lambda arm_id, context: context[arm_id])
    for player in adapter, adapter.clone():
        env, earned, over = WorldEnv(world), [], False
        arms, _ = env.reset(options={"replicate": 0})
        while not over:
            context = dict(enumerate(arms))
            arm_id = player.pull(range(5), context)  # type: ignore[arg-type]  # as River's own evaluation does
            arms, reward, over, _, _ = env.step(np.int64(arm_id))
            player.update(arm_id, context, reward)
            earned.append(reward)
        assert earned == rewards_of(copy.deepcopy(policy), world)
        assert player._n == world.horizon
    assert policy.rounds == 0
    assert "Reward" in repr(adapter)


def test_rivers_offline_evaluation_rewards_only_the_pulls_it_saw() -> None:
    rng = np.random.default_rng(0)
    features = dict(enumerate(unit_rows(rng, 4, 3)))
    adapter = RiverPolicy(StaticUCB(3, noise=0.1), lambda arm_id, context: features[arm_id])  # type: ignore[index]
    logged = rng.integers(4, size=rounds(2000, 200))
    history: Any = ((range(4), {}, int(arm), float(features[int(arm)][0])) for arm in logged)
    reward, seen = bandit.evaluate_offline(adapter, history)
    assert 0 < seen < len(logged)
    best = max(arm[0] for arm in features.values())
    assert (reward.get() or 0.0) / seen > 0.9 * best


def test_river_rewards_may_come_late_and_in_any_order() -> None:
    early, late = ({"a": [1.0, 0.0], "b": [0.0, 1.0]}, {"a": [0.6, 0.0], "b": [0.0, 0.6]})
    adapter = RiverPolicy(StaticUCB(2), lambda arm_id, context: context[arm_id])
    first, second = adapter.pull(["a", "b"], early), adapter.pull(["a", "b"], late)
    with pytest.raises(ValueError, match="still waits"):
        adapter.update(first, {"a": [0.1, 0.0], "b": [0.0, 0.1]}, 1.0)
    with pytest.raises(ValueError, match="reward must be"):
        adapter.update(first, early, float("nan"))
    adapter.update(second, late, 0.5)
    adapter.update(first, early, 1.0)
    with pytest.raises(ValueError, match="still waits"):
        adapter.update(first, early, 1.0)
    assert adapter._n == 2


@pytest.mark.parametrize("name", ["World-v0", "Abrupt-v0", "Gradual-v0"])
def test_gymnasium_accepts_the_registered_worlds(name: str) -> None:
    settings: dict[str, Any] = {"world": small_world()} if name == "World-v0" else {"horizon": 50}
    env = gymnasium.make(f"{NAMED}/{name}", **settings)
    check_env(env.unwrapped, skip_render_check=True)
    assert isinstance(env.unwrapped, WorldEnv)
    assert env.unwrapped.world.dim == 2


@pytest.mark.parametrize("noise", [Gaussian(0.1), Clicks()])
@pytest.mark.parametrize("fresh", [False, True])
def test_an_episode_has_the_regret_that_play_reports(fresh: bool, noise: Any) -> None:
    world = small_world(arms=UnitArms(5, fresh=fresh), noise=noise, seed=3)
    policy = RestartUCB(2, period=100, noise=0.1)
    expected = play({"ours": policy}, world, replicates=[7]).final("ours")[0]
    env, player, total, over = WorldEnv(world), policy.spawn(7), 0.0, False
    arms, _ = env.reset(options={"replicate": 7})
    while not over:
        decision = player.select(arms)
        arms, reward, over, truncated, info = env.step(np.int64(decision.index or 0))
        player.update(decision, reward)
        total += info["regret"]
        assert not truncated
    assert total == pytest.approx(expected, abs=1e-9)
    with pytest.raises(ValueError, match="call reset"):
        env.step(np.int64(0))


def test_a_copied_environment_goes_on_alike() -> None:
    env = WorldEnv(small_world())
    env.reset(seed=5)
    for _ in range(rounds(4200, 20)):
        env.step(np.int64(0))
    twins = copy.deepcopy(env), pickle.loads(pickle.dumps(env))
    for _ in range(20):
        arms, reward, *_ = env.step(np.int64(1))
        for twin in twins:
            shown, earned, *_ = twin.step(np.int64(1))
            assert earned == reward
            assert np.array_equal(shown, arms)


def test_rivers_evaluation_runs_on_our_worlds() -> None:
    env = gymnasium.make(f"{NAMED}/Abrupt-v0", horizon=40)
    policies = [bandit.UCB(delta=1, seed=1), bandit.EpsilonGreedy(epsilon=0.1, seed=1)]
    trace = list(bandit.evaluate(policies, env, n_episodes=2, seed=1))
    assert len(trace) == 2 * 2 * 40


def test_worlds_that_gymnasium_cannot_express_are_refused() -> None:
    with pytest.raises(ValueError, match="finitely many arms"):
        WorldEnv(small_world(arms=Ball()))
    with pytest.raises(ValueError, match="must not delay"):
        WorldEnv(small_world(delay=FixedDelay(3)))
    env = WorldEnv(small_world())
    env.reset(seed=0)
    for wrong in (5, -1, 1.5):
        with pytest.raises(ValueError, match="action must be"):
            env.step(wrong)  # type: ignore[arg-type]


def test_an_adapter_is_loaded_only_when_asked_for() -> None:
    script = "import sys, driftbandit; [getattr(driftbandit, name) for name in dir(driftbandit)]; import driftbandit.adapters\n"
    script += "print([name for name in ('coba', 'river', 'gymnasium') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
