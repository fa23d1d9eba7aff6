"""The twin of AdaptiveUCB and DetectUCB: V and b of each estimator, a NumPy solve wherever anything is asked of them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from driftbandit.core.counter import key_of, uniform
from driftbandit.core.random import luck
from driftbandit.core.types import Floats
from naive import Naive


class Member:
    """One estimator; ``precision`` is the prior's, along each axis."""

    def __init__(self, precision: Floats, mean: Floats) -> None:
        self.V, self.b, self.penalty = np.diag(precision), precision * mean, precision[0]

    @property
    def metric(self) -> Floats:
        return np.linalg.inv(self.V)

    @property
    def theta(self) -> Floats:
        return np.linalg.solve(self.V, self.b)

    def copy(self) -> "Member":
        twin = Member(np.ones(len(self.b)), np.zeros(len(self.b)))
        twin.V, twin.b, twin.penalty = self.V.copy(), self.b.copy(), self.penalty
        return twin

    def step(
        self, n: int, memory: float, features: int, penalty: float, x: Floats, r: float, known: float = 0.0
    ) -> tuple[float, float]:
        turns, keep = max(1, int(memory) // 64) if memory < math.inf else 1, 1.0
        if memory < math.inf and n % turns == 0:
            keep, theta = (1 - 1 / memory) ** turns, self.theta
            fade = np.where(np.arange(len(x)) < features, math.sqrt(keep), 1.0)
            self.V = fade[:, None] * self.V * fade
            self.b = self.V @ theta
        risen = min(penalty, known)  # λ as learnt, up to what rewards tell along an axis
        if risen > 1.25 * self.penalty:
            self.V[range(features), range(features)] += risen - keep * self.penalty
            self.penalty = risen
        elif keep < 1:
            self.penalty = keep * self.penalty + (1 - keep) * penalty
            axes = math.ceil(features * (1 - keep) / 8)
            for i in range(axes):
                axis = (n // turns * axes + i) % features
                self.V[axis, axis] += features * (1 - keep) * penalty / axes
        residual, variance = r - x @ self.theta, 1 + x @ np.linalg.solve(self.V, x)
        self.V, self.b = self.V + np.outer(x, x), self.b + r * x
        return float(residual), float(variance)


class NaiveArchive:
    """Never forgets; learns differences to the average of the last 16. And how far the policy is to be trusted beside it."""

    def __init__(self, seen: list[tuple[Floats, float]], penalty: float) -> None:
        self.member = Member(np.full(len(seen[0][0]), penalty), np.zeros(len(seen[0][0])))
        self.count, self.x, self.r = 0, 0.0 * seen[0][0], 0.0
        for x, r in seen:
            self.remember(x, r)

    def remember(self, x: Floats, r: float) -> None:
        if self.count:
            self.member.step(0, math.inf, 0, 0.0, x - self.x, r - self.r)
        self.count = min(self.count + 1, 16)
        self.x, self.r = self.x + (x - self.x) / self.count, self.r + (r - self.r) / self.count

    def expects(self, x: Floats) -> float:
        return float(self.r + (x - self.x) @ self.member.theta)


class NaiveTrust:
    def __init__(self) -> None:
        self.trust, self.information, self.count = 1.0, 4.0, 0
        self.spreads2 = np.zeros(2)  # about what the archive expects, and the bank
        self.outstanding: dict[int, tuple[float, float, Floats]] = {}

    @property
    def certainty(self) -> float:
        return math.sqrt(self.information)

    def age(self, n: int) -> None:
        self.information = max(self.information * (1 - 1 / n), 4.0)

    def learn(self, claim: float, other: float, residuals: Floats, noise2: float) -> None:
        self.count = min(self.count + 1, 6000)
        self.spreads2 += (residuals**2 - self.spreads2) / self.count
        residual, spread2 = residuals[np.argmin(self.spreads2)], max(self.spreads2.min(), noise2)
        beyond = float(np.clip(residual - other - self.trust * claim, -3 * math.sqrt(spread2), 3 * math.sqrt(spread2)))
        self.information += claim**2 / spread2
        self.trust = max(self.trust + claim * beyond / spread2 / self.information, 0.0)


class NaiveLateness:
    """Whether the delay tells the reward, and what is held back for that."""

    def __init__(self) -> None:
        self.moments = np.zeros(5)  # means of ln(1 + delay) and reward, variances, covariance
        self.delays: list[int] = []
        self.held: dict[int, float] = {}
        self.state, self.cursor = "never", 0

    def notice(self, delay: int, r: float) -> bool:
        self.delays.append(delay)
        n = min(len(self.delays), 1000)
        gap = np.array([math.log(1 + delay), r]) - self.moments[:2]
        self.moments[:2] += gap / n
        self.moments[2:] += ((1 - 1 / n) * np.array([gap[0] ** 2, gap[1] ** 2, gap[0] * gap[1]]) - self.moments[2:]) / n
        log2, reward2, product = self.moments[2:]
        telling = n >= 200 and product**2 > 0.25 * log2 * reward2
        first = telling and self.state == "never"
        self.state = "now" if telling else "never" if self.state == "never" else "no more"
        return first

    def ripe(self, decided: int) -> list[int]:
        """The rounds whose rewards have been held for as long as any of the last 1,000 to 2,000 rewards took."""
        turn = len(self.delays) // 1000 * 1000
        recent = self.delays[max(turn - 1000 - (turn > 1000), 0) :]
        edge = decided - 1 - min(max(recent, default=0), 4095)
        self.cursor = max(self.cursor, edge + 1)
        return sorted(s for s in self.held if s <= edge)


@dataclass
class Past:
    """A reward that was learnt."""

    x: Floats
    r: float
    round: int
    newest: int  # the latest round heard of by then
    squares: Floats  # of each estimator's residual
    logs: Floats
    counted: float  # the square that the noise was learnt from


class NaiveEvidence(Naive):
    def __init__(self, policy: Any, most: int = 4096) -> None:
        super().__init__(policy, most)
        rule = policy._rule()
        self.doubt, self.refuted, self.probe = rule.doubt, rule.refuted, rule.probe
        self.endless = rule.endless
        self.memories = [*map(float, policy.memories), math.inf]
        self.K, self.d, self.D = len(self.memories), policy.dim, policy.dim + policy.intercept
        self.restarts, self.newest, self.trust, self.lateness = 0, 0, NaiveTrust(), NaiveLateness()
        self.brief = next(k for k, memory in enumerate(self.memories) if memory >= 16)
        self.noise2 = (policy.noise or 0.0) ** 2
        self.start_over()

    def start_over(self) -> None:
        self.sound = self.learnt = self.since = self.birth = 0
        self.fourth, self.counted = 0.0, 0.0
        self.heard, self.loudness = np.zeros(self.d), np.zeros(self.d)  # of each feature as a source of noise
        self.signal2, self.length2, self.weight_ = 0.0, 0.0, 0.0
        self.evidence, self.onset = np.zeros((self.K, self.K)), np.zeros((self.K, self.K), int)
        self.gaps = np.zeros((self.K, 2))  # of neighbours' forecasts: their squares, and what they explain
        self.past: list[Past] = []

    def fresh(self, remember: bool) -> Member:
        precision, mean = np.full(self.D, self.penalty), np.zeros(self.D)
        if remember and self.d < self.D:
            longest = self.members[-1]
            known = max(1 / max(longest.metric[-1, -1], 1e-12 / self.penalty), self.penalty)
            precision[-1] = min(known, self.penalty + 16 * self.constant**2)
            mean[-1] = longest.theta[-1]
        return Member(precision, mean)

    @staticmethod
    def plausibility(squares: Any, logs: Any) -> float:
        return -0.5 * float(sum(logs) + len(logs) * math.log(max(sum(squares), 1e-300)))

    def against(self, k: int) -> int:
        return int(np.argmax([*self.evidence[:k, k], 0.0])) if k else 0

    def radius(self) -> float:
        return float(self.p.width) * math.sqrt(self.noise_where_any())

    def by_source(self, length2: float) -> tuple[Floats, Floats]:
        """What each feature has been heard of, and how loud it is beside all, after ten rewards with the noise of all."""
        heard = np.maximum(self.heard + 10 * length2, 1e-300)
        return heard, (self.loudness / self.noise2 + 10 * length2) / heard

    def noise_of_arm(self, x: Floats) -> float:
        shares = x[: self.d] ** 2
        return self.noise2 * float(np.average(self.by_source(shares.sum())[1], weights=shares) if shares.any() else 1.0)

    def noise_where_any(self) -> float:
        return self.noise2 * self.louder

    def compare_sources(self) -> None:
        """Once in so many rewards: how much louder than all a typical arm with noise is."""
        if (self.learnt - 1) % (4 + self.d // 16) == 0:
            heard, louder = self.by_source(self.length2)
            self.louder = float(np.average(louder, weights=heard * louder) if louder.any() else 1.0)

    def novelty(self) -> float:
        return 0.0 if self.probing else min(self.learnt - self.since, self.memories[self.main]) / self.d

    def estimate(self) -> tuple[Floats, Floats, float]:
        theta, metric, beta = self.belief()
        return theta[: self.d], metric[: self.d, : self.d], beta

    def belief(self) -> tuple[Floats, Floats, float]:
        """The estimate, with the constant if there is one."""
        if not self.learnt:
            self.asked, self.probing, self.main, self.constant = 0, False, 0, 1.0
            return np.zeros(self.D), np.eye(self.D), 0.0
        calm = [k for k in range(self.K) if k == 0 or self.evidence[:k, k].max() <= self.doubt]
        main = played = self.K - 1 if self.endless else calm[-1]
        chance = self.probe * math.sqrt(self.d / (self.learnt - self.since + self.d))
        u, w = luck(self.p.seed, self.t, 1)[0, 2:]
        if u < chance:
            k = next((k for k in range(self.K - 2) if self.memories[k] * chance >= 0.2 * self.D * 4 ** (w - 0.5)), self.K - 2)
            unseen = (self.penalty / np.diagonal(self.members[k].V)[: self.d]).sum()
            played = k if u * self.D < 3 * chance * unseen else main
        self.forgot = self.restarts > 0 or main < self.K - 1
        if self.forgot:
            keys = key_of(u), key_of(w)
            normal = math.sqrt(-2 * math.log(uniform(*keys, 0))) * math.cos(2 * math.pi * uniform(*keys, 1))
            if normal > 0:  # Student's t with 4 degrees of freedom
                normal /= math.sqrt(-(math.log(uniform(*keys, 2)) + math.log(uniform(*keys, 3))) / 2)
            self.drawn = self.trust.trust + normal / self.trust.certainty
            if self.drawn <= 0.5 and u >= self.probe * math.sqrt(self.d / (self.learnt + self.d)):
                played = main
        self.asked, self.probing, self.main = calm[-1], played != main, main
        beta = 3.5 * math.sqrt(self.noise_where_any()) if self.probing else self.radius()
        return self.leant(main), self.members[played].metric, beta

    def leant(self, k: int) -> Floats:
        """θ̂ of estimator k, moved towards the next shorter memory as far as that would have explained past errors."""
        squared, explained = self.gaps[k]
        share = min(explained / (squared + 5 * self.noise2), 1.0) if explained > 0 else 0.0
        return self.members[k].theta + share * (self.members[k - 1].theta - self.members[k].theta)

    def choose(self, rows: Floats) -> int:
        belief = self.belief()
        self.sound = self.asked
        arm, mean, index = self.prefer(np.array([self.whole(row) for row in rows]), *belief, self.novelty())
        if self.learnt <= 8 * self.D or not self.forgot or self.probing:
            return arm
        archive = self.archive.member
        other, its_mean, its_index = self.prefer(rows, archive.theta, archive.metric, self.radius())
        gain, loss = max(index[arm] - index[other], 0.0), max(its_index[other] - its_index[arm], 0.0)
        if other == arm or not gain + loss > 0:
            return arm
        edge = loss / (gain + loss)
        z = (edge - self.trust.trust) * self.trust.certainty
        chance = float(stats.norm.sf(z) if z < 0 else stats.t.sf(z, 4))
        follows = self.drawn > edge
        difference = its_mean[arm] - its_mean[other]
        mine, its = (self.archive.expects(rows[i]) for i in (arm, other))
        bases = np.array([chance * mine + (1 - chance) * its, chance * mean[arm] + (1 - chance) * mean[other]])
        claim = mean[arm] - mean[other] - difference
        self.trust.outstanding[self.t] = (follows - chance) * claim, (follows - chance) * difference, bases
        return arm if follows else other

    def whole(self, arm: Floats) -> Floats:
        return np.append(arm, self.constant)[: self.D]

    def update(self, s: int, reward: float) -> None:
        super().update(s, reward)
        if self.lateness.notice(self.t - 1 - s, reward):
            self.start_over()
            self.noise2 = self.noise2 if self.p.noise_known else 0.0
        if self.lateness.state == "now" and s >= self.lateness.cursor:
            self.lateness.held[s] = reward
        else:
            self.learn(s, reward)
        for ripe in self.lateness.ripe(self.t):
            self.learn(ripe, self.lateness.held.pop(ripe))

    def learn(self, s: int, reward: float) -> None:
        if s < self.birth:
            return
        arm = self.arms[s]
        if self.learnt == 0:
            length = arm @ arm
            self.constant, self.shift = (math.sqrt(length), reward) if self.d < self.D else (0.0, 0.0)
            self.penalty = 0.01 * self.D * length
            self.noise2 = self.noise2 or max(0.01 * (reward - self.shift) ** 2, 1e-200)
            self.fourth = 3 * self.noise2**2
            self.members = [self.fresh(False) for _ in range(self.K)]
        x, r = self.whole(arm), reward - self.shift
        residuals, variances = np.array([self.step(k, self.learnt, x, r) for k in range(self.K)]).T
        squares, logs = residuals**2 / variances, np.log(variances)
        for k in range(1, self.K):
            gap = residuals[k] - residuals[k - 1]
            self.gaps[k] *= 1 - 1 / max(256.0, 16 * self.memories[k - 1])
            self.gaps[k] += gap**2, gap * residuals[k]
        self.newest = max(self.newest, s)
        self.past.append(Past(x, r, s, self.newest, squares, logs, squares[self.sound]))
        level = self.level(squares, x)
        self.learnt += 1
        for k in range(1, self.K):
            for j in range(k):
                gain = self.gain(j, k, residuals, variances, level)
                self.evidence[j, k] = max(self.evidence[j, k] + gain, 0.0)
                if self.evidence[j, k] == 0.0:
                    self.onset[j, k] = self.learnt
        for k in range(1, self.K):
            j = self.against(k)
            if self.evidence[j, k] > self.refuted and self.rebuild(j, k) and k == self.K - 1:
                self.restarts, self.since = self.restarts + 1, self.learnt
        self.scales(self.past[-1].counted, x)
        self.compare_sources()
        if self.learnt == 8 * self.D:
            self.archive = NaiveArchive([(past.x[: self.d], past.r) for past in self.past], self.penalty)
        elif self.learnt > 8 * self.D:
            self.trust.age(self.learnt)
            if s in self.trust.outstanding:
                claim, other, bases = self.trust.outstanding.pop(s)
                self.trust.learn(claim, other, r - bases, self.noise2)
            self.archive.remember(arm, r)

    def level(self, squares: Floats, x: Floats) -> float:
        if self.learnt < 8 * self.D + 1:
            self.loud = self.noise2
        self.loud += (min(squares[self.brief], 9 * max(self.loud, self.noise2)) - self.loud) / 16
        error = math.sqrt(max(self.fourth / self.noise2**2 - 1, 0.0) / (self.counted + 1)) if self.noise2 > 1e-150 else 0.0
        return float(max(self.loud, max(self.noise2, self.noise_of_arm(x)) * (1 + 2 * error)))

    def gain(self, j: int, k: int, e: Floats, v: Floats, level: float) -> float:
        """Evidence of j against k."""
        gaussian = 0.5 * (math.log(v[k] / v[j]) + (e[k] ** 2 / v[k] - e[j] ** 2 / v[j]) / level)
        u, x = e[k] / math.sqrt(v[k] * level), v[k] / v[j] * (e[k] - e[j]) / math.sqrt(v[k] * level)
        m = 0.5 * max(v[j] / v[k] - 1, 0.0)
        bet = math.log((1 + x * u + (x * u) ** 2 / 3 + m * u**2) / (1 + x**2 / 3 + m))
        weight = float(np.clip(2 - self.fourth / max(self.noise2**2, 1e-300) / 6, 0, 1))
        return float(weight * gaussian + (1 - weight) * bet)

    def step(self, k: int, n: int, x: Floats, r: float) -> tuple[float, float]:
        known = min(n - self.since, self.memories[k]) * self.length2 / self.d
        return self.members[k].step(n, self.memories[k], self.d, self.penalty, x, r, known)

    def refit(self, k: int, first: int, start: int) -> tuple[Member, float]:
        """Begun again with reward ``start``; how plausible that makes the rewards since ``first``, k as it was before."""
        member, squares, logs = self.fresh(first > 0), [], []
        for n in range(first, self.learnt):
            past = self.past[n]
            square, log = past.squares[k], past.logs[k]
            if n >= start and past.round >= self.oldest(start):
                residual, variance = member.step(n, self.memories[k], self.d, self.penalty, past.x, past.r)
                square, log = residual**2 / variance, math.log(variance)
            squares.append(square)
            logs.append(log)
        return member, self.plausibility(squares, logs)

    def oldest(self, start: int) -> int:
        ring = max(self.learnt - max(128, 8 * self.D), 0)
        return self.past[start - 1].newest + 1 if ring < start < self.learnt else 0

    def record(self, k: int, first: int) -> float:
        return self.plausibility([past.squares[k] for past in self.past[first:]], [past.logs[k] for past in self.past[first:]])

    def likeliest(self, k: int, first: int, starts: Iterable[int]) -> int:
        return max(starts, key=lambda start: self.refit(k, first, start)[1] - 2 * (start > first))

    def rebuild(self, j: int, k: int) -> bool:
        ring = self.learnt - max(128, 8 * self.D)
        first = max(self.onset[j, k], ring)
        last = self.learnt if self.learnt - first <= 128 else first + 1
        step = max(1, (last - first) // 16)
        about = self.likeliest(k, first, range(first, last, step))
        start = self.likeliest(k, first, [about, *range(max(first, about - step + 1), min(about + step, last))])
        member, fresh = self.refit(k, first, start)
        fresh -= 2 * (start > first)
        copied, kept = self.record(j, first), self.record(k, first)
        if self.onset[j, k] >= ring and max(fresh, copied) <= kept + 1.0:
            self.evidence[:k, k] = np.minimum(self.evidence[:k, k], 6.0)
            return False
        jump = fresh >= copied
        self.members[k] = member if jump else self.members[j].copy()
        self.gaps[k] *= not jump
        if k >= self.sound and not self.p.noise_known:
            self.take_back(first, j)
        self.evidence[:k, k] = 0.0 if jump else 6.0
        self.onset[:k, k] = self.learnt
        self.evidence[k, k + 1 :], self.onset[k, k + 1 :] = self.evidence[j, k + 1 :], self.onset[j, k + 1 :]
        if jump and k == self.K - 1:
            self.birth = self.oldest(start)
        return True

    def take_back(self, first: int, j: int) -> None:
        counted = np.array([past.counted for past in self.past[first:]])
        squares = np.array([past.squares[j] for past in self.past[first:]])
        for past in self.past[first:]:
            less = self.loudness - past.x[: self.d] ** 2 * (past.counted - past.squares[j])
            self.loudness = np.maximum(less, 0.25 * self.loudness)
            past.counted = past.squares[j]
        self.noise2 = max(self.noise2 - float((counted - squares).sum()) / (self.counted + 1), 0.25 * self.noise2)
        self.fourth = max(self.fourth - float((counted**2 - squares**2).sum()) / (self.counted + 1), self.noise2**2)

    def scales(self, square: float, x: Floats) -> None:
        if not self.p.noise_known:
            left, shares = 1.0, x[: self.d] ** 2
            if square > 1e12 * self.noise2:
                self.counted, self.noise2, self.fourth = self.learnt - 1.0, square / self.learnt, square**2 / self.learnt
            else:
                kurtosis = self.fourth / max(self.noise2**2, 1e-300)
                before, self.counted = self.counted, min(self.counted + 1, max(1000, min(30 * kurtosis, 1e6)))
                left = self.counted / (before + 1)
                self.fourth += (square**2 - self.fourth) / (self.counted + 1)
                self.noise2 = max(self.noise2 + (square - self.noise2) / (self.counted + 1), 1e-200)
            self.heard, self.loudness = left * self.heard + shares, left * self.loudness + shares * square
        theta, metric, d = self.members[self.sound].theta[: self.d], self.members[self.sound].metric, self.d
        self.weight_ = min(self.weight_ + 1, 1000)
        told = float(d - self.penalty * np.trace(metric[:d, :d]))
        self.length2 += (float(x[:d] @ x[:d]) - self.length2) / self.weight_
        self.signal2 += (float(theta @ theta) / min(max(told, 1), d) - self.signal2) / self.weight_
        if self.learnt >= 8 * self.D:
            ratio = self.noise2 / max(self.signal2, 1e-200)
            unit = self.length2 or 1.0
            self.penalty = min(max(ratio, 1e-6 * unit), 1e4 * unit)
            if self.learnt == 8 * self.D:
                self.members = [self.refit(k, 0, 0)[0] for k in range(self.K)]
                self.evidence[:], self.onset[:], self.gaps[:] = 0.0, self.learnt, 0.0
