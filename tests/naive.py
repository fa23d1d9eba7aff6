"""An obvious NumPy twin of every policy: closed forms and explicit sums over all that was seen, no recursion."""

import math
from functools import cached_property
from typing import Any

import numpy as np

from driftbandit.core.counter import uniform
from driftbandit.core.random import luck
from driftbandit.core.types import Floats, Ints


class Naive:
    """Reads its parameters from the policy whose twin it is; keeps every arm and reward for ever."""

    single_covariance = False

    def __init__(self, policy: Any, most: int = 4096) -> None:
        self.p = policy
        self.t = 0
        self.arms = np.zeros((most, policy.dim))
        self.rewards = np.zeros(most)
        self.told = np.zeros(most, bool)

    def weight(self, s: Ints) -> Floats:
        """What each round s weighs in the estimate for round t; 0 where it is forgotten."""
        raise NotImplementedError

    def estimate(self) -> tuple[Floats, Floats, float]:
        p = self.p
        s = np.flatnonzero(self.told)
        X, r, w = self.arms[s], self.rewards[s], self.weight(s)
        V = p.ridge * np.eye(p.dim) + (X.T * w) @ X
        V2 = p.ridge * np.eye(p.dim) + (X.T * w**2) @ X
        inverse = np.linalg.inv(V)
        metric = inverse if self.single_covariance else inverse @ V2 @ inverse
        log_det = p.dim * math.log(1 + (w**2).sum() * p.arm_norm**2 / (p.ridge * p.dim))
        radius = math.sqrt(p.ridge) * p.theta_norm + p.noise * math.sqrt(2 * math.log(1 / p.delta) + log_det)
        return np.linalg.solve(V, X.T @ (w * r)), metric, p.width * radius

    def prefer(
        self, rows: Floats, theta: Floats, metric: Floats, beta: float, novelty: float = 0.0
    ) -> tuple[int, Floats, Floats]:
        """The optimistic choice among the rows, with their estimates and indices."""
        mean = rows @ theta
        square = np.einsum("ij,ij->i", rows @ metric, rows)
        width = beta * np.sqrt(square * (1 + 3.5 * np.log(1 + (novelty * square / (1 + square)) ** 2)))
        index = mean + width
        ties = np.flatnonzero(index >= index.max() - 1e-10 * (abs(mean) + width).max())
        return int(ties[int(luck(self.p.seed, self.t, 1)[0, 0] * len(ties))]), mean, index

    def novelty(self) -> float:
        return 0.0

    def choose(self, rows: Floats) -> int:
        return self.prefer(rows, *self.estimate())[0]

    def select(self, rows: Floats) -> int:
        chosen = self.choose(rows)
        self.arms[self.t] = rows[chosen]
        self.t += 1
        return chosen

    def update(self, s: int, reward: float) -> None:
        self.rewards[s], self.told[s] = reward, True


class NaiveRestart(Naive):
    def weight(self, s: Ints) -> Floats:
        return np.where(s // self.p.period == self.t // self.p.period, 1.0, 0.0)


class NaiveStatic(Naive):
    def weight(self, s: Ints) -> Floats:
        return np.ones(len(s))


class NaiveOracle(Naive):
    def weight(self, s: Ints) -> Floats:
        return np.where(s >= max([0, *(point for point in self.p.change_points if point <= self.t)]), 1.0, 0.0)


class NaiveWindow(Naive):
    def weight(self, s: Ints) -> Floats:
        return np.where(s >= self.t - self.p.window, 1.0, 0.0)


class NaiveWeight(Naive):
    def weight(self, s: Ints) -> Floats:
        powers: Floats = float(self.p.discount) ** (self.t - 1.0 - s)
        return powers


class NaiveLightWeight(NaiveWeight):
    single_covariance = True


class NaiveCusum(Naive):
    """Page's sums by their closed form: the residuals' total since it was lowest."""

    start = 0
    residuals: list[float]

    def weight(self, s: Ints) -> Floats:
        return np.where(s >= self.start, 1.0, 0.0)

    def update(self, s: int, reward: float) -> None:
        if s < self.start:
            return
        if not self.told[self.start :].any():
            self.residuals = []
        theta, metric, _ = self.estimate()
        x = self.arms[s]
        self.residuals.append((reward - x @ theta) / (self.p.noise * math.sqrt(1 + x @ metric @ x)))
        for sign in (1, -1):
            total = np.cumsum([0.0, *(sign * z - 0.5 for z in self.residuals)])
            if total[-1] - total.min() > self.p.threshold:
                self.start = self.t
                return
        super().update(s, reward)


class NaiveDiscountedTS(NaiveWeight):
    def estimate(self) -> tuple[Floats, Floats, float]:
        p = self.p
        theta, metric, _ = super().estimate()
        first, second = (int(u * 2**32) for u in luck(p.seed, self.t, 1)[0, 2:])
        u = np.array([uniform(first, second, k) for k in range(p.dim + p.dim % 2)]).reshape(-1, 2)
        lengths, angles = np.sqrt(-2 * np.log(u[:, 0])), 2 * np.pi * u[:, 1]
        normal = np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], axis=1).ravel()[: p.dim]
        return theta + p.width * p.noise * np.linalg.cholesky(metric) @ normal, metric, 0.0


class NaiveMaster(Naive):
    """Every test from the list of rounds; a round belongs to the copy (order, turn) that played it."""

    start, order = 0, 0  # of the block
    copy = 0, 0

    def __init__(self, policy: Any, most: int = 4096) -> None:
        super().__init__(policy, most)
        self.owner = np.zeros(len(self.told), int)
        self.optimistic = np.full(len(self.told), np.nan)
        T, p = max(policy.horizon, 2), policy
        inside = p.dim * math.log(1 + T * p.arm_norm**2 / (p.ridge * p.dim))
        beta = math.sqrt(p.ridge) * p.theta_norm + p.noise * math.sqrt(2 * math.log(1 / p.delta) + inside)
        self.hurdle = p.slack * 6 * (math.log2(T) + 1) * math.log(T) * 2 * p.width * beta * math.sqrt(2 * inside)

    def lives(self, m: int, turn: int) -> bool:
        first, second = (int(u * 2**32) for u in luck(self.p.seed, self.start, 1)[0, 2:])
        return uniform(first, second, 64 * turn + m) < math.sqrt(2.0 ** (m - self.order))

    def changed(self) -> bool:
        since = self.t - self.start
        told = self.start + np.flatnonzero(self.told[self.start : self.t])
        known = told[~np.isnan(self.optimistic[told])]
        for m in range(self.order + 1):
            life = told[told >= self.t - 2**m]
            if since % 2**m == 0 and len(life) and self.lives(m, since // 2**m - 1):
                lowest = self.optimistic[known].min(initial=1e100)
                if self.rewards[life].mean() >= lowest + 9 * self.hurdle / math.sqrt(2**m):
                    return True
        excess = self.optimistic[known] - self.rewards[known]
        return len(known) > 0 and bool(excess.mean() >= 3 * self.hurdle / math.sqrt(len(known)))

    def weight(self, s: Ints) -> Floats:
        m, turn = self.copy
        return np.where((s >= self.start) & (self.owner[s] == m) & ((s - self.start) // 2**m == turn), 1.0, 0.0)

    def estimate(self) -> tuple[Floats, Floats, float]:
        if self.t == 0 or self.changed():
            self.start, self.order = self.t, 0
        elif self.t - self.start == 2**self.order:
            self.start, self.order = self.t, min(self.order + 1, int(math.log2(self.p.horizon)))
        since = self.t - self.start
        m = next(m for m in range(self.order + 1) if self.lives(m, since // 2**m))
        self.copy, self.owner[self.t] = (m, since // 2**m), m
        return super().estimate()

    def update(self, s: int, reward: float) -> None:
        m, now = int(self.owner[s]), self.t - 1 - self.start
        if s >= self.start and (s - self.start) // 2**m == now // 2**m:
            self.copy = m, now // 2**m
            theta, metric, beta = super().estimate()
            self.optimistic[s] = self.arms[s] @ theta + beta * math.sqrt(self.arms[s] @ metric @ self.arms[s])
        super().update(s, reward)


class NaiveAugmented(Naive):
    start, episode = 0, 1
    history: tuple[tuple[int, float], ...] = ()  # (covering arm, reward) of the forced visits, as they came

    @cached_property
    def cover(self) -> list[int]:
        """Greedily, the arm that most extends the volume that those before it span; the first of equals."""
        rows = self.p._kept.rows
        cover: list[int] = []
        for _ in range(np.linalg.matrix_rank(rows)):
            chosen = [rows[[*cover, i]] for i in range(len(rows))]
            volume = np.sqrt([max(np.linalg.det(some @ some.T), 0.0) for some in chosen])
            cover.append(int(np.argmax(volume >= volume.max() * (1 - 1e-9))))
        return cover

    def forced(self, s: int) -> int | None:
        T, cover = self.p.horizon, self.cover
        share = min(1.0, math.sqrt(self.episode * len(cover) * math.log(T) / T))
        place = (s - self.start) % math.ceil(len(cover) / share)
        return cover[place] if place < len(cover) else None

    def weight(self, s: Ints) -> Floats:
        return np.where(s >= self.start, 1.0, 0.0)

    def estimate(self) -> tuple[Floats, Floats, float]:
        theta, metric, beta = super().estimate()
        return theta, metric, beta if self.forced(self.t) is None else 0.0

    def select(self, rows: Floats) -> int:
        arm = self.forced(self.t)
        if arm is None:
            return super().select(rows)
        self.arms[self.t] = rows[arm]
        self.t += 1
        return arm

    def update(self, s: int, reward: float) -> None:
        if s < self.start:
            return
        super().update(s, reward)
        arm = self.forced(s)
        if arm is None:
            return
        self.history += ((arm, reward),)
        y = np.array([r for k, r in self.history if k == arm])
        n = len(y)
        gains = [
            (y.var() * n - y[:i].var() * i - y[i:].var() * (n - i)) / (2 * self.p.noise**2) for i in range(1, n)
        ]  # what a second mean takes from the sum of squares
        if max(gains, default=0.0) >= math.log(3 * n**1.5 * math.sqrt(self.p.horizon)):
            self.start, self.episode, self.history = self.t, self.episode + 1, ()


class NaiveBob(Naive):
    """Exp3 and Exp3.IX from the list of past episodes: (choice, its probability, its scaled reward)."""

    past: list[tuple[int, float, float]]
    choice: int
    chance: float

    def select(self, rows: Floats) -> int:
        if self.t % self.p.episode == 0:
            self.turn()
        return super().select(rows)

    def turn(self) -> None:
        p, K = self.p, len(self.p.pool)
        plays = math.ceil(p.horizon / p.episode)
        if self.t == 0:
            self.past = []
        else:
            last = np.arange(self.t - p.episode, self.t)
            total = self.rewards[last[self.told[last]]].sum()
            bound = p.arm_norm * p.theta_norm * p.episode
            bound += 2 * p.noise * math.sqrt(p.episode * math.log(p.horizon / math.sqrt(p.episode)))
            self.past.append((self.choice, self.chance, min(max(0.5 + total / (2 * bound), 0.0), 1.0)))
        if p.meta == "exp3":
            gamma = min(1.0, math.sqrt(K * math.log(K) / ((math.e - 1) * plays)))
            gains = [sum(y / c for k, c, y in self.past if k == i) for i in range(K)]
            weight = np.exp(gamma / K * np.array(gains))
            chance = (1 - gamma) * weight / weight.sum() + gamma / K
        else:
            eta = math.sqrt(2 * math.log(K + 1) / (K * plays))
            losses = [sum((1 - y) / (c + eta / 2) for k, c, y in self.past if k == i) for i in range(K)]
            weight = np.exp(-eta * np.array(losses))
            chance = weight / weight.sum()
        u = luck(p.seed, self.t, 1)[0, 2]
        self.choice = int(np.searchsorted(np.cumsum(chance), u, side="right"))
        self.chance = float(chance[self.choice])

    def weight(self, s: Ints) -> Floats:
        start = self.t - self.t % self.p.episode
        memory = self.p.pool[self.choice]
        if self.p.base == "window":
            return np.where(s >= max(start, self.t - memory), 1.0, 0.0)
        return np.where((s >= start) & ((s - start) // memory == (self.t - start) // memory), 1.0, 0.0)


TWINS: dict[str, type[Naive]] = {
    "RestartUCB": NaiveRestart,
    "StaticUCB": NaiveStatic,
    "OracleRestartUCB": NaiveOracle,
    "WindowUCB": NaiveWindow,
    "WeightUCB": NaiveWeight,
    "LightWeightUCB": NaiveLightWeight,
    "CusumUCB": NaiveCusum,
    "DiscountedTS": NaiveDiscountedTS,
    "Master": NaiveMaster,
    "DetectionAugmentedUCB": NaiveAugmented,
    "BanditOverBandit": NaiveBob,
}


def twin_of(policy: Any) -> Naive:
    from naive_evidence import NaiveEvidence  # which is built on this file

    twins: dict[str, type[Naive]] = {**TWINS, "AdaptiveUCB": NaiveEvidence, "DetectUCB": NaiveEvidence}
    name = type(policy).__name__
    assert name in twins, f"{name} has no twin: write one, and add it to TWINS of tests/naive.py"
    return twins[name](policy)
