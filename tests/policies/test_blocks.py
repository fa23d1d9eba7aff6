"""Models in blocks: what a dense encoding does, at the cost of a block."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from common import rounds
from driftbandit import (
    AdaptiveUCB,
    Ball,
    DetectUCB,
    DiscountedTS,
    FixedArms,
    LightWeightUCB,
    Master,
    OracleRestartUCB,
    Policy,
    RestartUCB,
    StaticUCB,
    WeightUCB,
    WindowUCB,
)
from driftbandit.core.blocks import new_estimate
from driftbandit.core.ridge import METRIC, V
from driftbandit.core.rows import appraise_row
from driftbandit.core.types import Floats
from driftbandit.policies._base.leaves import state_bytes
from driftbandit.policies._evidence.archive import new_archive
from driftbandit.policies._evidence.bank import LEARNT
from driftbandit.policies._evidence.block_bank import FAINT, new_block_bank
from driftbandit.policies._evidence.lateness import new_lateness
from driftbandit.policies._evidence.played import played_of

B, W = 4, 3
SHARED = pytest.mark.parametrize("shared", [0, 2])
T = rounds(3000, 400)


def dense(rows: Floats) -> Floats:
    """The same arms, with a column for every feature: the shared ones, then one block after the other."""
    shared = rows.shape[1] - 1 - W
    arms = np.zeros((len(rows), shared + B * W))
    for arm, row in zip(arms, rows, strict=True):
        start = shared + int(row[0]) * W
        arm[:shared], arm[start : start + W] = row[1 : 1 + shared], row[1 + shared :]
    return arms


def visits(seed: int, count: int, shared: int = 0, sparse: bool = False) -> list[Floats]:
    """A context, the same for every block, in each round, and shared features; now and then a block is not offered."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        context = np.eye(W)[rng.integers(W)] if sparse else rng.normal(size=W)
        blocks = np.sort(rng.permutation(B)[: rng.integers(2, B + 1)])
        own = np.tile(0.7 * context / np.linalg.norm(context), (len(blocks), 1))
        common = rng.normal(size=(len(blocks), shared))
        rows.append(np.column_stack([blocks, 0.2 * common / (1.0 + np.abs(common)), own]))
    return rows


def side_by_side(one: Policy, other: Policy, shape: Any, sparse: bool = False, until_restart: bool = False) -> int:
    """Play both on the same visits, with a θ that turns round half-way: how often their choices differ."""
    rng = np.random.default_rng(2)
    theta, differ = rng.normal(size=one.dim), 0
    for t, rows in enumerate(visits(1, T, one.shared, sparse)):
        if t == T // 2:
            theta = -theta
        mine, yours = one.select(rows), other.select(shape(rows))
        differ += mine.index != yours.index
        if until_restart and one.state.bank.clock[2]:
            break
        assert mine.index is not None
        reward = float(dense(rows)[mine.index] @ theta + 0.3 * rng.standard_normal())
        one.update(mine, reward)
        other.update(yours, reward)
    return differ


CONFIDENT = [
    (StaticUCB, {}),
    (RestartUCB, {"period": 150}),
    (OracleRestartUCB, {"change_points": [T // 2]}),
    (LightWeightUCB, {"discount": 0.98}),
    (WeightUCB, {"discount": 0.98}),
    (DiscountedTS, {"discount": 0.98, "noise": 0.3}),
    (WindowUCB, {"window": 60}),
]


@SHARED
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("kind", "settings"), CONFIDENT)
def test_choices_are_those_of_the_dense_encoding(kind: Any, settings: dict[str, Any], sparse: bool, shared: int) -> None:
    one, other = kind(shared + B * W, blocks=B, shared=shared, **settings), kind(shared + B * W, **settings)
    assert side_by_side(one, other, dense, sparse) == 0
    mine, yours = one.estimate(), other.estimate()
    np.testing.assert_allclose(mine.theta, yours.theta, atol=1e-12)
    np.testing.assert_allclose(mine.metric, yours.metric, atol=1e-12)
    assert mine.radius == pytest.approx(yours.radius, rel=1e-14)
    rows = visits(7, 1, shared)[0]
    np.testing.assert_allclose(one.appraise(rows), other.appraise(dense(rows)), atol=1e-12)


FADING = {"discount": 0.95}
LASTING: list[tuple[Any, dict[str, Any]]] = [
    (StaticUCB, {}),
    (AdaptiveUCB, {}),
    (LightWeightUCB, FADING),
    (WeightUCB, FADING),
    (DiscountedTS, FADING),
    (WindowUCB, {"window": 40}),
]


@SHARED
@pytest.mark.parametrize(("kind", "settings"), LASTING[2:])
def test_a_late_reward_counts_as_in_the_dense_encoding(kind: Any, settings: dict[str, Any], shared: int) -> None:
    dim = shared + B * W
    one, other = (kind(dim, **settings, **more) for more in ({"blocks": B, "shared": shared}, {}))
    waiting = []
    for t, rows in enumerate(visits(1, 60, shared)):
        mine = one.select(rows)
        other.select(dense(rows))
        waiting.append(mine)
        if t % 7 == 6:
            for late in reversed(waiting):
                reward = float(late.arm[1])
                one.update(late, reward)
                other.learn(late.round, dense(late.arm[None])[0], reward)
            waiting = []
    np.testing.assert_allclose(one.estimate().metric, other.estimate().metric, atol=1e-12)
    np.testing.assert_allclose(one.theta(), other.theta(), atol=1e-12)


@SHARED
@pytest.mark.parametrize("alone", [False, True])
def test_a_window_in_blocks_forgets_an_outlier_whole(alone: bool, shared: int) -> None:
    """alone: no other arm of its block is in the window, so that of its block nothing is left to sum afresh."""
    first, second = (WindowUCB(shared + B * W, window=30, blocks=B, shared=shared) for _ in range(2))
    for t, rows in enumerate(visits(1, 90, shared)):
        row = rows[:1].copy()
        row[0, 0] = B - 1 if alone and t == 20 else t % (B - alone)
        for policy in (first, second):
            policy.update(policy.select(row), 1e16 if t == 20 and policy is second else 0.5)
    np.testing.assert_allclose(first.theta(), second.theta(), atol=1e-12)


@SHARED
@pytest.mark.parametrize(("kind", "settings"), LASTING)
def test_memory_grows_with_the_number_of_blocks_not_with_its_square(kind: Any, settings: dict[str, Any], shared: int) -> None:
    few, many = (state_bytes(kind(shared + blocks * W, blocks=blocks, shared=shared, **settings).state) for blocks in (50, 200))
    assert many <= 4 * few


@SHARED
@pytest.mark.filterwarnings("ignore:arm_norm")
@pytest.mark.parametrize(("ridge", "window"), [(1e-4, 3), (1e-6, 2), (1e-6, 40), (1e-8, 30)])
def test_a_window_in_blocks_stays_exact_with_a_small_ridge(ridge: float, window: int, shared: int) -> None:
    dim, blocks = shared + B * W, {"blocks": B, "shared": shared}
    one, other = (WindowUCB(dim, window=window, ridge=ridge, noise=0.1, **more) for more in (blocks, {}))
    assert side_by_side(one, other, dense) == 0
    np.testing.assert_allclose(one.theta(), other.theta(), rtol=1e-6, atol=1e-6)


@SHARED
@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
@pytest.mark.parametrize("settings", [{"width": 1.0}, {"width": "theory"}])
def test_evidence_is_that_of_the_dense_encoding(
    kind: Any, settings: dict[str, Any], shared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to a restart: from there on the archive is asked, which in blocks does not learn by differences of arms."""
    monkeypatch.setattr(kind, "memories", kind.block_memories)
    one, other = kind(shared + B * W, blocks=B, shared=shared, **settings), kind(shared + B * W, **settings)
    assert side_by_side(one, other, dense, until_restart=True) == 0
    assert one.status().restarts == other.status().restarts != []
    mine, yours = one.state.bank, other.state.bank
    np.testing.assert_allclose(mine.evidence, yours.evidence, atol=1e-9)
    np.testing.assert_allclose(mine.scale, yours.scale, rtol=1e-9)
    np.testing.assert_allclose(one.status().theta, other.status().theta, atol=1e-9)
    np.testing.assert_allclose(one.status().widths, other.status().widths, rtol=1e-9)
    np.testing.assert_allclose(one.estimate().metric, other.estimate().metric, atol=1e-9)


@SHARED
@pytest.mark.parametrize("kind", [AdaptiveUCB, DetectUCB])
def test_many_blocks_choose_as_one_block_of_all_features(kind: Any, shared: int) -> None:
    """Restarts, probes and the archive included."""
    dim = shared + B * W
    one, other = kind(dim, blocks=B, shared=shared), kind(dim, blocks=B, shared=shared)
    bank = new_block_bank(1, dim, 0, kind.block_memories, None)
    archive = new_archive(new_estimate(2 * dim, 2, 0, 1.0))  # of two blocks, the second of which is never met
    other.state = other.state._replace(ridge=played_of(bank), bank=bank, archive=archive, lateness=new_lateness(1 + dim))
    other._entries = 1 + dim
    assert side_by_side(one, other, lambda rows: np.column_stack([np.zeros(len(rows)), dense(rows)])) == 0
    assert one.status().restart_count == other.status().restart_count > 0
    assert one.status().trust == pytest.approx(other.status().trust, abs=1e-9)


@SHARED
def test_what_is_faint_is_scaled_anew_and_stays_solved(shared: int) -> None:
    policy = AdaptiveUCB(shared + B * W, blocks=B, shared=shared)
    rng = np.random.default_rng(0)
    for rows in visits(3, 600, shared):
        policy.update(policy.select(rows), float(rng.standard_normal()))
    bank = policy.state.bank
    assert bank.clock[LEARNT] == 600
    assert (bank.left >= FAINT).all()
    assert (bank.left <= 1.0).all()
    assert FAINT > 0.75**600  # so that the shortest memory was scaled anew
    product = np.einsum("kbij,kbjl->kbil", bank.matrix[:-1, :, V], bank.matrix[:-1, :, METRIC])
    np.testing.assert_allclose(product, np.tile(np.eye(W), (*product.shape[:2], 1, 1)), atol=1e-6)


@SHARED
@pytest.mark.parametrize(("kind", "settings"), LASTING)
def test_it_goes_on_after_a_file_a_pickle_and_a_copy(kind: Any, settings: dict[str, Any], shared: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    policy = kind(shared + B * W, blocks=B, shared=shared, **settings)
    for rows in visits(3, 200, shared):
        policy.update(policy.select(rows), float(rng.standard_normal()))
    waiting = policy.select(visits(4, 1, shared)[0])
    policy.save(tmp_path / "policy")
    twins = [type(policy).load(tmp_path / "policy"), pickle.loads(pickle.dumps(policy)), kind.from_bytes(policy.to_bytes())]
    for twin in twins:
        assert twin == policy
        assert twin.digest() == policy.digest()
        twin.update(waiting, 1.0)
    policy.update(waiting, 1.0)
    for rows in visits(5, 50, shared):
        assert len({p.select(rows).index for p in (policy, *twins)}) == 1


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ([[4, 1.0, 0.0, 0.0]], "the number of its block, 0 to 3, got 4"),
        ([[0, 1.0, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0]], "the number of its block, 0 to 3, got 0.5"),
        ([[-1, 1.0, 0.0, 0.0]], "the number of its block, 0 to 3, got -1"),
        ([[3, 1.0, 1.0, 0.0]], "arm_norm"),
        ([[0, 1.0, 0.0]], r"arms must have shape \(n, 4\)"),
        (FixedArms(np.eye(12)), "arms must be an array where blocks = 4"),
        (Ball(), "arms must be an array where blocks = 4"),
    ],
)
def test_arms_that_fit_no_block_are_refused(arms: Any, message: str) -> None:
    policy = StaticUCB(B * W, blocks=B)
    with pytest.raises(ValueError, match=message):
        policy.select(arms)
    assert policy == StaticUCB(B * W, blocks=B)


def test_a_state_that_plays_an_estimator_it_has_not_is_refused() -> None:
    policy = AdaptiveUCB(B * W, blocks=B)
    policy.state.ridge.which[0] = 99
    with pytest.raises(ValueError, match="the numbers of estimators that are played must lie between 0 and 7, got 99"):
        policy._check_state()


@pytest.mark.parametrize("kind", [LightWeightUCB, WeightUCB, DiscountedTS])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda faded: faded.cross.__setitem__((0, 0, 0), 50.0), "V is not positive semidefinite"),
        (lambda faded: faded.blocks.matrix.__setitem__((1, V, 0, 1), 5.0), "V is not symmetric"),
        (lambda faded: faded.blocks.shared.matrix.__setitem__((V, 0, 0), 1e9), "the trace of V must lie between"),
    ],
)
def test_sums_that_no_rounds_can_have_led_to_are_refused(kind: Any, change: Any, message: str) -> None:
    policy = kind(2 + B * W, blocks=B, shared=2, discount=0.95)
    for rows in visits(3, 50, 2):
        policy.update(policy.select(rows), 0.5)
    policy._check_state()
    ridge = policy.state.base.ridge if kind is DiscountedTS else policy.state.ridge
    change(ridge if kind is LightWeightUCB else ridge.faded)
    with pytest.raises(ValueError, match=message):
        policy._check_state()


def test_blocks_are_checked_when_a_policy_is_made() -> None:
    with pytest.raises(ValueError, match=r"blocks must divide dim - shared = 12 - 0, .* got 5"):
        StaticUCB(12, blocks=5)
    with pytest.raises(ValueError, match=r"blocks must divide dim - shared = 12 - 12"):
        StaticUCB(12, blocks=4, shared=12)
    with pytest.raises(ValueError, match="shared requires blocks, got shared = 3"):
        StaticUCB(12, shared=3)
    with pytest.raises(ValueError, match="Master does not support blocks, got blocks = 4"):
        Master(12, blocks=4)
    with pytest.raises(ValueError, match="intercept needs blocks = 1, got 4"):
        AdaptiveUCB(12, blocks=4, intercept=True)


@pytest.mark.parametrize("zeros", [0, 9])
def test_a_row_is_scored_alike_whether_it_is_sparse_or_not(zeros: int) -> None:
    rng = np.random.default_rng(1)
    x, theta, root = rng.normal(size=12), rng.normal(size=12), rng.normal(size=(12, 12))
    x[:zeros] = 0.0
    metric, gain = root @ root.T, np.empty(12)
    mean, square = appraise_row(theta, metric, x, gain)
    assert mean == pytest.approx(x @ theta)
    assert square == pytest.approx(x @ metric @ x)
    np.testing.assert_allclose(gain, metric @ x)
