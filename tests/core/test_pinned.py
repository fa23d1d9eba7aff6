"""What is pinned is what kernels get: the same numbers, and the arrays themselves."""

from typing import Any, NamedTuple

import numpy as np

from driftbandit import RestartUCB
from driftbandit.core.compile import bind, kernel
from driftbandit.core.pinned import pin, unpin
from driftbandit.core.types import Floats
from driftbandit.policies._base.leaves import twin


class Inner(NamedTuple):
    flag: bool
    line: Floats


class Outer(NamedTuple):
    number: float
    inner: Inner
    square: Floats


@kernel
def add_up(handle: Any, more: float) -> float:
    """A sum of everything; adds ``more`` to the line."""
    value = unpin(handle)
    total = value.number + value.square[1, 0]
    for i in range(len(value.inner.line)):
        value.inner.line[i] += more
        total += value.inner.line[i]
    return float(total) if value.inner.flag else 0.0


def test_a_kernel_reads_and_writes_what_is_pinned() -> None:
    line = np.array([1.0, 2.0, 3.0])
    for flag, number in ((True, 10.0), (False, 20.0), (True, 30.0)):
        pinned = pin(Outer(number, Inner(flag, line), np.array([[0.0, 0.0], [100.0, 0.0]])))
        before = line.copy()
        total = bind(add_up, pinned, 1.0)(pinned.handle, 1.0)
        assert line.tolist() == (before + 1.0).tolist()
        assert total == (number + 100.0 + line.sum() if flag else 0.0)


def test_a_policy_plays_the_state_it_has_now() -> None:
    arms = np.array([[0.9, 0.0], [0.0, 0.9]])
    policy = RestartUCB(2, period=1000, width=0.0)
    fresh = twin(policy.state)
    for reward in (1.0, 1.0, 0.0, 0.0) * 5:
        policy.update(policy.select(arms), reward)
    learnt = policy.state
    policy.state = fresh
    decision = policy.select(arms)
    policy.update(decision, 1.0)
    assert fresh.ridge.tally[0] == 1
    assert learnt.ridge.tally[0] == 20
