"""Ours and the field's other packages on a fixed arm set, each through its own public interface and in its own process.

Nothing is imported until it plays, and the rounds come as a file, so the process holds only the package being measured.
"""

import json
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

PASSES = 5  # of the timing


class Problem(NamedTuple):
    """What a contender is told: the arms, the noise, and a memory in rounds for those that use one."""

    rows: NDArray[np.float64]
    noise: float
    memory: int
    seed: int


class Player(Protocol):
    def select(self) -> int: ...
    def update(self, reward: float) -> None: ...


class Ours:
    def __init__(self, problem: Problem, kind: str) -> None:
        from driftbandit import FixedArms
        from driftbandit.policies import every

        told: dict[str, dict[str, Any]] = {
            "RestartUCB": {"noise": problem.noise, "period": problem.memory},
            "WindowUCB": {"noise": problem.noise, "window": problem.memory},
            "WeightUCB": {"noise": problem.noise, "discount": 1 - 1 / problem.memory},
            "StaticUCB": {"noise": problem.noise},
        }
        self.policy = every()[kind](problem.rows.shape[1], seed=problem.seed, **told.get(kind, {}))
        self.arms = FixedArms(problem.rows)

    def select(self) -> int:
        self.decision = self.policy.select(self.arms)
        return self.decision.index  # type: ignore[return-value]

    def update(self, reward: float) -> None:
        self.policy.update(self.decision, reward)


class River:
    def __init__(self, problem: Problem, forgets: bool = False) -> None:
        from river.bandit import LinUCBDisjoint

        smoothing = 1 - 1 / problem.memory if forgets else None
        self.policy = LinUCBDisjoint(beta=problem.noise**-2, smoothing=smoothing, seed=problem.seed)  # beta: noise precision
        self.arms: list[Any] = list(range(len(problem.rows)))

    def select(self) -> int:
        self.arm = self.policy.pull(self.arms, {"one": 1.0})
        return int(self.arm)

    def update(self, reward: float) -> None:
        self.policy.update(self.arm, {"one": 1.0}, reward)  # type: ignore[no-untyped-call]


class VowpalWabbit:
    def __init__(self, problem: Problem, options: str = "") -> None:
        from vowpalwabbit import Workspace

        self.workspace = Workspace(f"--cb_explore_adf --squarecb --noconstant --quiet --random_seed {problem.seed} {options}")
        self.lines = ["| " + " ".join(f"{j}:{value:.9g}" for j, value in enumerate(row)) for row in problem.rows]
        self.rng = random.Random(problem.seed)

    def select(self) -> int:
        chances = self.workspace.predict(self.lines)
        self.arm = self.rng.choices(range(len(chances)), chances)[0]
        self.chance = chances[self.arm]
        return self.arm

    def update(self, reward: float) -> None:
        lines = self.lines.copy()
        lines[self.arm] = f"0:{-reward:.9g}:{self.chance:.9g} {lines[self.arm]}"
        self.workspace.learn(lines)


class MABWiser:
    def __init__(self, problem: Problem) -> None:
        from mabwiser.mab import MAB, LearningPolicy

        self.bandit = MAB(list(range(len(problem.rows))), LearningPolicy.LinUCB(), seed=problem.seed)
        self.learn = self.bandit.fit  # the first time; it predicts nothing before
        self.first: int | None = random.Random(problem.seed).randrange(len(problem.rows))

    def select(self) -> int:
        self.arm = self.bandit.predict([[1.0]]) if self.first is None else self.first
        return int(self.arm)

    def update(self, reward: float) -> None:
        self.learn([self.arm], [reward], [[1.0]])
        self.first, self.learn = None, self.bandit.partial_fit


class ContextualBandits:
    def __init__(self, problem: Problem) -> None:
        from contextualbandits.online import LinUCB

        self.bandit = LinUCB(len(problem.rows), fit_intercept=False, random_state=problem.seed)
        self.context = np.ones((1, 1))

    def select(self) -> int:
        self.arm = self.bandit.predict(self.context)
        return int(self.arm[0])

    def update(self, reward: float) -> None:
        self.bandit.partial_fit(self.context, self.arm, np.array([reward]))


class Coba:
    def __init__(self, problem: Problem) -> None:
        from coba.learners import LinUCBLearner

        self.learner = LinUCBLearner(features=["a"], seed=problem.seed)
        self.actions = [tuple(row) for row in problem.rows.tolist()]
        self.index = {action: i for i, action in enumerate(self.actions)}

    def select(self) -> int:
        self.action, self.chance = self.learner.predict(None, self.actions)
        return self.index[self.action]

    def update(self, reward: float) -> None:
        self.learner.learn(None, self.action, reward, self.chance)


class BayesianBandits:
    def __init__(self, problem: Problem) -> None:
        import bayesianbandits as bb

        features = np.ascontiguousarray(problem.rows.T)[None]
        every_arm = len(problem.rows)

        def featurize(context: Any, tokens: Any) -> Any:
            return features if len(tokens) == every_arm else features[:, :, list(tokens)]

        forgetting = bb.StabilizedForgetting(1 - 1 / problem.memory)
        learner = bb.NormalRegressor(alpha=1.0, beta=problem.noise**-2, forgetting=forgetting)
        arms = [bb.Arm(i) for i in range(every_arm)]
        featurizer = bb.FunctionArmFeaturizer(featurize)
        self.agent = bb.LipschitzContextualAgent(arms, bb.ThompsonSampling(), featurizer, learner, random_seed=problem.seed)
        self.context = np.ones((1, 1))

    def select(self) -> int:
        return int(self.agent.pull(self.context)[0])

    def update(self, reward: float) -> None:
        self.agent.update(self.context, np.array([reward]))  # of the arm pulled last


class Contender(NamedTuple):
    package: str
    make: Callable[[Problem], Player]
    encoding: str


MEANS = "no arm features, no shared parameter: one mean per arm"
CONTENDERS = {
    "River LinUCBDisjoint": Contender("river", River, MEANS + "; told the noise"),
    "River LinUCBDisjoint, smoothing": Contender(
        "river", lambda problem: River(problem, forgets=True), MEANS + ", forgotten by its smoothing; told noise and memory"
    ),
    "VowpalWabbit squarecb": Contender("vowpalwabbit", VowpalWabbit, "native: cb_explore_adf, one line of features per arm"),
    "VowpalWabbit squarecb, power_t 0": Contender(
        "vowpalwabbit", lambda problem: VowpalWabbit(problem, "--power_t 0"), "native; a learning rate that does not decrease"
    ),
    "MABWiser LinUCB": Contender("mabwiser", MABWiser, MEANS),
    "contextualbandits LinUCB": Contender("contextualbandits", ContextualBandits, MEANS + "; made for rewards 0 and 1"),
    "coba LinUCBLearner": Contender("coba", Coba, "native: each arm an action with features"),
    "bayesianbandits Thompson": Contender(
        "bayesianbandits", BayesianBandits, "native: shared regression, stabilised forgetting; told noise and memory"
    ),
}
OURS = {
    "RestartUCB": "native; told noise and memory",
    "WindowUCB": "native; told noise and memory",
    "WeightUCB": "native; told noise and memory",
    "StaticUCB": "native; told the noise",
    "AdaptiveUCB": "native; told nothing",
    "DetectUCB": "native; told nothing",
}


def our_contender(kind: str) -> Contender:
    return Contender("driftbandit", lambda problem: Ours(problem, kind), OURS[kind])


def find(name: str) -> Contender:
    return our_contender(name) if name in OURS else CONTENDERS[name]


def regret_of(player: Player, means: NDArray[np.float64], noise: NDArray[np.float64]) -> float:
    """Final dynamic regret over these rounds: ``means`` has each arm's expected reward in each."""
    total = 0.0
    for expected, best, luck in zip(means.tolist(), means.max(axis=1).tolist(), noise.tolist(), strict=True):
        arm = player.select()
        total += best - expected[arm]
        player.update(expected[arm] + luck)
    return total


def microseconds(make: Callable[[], Player], means: NDArray[np.float64], noise: NDArray[np.float64]) -> float:
    """Microseconds per decision and update, after a warm-up.

    Processor time, and the median: a slow contender's pass is long enough to be interrupted every time, a fast one's is not,
    so wall time, or the fastest pass, would favour the fast contenders.
    """
    warm, *rewards = (means + noise[:, None]).tolist()
    measured = []
    for _ in range(PASSES):
        player = make()
        player.update(warm[player.select()])
        before = time.process_time()
        for row in rewards:
            player.update(row[player.select()])
        measured.append(1e6 * (time.process_time() - before) / len(rewards))
    return statistics.median(measured)


def peak_megabytes() -> float:
    """The peak memory of this process; not from ``ru_maxrss`` on Linux, which starts at the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main(name: str, folder: str) -> None:
    """Play every file of rounds in the folder, in order; print what was measured as JSON."""
    make, measured = find(name).make, []
    for seed, file in enumerate(sorted(Path(folder).glob("*.npz")), start=1):  # contextualbandits takes no 0
        with np.load(file) as rounds:
            rows, means, noise = rounds["rows"], rounds["means"], rounds["noise"]
            problem = Problem(rows, float(rounds["scale"]), int(rounds["memory"]), seed)
        if file.stem.startswith("time"):
            measured.append((file.stem, microseconds(lambda problem=problem: make(problem), means, noise)))  # type: ignore[misc]
        else:
            measured.append((file.stem, regret_of(make(problem), means, noise)))
    print(json.dumps({"measured": measured, "peak": peak_megabytes()}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
