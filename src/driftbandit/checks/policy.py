"""What anyone may expect of a policy.

A policy under check is any player, as ``driftbandit.simulate.player`` defines it. The checks ask for more than ``play`` does:
bad input is refused and changes nothing, and copies are independent, each with its own random numbers.
"""

import contextlib
import copy
import pickle
import tempfile
from collections.abc import Callable
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from driftbandit.checks.trial import expect, try_all
from driftbandit.core.types import Floats
from driftbandit.simulate.player import chosen_arm

Check = Callable[[Any, int], None]

CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    CHECKS[function.__name__] = function
    return function


def check_policy(policy: Any, dim: int | None = None) -> list[str]:
    """Run every check on a fresh policy; return the names of the checks, or raise CheckFailed listing all that fail.

    The policy itself stays unchanged: each check works on a deep copy. Arms have at most unit length.

    >>> from driftbandit import RestartUCB
    >>> len(check_policy(RestartUCB(3, period=100))) == len(CHECKS)
    True
    """
    dim = getattr(policy, "dim", None) if dim is None else dim
    if dim is None:
        raise ValueError(f"dim must be given, since {type(policy).__name__} has no attribute dim")
    return try_all(CHECKS, type(policy).__name__, lambda function: function(copy.deepcopy(policy), dim))


def length_of(policy: Any) -> float:
    """How long arms may be: 1, or less if the policy says so."""
    return min(float(getattr(policy, "arm_norm", 1.0)), 1.0)


def some_arms(policy: Any, rng: np.random.Generator, n: int, dim: int) -> Floats:
    return length_of(policy) * directions(rng, n, dim)


def directions(rng: np.random.Generator, n: int, dim: int) -> Floats:
    """Random unit vectors."""
    vectors = rng.standard_normal((n, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def play(policy: Any, dim: int, rounds: int, seed: int = 0) -> list[Floats]:
    """Play some rounds against a fixed θ and return the chosen arms, which reveal the policy's state."""
    rng = np.random.default_rng(seed)
    theta = directions(rng, 1, dim)[0]
    chosen = []
    for t in range(rounds):
        arms = some_arms(policy, rng, 8, dim)
        decision = policy.select(arms)
        chosen.append(np.array(chosen_arm(decision, arms, dim, policy, t)))
        policy.update(decision, float(chosen[-1] @ theta + 0.1 * rng.standard_normal()))
    return chosen


def expect_same_future(policy: Any, twin: Any, dim: int, why: str) -> None:
    expect(np.array_equal(play(policy, dim, 60, seed=9), play(twin, dim, 60, seed=9)), why)


def expect_refusal(policy: Any, dim: int, what: str, method: str, *arguments: object) -> None:
    """The call must raise a ValueError and leave the policy unchanged."""
    policy, twin = copy.deepcopy(policy), copy.deepcopy(policy)
    try:
        getattr(policy, method)(*arguments)
    except ValueError:
        expect_same_future(policy, twin, dim, f"{what} changed the policy")
    else:
        raise AssertionError(f"{what} raised no ValueError")


@check
def chooses_an_offered_arm(policy: Any, dim: int) -> None:
    """The chosen arm is one of those offered, however many there are; its number and the arm, if both are given, agree."""
    rng = np.random.default_rng(1)
    for t, n in enumerate((1, 2, 5, 50, 3)):
        arms = some_arms(policy, rng, n, dim)
        decision = policy.select(arms)
        arm = chosen_arm(decision, arms, dim, policy, t)
        expect(np.array_equal(getattr(decision, "arm", arm), arm), f"{decision!r} has the number of another arm, {arm}")
        policy.update(decision, 0.5)


@check
def same_seed_same_choices(policy: Any, dim: int) -> None:
    """Two copies that see the same rounds choose the same arms: each has its own random generator."""
    expect_same_future(policy, copy.deepcopy(policy), dim, "a deep copy that played the same rounds chose differently")


@check
def copies_are_independent(policy: Any, dim: int) -> None:
    """What a copy or an unpickled policy learns stays with it, and each continues as the original would."""
    play(policy, dim, 20)
    first, second, third = copy.deepcopy(policy), pickle.loads(pickle.dumps(policy)), copy.copy(policy)
    play(first, dim, 20, seed=5)
    play(third, dim, 20, seed=6)
    expect_same_future(policy, second, dim, "an unpickled policy, or one whose copies learned, chose differently")


@check
def learns_from_rewards(policy: Any, dim: int) -> None:
    """In an easy world that does not change, it earns more than choosing at random."""
    rng = np.random.default_rng(3)
    theta = directions(rng, 1, dim)[0]
    earned = average = 0.0
    for t in range(600):
        arms = some_arms(policy, rng, 10, dim)
        decision = policy.select(arms)
        reward = float(chosen_arm(decision, arms, dim, policy, t) @ theta)
        policy.update(decision, reward)
        earned, average = earned + reward, average + float((arms @ theta).mean())
    expect(earned > average + 30.0 * length_of(policy), f"earned {earned:.0f} in 600 rounds, random choice about {average:.0f}")


@check
def a_decision_is_used_once(policy: Any, dim: int) -> None:
    """A second reward for a decision, or one for another policy's decision, is refused; a bare number cannot be checked."""
    arms = some_arms(policy, np.random.default_rng(4), 6, dim)
    other = copy.deepcopy(policy)
    decision = policy.select(arms)
    policy.update(decision, 0.3)
    if isinstance(decision, Integral):
        return
    expect_refusal(policy, dim, "a used decision", "update", decision, 0.3)
    for _ in range(5):
        stranger = other.select(arms)
    expect_refusal(policy, dim, "another policy's decision", "update", stranger, 0.3)


@check
def bad_arms_are_refused(policy: Any, dim: int) -> None:
    """Wrong shapes, empty sets, NaN, infinity and masks raise a ValueError and change nothing."""
    play(policy, dim, 10)
    good = some_arms(policy, np.random.default_rng(5), 4, dim)
    nan, infinite = good.copy(), good.copy()
    nan[2, dim - 1], infinite[0, 0] = np.nan, np.inf
    bad = {
        "NaN in arms": nan,
        "infinity in arms": infinite,
        "an empty set": np.empty((0, dim)),
        "one dimension too few": good[0],
        "one dimension too many": good[None],
        "one column too many": np.hstack([good, good[:, :1]]),
        "text for arms": [["a"] * dim],
        "a masked array": np.ma.masked_array(good, good > 0),
    }
    for what, arms in bad.items():
        expect_refusal(policy, dim, what, "select", arms)


@check
def bad_rewards_are_refused(policy: Any, dim: int) -> None:
    """A reward that is not a finite number raises a ValueError, and the decision keeps waiting for its reward."""
    decision = policy.select(some_arms(policy, np.random.default_rng(6), 4, dim))
    for reward in (np.nan, np.inf, -np.inf, None, "much", np.complex128(0.5)):
        expect_refusal(policy, dim, f"a reward of {reward}", "update", decision, reward)
        with contextlib.suppress(ValueError):
            policy.update(decision, reward)
    policy.update(decision, 0.5)


@check
def rewards_may_come_late_and_in_any_order(policy: Any, dim: int) -> None:
    """Rewards may arrive rounds later or never, and their order does not change what follows.

    A policy whose ``by_arrival`` is true declares that it learns in order of arrival: then what follows may depend on it.
    """
    rng = np.random.default_rng(7)
    decisions = [policy.select(some_arms(policy, rng, 6, dim)) for _ in range(12)]
    rewards = rng.uniform(-1, 1, 12)
    other = copy.deepcopy(policy)
    for k in range(10):
        policy.update(decisions[k], float(rewards[k]))
    for k in rng.permutation(10):
        other.update(decisions[k], float(rewards[k]))
    if getattr(policy, "by_arrival", False):
        play(other, dim, 10)
    else:
        expect_same_future(policy, other, dim, "the order of arrival changed the choices")


@check
def saves_and_loads(policy: Any, dim: int) -> None:
    """If it has ``save``, the loaded policy continues exactly as the saved one, waiting decisions included."""
    if not hasattr(policy, "save"):
        return
    play(policy, dim, 30)
    decision = policy.select(some_arms(policy, np.random.default_rng(8), 6, dim))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.npz"
        policy.save(path)
        loaded = type(policy).load(path)
    policy.update(decision, 0.4)
    loaded.update(decision, 0.4)
    expect_same_future(policy, loaded, dim, "the loaded policy chose differently")
