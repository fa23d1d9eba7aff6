"""A service against a dictionary and a plain policy: duplicates, conflicts, late, never, crash, as hypothesis likes it."""

import copy
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from driftbandit import StaticUCB
from driftbandit.core.arms import FixedArms
from driftbandit.live import Ask, Settings
from driftbandit.live.errors import Conflict, Full, NotFound
from live_service import ARMS, FAST, Clock, bits, crash, opened

pytestmark = pytest.mark.plain

IDS, VALUES = st.sampled_from("abcdef"), st.sampled_from([0.0, 1.0, 0.25])
FIXED = FixedArms(ARMS)
KINDS = [
    {"wait": 10.0, "remember": 30.0, "most_waiting": 4},
    {"wait": 10.0, "remember": 30.0, "default": 0.0},
    {"wait": 10.0, "remember": 30.0, "default": 0.5, "learn": "at-once", "most_remembered": 2},
    {"wait": 10.0, "remember": 30.0, "late": "learn"},
    {"wait": 10.0, "remember": 30.0, "default": 0.0, "gather": "last"},
]


@dataclass
class Known:
    ask: Ask
    index: int
    decision: Any
    deadline: float
    pending: bool
    state: str = "waiting"
    reward: float | None = None
    settled: float = 0.0


@dataclass
class Model:
    """The same, as one would write it down at first."""

    told: Settings
    policy: StaticUCB = field(default_factory=lambda: StaticUCB(2))
    known: dict[str, Known] = field(default_factory=dict)  # in the order of their settling, those that are settled

    def settle(self, id: str, state: str, now: float) -> None:
        found = self.known.pop(id)
        found.state, found.settled = state, now
        self.known[id] = found

    def forget(self, now: float) -> None:
        settled = [id for id, found in self.known.items() if found.state != "waiting"]
        for place, id in enumerate(settled):
            many = len(settled) - place > self.told.most_remembered
            if many or self.known[id].settled < now - self.told.remember:
                del self.known[id]

    def expire(self, id: str, now: float) -> None:
        found = self.known[id]
        value = self.told.default if found.reward is None else found.reward
        if found.pending:
            self.settle(id, "unshown", now)
            return
        if value is not None:
            self.policy.update(found.decision, value)
        self.settle(id, "expired" if found.reward is None else "rewarded", now)

    def waiting(self) -> list[str]:
        return [id for id, found in self.known.items() if found.state == "waiting"]


class Shop(RuleBasedStateMachine):
    @initialize(kind=st.sampled_from(KINDS))
    def open(self, kind: dict[str, Any]) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=FAST)
        self.path = Path(self.folder.name) / "shop.db"
        self.clock, self.kind = Clock(), kind
        self.service = opened(self.path, self.clock, **kind)
        self.model = Model(Settings(**kind))
        self.acknowledge()

    def teardown(self) -> None:
        self.service.close()
        self.folder.cleanup()

    @rule()
    def acknowledge(self) -> None:
        self.service.commits.through(self.service.commits.next - 1)
        self.durable = copy.deepcopy(self.model)

    @rule(id=IDS, deferred=st.booleans())
    def decide(self, id: str, deferred: bool) -> None:
        ask, known = Ask(set="shelf", deferred=deferred), self.model.known.get(id)
        if known is not None and known.ask != ask:
            with pytest.raises(Conflict):
                self.service.decide("shop", id, ask)
        elif known is not None:
            answer = self.service.decide("shop", id, ask)
            assert answer.repeat
            assert (answer.index, answer.round) == (known.index, known.decision.round)
        elif len(self.model.waiting()) >= self.model.told.most_waiting:
            with pytest.raises(Full):
                self.service.decide("shop", id, ask)
        else:
            answer = self.service.decide("shop", id, ask)
            decision = self.model.policy.select(FIXED)
            assert (answer.index, answer.round, answer.repeat) == (decision.index, decision.round, False)
            known = Known(ask, answer.index, decision, self.clock.now + self.model.told.wait, deferred)
            self.model.known[id] = known
            self.model.forget(self.clock.now)

    def on_time(self, id: str) -> Known | None:
        found = self.model.known.get(id)
        if found is not None and found.state == "waiting" and found.deadline <= self.clock.now:
            self.model.expire(id, self.clock.now)
            self.model.forget(self.clock.now)
        return found

    @rule(id=IDS, value=VALUES)
    def reward(self, id: str, value: float) -> None:
        known, told = self.on_time(id), self.model.told
        if known is None:
            with pytest.raises(NotFound):
                self.service.reward("shop", id, value)
            return
        if known.reward == value:
            assert self.service.reward("shop", id, value).outcome == "duplicate"
            return
        if known.reward is not None and (told.gather == "first" or known.state != "waiting"):
            with pytest.raises(Conflict):
                self.service.reward("shop", id, value)
            return
        outcome = self.service.reward("shop", id, value).outcome
        first, known.reward = known.reward is None, value
        if known.state != "waiting":
            assert outcome == ("learnt" if told.late == "learn" and first else "late")
            if outcome == "learnt":
                self.model.policy.update(known.decision, value)
                known.state = "rewarded"
        else:
            self.reward_in_time(id, known, value, outcome)
        self.model.forget(self.clock.now)

    def reward_in_time(self, id: str, known: Known, value: float, outcome: str) -> None:
        assert outcome == ("kept" if self.model.told.at_deadline else "learnt")
        if known.pending:
            known.pending, known.deadline = False, self.clock.now + self.model.told.wait
        if outcome == "learnt":
            self.model.policy.update(known.decision, value)
            self.model.settle(id, "rewarded", self.clock.now)

    @rule(id=IDS)
    def shown(self, id: str) -> None:
        known = self.on_time(id)
        if known is None:
            with pytest.raises(NotFound):
                self.service.shown("shop", id)
        elif known.state == "waiting" and known.pending:
            assert self.service.shown("shop", id).outcome == "kept"
            known.pending, known.deadline = False, self.clock.now + self.model.told.wait
            self.model.forget(self.clock.now)
        else:
            assert self.service.shown("shop", id).outcome == ("late" if known.state == "unshown" else "duplicate")

    @rule(seconds=st.sampled_from([0.0, 1.0, 4.0, 25.0]))
    def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds
        due = [id for id in self.model.waiting() if self.model.known[id].deadline <= self.clock.now]
        self.service.tick()
        for id in sorted(due, key=lambda id: self.model.known[id].deadline):
            self.model.expire(id, self.clock.now)
        if due:
            self.model.forget(self.clock.now)

    @rule()
    def snapshot(self) -> None:
        self.service.snapshot()
        self.service.keeper.wait()
        self.model.forget(self.clock.now)  # a witness is a record too
        self.durable = copy.deepcopy(self.model)

    @rule()
    def crash(self) -> None:
        crash(self.service)
        self.service = opened(self.path, self.clock, **self.kind)
        self.model = copy.deepcopy(self.durable)

    @rule()
    def close(self) -> None:
        self.service.close()
        self.service = opened(self.path, self.clock, **self.kind)
        self.model.forget(self.clock.now)
        self.durable = copy.deepcopy(self.model)

    @rule()
    def reopen(self) -> None:
        self.acknowledge()
        before = bits(self.service)
        self.crash()
        assert bits(self.service) == before

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "model"):
            return
        experiment = self.service.state.names["shop"]
        assert experiment.player.policy.digest() == self.model.policy.digest()
        assert set(experiment.waiting) == set(self.model.waiting())
        for id, known in self.model.known.items():
            found = self.service.find("shop", id)
            assert (found.state, found.shown) == (known.state, not known.pending)
            over = known.state in ("expired", "unshown")  # then its reward, if there is one, was late and not learnt
            assert (found.reward, found.late) == ((None, known.reward) if over else (known.reward, None))
        with pytest.raises(NotFound):
            self.service.find("shop", "never")


TestShop = Shop.TestCase
TestShop.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
