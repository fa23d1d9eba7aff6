"""Who keeps the shop: ours in a compiled loop, anyone's in a Python loop, against the same visitors with the same luck."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from by_banner import blocks_of

from driftbandit import DiscountedTS, Policy
from driftbandit.core.choice import appraise, pick, reconsider
from driftbandit.core.compile import bind, kernel
from driftbandit.core.random import PAGE, luck
from driftbandit.core.ridge import METRIC, THETA
from driftbandit.core.types import Floats, Ints
from driftbandit.policies._base.verbs import begin, learn
from driftbandit.policies._evidence.bank import RESTARTS
from driftbandit.replay.replay import Course
from driftbandit.shop.storefront import BANNERS, COLUMNS, DIM, Traffic, open_shop, share
from driftbandit.shop.vowpal import VowpalWabbit

Played = Callable[[int], None]  # called with the number of decisions just made


# Not by ``decide_rows``: numba would note the benchmark's own states in that kernel's cache, which no other process could read.
@kernel
def serve(
    state: Any, shop: Traffic, course: Course, start: int, luck: Floats, columns: Floats, score: Floats, x: Floats
) -> None:  # fmt: skip
    """Decide on from visitor ``start``, as far as the luck goes; an arm is one-hot(banner) ⊗ context."""
    last, width = len(shop.contexts), shop.contexts.shape[1]
    for place in range(len(luck)):
        t = start + place
        s = course.first[t]
        while s >= 0:
            banner = course.chosen[s]
            x[:] = 0.0
            for j in range(width):
                x[banner * width + j] = shop.contexts[s, j]
            learn(state, s, x, 1.0 if shop.luck[s] < shop.chances[s, banner] else 0.0)
            s = course.after[s]
        for banner in range(columns.shape[1]):
            for j in range(width):
                columns[banner * width + j, banner] = shop.contexts[t, j]
        beta = begin(state, t, luck[place])
        appraise(state.ridge.vector[THETA], state.ridge.matrix[METRIC], columns, score)
        chosen = course.chosen[t] = reconsider(state, columns, score, pick(score, beta, luck[place, 0]), luck[place])
        clicked = 1 if shop.luck[t] < shop.chances[t, chosen] else 0
        due = min(t + 1 + shop.wait[t, clicked], last)
        if course.first[due] < 0:
            course.first[due] = t
        else:
            course.after[course.last[due]] = t
        course.last[due] = t


def serve_all(policy: Policy, shop: Traffic, played: Played | None = None) -> Ints:
    """(T,): the banners that one of our policies, fresh, shows; it is used up."""
    decisions = len(shop.luck)
    course = Course(*(np.full(decisions + 1, -1) for _ in range(4)))
    state = blocks_of(policy, len(BANNERS)) if isinstance(policy, DiscountedTS) else policy.state
    scratch = np.zeros((DIM, len(BANNERS))), np.empty((3, len(BANNERS))), np.empty(DIM)
    serve_on = bind(serve, state, shop, course, 0, np.empty((0, 4)), *scratch)
    for start in range(0, decisions, PAGE):
        chance = luck(policy.seed, start, min(PAGE, decisions - start))
        serve_on(state, shop, course, start, chance, *scratch)
        if played:
            played(len(chance))
    return course.chosen[:-1]


def play_shop(
    policy: Policy, seed: int, decisions: int = 200_000, *, late: bool = False, played: Played | None = None
) -> tuple[float, int]:
    """The share of the oracle that a policy gets, and how often it restarted. The policy is left as it is."""
    shop, player = open_shop(seed, decisions, late), policy.spawn(seed)
    got = share(shop, serve_all(player, shop, played))
    return got, restarts_of(player)


def restarts_of(policy: Policy) -> int:
    return int(policy.state.bank.clock[RESTARTS]) if hasattr(policy.state, "bank") else 0


class Shopkeeper(Protocol):
    def select(self, context: Floats) -> Any: ...  # a decision with ``index``, the banner
    def update(self, decision: Any, reward: float) -> None: ...


class Ours:
    """One of our policies through its public interface."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.update = policy, policy.update

    def select(self, context: Floats) -> Any:
        return self.policy.select(np.kron(np.eye(len(BANNERS)), context))


def vowpal(seed: int, options: str) -> VowpalWabbit:
    """Banners and columns by number."""
    return VowpalWabbit([str(k) for k in range(len(BANNERS))], [str(k) for k in range(len(COLUMNS))], options, seed)


def serve_plainly(player: Shopkeeper, shop: Traffic, played: Played | None = None) -> Ints:
    """(T,): the same rounds as ``serve_all``, for anyone with select and update."""
    chosen = np.empty(len(shop.luck), np.int64)
    waiting: dict[int, list[tuple[Any, float]]] = {}  # by the decision before which they are told
    for t, context in enumerate(shop.contexts):
        for decision, click in waiting.pop(t, ()):
            player.update(decision, click)
        decision = player.select(context)
        chosen[t] = decision.index
        clicked = bool(shop.luck[t] < shop.chances[t, decision.index])
        waiting.setdefault(t + 1 + int(shop.wait[t, int(clicked)]), []).append((decision, float(clicked)))
        if played and (t + 1) % PAGE == 0:
            played(PAGE)
    return chosen
