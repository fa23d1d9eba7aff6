"""A chooser over random schemas: every visitor that fits is served, and one that does not is refused without a trace."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftbandit import StaticUCB
from driftbandit.checks.hired import state_of
from driftbandit.contexts.chooser import Chooser
from driftbandit.contexts.context import Context
from schemas import spoilt_visits, visits

pytestmark = pytest.mark.compiled  # some schemas have a thousand columns

MODELS = st.sampled_from(["disjoint", "shared", "hybrid"])
ACTIONS = {"red": [1.0, 0.0], "green": [0.0, 1.0], "blue": [0.6, 0.8]}


@settings(deadline=None)
@given(visits(), MODELS)
def test_no_visitor_makes_an_arm_that_the_policy_refuses(visit: tuple[Context, dict[str, Any]], model: str) -> None:
    context, visitor = visit
    chooser = Chooser(StaticUCB, ACTIONS, context, model=model)
    for reward in (0.5, 1.0):
        choice = chooser.select(visitor)
        assert np.linalg.norm(choice.decision.arm[int(chooser.policy.blocks > 1) :]) <= 1.0  # a block's number comes first
        assert np.count_nonzero(choice.decision.arm) >= 1
        chooser.update(choice, reward)
    assert chooser.select(visitor, exclude=["red", "blue"]).action == "green"


@settings(deadline=None)
@given(spoilt_visits(), MODELS)
def test_a_wrong_field_is_named_and_leaves_no_trace(visit: tuple[Context, dict[str, Any], str, Any], model: str) -> None:
    context, spoilt, name, right = visit
    chooser = Chooser(StaticUCB, ACTIONS, context, model=model)
    chooser.update(chooser.select({**spoilt, name: right}), 0.5)
    before = state_of(chooser)
    with pytest.raises(ValueError, match=r"must be|is missing") as caught:
        chooser.select(spoilt)
    assert str(caught.value).startswith(f"{name} ")
    assert state_of(chooser) == before
    chooser.select({**spoilt, name: right})


@settings(deadline=None)
@given(visits(), st.text("ijk", min_size=1, max_size=3))
def test_a_field_that_was_not_declared_is_named_and_leaves_no_trace(visit: tuple[Context, dict[str, Any]], name: str) -> None:
    context, visitor = visit
    chooser = Chooser(StaticUCB, ACTIONS, context)
    before = state_of(chooser)
    with pytest.raises(ValueError, match=f"'{name}' is not a field of this context"):
        chooser.select({**visitor, name: 1})
    assert state_of(chooser) == before
