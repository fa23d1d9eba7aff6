"""Score only what can win: the same choice, to the last bit, as when every arm is scored."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common import LONG, rounds, unit_rows
from driftbandit import AdaptiveUCB, FixedArms, Policy, StaticUCB
from driftbandit.core import pruning
from driftbandit.core.choice import MANY, TIE, appraise, pick, width
from driftbandit.core.forms import add_forms
from driftbandit.core.linalg import aligned, turn, turn_many
from driftbandit.core.pruning import ROWS, bound_by_length, bound_in_single, choose, new_score, padded, rule_out, settle
from driftbandit.core.types import Floats
from naive import twin_of

Setting = tuple[Floats, Floats, Floats]  # θ̂, the metric, the arms as columns
BETAS = [0.0, 1e-12, 0.01, 0.3, 3.0, 1e3]


@pytest.fixture(autouse=True)
def _prune_small_sets_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "LARGE", 1)


def state(rng: np.random.Generator, dim: int, seen: int) -> tuple[Floats, Floats]:
    """θ̂ and V⁻¹ after so many observations, some directions far better known than others."""
    rows = rng.standard_normal((seen, dim)) * 10.0 ** rng.uniform(-2, 1, dim)
    metric = np.linalg.inv(np.eye(dim) * 10.0 ** rng.uniform(-3, 1) + rows.T @ rows)
    return metric @ rows.T @ rng.standard_normal(seen), (metric + metric.T) / 2


def arms_of(rng: np.random.Generator, kind: str, dim: int, n: int) -> Floats:
    rows = unit_rows(rng, n, dim)
    match kind:
        case "short":
            rows *= rng.random((n, 1))
        case "sparse":
            rows *= rng.random((n, dim)) < 0.2
        case "equal":
            rows[:] = rows[0]
        case "repeated":
            rows = rows[rng.integers(0, max(n // 3, 1), n)]
        case "zero":
            rows[rng.random(n) < 0.7] = 0.0
        case "all zero":
            rows[:] = 0.0
        case "near ties":
            rows = rows[0] * (1.0 + TIE * rng.uniform(-2, 2, (n, 1)))
        case "huge":
            rows *= 1e120
        case "tiny":
            rows *= 1e-160
        case "uneven":
            rows *= 10.0 ** rng.uniform(-40, 0, (n, 1))
    return np.ascontiguousarray(rows.T)


KINDS = ["unit", "short", "sparse", "equal", "repeated", "zero", "all zero", "near ties", "huge", "tiny", "uneven"]


def scored_in_full(
    theta: Floats, metric: Floats, beta: float, columns: Floats, u: float, novelty: float = 0.0
) -> tuple[int, Floats]:
    score = np.empty((ROWS, columns.shape[1]))
    appraise(theta, metric, columns, score)
    arm = pick(score, beta, novelty, u)
    indices = np.array([mean + width(beta, novelty, square) for mean, square in zip(*score[:2].tolist(), strict=True)])
    assert (score[2] >= indices).all()
    assert score[2, arm] == indices[arm]
    score[2] = indices
    return arm, score


@settings(max_examples=rounds(400, 40), deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 13),
    st.integers(1, 70),
    st.sampled_from(KINDS),
    st.sampled_from(BETAS),
    st.sampled_from([0.0, 0.3, 1000.0]),
)
def test_the_choice_is_that_of_all_scores(seed: int, dim: int, n: int, kind: str, beta: float, novelty: float) -> None:
    rng = np.random.default_rng(seed)
    theta, metric = state(rng, dim, int(rng.integers(0, 4 * dim)))
    columns, u = arms_of(rng, kind, dim, n), rng.random()
    expected, full = scored_in_full(theta, metric, beta, columns, u, novelty)
    score = new_score(dim, n)
    score[:] = np.nan
    arm = choose(theta, metric, beta, novelty, columns, score, u)
    assert arm == expected
    assert (score[:ROWS, arm] == full[:, arm]).all()
    assert (score[0] == full[0]).all()
    assert (score[1] >= full[1]).all()
    assert (score[2] >= full[2]).all()
    other = int(rng.integers(n))
    settle(other, theta, metric, beta, novelty, columns, score)
    assert (score[:ROWS, other] == full[:, other]).all()


@pytest.mark.parametrize("kind", ["unit", "short", "sparse"])
def test_float32_rules_out_nearly_all_and_no_winner(kind: str) -> None:
    rng = np.random.default_rng(0)
    dim, n = rounds(60, 12), rounds(1000, 200)
    for _ in range(rounds(20, 3)):
        theta, metric = state(rng, dim, 3 * dim)
        columns = arms_of(rng, kind, dim, n)
        _, full = scored_in_full(theta, metric, 2.0, columns, 0.5)
        score = new_score(dim, n)
        room = score.reshape(-1)[padded(ROWS * n) :]
        c, unit = bound_by_length(theta, metric, columns, score, room)
        assert (score[1] >= full[1]).all()
        edge, _, left = rule_out(theta, metric, 2.0, 0.0, columns, score, room)
        bound_in_single(metric, c, unit, columns, score, edge, left, room)
        assert (score[1] >= full[1]).all()
        assert rule_out(theta, metric, 2.0, 0.0, columns, score, room)[2] <= 5


def test_a_size_that_only_a_loser_sets_still_decides_who_ties() -> None:
    """Two arms apart by more than a tie of their own size, by less than one of the long, hopeless arm's."""
    theta, metric = np.array([1.0, 0.0]), np.eye(2)
    columns = np.zeros((2, 40))
    columns[0] = -1.0
    columns[0, :2] = 1e-3, 1e-3 - 0.5 * TIE
    for u, expected in (0.2, 0), (0.7, 1):
        assert scored_in_full(theta, metric, 0.0, columns, u)[0] == expected
        assert choose(theta, metric, 0.0, 0.0, columns, new_score(2, 40), u) == expected


def setting(dim: int, n: int) -> Setting:
    rng = np.random.default_rng(dim)
    return *state(rng, dim, 3 * dim), arms_of(rng, "unit", dim, n)


@pytest.mark.parametrize("dim", [16, 17, 18, 19])
def test_many_columns_at_once_have_the_bits_of_few(dim: int) -> None:
    theta, metric, columns = setting(dim, MANY + 5)
    many, few = np.empty((3, MANY + 5)), np.empty((3, 5))
    appraise(theta, metric, columns, many)
    for first in range(0, MANY, rounds(5, 60)):
        appraise(theta, metric, np.ascontiguousarray(columns[:, first : first + 5]), few)
        assert (many[:2, first : first + 5] == few[:2]).all()


def test_forms_in_float32_miss_by_its_rounding_only() -> None:
    _, metric, columns = setting(11, 50)
    square = np.zeros(50, np.float32)
    add_forms(square, metric.astype(np.float32), columns.astype(np.float32), np.empty(4 * 16, np.float32))
    exact = np.einsum("ji,jk,ki->i", columns, metric, columns)
    assert square == pytest.approx(exact, abs=1e-5 * np.abs(metric).sum(0).max())


@pytest.mark.parametrize("turn", [turn, turn_many])
@pytest.mark.parametrize("n", [1, 3, 4, 9])
def test_turning_rows_refuses_a_long_one_wherever_it_is(n: int, turn: Callable[[Floats, Floats, float], bool]) -> None:
    rows = unit_rows(np.random.default_rng(0), n, 5)
    columns = aligned(5, n)
    assert turn(rows, columns, 1.001)
    assert (columns == rows.T).all()
    for i in range(n):
        for wrong in 2.0, math.inf, math.nan:
            bad = rows.copy()
            bad[i, 3] = wrong
            assert not turn(bad, columns, 1.001)


@pytest.mark.parametrize("make", [lambda: StaticUCB(6, noise=0.1), lambda: StaticUCB(6, noise=0.1, width=0.05)])
def test_a_policy_that_prunes_plays_as_its_naive_twin(make: Callable[[], Policy]) -> None:
    rng, policy = np.random.default_rng(0), make()
    twin, theta = twin_of(make()), unit_rows(np.random.default_rng(1), 1, 6)[0]
    for t in range(rounds(300, 60)):
        rows = unit_rows(rng, 50, 6)
        decision = policy.select(rows)
        assert decision.index == twin.select(rows)
        reward = float(decision.arm @ theta) + 0.1 * rng.standard_normal()
        policy.update(decision, reward)
        twin.update(t, reward)


Sets = list[Floats | FixedArms]


def played(sets: Callable[[np.random.Generator], Sets], intercept: bool, count: int, spell: int) -> list[int | None]:
    """What AdaptiveUCB chooses from these sets in turn, in a world that turns round after every spell."""
    rng, policy, chosen = np.random.default_rng(0), AdaptiveUCB(3, intercept=intercept, seed=5), list[int | None]()
    arms = sets(rng)
    for t in range(count):
        decision = policy.select(arms[t % len(arms)])
        sign = 1.0 if t // spell % 2 else -1.0
        policy.update(decision, sign * float(decision.arm[0]) + 0.1 * rng.standard_normal())
        chosen.append(decision.index)
        if t == count // 2:
            policy = AdaptiveUCB.from_bytes(policy.to_bytes())
    return chosen


def fresh(rng: np.random.Generator) -> Sets:
    return [unit_rows(rng, 20, 3) for _ in range(50)]


def fixed(rng: np.random.Generator) -> Sets:
    return [FixedArms(unit_rows(rng, 20, 3))]


def in_turn(rng: np.random.Generator) -> Sets:
    return fixed(rng) + fresh(rng)[:2] + fixed(rng) + [unit_rows(rng, 9, 3)]


@LONG
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("sets", [fresh, fixed, in_turn])
def test_second_thoughts_are_the_same_with_pruning(
    sets: Callable[[np.random.Generator], Sets], intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AdaptiveUCB compares the archive's choice with its own: both are scored exactly."""
    pruned = played(sets, intercept, rounds(3000, 400), rounds(300, 80))
    monkeypatch.setattr(pruning, "LARGE", 10**9)
    assert pruned == played(sets, intercept, rounds(3000, 400), rounds(300, 80))


def test_a_set_that_was_kept_is_let_go_before_it_is_pruned() -> None:
    arms, policy = FixedArms(unit_rows(np.random.default_rng(0), 20, 3)), AdaptiveUCB(3)
    policy.keep(arms)
    policy.select(arms)
    assert policy.state.ridge.score.shape == (3, 0)
    with pytest.raises(ValueError, match="3 columns"):
        policy.select(FixedArms(np.eye(2)))
