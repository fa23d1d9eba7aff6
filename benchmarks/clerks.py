"""Contenders for visitors with named fields: ours through ``Chooser``, others as their manuals say; one process each.

Nothing is imported until it plays, so a process holds only the package being measured.
"""

import json
import math
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from counters import COUNTERS, Counter, Visitor, reward_of, visitors

PASSES, SECONDS, WARM = 5, 1.0, 100  # of the timing: passes, about how long each, rounds before the first


class Clerk(Protocol):
    def select(self, visitor: Visitor) -> str: ...
    def update(self, reward: float) -> None: ...


class Ours:
    def __init__(self, counter: Counter, kind: str, model: str) -> None:
        from driftbandit import Category, Chooser, Context, Cyclic, Flag, Number
        from driftbandit.policies import every

        fields = {name: Category(levels, other=name == "country") for name, levels in counter.levels.items()}
        more = {"hour": Cyclic(24), "basket": Number(0, 100, log=True), "returning": Flag()}
        context = Context({**fields, **more})
        assert context.dim == counter.columns
        told: dict[str, Any] = {"RestartUCB": {"period": 1000, "noise": 0.5}, "StaticUCB": {"noise": 0.5}}.get(kind, {})
        self.chooser = Chooser(every()[kind], counter.names, context, model=model, **told)

    def select(self, visitor: Visitor) -> str:
        self.choice = self.chooser.select(visitor)
        return self.choice.action

    def update(self, reward: float) -> None:
        self.chooser.update(self.choice, reward)


class VowpalWabbit:
    """Text as in its tutorials, parsed for the decision and again for the update."""

    def __init__(self, counter: Counter, options: str = "--squarecb") -> None:
        from vowpalwabbit import Workspace

        self.workspace = Workspace(f"--cb_explore_adf -q ca --quiet {options}")
        self.names, self.levels, self.rng = counter.names, counter.levels, random.Random(1)
        self.actions = [f"|a {name}" for name in counter.names]

    def select(self, visitor: Visitor) -> str:
        self.lines = [self.shared(visitor), *self.actions]
        return self.drawn(self.workspace.predict(self.lines))

    def update(self, reward: float) -> None:
        self.lines[1 + self.arm] = f"{self.label(reward)} {self.lines[1 + self.arm]}"
        self.workspace.learn(self.lines)

    def shared(self, visitor: Visitor) -> str:
        angle, spaceless = (
            math.tau * visitor["hour"] / 24,
            [f"{name}={visitor[name]}".replace(" ", "_") for name in self.levels],
        )
        numbers = f"sin:{math.sin(angle):.6f} cos:{math.cos(angle):.6f} basket:{math.log1p(visitor['basket']) / 4.6:.6f}"
        return f"shared |c {' '.join(spaceless)} {numbers} returning:{int(visitor['returning'])}"

    def drawn(self, chances: list[float]) -> str:
        self.arm = self.rng.choices(range(len(chances)), chances)[0]
        self.chance = chances[self.arm]
        return self.names[self.arm]

    def label(self, reward: float) -> str:
        return f"0:{-reward:.6f}:{self.chance:.6f}"


class VowpalExamples(VowpalWabbit):
    """Text parsed once into examples, which serve the decision and, labelled, the update."""

    def select(self, visitor: Visitor) -> str:
        self.examples = self.workspace.parse("\n".join([self.shared(visitor), *self.actions]))
        return self.drawn(self.workspace.predict(self.examples))

    def update(self, reward: float) -> None:
        self.examples[1 + self.arm].set_label_string(self.label(reward))
        self.workspace.learn(self.examples)
        self.workspace.finish_example(self.examples)


class River:
    """A dictionary of features; one Bayesian regression per action, and an upper confidence bound."""

    def __init__(self, counter: Counter) -> None:
        from river.bandit import LinUCBDisjoint

        self.policy = LinUCBDisjoint(seed=1)
        self.names: list[Any] = counter.names
        self.levels = counter.levels

    def features(self, visitor: Visitor) -> dict[str, float]:
        angle, known = math.tau * visitor["hour"] / 24, {f"{name}={visitor[name]}": 1.0 for name in self.levels}
        numbers = {"sin": math.sin(angle), "cos": math.cos(angle), "basket": math.log1p(visitor["basket"]) / 4.6}
        return {"constant": 1.0, **known, **numbers, "returning": float(visitor["returning"])}

    def select(self, visitor: Visitor) -> str:
        self.x = self.features(visitor)
        self.action: str = self.policy.pull(self.names, self.x)  # type: ignore[assignment]
        return self.action

    def update(self, reward: float) -> None:
        self.policy.update(self.action, self.x, reward)  # type: ignore[no-untyped-call]


class RiverLinear(River):
    """By hand: one linear regression per action, fitted by gradient steps; the best action, or in 1 of 20 rounds any."""

    def __init__(self, counter: Counter) -> None:
        from river.linear_model import LinearRegression

        self.names, self.levels, self.rng = counter.names, counter.levels, random.Random(1)
        self.models = {name: LinearRegression() for name in counter.names}

    def select(self, visitor: Visitor) -> str:
        self.x = x = self.features(visitor)
        if self.rng.random() < 0.05:
            self.action = self.rng.choice(self.names)
        else:
            self.action = max(self.names, key=lambda name: self.models[name].predict_one(x))  # type: ignore[no-untyped-call]
        return self.action

    def update(self, reward: float) -> None:
        self.models[self.action].learn_one(self.x, reward)


KINDS, MODELS = ("RestartUCB", "StaticUCB", "AdaptiveUCB"), ("disjoint", "hybrid")
OURS: dict[str, Callable[[Counter], Clerk]] = {
    f"{kind}, {model}": lambda counter, kind=kind, model=model: Ours(counter, kind, model)  # type: ignore[misc]
    for kind in KINDS
    for model in MODELS
}
PEERS: dict[str, tuple[str, Callable[[Counter], Clerk]]] = {
    "VowpalWabbit squarecb, text": ("vowpalwabbit", VowpalWabbit),
    "VowpalWabbit squarecb, examples": ("vowpalwabbit", VowpalExamples),
    "VowpalWabbit epsilon, examples": ("vowpalwabbit", lambda counter: VowpalExamples(counter, "--epsilon 0.05")),
    "River LinUCBDisjoint": ("river", River),
    "River LinearRegression per action, epsilon": ("river", RiverLinear),
}
BY_HAND = ["River LinearRegression per action, epsilon"]  # not a bandit that the package offers


def find(name: str) -> tuple[str, Callable[[Counter], Clerk]]:
    return ("driftbandit", OURS[name]) if name in OURS else PEERS[name]


def serve(clerk: Clerk, met: list[Visitor]) -> float:
    """Processor seconds per decision and update."""
    before = time.process_time()
    for visitor in met:
        clerk.update(reward_of(clerk.select(visitor), visitor))
    return (time.process_time() - before) / len(met)


def microseconds(clerk: Clerk, counter: Counter) -> float:
    """The median of some passes, as in contenders.py."""
    serve(clerk, visitors(counter, 2))  # compiles
    rough = max(serve(clerk, visitors(counter, 5)), 1e-6)
    serve(clerk, visitors(counter, min(WARM, max(int(SECONDS / rough), 1))))
    met = visitors(counter, min(5000, max(int(SECONDS / rough), 3)))
    return 1e6 * statistics.median(serve(clerk, met) for _ in range(PASSES))


if __name__ == "__main__":
    name, place = sys.argv[1:]
    print(json.dumps(microseconds(find(name)[1](COUNTERS[place]), COUNTERS[place])))
