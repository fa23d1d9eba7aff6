"""What a study will cost: right in rounds, in the right order of magnitude in memory, and refused beyond a limit."""

import os
from typing import Any

import numpy as np
import pytest

from driftbandit import SettingsError, Study
from driftbandit.studies import cost
from driftbandit.studies.cost import Cost, in_words, machine_bytes
from driftbandit.studies.settings import make_world

WORLD: dict[str, Any] = {"drift": "gradual", "noise": 0.1}


def study(world: dict[str, Any] | None = None, policies: dict[str, Any] | None = None, **changes: Any) -> Study:
    tables = {"worlds": {"w": {**WORLD, **(world or {})}}, "policies": policies or {"StaticUCB": {}}}
    return Study(**{**tables, "horizon": 100, "replicates": 2, **changes})


def test_rounds_are_counted_without_walking_through_the_cells() -> None:
    both = study({"noise": [0.1, 0.2]}, {"StaticUCB": {}, "RestartUCB": {"memory": [5, 6]}})
    assert both.rounds() == sum(task.rounds for task in both.tasks()) == 100 * 2 * 3 * 2
    assert study(horizon=10**6, replicates=10**5).rounds() == 10**11


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"replicates": 10**18}, r"would play 100,000,000,000,000,000,000 rounds, more than most_rounds = 1,000,000,000,000"),
        ({"replicates": 10**12}, "raise most_rounds"),
        ({"replicates": 10**9, "horizon": 1}, r"\[worlds.w\] would need .* TB of memory or more, .*raise most_bytes"),
        ({"horizon": 10**18}, "use fewer replicates or a shorter horizon"),
        ({"horizon": 10**11, "checkpoints": 10**11}, "would need 10.* TB of memory"),
        ({"world": {"dim": 10**6}}, r"\[worlds.w\] would need 16.0 TB of memory"),
        ({"world": {"drift": {"kind": "random-walk", "dim": 10**6}}}, "would need 16.0 TB of memory"),
        ({"world": {"dim": 10**6, "arms": {"kind": "axes"}}}, "would need 16.0 TB of memory"),
        ({"world": {"arms": 10**12}}, "would need 16.0 TB of memory"),
        ({"world": {"arms": {"count": 10**12, "fresh": True}}}, "would need 16.0 TB of memory"),
        ({"world": {"arms": {"count": 10**7, "fresh": True}}}, r"would need 1\.\d TB of memory"),
        ({"policies": {"WindowUCB": {"window": 10**14}}}, r"\[policies.WindowUCB\] window must fit into memory"),
    ],
)  # fmt: skip
def test_what_is_too_large_is_refused_before_it_is_built(
    changes: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "machine_bytes", lambda: 16 * 10**9)
    with pytest.raises(SettingsError, match=message):
        study(**changes)


def test_nothing_is_allocated_for_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("built")

    monkeypatch.setattr("driftbandit.studies.study.make_world", refuse)
    monkeypatch.setattr("driftbandit.studies.study.make_policy", refuse)
    for too_large in ({"world": {"dim": 10**6}}, {"world": {"arms": 10**12}}, {"horizon": 10**18}):
        with pytest.raises(SettingsError):
            study(**too_large)
    with pytest.raises(AssertionError, match="built"):
        study()


def test_a_policy_that_finds_no_room_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise MemoryError

    monkeypatch.setattr("driftbandit.studies.study.make_policy", full)
    with pytest.raises(SettingsError, match=r"\[policies.StaticUCB\] needs more memory than there is, in \[worlds.w\]"):
        study()


def test_the_limits_can_be_raised_and_lowered() -> None:
    assert study(horizon=10**13, most_rounds=10**14).rounds() == 2 * 10**13
    with pytest.raises(SettingsError, match="would play 200 rounds, more than most_rounds = 199"):
        study(most_rounds=199)
    assert study(most_rounds=200).rounds() == 200
    with pytest.raises(SettingsError, match="above most_bytes = 1,000: "):
        study(most_bytes=1000)
    needed = study().cost.bytes + study().cost.worker_bytes
    assert study(most_bytes=needed).settings()["most_bytes"] == needed
    with pytest.raises(SettingsError, match="most_bytes"):
        study(most_bytes=needed - 1)
    for wrong in ({"most_rounds": 0}, {"most_rounds": "many"}, {"most_bytes": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            study(**wrong)
    table = {"worlds": {"w": WORLD}, "policies": {"StaticUCB": {}}, "horizon": 100, "most_rounds": 10}
    with pytest.raises(SettingsError, match="would play 1,000 rounds"):
        Study.from_dict(table)


def test_what_is_wrong_is_still_said_in_its_own_words() -> None:
    for changes, message in (
        ({"horizon": "long"}, "horizon must be a whole number"),
        ({"world": {"dim": "two"}}, "dim must be a whole number"),
        ({"world": {"arms": {"count": None}}}, "count must be a whole number"),
        ({"checkpoints": "ten"}, "checkpoints must be a whole number"),
    ):
        with pytest.raises(ValueError, match=message):
            study(**changes)


def test_memory_covers_what_is_really_dealt() -> None:
    fresh = study({"dim": 4, "arms": {"count": 50, "fresh": True}, "delay": 30}, horizon=5000)
    world = make_world("w", fresh.world_variants[0].settings, 0)
    block = next(world.deal(0))
    dealt = block.theta.nbytes + block.arms[0].nbytes + block.noise.nbytes
    assert dealt < fresh.cost.worker_bytes < 4 * dealt
    window = study(policies={"WindowUCB": {"window": 10**6}})
    assert window.cost.worker_bytes > np.zeros((10**6, 2)).nbytes


def test_the_estimate_in_words() -> None:
    assert [in_words(t) for t in (0.01, 42.0, 600.0, 7200.0, 9e5, 1e9)] == [
        "a second", "42 s", "10 minutes", "2 hours", "10 days", "32 years",
    ]  # fmt: skip
    both = Cost(1000, 8.0, 10**6, 500) + Cost(500, 2.0, 10**6, 10**6)
    assert both == Cost(1500, 10.0, 2 * 10**6, 10**6)
    assert both.on(2) == "1,500 rounds, at least 5 s and 4.0 MB of memory for data"
    assert both.briefly_on(1) == "at least 10 s and 3.0 MB"
    assert both.on() == both.on(os.cpu_count())
    slow, fast = study({"dim": 50, "arms": 100}).cost, study().cost
    assert slow.seconds > 5 * fast.seconds
    assert machine_bytes() > 10**8
