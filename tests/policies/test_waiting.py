"""Decisions that wait for their reward: how long, whose they are, and which thread may ask."""

import copy
import json
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from common import rounds
from driftbandit import Ball, Decision, FixedArms, Policy, RestartUCB, StaticUCB, WindowUCB

ARMS = np.eye(2)


def accepted(policy: Policy, decisions: list[Decision]) -> list[int]:
    """The rounds whose reward the policy would take."""
    taken = []
    for decision in decisions:
        try:
            copy.deepcopy(policy).update(decision, 1.0)
        except ValueError:
            continue
        taken.append(decision.round)
    return taken


def saved(policy: Policy, folder: Path) -> Policy:
    policy.save(folder / "p.npz")
    return Policy.load(folder / "p.npz")


@pytest.mark.parametrize("most", [1, 3, 10])
def test_a_decision_waits_for_exactly_so_many_rounds(most: int) -> None:
    policy = RestartUCB(2, period=50, most_waiting=most)
    decisions: list[Decision] = []
    for t in range(25):
        decisions.append(policy.select(ARMS))
        assert accepted(policy, decisions) == list(range(max(t + 1 - most, 0), t + 1))
    with pytest.raises(
        ValueError, match=f"round=3, .*given up after most_waiting = {most} rounds, so make the policy with a larger"
    ):
        policy.update(decisions[3], 1.0)
    policy.update(decisions[25 - most], 1.0)
    with pytest.raises(ValueError, match="still waits for its reward, got"):
        policy.update(decisions[25 - most], 1.0)


def test_live_saved_copied_and_unpickled_policies_wait_for_the_same(tmp_path: Path) -> None:
    """Luck is drawn 1024 rounds at a time, live, and anew after a load: that must not show."""
    policy = RestartUCB(2, period=50, most_waiting=8)
    decisions = [policy.select(ARMS) for _ in range(1018)][-20:]
    others = [saved(policy, tmp_path), copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))]
    for _ in range(12):
        expected = accepted(policy, decisions)
        assert [accepted(other, decisions) for other in others] == [expected] * 3
        assert others == [policy] * 3
        assert saved(policy, tmp_path) == policy
        for player in (policy, *others):
            player.select(ARMS)
            if 1017 in expected:
                player.update(decisions[-1], 1.0)
    assert expected == []


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_long_runs_remember_no_more_than_they_must(share: float) -> None:
    """Giving up the oldest in the order of a dict once took time that grew with all that had been deleted."""
    total, most = rounds(400_000, 4000), rounds(100_000, 1000)
    policy, arms = RestartUCB(2, period=50, most_waiting=most), FixedArms(ARMS)
    told = np.random.default_rng(0).random(total) < share
    for now in told.tolist():
        decision = policy.select(arms)
        if now:
            policy.update(decision, 1.0)
    assert list(policy._waiting) == [t for t in range(total - most, total) if not told[t]]
    assert sys.getsizeof(policy._waiting) < 300 * max(len(policy._waiting), 100)  # bytes


def test_how_long_to_wait_is_a_parameter_like_the_others(tmp_path: Path) -> None:
    policy = WindowUCB(2, window=5, most_waiting=7)
    assert repr(policy) == "WindowUCB(dim=2, most_waiting=7, window=5)"
    assert (saved(policy, tmp_path).most_waiting, policy.spawn(1).most_waiting, StaticUCB(2).most_waiting) == (7, 7, 100_000)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="most_waiting must be"):
            WindowUCB(2, window=5, most_waiting=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("arms", [ARMS, FixedArms(ARMS), Ball()], ids=["array", "fixed", "ball"])
@pytest.mark.parametrize("seed", [0, 1])
def test_equal_decisions_of_another_policy_are_refused(arms: Any, seed: int) -> None:
    """The same call makes another policy, too: think of one policy for each market."""
    policy, other = RestartUCB(2, period=10), RestartUCB(2, period=10, seed=seed)
    own, foreign = policy.select(arms), other.select(arms)
    for decision in (foreign, pickle.loads(pickle.dumps(foreign)), Decision(own.round, own.index, own.arm)):
        if decision == own:  # by luck, where ties are broken by another seed
            before = copy.copy(policy)
            with pytest.raises(ValueError, match="one that this policy handed out"):
                policy.update(decision, 1.0)
            assert policy == before
    assert own == foreign or seed
    policy.update(own, 1.0)
    other.update(foreign, 1.0)


PARTINGS: dict[str, Callable[[Policy, Path], Policy]] = {
    "copy": lambda policy, _: copy.copy(policy),
    "deepcopy": lambda policy, _: copy.deepcopy(policy),
    "pickle": lambda policy, _: pickle.loads(pickle.dumps(policy)),
    "load": saved,
}


@pytest.mark.parametrize("part", PARTINGS)
def test_copies_share_what_was_decided_before_they_parted_and_nothing_since(part: str, tmp_path: Path) -> None:
    policy = RestartUCB(2, period=10)
    before = policy.select(ARMS)
    other = PARTINGS[part](policy, tmp_path)
    again = PARTINGS[part](other, tmp_path)
    mine, theirs = policy.select(ARMS), other.select(ARMS)
    assert mine == theirs
    assert policy == other
    for player, foreign in ((policy, theirs), (other, mine)):
        with pytest.raises(ValueError, match="one that this policy handed out, got one of another policy or copy"):
            player.update(foreign, 1.0)
    for player in (policy, other, again):
        player.update(before, 1.0)
    policy.update(mine, 1.0)
    other.update(theirs, 1.0)
    assert policy == other


def test_a_decision_may_be_pickled_or_made_again_from_its_parts() -> None:
    policy = RestartUCB(2, period=10)
    first, second = policy.select(ARMS), policy.select(ARMS)
    policy.update(pickle.loads(pickle.dumps(first)), 1.0)
    told = json.loads(json.dumps([second.round, second.index, second.arm.tolist(), second.origin]))
    policy.update(Decision(*told), 1.0)
    assert not policy._waiting
    for wrong in (None, 0, first.arm, (0, 0)):
        with pytest.raises(ValueError, match="decision must be what select returned"):
            policy.update(wrong, 1.0)  # type: ignore[arg-type]


def test_a_file_of_version_1_did_not_say_whose_its_decisions_are(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    policy = RestartUCB(2, period=10, most_waiting=3)
    decisions = [policy.select(ARMS) for _ in range(5)]
    policy.most_waiting = 100  # an old file has more waiting than fit
    policy._waiting = dict(enumerate(decisions))
    policy.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    del arrays["waiting.origin"], arrays["checksum"]
    header = json.loads(arrays["header"].tobytes()) | {"version": 1}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **arrays)
    loaded = Policy.load(path)
    assert list(loaded._waiting) == [2, 3, 4]
    with pytest.raises(ValueError, match="one that this policy handed out"):
        loaded.update(decisions[2], 1.0)
    loaded.update(Decision(2, decisions[2].index, decisions[2].arm), 1.0)


class Slow:
    """Arms that take until they are let go to become an array."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self.asked.set()
        assert self.go.wait(60)
        return ARMS


def test_a_second_thread_is_told_the_rule_and_changes_nothing(tmp_path: Path) -> None:
    policy, twin, slow = RestartUCB(2, period=10), RestartUCB(2, period=10), Slow()
    waiting = policy.select(ARMS)
    twin.select(ARMS)
    twin.select(ARMS)
    thread = threading.Thread(target=policy.select, args=(slow,))
    thread.start()
    assert slow.asked.wait(60)
    tries: list[Callable[[], object]] = [
        lambda: policy.select(ARMS),
        lambda: policy.update(waiting, 1.0),
        lambda: policy.estimate(),
        lambda: policy.save(tmp_path / "p.npz"),
        lambda: copy.copy(policy),
        lambda: pickle.dumps(policy),
    ]
    try:
        for use in tries:
            with pytest.raises(RuntimeError, match="belongs to one thread at a time"):
                use()
    finally:
        slow.go.set()
        thread.join()
    assert policy == twin
    for use in tries:
        use()


def test_threads_that_collide_lose_no_round() -> None:
    policy = RestartUCB(2, period=50)
    decided: list[int] = []
    strange: list[Exception] = []

    def serve() -> None:
        for _ in range(rounds(4000, 200)):
            try:
                decision = policy.select(ARMS)
                decided.append(decision.round)
                policy.update(decision, 1.0)
            except RuntimeError as error:
                if "one thread at a time" not in str(error):
                    strange.append(error)
            except Exception as error:
                strange.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=serve) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not strange
    assert sorted(decided) == list(range(policy.rounds))
