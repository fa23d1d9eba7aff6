"""DAL (Gerogiannis, Huang, Bose, Veeravalli 2025): LinUCB, forced visits to covering arms, a likelihood-ratio test on each."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftbandit.core import validate
from driftbandit.core.arms import Ball, Ellipsoid, FixedArms
from driftbandit.core.compile import kernel
from driftbandit.core.ridge import MEAN, SQUARE, Ridge
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._base.confident import ConfidentPolicy
from driftbandit.policies._base.decision import Decision
from driftbandit.policies._base.sound import check_now, check_range, check_rewards, demand
from driftbandit.policies._base.verbs import begin, learn
from driftbandit.policies.restart import NEVER, START, RestartState, check_state, new_state, restart

NOW, EPISODE = 0, 1
MOST = 1024  # rewards of an arm that the test looks back on; when there are more, the older half is forgotten
FLAT = 1e-9  # lengths this close, relative to the longest, are the same: the cover must not depend on a last bit


class AugmentedState(NamedTuple):
    ridge: Ridge  # the base's own, except for its scores: in a forced round they make the forced arm win
    base: RestartState  # which never restarts by itself
    noise: float  # R
    horizon: float  # T
    cover: Ints  # (k,): the covering arms by their number, k ≤ d
    history: Floats  # (d, MOST): the rewards of the forced visits to each covering arm
    seen: Ints  # (d,): how many there are
    clock: Ints  # (2,): the last decided round; how many times it began


def covering(columns: Floats) -> Ints:
    """Arms that span all others: each is the farthest from the span of those before it (Gram–Schmidt, pivoted)."""
    rest = columns.copy()
    least = FLAT * np.linalg.norm(rest, axis=0).max()
    cover: list[int] = []
    for _ in range(len(rest)):
        lengths = np.linalg.norm(rest, axis=0)
        if lengths.max() <= least:
            break
        farthest = int(np.argmax(lengths >= lengths.max() * (1.0 - FLAT)))  # the first of equals
        cover.append(farthest)
        direction = rest[:, farthest] / lengths[farthest]
        rest -= np.outer(direction, direction @ rest)
    return np.array(cover, np.int64)


@kernel
def forced(state: AugmentedState, s: int) -> int:
    """The place in the cover of the arm that round s must play; −1 if it may play any.

    k visits in a row every ⌈k/α⌉ rounds, α = √(e·k ln T / T) in the e-th episode. A function of the round alone,
    so that a late reward finds its arm.
    """
    count = len(state.cover)
    share = math.sqrt(state.clock[EPISODE] * count * math.log(state.horizon) / state.horizon)
    cycle = math.ceil(count / min(share, 1.0)) if count > 0 else 1
    place = (s - state.base.clock[START]) % cycle
    return int(place) if place < count else -1


@kernel
def shifted(rewards: Floats, count: int, noise: float, horizon: float) -> bool:
    """Whether two means explain the rewards better than one, at some split: the Gaussian likelihood ratio.

    Threshold ln(3n^(3/2)/δ), δ = 1/√T, as in the experiments of Besson, Kaufmann, Maillard, Seznec (2022).
    """
    total = before = 0.0
    for i in range(count):
        total += rewards[i]
    threshold = math.log(3.0 * math.pow(count, 1.5) * math.sqrt(horizon))
    for i in range(1, count):
        before += rewards[i - 1]
        gap = before / i - (total - before) / (count - i)
        if gap * gap * i * (count - i) / count >= 2.0 * noise * noise * threshold:
            return True
    return False


@begin.of(AugmentedState)
def _begin(state: AugmentedState, t: int, luck: Floats) -> float:
    state.clock[NOW] = t
    beta: float = begin(state.base, t, luck)
    place = forced(state, t)
    score, own = state.ridge.score, state.base.ridge.score
    for i in range(score.shape[1]):
        score[MEAN, i] = own[MEAN, i] if place < 0 else 0.0
        score[SQUARE, i] = own[SQUARE, i]
    if place < 0:
        return beta
    score[MEAN, state.cover[place]] = 1.0
    return 0.0


@learn.of(AugmentedState)
def _learn(state: AugmentedState, s: int, x: Floats, r: float) -> None:
    if s < state.base.clock[START]:
        return
    learn(state.base, s, x, r)
    place = forced(state, s)
    if place < 0:
        return
    rewards, seen = state.history[place], state.seen
    if seen[place] == MOST:
        seen[place] = MOST // 2
        for i in range(MOST // 2):
            rewards[i] = rewards[MOST // 2 + i]
    rewards[seen[place]] = r
    seen[place] += 1
    if shifted(rewards, seen[place], state.noise, state.horizon):
        seen[:] = 0
        state.clock[EPISODE] += 1
        restart(state.base, state.clock[NOW] + 1)


@dataclass(repr=False, eq=False, kw_only=True)
class DetectionAugmentedUCB(ConfidentPolicy):
    """Forget everything when an arm's mean has shifted: LinUCB, with forced visits to d arms that span all others.

    Needs ``horizon`` (T), ``noise`` (R) and the same ``FixedArms`` in every round. LinUCB learns from forced visits too;
    in such a round ``estimate`` gives LinUCB's estimate with a radius of 0. A reward that comes after the restart that
    followed its round is dropped.
    Caveat: detection takes several visits to one arm, which come √(d·T / ln T) rounds apart; made for abrupt changes.
    """

    fixed_only: ClassVar[bool] = True
    by_arrival: ClassVar[bool] = True
    ties_only: ClassVar[bool] = True

    def _new_state(self) -> AugmentedState:
        if self.horizon is None:
            raise ValueError("horizon must be given: how often arms are visited, and the test, follow from it")
        validate.positive("noise", self.noise)
        base, d = new_state(self, NEVER), self.dim
        return AugmentedState(
            base.ridge._replace(score=np.zeros((3, 0))), base, self.noise, float(max(self.horizon, 2)),
            np.zeros(0, np.int64), np.zeros((d, MOST)), np.zeros(d, np.int64), np.array([0, 1], np.int64),
        )  # fmt: skip

    def select(self, arms: ArrayLike | FixedArms | Ball | Ellipsoid) -> Decision:
        """Decide the next round: ``arms`` is the same ``FixedArms`` each time."""
        if not isinstance(arms, FixedArms):
            raise ValueError(f"arms must be FixedArms, the same in every round, got {type(arms).__name__}")
        return super().select(arms)

    def keep(self, arms: FixedArms) -> None:
        """Keep this set for good: once a round is decided, another set is an error."""
        if self.rounds and arms != self._kept:
            raise ValueError("arms must be the same FixedArms in every round, got others: make a new policy for these")
        super().keep(arms)

    def _with_ridge(self, state: Any, ridge: Ridge) -> Any:
        return state._replace(
            ridge=ridge._replace(score=ridge.score.copy()),
            base=state.base._replace(ridge=ridge),
            cover=covering(ridge.columns),
        )

    def _check_state(self) -> None:
        state, epoch = self.state, self.rounds + 1 - self.state.base.clock[START]
        check_state(state.base, self.rounds, self.arm_norm, NEVER)
        known = self._kept is None or np.array_equal(state.cover, covering(self._kept.columns))
        demand(known, "the covering arms are not those of the fixed arms")
        check_range("the counts of forced visits", state.seen, 0, min(MOST, epoch))
        check_rewards("the rewards of forced visits", state.history)
        check_now(state.clock[NOW], self.rounds)
        check_range("the episode", state.clock[EPISODE], 1, self.rounds + 1)
