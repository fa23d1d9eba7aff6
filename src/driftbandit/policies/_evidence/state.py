"""Policies led by evidence: which estimator of a bank to play, when to try another, when to ask the archive."""

import math
from typing import NamedTuple

from driftbandit.core.choice import appraise, pick, reconsider
from driftbandit.core.compile import kernel
from driftbandit.core.ridge import MEAN, METRIC, THETA, Ridge, V, clear, rescore
from driftbandit.core.types import Floats
from driftbandit.policies._base.verbs import begin, disown, learn
from driftbandit.policies._evidence import history as notebook
from driftbandit.policies._evidence.archive import (
    PROBING,
    TRUST,
    Archive,
    Estimates,
    compare,
    draw_trust,
    follow,
    open_archive,
    remember,
    shared,
)
from driftbandit.policies._evidence.bank import (
    BIRTH,
    LEARNT,
    MAIN,
    NOISE2,
    PENALTY,
    RESTARTS,
    SETTLE,
    SHIFT,
    SINCE,
    SOUND,
    Bank,
)
from driftbandit.policies._evidence.history import Diary, due, note
from driftbandit.policies._evidence.lateness import CURSOR, DECIDED, Lateness, hold, next_ripe, notice
from driftbandit.policies._evidence.refutation import against, observe, start_over

DOUBT = 5.0  # nats that keep a memory from being played
REACH = 0.4  # a probe asks an estimator that forgets about as fast as d probes come …
SPREAD = 2.5  # … give or take this factor in all: as far apart as memories are, so that no gap between them matters
WIDER = 2.0  # and believes in changes twice as large as what has been seen
INDEX = 2  # row of the scores that ``pick`` leaves there
PATIENCE = 8.0  # the slower κ grows in calm, the greater: without growth a near tie may lock in


class Rule(NamedTuple):
    """What distinguishes one such policy from another."""

    width: float  # κ, in standard deviations, just after a restart; below 0 the theory's radius
    doubt: float  # evidence against an estimator that keeps it from being played
    refuted: float  # evidence that has it rebuilt
    probe: float  # c in the chance c√(d/(n + d)) of a probe, n rewards after a restart
    told: bool  # the noise is known
    endless: bool  # play the memory without end, whatever is doubted, until it is refuted


class EvidenceState(NamedTuple):
    ridge: Ridge  # what is played: θ̂ and METRIC of an estimator, and the scores of fixed arms
    bank: Bank
    archive: Archive
    lateness: Lateness
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
def to_play(bank: Bank, rule: Rule) -> int:
    return len(bank.keep) - 1 if rule.endless else longest_unrefuted(bank, rule.doubt)


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
def theoretical(bank: Bank, v: Floats) -> float:
    """The radius of eq. 9 in units of the noise, at δ = 1/t, from the scales as learnt."""
    d, trace = len(bank.x), 0.0
    for i in range(d):
        trace += v[i, i]
    logarithm = 2.0 * math.log(bank.clock[LEARNT] + 2.0) + d * math.log(max(trace / (d * bank.scale[PENALTY]), 1.0))
    return math.sqrt(d) + math.sqrt(logarithm)


@kernel
def radius(bank: Bank, rule: Rule, v: Floats, since: int) -> float:
    """What an arm's length in an estimator's metric is multiplied by: R̂κ√(1 + ln(1 + n/d)/8), n rewards after a restart."""
    calm = math.log(1.0 + (bank.clock[LEARNT] - since) / bank.features)
    kappa = theoretical(bank, v) if rule.width < 0.0 else rule.width * math.sqrt(1.0 + calm / PATIENCE)
    return math.sqrt(bank.scale[NOISE2]) * kappa


@kernel
def never_forgot(bank: Bank) -> bool:
    """Whether what is played remembers all: there is nothing to ask the archive then."""
    return bool(bank.clock[RESTARTS] == 0 and bank.clock[MAIN] == len(bank.keep) - 1)


@begin.of(EvidenceState)
def _begin(state: EvidenceState, t: int, luck: Floats) -> float:
    bank, rule, ridge = state.bank, state.rule, state.ridge
    state.lateness.clock[DECIDED] = t + 1
    if bank.clock[LEARNT] == 0:
        return 0.0  # nothing is known, so all arms tie
    d = bank.features
    bank.clock[SOUND] = longest_unrefuted(bank, rule.doubt)
    main = bank.clock[MAIN] = to_play(bank, rule)
    since = bank.clock[LEARNT] - bank.clock[SINCE]
    played = probed(bank, main, rule.probe * math.sqrt(d / (since + d)), luck)
    if not never_forgot(bank):
        trust = draw_trust(state.archive, luck)
        if trust <= 0.5 and luck[2] >= rule.probe * math.sqrt(d / (bank.clock[LEARNT] + d)):
            played = main  # restarts that do not pay are no reason to look for more
    state.archive.scale[PROBING] = played != main
    for i in range(d):
        ridge.vector[THETA, i] = bank.vector[main, THETA, i]  # in a probe too: it is led by what is known
        for j in range(d):
            ridge.matrix[METRIC, i, j] = bank.matrix[played, METRIC, i, j]
    rescore(ridge)
    return radius(bank, rule, bank.matrix[main, V], bank.clock[SINCE]) * (1.0 if played == main else WIDER)


@reconsider.of(EvidenceState)
def _reconsider(state: EvidenceState, columns: Floats, score: Floats, arm: int, luck: Floats) -> int:
    """The archive's choice, if it differs and chance is on its side."""
    bank, archive, ridge = state.bank, state.archive, state.ridge
    if bank.clock[LEARNT] <= SETTLE * len(bank.x) or never_forgot(bank) or archive.scale[PROBING] > 0.0:
        return arm
    index, value = score[INDEX, arm], score[MEAN, arm]
    vector, matrix = archive.ridge.vector, archive.ridge.matrix
    appraise(vector[THETA], matrix[METRIC], columns, score)
    other = pick(score, radius(bank, state.rule, matrix[V], 0), luck[0])
    if other == arm:
        return arm
    mean = square = 0.0
    for i in range(len(columns)):
        row = 0.0
        for j in range(len(columns)):
            row += ridge.matrix[METRIC, i, j] * columns[j, other]
        mean += columns[i, other] * ridge.vector[THETA, i]
        square += columns[i, other] * row
    width = radius(bank, state.rule, bank.matrix[bank.clock[MAIN], V], bank.clock[SINCE]) * math.sqrt(max(square, 0.0))
    gain, loss = max(index - mean - width, 0.0), max(score[INDEX, other] - score[INDEX, arm], 0.0)
    if not gain + loss > 0.0:
        return arm
    rest = shared(archive)
    estimates = Estimates(value, mean, rest + score[MEAN, arm], rest + score[MEAN, other])
    return arm if follow(archive, state.lateness.clock[DECIDED] - 1, gain, loss, estimates) else other


@learn.of(EvidenceState)
def _learn(state: EvidenceState, s: int, x: Floats, r: float) -> None:
    lateness = state.lateness
    if notice(lateness, s, r):  # all that was learnt was of rewards that came early because of what they were
        start_over(state.bank, state.rule.told)
        clear(state.ridge)
    known = not hold(lateness, s, x, r)
    while True:
        if known:  # the only call, since what it does takes long to compile
            take_in(state, s, x, r)
        slot = next_ripe(lateness)
        if slot < 0:
            return
        known, s, x, r = True, lateness.clock[CURSOR] - 1, lateness.arms[slot], lateness.rewards[slot]


@disown.of(EvidenceState)
def _disown(state: EvidenceState, s: int) -> None:
    """The policy's claim against the archive is about a reward that will not come."""
    rounds = state.archive.rounds
    if rounds[s % len(rounds)] == s + 1:
        rounds[s % len(rounds)] = 0


@kernel
def take_in(state: EvidenceState, s: int, x: Floats, r: float) -> None:
    bank, archive, rule = state.bank, state.archive, state.rule
    if s >= bank.clock[BIRTH]:
        observe(bank, s, state.lateness.clock[DECIDED] - 1, x, r, rule.told, rule.refuted)
        settled = SETTLE * len(bank.x)
        if bank.clock[LEARNT] == settled:
            open_archive(archive, bank)
        elif bank.clock[LEARNT] > settled:
            compare(archive, s, r - bank.scale[SHIFT], bank.scale[NOISE2])
            remember(archive, bank.x, r - bank.scale[SHIFT])
    if due(state.diary, r):
        main = to_play(bank, rule)
        row = state.diary.notes[state.diary.clock[notebook.FILLED]]
        row[notebook.MEMORY] = in_use(bank, main)
        row[notebook.EVIDENCE] = bank.evidence[main, against(bank, main)]
        row[notebook.NOISE] = math.sqrt(bank.scale[NOISE2])
        row[notebook.RESTARTS] = bank.clock[RESTARTS]
        row[notebook.TRUST] = archive.scale[TRUST]
        width = radius(bank, rule, bank.matrix[main, V], bank.clock[SINCE])
        note(state.diary, s, bank.vector[main, THETA], bank.matrix[main, METRIC], width)


@kernel
def in_use(bank: Bank, k: int) -> float:
    """The memory of estimator k, in rewards: its own, or as many as there were since it began."""
    learnt = bank.clock[LEARNT]
    if k == len(bank.keep) - 1:
        return float(learnt - bank.clock[SINCE])
    return min(float(bank.memory[k]), float(learnt))
