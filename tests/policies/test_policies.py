"""Policies as values and as users meet them: parameters, errors, copies, files."""

import copy
import json
import pickle
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import driftbandit
from common import FIXED_KINDS, KINDS, every_policy, rounds, unit_rows
from driftbandit import (
    Ball,
    BanditOverBandit,
    CusumUCB,
    DetectionAugmentedUCB,
    DiscountedTS,
    FixedArms,
    Master,
    OracleRestartUCB,
    Policy,
    RestartUCB,
    StaticUCB,
    WeightUCB,
    WindowUCB,
)
from driftbandit.checks import CheckFailed, check_policy
from driftbandit.checks.policy import CHECKS
from driftbandit.core.kinds import is_ours
from driftbandit.core.random import luck
from driftbandit.policies import every
from driftbandit.policies._base.confident import ConfidentPolicy
from driftbandit.policies._base.leaves import leaves, state_bytes
from driftbandit.policies._base.verbs import begin
from driftbandit.policies._evidence.policy import EvidencePolicy
from naive import NaiveBob, twin_of


def run(policy: Policy, total: int, seed: int = 0, fixed: bool = False) -> list[int | None]:
    rng = np.random.default_rng(seed)
    arms = FixedArms(unit_rows(np.random.default_rng(99), 6, policy.dim))
    chosen = []
    for _ in range(total):
        decision = policy.select(arms if fixed else unit_rows(rng, 6, policy.dim))
        policy.update(decision, float(decision.arm[0] + 0.1 * rng.standard_normal()))
        chosen.append(decision.index)
    return chosen


@pytest.mark.parametrize("kind", KINDS)
def test_conformance(kind: str) -> None:
    assert check_policy(every_policy(3, scale=rounds(400, 60))[kind]) == list(CHECKS)


def test_conformance_with_shorter_arms() -> None:
    assert check_policy(StaticUCB(2, arm_norm=0.5, noise=0.1)) == list(CHECKS)


class Stubborn:
    dim = 2

    def select(self, arms: Any) -> Any:
        return driftbandit.Decision(0, 0, np.asarray(arms)[0])

    def update(self, decision: Any, reward: float) -> None:
        pass


def failures(policy: Any, dim: int = 2) -> dict[str, str]:
    with pytest.raises(CheckFailed) as failed:
        check_policy(policy, dim)
    heading, *lines = str(failed.value).splitlines()
    assert heading == f"{type(policy).__name__} fails {len(lines)} of {len(CHECKS)} checks"
    assert isinstance(failed.value.__cause__, ExceptionGroup)
    assert len(failed.value.__cause__.exceptions) == len(lines)
    return dict(line.split(": ", 1) for line in lines)


def test_conformance_names_every_promise_that_is_broken() -> None:
    broken = ["learns_from_rewards", "a_decision_is_used_once", "bad_arms_are_refused", "bad_rewards_are_refused"]
    assert list(failures(Stubborn())) == broken
    assert "NaN in arms raised no ValueError; infinity in arms raised no ValueError" in failures(Stubborn())[broken[2]]
    with pytest.raises(ValueError, match="dim must be given, since object has no attribute"):
        check_policy(object())


class Trusting(Stubborn):
    def update(self, decision: Any, reward: float) -> None:
        self.total = reward + 0.0


def test_an_error_of_another_kind_names_the_case_that_raised_it() -> None:
    message = failures(Trusting())["bad_rewards_are_refused"]
    assert "a reward of None raised TypeError (unsupported operand" in message
    assert "a reward of much raised TypeError (can only concatenate" in message


class Numbered:
    """One of ours that tells no more than an arm's number, as far as that goes."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def select(self, arms: Any) -> Any:
        self.decision = self.policy.select(arms)
        return self.decision.index

    def update(self, decision: int, reward: float) -> None:
        self.policy.update(self.decision, reward)

    def __copy__(self) -> "Numbered":
        return copy.deepcopy(self)


def test_conformance_takes_bare_numbers_as_play_does() -> None:
    late = failures(Numbered(StaticUCB(2, noise=0.1)))
    assert list(late) == ["rewards_may_come_late_and_in_any_order"]  # a number does not tell its round


class Wrong(Numbered):
    def select(self, arms: Any) -> Any:
        return super().select(arms) - len(arms)


class Torn(Numbered):
    def select(self, arms: Any) -> Any:
        decision = self.policy.select(arms)
        return driftbandit.Decision(0, decision.index, np.zeros(2))


def test_conformance_refuses_what_play_refuses_and_what_contradicts_itself() -> None:
    assert "Wrong.select must return an arm: one of the 1 offered" in failures(Wrong(StaticUCB(2)))["chooses_an_offered_arm"]
    assert "has the number of another arm" in failures(Torn(StaticUCB(2)))["chooses_an_offered_arm"]


CASINO = np.random.default_rng(0)


class Gambler(Stubborn):
    """Its luck is not its own: every copy draws from the same generator."""

    def select(self, arms: Any) -> Any:
        return int(CASINO.integers(len(arms)))


def test_conformance_notices_luck_that_copies_share() -> None:
    assert "a deep copy that played the same rounds chose differently" in failures(Gambler())["same_seed_same_choices"]


def test_every_kind_is_a_policy_that_can_be_made() -> None:
    ours = [name for name, kind in every().items() if is_ours(kind)]
    made = {type(policy).__name__ for policy in every_policy(2, fixed=True).values()}
    assert set(ours) - made == set(), "add an instance of each of these to every_policy in tests/common.py"
    assert made - set(ours) == set(), "every_policy in tests/common.py has these, but src/driftbandit/policies does not"
    with pytest.raises(TypeError, match="abstract"):
        EvidencePolicy(2)  # type: ignore[abstract]


def test_a_state_that_lacks_a_verb_is_refused_by_name() -> None:
    class Idle(NamedTuple):
        ridge: int

    with pytest.raises(TypeError, match=r"Idle does not implement begin: register a function with @begin.of\(Idle\)"):
        begin(Idle(0), 0, np.zeros(4))


def test_no_policy_of_a_users_own_takes_the_name_of_ours() -> None:
    def define(name: str, module: str) -> type:
        return type(name, (StaticUCB,), {"__module__": module})

    with pytest.raises(TypeError, match=r"mine.WindowUCB must have another name.*driftbandit.policies.window.WindowUCB"):
        define("WindowUCB", "mine")
    assert every()["WindowUCB"] is WindowUCB
    first, second = define("Evening", "mine"), define("Evening", "mine")  # as in a notebook
    assert every()["Evening"] is second is not first
    with pytest.raises(TypeError, match=r"mine.Evening must have another name.*driftbandit.policies.evening.Evening"):
        define("Evening", "driftbandit.policies.evening")


@pytest.mark.parametrize("kind", FIXED_KINDS)
def test_prints_as_the_call_that_makes_it(kind: str) -> None:
    policy = every_policy(3, fixed=True)[kind]
    assert eval(repr(policy), {name: getattr(driftbandit, name) for name in dir(driftbandit)}) == policy


@pytest.mark.parametrize("kind", FIXED_KINDS)
def test_equal_by_value(kind: str) -> None:
    first, second = (every_policy(3, fixed=True)[kind] for _ in range(2))
    fixed = kind not in KINDS
    assert first == second
    run(first, 20, fixed=fixed)
    assert first != second
    run(second, 20, fixed=fixed)
    assert first == second
    assert first == copy.copy(first) == copy.deepcopy(first) == pickle.loads(pickle.dumps(first))
    assert first != every_policy(3, seed=1, fixed=True)[kind]


@pytest.mark.parametrize(("kind", "fixed"), [(kind, False) for kind in KINDS] + [(kind, True) for kind in FIXED_KINDS])
def test_saved_and_loaded_half_way_goes_on_to_the_last_bit(kind: str, fixed: bool, tmp_path: Path) -> None:
    half = rounds(1500, 60)
    policy = every_policy(4, scale=rounds(200, 25), fixed=True)[kind]
    run(policy, half, fixed=fixed)
    waiting = policy.select(unit_rows(np.random.default_rng(5), 4, 4) if kind in KINDS else cast(FixedArms, policy._kept))
    policy.save(tmp_path / "half.npz")
    loaded = Policy.load(tmp_path / "half.npz")
    assert loaded == policy
    loaded.update(pickle.loads(pickle.dumps(waiting)), 0.25)
    policy.update(waiting, 0.25)
    assert run(loaded, half, seed=3, fixed=fixed) == run(policy, half, seed=3, fixed=fixed)
    assert loaded == policy


def test_a_saved_file_is_data_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    RestartUCB(2, period=10).save(path)
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
    assert header["policy"] == "RestartUCB"
    assert header["given"] == {"dim": 2, "period": 10}
    with pytest.raises(ValueError, match="holds a RestartUCB, not a WindowUCB"):
        WindowUCB.load(path)
    whole = path.read_bytes()
    for damaged in (b"", b"nonsense", whole[: len(whole) // 2], whole[:-1]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="not a saved policy"):
            Policy.load(path)
    with pytest.raises(FileNotFoundError):
        Policy.load(tmp_path / "nowhere.npz")


def test_a_file_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftbandit.policies._base.saved.VERSION", 99)
    RestartUCB(2, period=10).save(tmp_path / "new.npz")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="version 99"):
        Policy.load(tmp_path / "new.npz")


@pytest.mark.parametrize("kind", FIXED_KINDS)
def test_all_but_the_dimension_goes_by_name(kind: str) -> None:
    make: Any = type(every_policy(2, fixed=True)[kind])
    with pytest.raises(TypeError, match="positional"):
        make(2, 5)


def test_tuned_by_theory_or_given() -> None:
    assert RestartUCB(2, horizon=50_000, path_length=6.83).period == 101
    assert WindowUCB(2, horizon=50_000, path_length=np.pi).window == 150
    assert WeightUCB(2, horizon=50_000, path_length=np.pi).discount == 1 - 1 / 150
    assert RestartUCB(2, horizon=50_000, path_length=0.0).period == 50_000
    assert RestartUCB(2, period=7, horizon=1000).delta == 1e-3
    assert RestartUCB(2, period=7).delta == 0.01
    assert RestartUCB(2, period=7, horizon=1).delta == RestartUCB(2, period=7, horizon=2).delta == 0.5
    assert CusumUCB(3, horizon=100, noise=0.6, theta_norm=2.0).ridge == pytest.approx(0.27)  # d(R/S)²
    bob = BanditOverBandit(2, horizon=50_000)
    assert (bob.pool, bob.episode) == ([1, 2, 4, 9, 19, 38, 76, 152, 304], 448)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RestartUCB(2), "period must be given, or horizon and path_length"),
        (lambda: WindowUCB(2, horizon=100), "window must be given"),
        (lambda: WeightUCB(2, discount=0.9, horizon=100, path_length=1.0), "not both"),
        (lambda: WeightUCB(2, discount=1.0), "discount must lie strictly between 0 and 1"),
        (lambda: RestartUCB(0, period=3), "dim must be at least 1"),
        (lambda: RestartUCB(cast(int, 2.5), period=3), "dim must be a whole number"),
        (lambda: RestartUCB(2, period=0), "period must be at least 1"),
        (lambda: RestartUCB(2, period=3, ridge=0.0), "ridge must be greater than 0"),
        (lambda: RestartUCB(2, period=3, ridge=float("nan")), "ridge must be finite"),
        (lambda: RestartUCB(2, period=3, noise=-1.0), "noise must not be negative"),
        (lambda: RestartUCB(2, period=3, delta=1.5), "delta must lie strictly between"),
        (lambda: RestartUCB(2, period=3, arm_norm=1e9), "ridge must be at least 1e-12"),
        (lambda: RestartUCB(2, period=3, seed=-1), "seed must be at least 0"),
        (lambda: OracleRestartUCB(2, change_points=[5, 5]), "change_points must increase"),
        (lambda: OracleRestartUCB(2, change_points=[0, 5]), "change_points must be at least 1"),
        (lambda: CusumUCB(2), "threshold must be given, or horizon"),
        (lambda: CusumUCB(2, threshold=5.0, noise=0.0), "ridge must be greater than 0"),
        (lambda: CusumUCB(2, threshold=5.0, noise=0.0, ridge=1.0), "noise must be greater than 0"),
        (lambda: DiscountedTS(2, horizon=100), "discount must be given"),
        (lambda: Master(2), "horizon must be given"),
        (lambda: Master(2, horizon=9, slack=0.0), "slack must be greater than 0"),
        (lambda: DetectionAugmentedUCB(2), "horizon must be given"),
        (lambda: DetectionAugmentedUCB(2, horizon=9, noise=0.0), "noise must be greater than 0"),
        (lambda: BanditOverBandit(2), "horizon must be given"),
        (lambda: BanditOverBandit(2, horizon=99, base="weight"), "base must be one of 'restart', 'window'"),
        (lambda: BanditOverBandit(2, horizon=99, meta="ucb"), "meta must be one of"),
        (lambda: BanditOverBandit(2, horizon=99, pool=[]), "pool must not be empty"),
    ],
)
def test_bad_parameters_are_named(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_parameters_after_dim_are_keyword_only() -> None:
    with pytest.raises(TypeError):
        cast(Any, RestartUCB)(2, 100)


def test_long_arms_beside_lambda_only_warn() -> None:
    with pytest.warns(UserWarning, match="proved for"):
        RestartUCB(2, period=3, arm_norm=2.0)


def test_a_late_reward_belongs_to_the_round_of_its_decision() -> None:
    arms = np.eye(2)
    restart, window = RestartUCB(2, period=3), WindowUCB(2, window=2)
    for policy, gone in ((restart, 3), (window, 3)):
        decisions = [policy.select(arms) for _ in range(4)]
        before = policy.estimate()
        for late in decisions[: gone - 1]:
            policy.update(late, 1.0)
        np.testing.assert_array_equal(policy.estimate().theta, before.theta)  # its epoch is over, it left the window
        policy.update(decisions[3], 1.0)
        assert policy.estimate().theta.max() == 0.5
    weight = WeightUCB(2, discount=0.5)
    decisions = [weight.select(arms[:1]) for _ in range(3)]
    weight.update(decisions[0], 1.0)  # two rounds old: weight 1/4
    assert weight.estimate().theta[0] == pytest.approx(0.25 / 1.25)


def test_the_count_in_beta_starts_anew_with_each_epoch() -> None:
    """Restarted learners in published code kept the global clock in β."""
    policy = RestartUCB(2, period=50, noise=1.0)
    first = policy.estimate().radius
    run(policy, 50)
    assert policy.estimate().radius == first


@settings(max_examples=rounds(150, 40), deadline=None)
@given(
    st.sampled_from(KINDS),
    arrays(np.float64, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4), elements=st.floats(width=64)),
)
@example(KINDS[0], np.full((1, 2), 9.48075191e153))  # each square is finite, their sum is not
def test_any_array_gets_a_named_error_or_a_right_answer(kind: str, arms: Any) -> None:
    policy = every_policy(2)[kind]
    twin, naive = copy.deepcopy(policy), twin_of(policy)
    refused = []
    try:
        decision = policy.select(arms)
    except ValueError as error:
        refused.append(str(error))
    if refused:
        assert "arms" in refused[0]
        assert policy == twin
    else:
        assert arms.ndim == 2
        assert np.linalg.norm(arms, axis=1).max() <= policy.arm_norm * (1 + 1e-8)
        if kind.startswith("bob"):
            cast(NaiveBob, naive).turn()
        theta, metric, beta = naive.estimate()
        index = arms @ theta + beta * np.sqrt(np.einsum("ij,jk,ik->i", arms, metric, arms))
        assert index[decision.index] >= index.max() - 1e-9 * abs(index).max()


@settings(max_examples=rounds(100, 20), deadline=None)
@given(st.one_of(st.floats(), st.integers(), st.none(), st.text(), st.complex_numbers()))
def test_any_reward_gets_a_named_error_or_is_learnt(reward: Any) -> None:
    policy = RestartUCB(2, period=10)
    decision = policy.select(np.eye(2))
    twin = copy.deepcopy(policy)
    refused = []
    try:
        policy.update(decision, reward)
    except ValueError as error:
        refused.append(str(error))
    if refused:
        assert "reward" in refused[0]
        assert policy == twin
    else:
        assert np.isfinite(policy.estimate().theta).all()
        with pytest.raises(ValueError, match="decision"):
            policy.update(decision, reward)


@settings(max_examples=rounds(30, 8), deadline=None)
@given(st.sampled_from([k for k in KINDS if not k.startswith("bob")]), st.integers(-40, 40), st.integers(-30, 30))
@example("adaptive-intercept", 40, 0)
def test_choices_do_not_depend_on_units(kind: str, arm_power: int, reward_power: int) -> None:
    """Arms in other units (and λ, L, S with them), rewards in other units (and S, R): the same choices, exactly."""
    a, b = 2.0**arm_power, 2.0**reward_power
    plain = every_policy(3, scale=20)[kind]
    units: dict[str, float] = {}  # what is told nothing needs no telling
    if isinstance(plain, ConfidentPolicy):
        units = {"ridge": plain.ridge * a * a, "arm_norm": a, "theta_norm": b / a, "noise": plain.noise * b}
    scaled = type(plain)(**plain._given | units)
    rng = np.random.default_rng(0)
    for _ in range(60):
        rows = unit_rows(rng, 5, 3)
        first, second = plain.select(rows), scaled.select(rows * a)
        assert first.index == second.index
        reward = float(rng.standard_normal())
        plain.update(first, reward)
        scaled.update(second, reward * b)


def test_a_policy_for_fixed_arms_takes_one_set_and_refuses_all_else() -> None:
    policy = DetectionAugmentedUCB(2, horizon=100, noise=0.3)
    arms = FixedArms([[1.0, 0.0], [0.6, 0.8], [0.0, 0.5]])
    policy.update(policy.select(arms), 1.0)
    before = copy.copy(policy)
    for other in (arms.rows, Ball(), FixedArms(np.eye(2))):
        with pytest.raises(ValueError, match="arms must be"):
            policy.select(other)
        assert policy == before
    assert policy.select(FixedArms(arms.rows)).round == 1


def test_forced_visits_span_the_arms_and_a_shift_starts_afresh() -> None:
    rows = np.array([[1.0, 0.0, 0.0], [0.9, 0.0, 0.0], [0.0, 0.8, 0.0], [0.5, 0.8, 0.0]])  # a plane: two arms cover it
    arms, policy = FixedArms(rows), DetectionAugmentedUCB(3, horizon=2000, noise=0.1)
    policy.keep(arms)
    cover = policy.state.cover.tolist()
    assert len(cover) == 2
    assert np.linalg.matrix_rank(rows[cover]) == 2
    cycle = int(np.ceil(2 / np.sqrt(2 * np.log(2000) / 2000)))
    for t in range(20 * cycle):
        decision = policy.select(arms)
        if t % cycle < 2:
            assert decision.index == cover[t % cycle]
        policy.update(decision, float(decision.arm[0]))
    assert policy.state.clock[1] == 1
    late = policy.select(arms)
    while policy.state.clock[1] == 1:
        decision = policy.select(arms)
        policy.update(decision, float(decision.arm[0] - decision.arm[1]) if decision.round < 2000 else np.nan)
    before = leaves(copy.deepcopy(policy.state))
    policy.update(late, 1.0)  # from before the restart
    assert all(np.array_equal(before[name], array) for name, array in leaves(policy.state).items())


def test_memory_is_constant_for_restart_and_w_rows_for_window() -> None:
    def held(policy: Policy) -> int:
        return state_bytes(policy.state)

    for make, per_row in ((lambda m: RestartUCB(5, period=m), 0), (lambda m: WindowUCB(5, window=m), 8 * (5 + 1 + 1))):
        small, large = make(10), make(1010)
        before = held(small)
        run(small, rounds(500, 100))
        assert held(small) == before
        assert held(large) - held(small) == 1000 * per_row


@pytest.mark.parametrize(("ridge", "window"), [(1e-4, 3), (1e-6, 2), (1e-6, 40), (1e-8, 30)])
@pytest.mark.filterwarnings("ignore:arm_norm")
@pytest.mark.parametrize("make", [lambda m, r: WindowUCB(4, window=m, ridge=r), lambda m, r: RestartUCB(4, period=m, ridge=r)])
def test_a_small_ridge_stays_exact(make: Any, ridge: float, window: int) -> None:
    """The first round in a direction multiplies by about 1/λ, removing the last divides by it: rounding must not stay."""
    policy = make(window, ridge)
    twin = twin_of(policy)
    rng = np.random.default_rng(0)
    wrong = 0
    for t in range(rounds(1500, 120)):
        rows = unit_rows(rng, 6, 4)
        decision = policy.select(rows)
        wrong += decision.index != twin.select(rows)
        reward = float(decision.arm[0] + 0.1 * rng.standard_normal())
        policy.update(decision, reward)
        twin.arms[t] = decision.arm
        twin.update(t, reward)
    assert wrong == 0
    np.testing.assert_allclose(policy.estimate().theta, twin.estimate()[0], rtol=1e-6, atol=1e-6)


def test_a_window_forgets_an_outlier_whole() -> None:
    first, second = (WindowUCB(3, window=10) for _ in range(2))
    for t in range(60):
        rows = np.eye(3)[[t % 3]]
        for policy in (first, second):
            policy.update(policy.select(rows), 1e16 if t == 20 and policy is second else 0.5)
    np.testing.assert_allclose(first.estimate().theta, second.estimate().theta, rtol=1e-12)


def test_fixed_sets_of_one_arm_or_one_feature_load(tmp_path: Path) -> None:
    for arms in (np.ones((1, 3)) / 3, np.ones((4, 1)) / 2):
        policy = WindowUCB(arms.shape[1], window=5)
        policy.update(policy.select(FixedArms(arms)), 1.0)
        policy.save(tmp_path / "one.npz")
        assert Policy.load(tmp_path / "one.npz") == policy


def test_a_fixed_set_cannot_be_changed_from_outside() -> None:
    fixed = FixedArms(np.eye(2))
    for array in (fixed.rows, fixed.columns):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 5.0
    assert np.asarray(fixed) @ np.ones(2) == pytest.approx(1.0)
    assert fixed[1].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("arms", "length"),
    [
        ([[0.6, 0.8], [3.0, 4.0], [1.0, 0.0]], "5 in row 1"),
        (FixedArms([[0.6, 0.8], [1.0, 0.0], [0.0, 2.5]]), "2.5 in row 2"),
        (Ball(1.5), "1.5"),
    ],
)
def test_arms_that_are_too_long_are_named_with_what_to_do(arms: Any, length: str) -> None:
    policy = RestartUCB(2, period=10)
    before = copy.copy(policy)
    message = f"longer than arm_norm = 1, got a length of {length}: scale the arms, or make the policy with a larger arm_norm"
    with pytest.raises(ValueError, match=message):
        policy.select(arms)
    assert policy == before
    assert RestartUCB(2, period=10, arm_norm=5.0, ridge=25.0).select(arms).round == 0


@pytest.mark.parametrize("mask", [False, [[False, False], [True, False]]])
def test_masked_arrays_are_refused(mask: Any) -> None:
    masked = np.ma.masked_array([[1.0, 0.0], [9.0, 1.0]], mask)
    for arms in (masked, list(masked), tuple(masked)):
        for take in (RestartUCB(2, period=10).select, FixedArms, driftbandit.Path):
            with pytest.raises(ValueError, match="must not be masked"):
                take(arms)


@pytest.mark.parametrize(("yes", "number"), [(True, 1.0), (False, 0.0), (np.True_, 1.0), (np.False_, 0.0), (np.int8(3), 3.0)])
def test_yes_and_no_are_rewards_of_1_and_0(yes: Any, number: float) -> None:
    first, second = (RestartUCB(2, period=10) for _ in range(2))
    first.update(first.select(np.eye(2)), yes)
    second.update(second.select(np.eye(2)), number)
    assert first == second


NO_NUMBERS = [1j, np.complex64(1), np.complex128(1), np.array(1 + 0j), np.timedelta64(3, "s"), np.ma.masked, "1"]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_float_would_take_and_lose_a_part_of_is_no_number(value: Any) -> None:
    policy = RestartUCB(2, period=10)
    decision = policy.select(np.eye(2))
    with pytest.raises(ValueError, match="reward must be a number"):
        policy.update(decision, value)
    for wrong in (value, True, np.True_):
        with pytest.raises(ValueError, match="noise must be a number"):
            RestartUCB(2, period=10, noise=cast(Any, wrong))
    policy.update(decision, 1.0)


def test_arms_at_the_edge_of_the_norm_are_chosen_or_refused() -> None:
    policy = RestartUCB(2, period=10)
    for k in range(-300, 300):
        long = np.array([[(1 + 1e-9) * (1 + k * 2.0**-52), 0.0]])
        before = policy.rounds
        try:
            decision = policy.select(long)
        except ValueError:
            assert policy.rounds == before
        else:
            assert decision.index == 0
            assert decision.arm[0] == long[0, 0]


def test_a_decision_cannot_be_changed() -> None:
    for arms in (np.eye(2), FixedArms(np.eye(2)), Ball(0.5)):
        decision = RestartUCB(2, period=10).select(arms)
        with pytest.raises(ValueError, match="read-only"):
            decision.arm[0] = 3.0
        with pytest.raises(AttributeError):
            cast(Any, decision).arm = np.zeros(1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: RestartUCB(2, **cast(Any, {"period": np.int64(10), "noise": np.float32(0.5), "horizon": np.int64(100)})),
        lambda: OracleRestartUCB(2, change_points=cast(Any, np.array([3, 9]))),
        lambda: OracleRestartUCB(2, change_points=(3, 9)),
        lambda: BanditOverBandit(2, horizon=100, pool=cast(Any, np.array([3, 9]))),
        lambda: RestartUCB(2, period=5).spawn(3),
    ],
)
def test_whatever_type_a_parameter_had_it_saves_and_loads(make: Any, tmp_path: Path) -> None:
    policy = make()
    policy.save(tmp_path / "p.npz")
    assert Policy.load(tmp_path / "p.npz") == policy == make()


def test_the_callers_list_is_not_kept() -> None:
    pool = [3, 9]
    policy = BanditOverBandit(2, horizon=100, pool=pool)
    pool.append(99)
    assert policy.spawn(0).pool == [3, 9]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RestartUCB(2, period=10**30), "period must be at most"),
        (lambda: RestartUCB(2, period=3, noise=10**400), "noise must be finite"),
        (lambda: WindowUCB(2, window=10**11), "window must fit into memory"),
        (lambda: WeightUCB(2, discount=1e-200), "discount must be at least"),
        (lambda: RestartUCB(2, period=3).select([["1", "0"]]), "arms must be an array of numbers"),
        (lambda: RestartUCB(2, period=3).select([[1j, 0]]), "arms must be an array of numbers"),
    ],
)
def test_extremes_are_named_too(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_spawned_policies_have_luck_of_their_own() -> None:
    assert not np.array_equal(luck(0, 0, 4), luck((0, 0), 0, 4))
    assert not np.array_equal(luck((0, 0), 0, 4), luck((0, 1), 0, 4))
    np.testing.assert_array_equal(luck((0, 1), 0, 40)[10:], luck((0, 1), 10, 30))
