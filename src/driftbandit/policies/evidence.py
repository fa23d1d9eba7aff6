"""Policies led by evidence: which estimator of a bank to play, when to try another, and what they can say of themselves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from driftbandit import _check
from driftbandit._compile import kernel
from driftbandit._types import Floats
from driftbandit.policies import diary as notebook
from driftbandit.policies.bank import LEARNT, MAIN, MOST_RESTARTS, NOISE2, PENALTY, RESTARTS, SINCE, Bank, new_bank
from driftbandit.policies.base import Policy
from driftbandit.policies.diary import Diary, due, new_diary, note
from driftbandit.policies.trial import ON_TRIAL, against, observe
from driftbandit.policies.verbs import begin, learn
from driftbandit.ridge import METRIC, THETA, Ridge, V, new_ridge, rescore

if TYPE_CHECKING:
    import polars as pl

REACH = 0.4  # a probe asks an estimator that forgets about as fast as d probes come …
SPREAD = 2.5  # … give or take this factor in all: as far apart as memories are, so that no gap between them matters
WIDER = 2.0  # and believes in changes twice as large as what has been seen
PATIENCE = 8.0  # the slower κ grows in calm, the greater: without growth a near tie may lock in


class Rule(NamedTuple):
    """What distinguishes one such policy from another."""

    width: float  # κ, in standard deviations, just after a restart; below 0 the theory's radius
    doubt: float  # evidence against an estimator that keeps it from being played
    refuted: float  # evidence that has it rebuilt
    probe: float  # c in the chance c√(d/(n + d)) of a probe, n rewards after a restart
    told: bool  # the noise is known


class EvidenceState(NamedTuple):
    ridge: Ridge  # what is played: θ̂ and METRIC of an estimator, and the scores of fixed arms
    bank: Bank
    rule: Rule
    diary: Diary


@kernel
def longest_unrefuted(bank: Bank, doubt: float) -> int:
    """The longest memory that nothing shorter contradicts: never forget without evidence."""
    for k in range(len(bank.keep) - 1, 0, -1):
        if bank.evidence[k, against(bank, k)] <= doubt:
            return k
    return 0


@kernel
def probed(bank: Bank, main: int, chance: float, luck: Floats) -> int:
    """Now and then an estimator that has forgotten what was not played lately, so that a change there is found."""
    u = luck[2]
    if u >= chance:
        return main
    d, k = len(bank.x), 0
    reach = REACH * d * math.pow(SPREAD, luck[3] - 0.5)
    while k < len(bank.keep) - 2 and bank.memory[k] * chance < reach:
        k += 1
    forgotten = 0.0  # how many of d directions it knows nothing of
    for i in range(d):
        forgotten += bank.scale[PENALTY] * bank.matrix[k, METRIC, i, i]
    return k if u * d < chance * 3.0 * forgotten else main


@kernel
def theoretical(bank: Bank, k: int) -> float:
    """The radius of eq. 9 in units of the noise, at δ = 1/t, from the scales as learnt."""
    d, trace = len(bank.x), 0.0
    for i in range(d):
        trace += bank.matrix[k, V, i, i]
    logarithm = 2.0 * math.log(bank.clock[LEARNT] + 2.0) + d * math.log(max(trace / (d * bank.scale[PENALTY]), 1.0))
    return math.sqrt(d) + math.sqrt(logarithm)


@kernel
def radius(bank: Bank, rule: Rule, k: int) -> float:
    """What the length of an arm in estimator k's metric is multiplied by: R̂κ√(1 + ln(1 + n/d)/8), n rewards after a restart."""
    calm = math.log(1.0 + (bank.clock[LEARNT] - bank.clock[SINCE]) / bank.features)
    kappa = theoretical(bank, k) if rule.width < 0.0 else rule.width * math.sqrt(1.0 + calm / PATIENCE)
    return math.sqrt(bank.scale[NOISE2]) * kappa


@begin.of(EvidenceState)
def _begin(state: EvidenceState, t: int, luck: Floats) -> float:
    bank, rule, ridge = state.bank, state.rule, state.ridge
    if bank.clock[LEARNT] == 0:
        return 0.0  # nothing is known, so all arms tie
    d = bank.features
    main = longest_unrefuted(bank, rule.doubt)
    since = bank.clock[LEARNT] - bank.clock[SINCE]
    played = probed(bank, main, rule.probe * math.sqrt(d / (since + d)), luck)
    bank.clock[MAIN] = main
    for i in range(d):
        ridge.vector[THETA, i] = bank.vector[main, THETA, i]  # in a probe too: it is led by what is known
        for j in range(d):
            ridge.matrix[METRIC, i, j] = bank.matrix[played, METRIC, i, j]
    rescore(ridge)
    return radius(bank, rule, main) * (1.0 if played == main else WIDER)


@learn.of(EvidenceState)
def _learn(state: EvidenceState, s: int, x: Floats, r: float) -> None:
    bank = state.bank
    observe(bank, s, x, r, state.rule.told, state.rule.refuted)
    if due(state.diary, r):
        main = longest_unrefuted(bank, state.rule.doubt)
        row = state.diary.notes[state.diary.clock[notebook.FILLED]]
        row[notebook.MEMORY] = in_use(bank, main)
        row[notebook.EVIDENCE] = bank.evidence[main, against(bank, main)]
        row[notebook.NOISE] = math.sqrt(bank.scale[NOISE2])
        row[notebook.RESTARTS] = bank.clock[RESTARTS]
        note(state.diary, s, bank.vector[main, THETA], bank.matrix[main, METRIC], radius(bank, state.rule, main))


@kernel
def in_use(bank: Bank, k: int) -> float:
    """The memory of estimator k, in rewards: its own, or as many as there were since it began."""
    learnt = bank.clock[LEARNT]
    if k == len(bank.keep) - 1:
        return float(learnt - bank.clock[SINCE])
    return min(float(bank.memory[k]), float(learnt))


class Status(NamedTuple):
    """What a policy led by evidence believes now."""

    memory: float  # rewards that the estimate in use remembers
    restarts: list[int]  # the rounds in which the longest memory was found wrong and rebuilt, the last 256 of them
    evidence: float  # against the estimate in use, in nats: what a shorter memory would have predicted better
    noise: float  # the standard deviation of the rewards' noise, as learnt
    theta: Floats  # θ̂
    widths: Floats  # of its coordinates: how far each may be off


@dataclass(repr=False, eq=False, kw_only=True)
class EvidencePolicy(Policy):
    """What AdaptiveUCB and DetectUCB share.

    Parameters:
        dim: the number of features (d).
        intercept: learn a constant that all rewards have in common too. Needed where rewards have one (a base rate) that no
            feature carries; it costs the exploration of one more feature.
        width: how optimistic, in standard deviations (κ), just after a restart; "theory" for the radius of eq. 9.
        noise: a first guess of the noise's standard deviation; it is learnt from there, unless ``noise_known``.
        noise_known: take ``noise`` as it is.
        refuted: evidence, in nats, that has an estimator rebuilt.
        arm_norm: a bound on the length of an arm, if a longer one is to be an error.
        seed: fixes how ties are broken and when it probes.
    """

    arm_norm: float = _check.LARGEST
    intercept: bool = False
    width: float | str = 1.4
    noise: float | None = None
    noise_known: bool = False
    refuted: float = 10.0

    by_arrival: ClassVar[bool] = True
    memories: ClassVar[Sequence[int]]

    def _rule(self) -> Rule:
        raise NotImplementedError

    def _settle(self) -> None:
        self.intercept = _check.flag("intercept", self.intercept)
        if self.width != "theory":
            self.width = _check.not_negative("width", self.width)  # type: ignore[arg-type]
        self.noise = None if self.noise is None else _check.positive("noise", self.noise)
        self.noise_known = _check.flag("noise_known", self.noise_known)
        if self.noise_known and self.noise is None:
            raise ValueError("noise must be given if noise_known")
        self.refuted = _check.positive("refuted", self.refuted)
        if self.refuted <= ON_TRIAL:
            raise ValueError(f"refuted must exceed {ON_TRIAL:g}, the evidence left in a trial, got {self.refuted}")

    def _new_state(self) -> EvidenceState:
        ridge = new_ridge(self.dim, 1.0)
        bank = new_bank(self.dim, self.intercept, self.memories, self.noise)
        return EvidenceState(ridge, bank, self._rule(), new_diary(self.dim))

    def _is_sound(self) -> bool:
        clock, count, notes = self.state.bank.clock, len(self.state.bank.keep), self.state.diary.clock
        return bool(
            (clock >= 0).all() and clock[MAIN] < count
            and 0 <= notes[notebook.FILLED] < len(self.state.diary.notes)
            and notes[notebook.STRIDE] > 0 and notes[notebook.WAITED] >= 0
        )  # fmt: skip

    @property
    def _kappa(self) -> float:
        return -1.0 if self.width == "theory" else float(self.width)

    def status(self) -> Status:
        """What it believes, and why: see ``Status``."""
        bank, rule, d = self.state.bank, self.state.rule, self.dim
        main = int(longest_unrefuted(bank, rule.doubt))  # that the next decision would play
        count = int(bank.clock[RESTARTS])
        recent = [int(bank.restarts[k % MOST_RESTARTS]) for k in range(max(0, count - MOST_RESTARTS), count)]
        variance = np.diagonal(bank.matrix[main, METRIC])[:d]
        width = float(radius(bank, rule, main)) if bank.clock[LEARNT] else 0.0
        return Status(
            float(in_use(bank, main)), recent, float(bank.evidence[main, against(bank, main)]), math.sqrt(bank.scale[NOISE2]),
            bank.vector[main, THETA, :d].copy(), width * np.sqrt(np.maximum(variance, 0.0)),
        )  # fmt: skip

    def history(self) -> "pl.DataFrame":
        """The same over time: one row a note, at most 512 of them, evenly spaced; rewards are means since the last."""
        import polars as pl

        diary, d = self.state.diary, self.dim
        notes = diary.notes[: diary.clock[notebook.FILLED]]
        theta, width = notes[:, notebook.ESTIMATE : notebook.ESTIMATE + d], notes[:, notebook.ESTIMATE + d :]
        table = pl.DataFrame(
            {
                **dict(zip(notebook.COLUMNS, notes.T, strict=False)),
                **{f"theta_{i}": theta[:, i] for i in range(d)},
                **{f"width_{i}": width[:, i] for i in range(d)},
            }
        )
        return table.cast({"round": pl.Int64, "restarts": pl.Int64})
