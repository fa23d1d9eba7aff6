"""The twin of AdaptiveUCB and DetectUCB: V and b of each estimator, a NumPy solve wherever anything is asked of them."""

import math
from typing import Any

import numpy as np

from driftbandit._chance import luck
from driftbandit._types import Floats
from naive import Naive


class Member:
    """One estimator; ``precision`` is the prior's, along each axis."""

    def __init__(self, precision: Floats, mean: Floats) -> None:
        self.V, self.b = np.diag(precision), precision * mean

    @property
    def metric(self) -> Floats:
        return np.linalg.inv(self.V)

    @property
    def theta(self) -> Floats:
        return np.linalg.solve(self.V, self.b)

    def copy(self) -> "Member":
        twin = Member(np.ones(len(self.b)), np.zeros(len(self.b)))
        twin.V, twin.b = self.V.copy(), self.b.copy()
        return twin

    def step(self, n: int, memory: float, features: int, penalty: float, x: Floats, r: float) -> tuple[float, float]:
        turns = max(1, int(memory) // 64) if memory < math.inf else 0
        if turns and n % turns == 0:
            keep, theta = (1 - 1 / memory) ** turns, self.theta
            fade = np.where(np.arange(len(x)) < features, math.sqrt(keep), 1.0)
            self.V = fade[:, None] * self.V * fade
            self.b = self.V @ theta
            axes = math.ceil(features * (1 - keep) / 8)
            for i in range(axes):
                axis = (n // turns * axes + i) % features
                self.V[axis, axis] += features * (1 - keep) * penalty / axes
        residual, variance = r - x @ self.theta, 1 + x @ np.linalg.solve(self.V, x)
        self.V, self.b = self.V + np.outer(x, x), self.b + r * x
        return float(residual), float(variance)


class NaiveEvidence(Naive):
    def __init__(self, policy: Any, most: int = 4096) -> None:
        super().__init__(policy, most)
        rule = policy._rule()
        self.doubt, self.refuted, self.probe = rule.doubt, rule.refuted, rule.probe
        self.memories = [*map(float, policy.memories), math.inf]
        self.K, self.d, self.D = len(self.memories), policy.dim, policy.dim + policy.intercept
        self.main = self.learnt = self.since = self.restarts = 0
        self.noise2 = (policy.noise or 0.0) ** 2
        self.signal2, self.length2, self.weight_ = 0.0, 0.0, 0.0
        self.evidence, self.onset = np.zeros((self.K, self.K)), np.zeros((self.K, self.K), int)
        self.past: list[tuple[Floats, float, Floats, Floats]] = []  # arm, reward, squares and logs of each estimator
        self.brief = next(k for k, memory in enumerate(self.memories) if memory >= 16)

    def fresh(self, remember: bool) -> Member:
        precision, mean = np.full(self.D, self.penalty), np.zeros(self.D)
        if remember and self.d < self.D:
            main = self.members[self.main]
            precision[-1] = max(1 / max(main.metric[-1, -1], 1e-12 / self.penalty), self.penalty)
            mean[-1] = main.theta[-1]
        return Member(precision, mean)

    @staticmethod
    def plausibility(squares: Any, logs: Any) -> float:
        return -0.5 * float(sum(logs) + len(logs) * math.log(max(sum(squares), 1e-300)))

    def against(self, k: int) -> int:
        return int(np.argmax([*self.evidence[:k, k], 0.0])) if k else 0

    def estimate(self) -> tuple[Floats, Floats, float]:
        if not self.learnt:
            return np.zeros(self.d), np.eye(self.d), 0.0
        calm = [k for k in range(self.K) if k == 0 or self.evidence[:k, k].max() <= self.doubt]
        main = played = calm[-1]
        chance = self.probe * math.sqrt(self.d / (self.learnt - self.since + self.d))
        u, w = luck(self.p.seed, self.t, 1)[0, 2:]
        if u < chance:
            k = next((k for k in range(self.K - 2) if self.memories[k] * chance >= 0.4 * self.D * 2.5 ** (w - 0.5)), self.K - 2)
            forgotten = self.penalty * np.trace(self.members[k].metric)
            played = k if u * self.D < 3 * chance * forgotten else main
        self.asked = main
        d, noise = self.d, math.sqrt(self.noise2)
        growth = math.log(1 + (self.learnt - self.since) / d)
        kappa = self.p.width * math.sqrt(1 + growth / 8) * (1 if played == main else 2)
        return self.members[main].theta[:d], self.members[played].metric[:d, :d], kappa * noise

    def select(self, rows: Floats) -> int:
        chosen = super().select(rows)
        self.main = self.asked if self.learnt else 0
        return chosen

    def update(self, s: int, reward: float) -> None:
        super().update(s, reward)
        arm = self.arms[s]
        if self.learnt == 0:
            length = arm @ arm
            self.constant, self.shift = (math.sqrt(length), reward) if self.d < self.D else (0.0, 0.0)
            self.penalty = 0.01 * self.D * length
            self.noise2 = self.noise2 or max(0.01 * (reward - self.shift) ** 2, 1e-200)
            self.members = [self.fresh(False) for _ in range(self.K)]
        x, r = np.append(arm, self.constant)[: self.D], reward - self.shift
        steps = [self.step(k, self.learnt, x, r) for k in range(self.K)]
        squares, logs = np.array([(e * e / v, math.log(v)) for e, v in steps]).T
        self.past.append((x, r, squares, logs))
        if self.learnt <= 8 * self.D:
            self.loud = self.noise2
        self.loud += (min(squares[self.brief], 9 * max(self.loud, self.noise2)) - self.loud) / 16
        surprise = 0.5 * (logs + squares / max(self.loud, self.noise2))
        self.learnt += 1
        for k in range(1, self.K):
            self.evidence[:k, k] = np.maximum(self.evidence[:k, k] + surprise[k] - surprise[:k], 0.0)
            self.onset[:k, k][self.evidence[:k, k] == 0.0] = self.learnt
        for k in range(1, self.K):
            j = self.against(k)
            if self.evidence[j, k] > self.refuted and self.rebuild(j, k) and k == self.K - 1:
                self.restarts, self.since = self.restarts + 1, self.learnt
        self.scales(steps[self.main][0] ** 2 / steps[self.main][1], x)

    def step(self, k: int, n: int, x: Floats, r: float) -> tuple[float, float]:
        return self.members[k].step(n, self.memories[k], self.d, self.penalty, x, r)

    def refit(self, k: int, first: int) -> tuple[Member, float]:
        member, squares, logs = self.fresh(first > 0), [], []
        for n in range(first, self.learnt):
            residual, variance = member.step(n, self.memories[k], self.d, self.penalty, *self.past[n][:2])
            squares.append(residual**2 / variance)
            logs.append(math.log(variance))
        return member, self.plausibility(squares, logs)

    def record(self, k: int, first: int) -> float:
        return self.plausibility([past[2][k] for past in self.past[first:]], [past[3][k] for past in self.past[first:]])

    def rebuild(self, j: int, k: int) -> bool:
        oldest = self.learnt - max(128, 8 * self.D)
        first = max(self.onset[j, k], oldest)
        member, fresh = self.refit(k, first)
        copied, kept = self.record(j, first), self.record(k, first)
        if self.onset[j, k] >= oldest and max(fresh, copied) <= kept + 1.0:
            self.evidence[:k, k] = np.minimum(self.evidence[:k, k], 6.0)
            return False
        jump = fresh >= copied
        self.members[k] = member if jump else self.members[j].copy()
        self.evidence[:k, k] = 0.0 if jump else 6.0
        self.onset[:k, k] = self.learnt
        self.evidence[k, k + 1 :], self.onset[k, k + 1 :] = self.evidence[j, k + 1 :], self.onset[j, k + 1 :]
        return True

    def scales(self, square: float, x: Floats) -> None:
        theta, metric, d = self.members[self.main].theta[: self.d], self.members[self.main].metric, self.d
        self.weight_ = min(self.weight_ + 1, 1000)
        told = float(d - self.penalty * np.trace(metric[:d, :d]))
        self.length2 += (float(x[:d] @ x[:d]) - self.length2) / self.weight_
        self.signal2 += (float(theta @ theta) / min(max(told, 1), d) - self.signal2) / self.weight_
        if not self.p.noise_known:
            if square > 1e12 * self.noise2:
                self.noise2, self.weight_ = 0.01 * square, 1
            else:
                self.noise2 += (min(square, 9 * self.noise2) - self.noise2) / (self.weight_ + 1)
                self.noise2 = max(self.noise2, 1e-200)
        if self.learnt >= 8 * self.D:
            ratio = self.noise2 / max(self.signal2, 1e-200)
            unit = self.length2 or 1.0
            self.penalty = min(max(ratio, 1e-6 * unit), 100 * unit)
            if self.learnt == 8 * self.D:
                self.members = [self.refit(k, 0)[0] for k in range(self.K)]
                self.evidence[:], self.onset[:] = 0.0, self.learnt
