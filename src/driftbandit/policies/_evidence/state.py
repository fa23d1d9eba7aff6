"""Policies guided by evidence: which estimator of a bank to play, when to try another, when to ask the archive."""

import math
from typing import Any, NamedTuple

from driftbandit.core.choice import novelty, pick, reconsider, reconsider_kept, reconsider_many, width
from driftbandit.core.compile import kernel
from driftbandit.core.pruning import choose, settle
from driftbandit.core.ridge import MEAN, METRIC, THETA, Ridge
from driftbandit.core.types import Floats
from driftbandit.core.verbs import clear, forecast_arm, score_arms, trace_of_v
from driftbandit.policies._base.verbs import begin, disown, learn
from driftbandit.policies._evidence import history as notebook
from driftbandit.policies._evidence.archive import (
    PROBING,
    TRUST,
    Archive,
    Estimates,
    compare,
    drawn_trust,
    follow,
    open_archive,
)
from driftbandit.policies._evidence.bank import (
    BIRTH,
    LEARNT,
    LOUDER,
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
from driftbandit.policies._evidence.leaning import lean
from driftbandit.policies._evidence.played import Played
from driftbandit.policies._evidence.refutation import against, observe, start_over
from driftbandit.policies._evidence.verbs import describe, lean_to, play, remember, shared, size, trace, unseen

DOUBT = 5.0  # nats that keep a memory from being played
REACH = 0.2  # a probe uses an estimator whose memory is about as long as d/5 probes take: …
SPREAD = 4.0  # … within this factor in all: as far apart as memories are, so that no gap between them matters
WIDE = 3.5  # and κ is this in a probe: it looks for the unlikely
INDEX = 2  # row of the scores, written by ``pick``


class Rule(NamedTuple):
    """What distinguishes one such policy from another."""

    width: float  # κ, in standard deviations; below 0 the theory's radius
    doubt: float  # evidence against an estimator that keeps it from being played
    refuted: float  # evidence at which it is rebuilt
    probe: float  # c in the chance c√(d/(n + d)) of a probe, n rewards after a restart
    told: bool  # the noise is known
    endless: bool  # play the unlimited memory, whatever the doubt, until it is refuted


class EvidenceState(NamedTuple):
    ridge: Ridge | Played  # what is played: θ̂ and METRIC of an estimator, and the scores of fixed arms
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
    """Now and then, an estimator that has forgotten what was not played lately, so that a change there is found."""
    u = luck[2]
    if u >= chance:
        return main
    d, k = size(bank), 0
    reach = REACH * d * math.pow(SPREAD, luck[3] - 0.5)
    while k < len(bank.keep) - 2 and bank.memory[k] * chance < reach:
        k += 1
    return k if u * d < chance * 3.0 * unseen(bank, k) else main


@kernel
def theoretical(bank: Bank, known: float) -> float:
    """The radius of eq. 9 in units of the noise, at δ = 1/t, from the scales as learnt and the trace of V."""
    d = size(bank)
    logarithm = 2.0 * math.log(bank.clock[LEARNT] + 2.0) + d * math.log(max(known / (d * bank.scale[PENALTY]), 1.0))
    return math.sqrt(d) + math.sqrt(logarithm)


@kernel
def noise_where_any(bank: Bank) -> float:
    return math.sqrt(bank.scale[NOISE2] * bank.scale[LOUDER])


@kernel
def radius_of(bank: Bank, rule: Rule, k: int) -> float:
    """The radius that goes with estimator k."""
    return radius(bank, rule, trace(bank, k) if rule.width < 0.0 else 0.0)


@kernel
def radius(bank: Bank, rule: Rule, known: float) -> float:
    """What an arm's length in an estimator's metric is multiplied by: R̂κ, with the noise R̂ of arms that have any."""
    return noise_where_any(bank) * (theoretical(bank, known) if rule.width < 0.0 else rule.width)


@kernel
def never_forgot(bank: Bank) -> bool:
    """Whether what is played remembers everything: then there is nothing to ask the archive."""
    return bool(bank.clock[RESTARTS] == 0 and bank.clock[MAIN] == len(bank.keep) - 1)


@kernel
def novelty_of(bank: Bank, rule: Rule, k: int) -> float:
    """The novelty that goes with estimator k: each feature's share of the rewards that it remembers; the theory has none."""
    return 0.0 if rule.width < 0.0 else min(float(bank.clock[LEARNT] - bank.clock[SINCE]), bank.memory[k]) / bank.features


@begin.of(EvidenceState)
def _begin(state: EvidenceState, t: int, luck: Floats) -> float:
    bank, rule, ridge = state.bank, state.rule, state.ridge
    state.lateness.clock[DECIDED] = t + 1
    if bank.clock[LEARNT] == 0:
        return 0.0  # nothing is known, so all arms tie
    d = bank.features
    bank.clock[SOUND] = longest_unrefuted(bank, rule.doubt)
    main = bank.clock[MAIN] = len(bank.keep) - 1 if rule.endless else bank.clock[SOUND]
    since = bank.clock[LEARNT] - bank.clock[SINCE]
    played = probed(bank, main, rule.probe * math.sqrt(d / (since + d)), luck)
    if played != main and not never_forgot(bank):
        seldom = luck[2] < rule.probe * math.sqrt(d / (bank.clock[LEARNT] + d))
        if not seldom and drawn_trust(state.archive, luck) <= 0.5:
            played = main  # restarts that do not pay are no reason to look for more
    state.archive.scale[PROBING] = played != main
    play(ridge, bank, main, lean(bank, main), played)
    return radius_of(bank, rule, main) if played == main else WIDE * noise_where_any(bank)


@novelty.of(EvidenceState)
def _novelty(state: EvidenceState) -> float:
    return 0.0 if state.archive.scale[PROBING] > 0.0 else novelty_of(state.bank, state.rule, state.bank.clock[MAIN])


@reconsider.of(EvidenceState)
def _reconsider(state: EvidenceState, table: Floats, score: Floats, arm: int, luck: Floats) -> int:
    """The archive's choice, if it differs and chance favours it."""
    if not asks_archive(state.bank, state.archive.scale[PROBING] > 0.0):
        return arm
    index, value = score[INDEX, arm], score[MEAN, arm]
    score_arms(state.archive.ridge, table, score)
    return compared(state, table, score, arm, index, value, luck)


@reconsider_kept.of(EvidenceState)
def _reconsider_kept(state: EvidenceState, arm: int, luck: Floats) -> int:
    """The archive keeps the scores of a fixed set, too."""
    if not asks_archive(state.bank, state.archive.scale[PROBING] > 0.0):
        return arm
    mine: Any = state.ridge
    index, value = mine.score[INDEX, arm], mine.score[MEAN, arm]
    return compared(state, mine.columns, state.archive.ridge.score, arm, index, value, luck)


@kernel
def compared(state: EvidenceState, table: Floats, score: Floats, arm: int, index: float, value: float, luck: Floats) -> int:
    """The policy's choice, of which it expects ``value`` and at most ``index``, or the archive's, which scored the arms."""
    ridge = state.archive.ridge
    beta = radius(state.bank, state.rule, trace_of_v(ridge) if state.rule.width < 0.0 else 0.0)
    other = pick(score, beta, 0.0, luck[0])
    return arm if other == arm else heard(state, table, score, arm, other, index, value, luck)


@reconsider_many.of(EvidenceState)
def _reconsider_many(state: EvidenceState, columns: Floats, score: Floats, arm: int, luck: Floats) -> int:
    if not asks_archive(state.bank, state.archive.scale[PROBING] > 0.0):
        return arm
    index, value, ridge = score[INDEX, arm], score[MEAN, arm], state.archive.ridge
    theta, metric = ridge.vector[THETA], ridge.matrix[METRIC]
    own = columns[: len(theta)]
    beta = radius(state.bank, state.rule, trace_of_v(ridge) if state.rule.width < 0.0 else 0.0)
    other = choose(theta, metric, beta, 0.0, own, score, luck[0])
    if other == arm:
        return arm
    settle(arm, theta, metric, beta, 0.0, own, score)
    return heard(state, columns, score, arm, other, index, value, luck)


@kernel
def asks_archive(bank: Bank, probing: bool) -> bool:
    return not (bank.clock[LEARNT] <= SETTLE * size(bank) or never_forgot(bank) or probing)


@kernel
def heard(
    state: EvidenceState, table: Floats, score: Floats, arm: int, other: int, index: float, value: float, luck: Floats
) -> int:
    """Whose choice is played: the policy's, of which it expects ``value`` and at most ``index``, or the archive's."""
    bank, archive = state.bank, state.archive
    mean, square = forecast_arm(state.ridge, table, other)
    its_index = mean + width(radius_of(bank, state.rule, bank.clock[MAIN]), novelty(state), square)
    gain, loss = max(index - its_index, 0.0), max(score[INDEX, other] - score[INDEX, arm], 0.0)
    if not gain + loss > 0.0:
        return arm
    rest = shared(archive.ridge, archive)
    estimates = Estimates(value, mean, rest + score[MEAN, arm], rest + score[MEAN, other])
    trust = drawn_trust(archive, luck)
    return arm if follow(archive, trust, state.lateness.clock[DECIDED] - 1, gain, loss, estimates) else other


@learn.of(EvidenceState)
def _learn(state: EvidenceState, s: int, x: Floats, r: float) -> None:
    lateness = state.lateness
    if notice(lateness, s, r):  # all rewards learnt so far came early because of what they were
        start_over(state.bank, state.rule.told)
        clear(state.ridge)
    known = not hold(lateness, s, x, r)
    while True:
        if known:  # the only call, since its code takes long to compile
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
        settled = SETTLE * size(bank)
        if bank.clock[LEARNT] == settled:
            open_archive(archive, bank)
        elif bank.clock[LEARNT] > settled:
            compare(archive, s, r - bank.scale[SHIFT], bank.scale[NOISE2], bank.clock[LEARNT])
            remember(archive.ridge, archive, bank.x, r - bank.scale[SHIFT])
    if due(state.diary, r):
        main = to_play(bank, rule)
        row = state.diary.notes[state.diary.clock[notebook.FILLED]]
        row[notebook.MEMORY] = in_use(bank, main)
        row[notebook.EVIDENCE] = bank.evidence[main, against(bank, main)]
        row[notebook.NOISE] = math.sqrt(bank.scale[NOISE2])
        row[notebook.RESTARTS] = bank.clock[RESTARTS]
        row[notebook.TRUST] = archive.scale[TRUST]
        d = bank.features
        theta, widths = row[notebook.ESTIMATE : notebook.ESTIMATE + d], row[notebook.ESTIMATE + d :]
        describe_played(bank, rule, main, theta, widths)
        note(state.diary, s)


@kernel
def describe_played(bank: Bank, rule: Rule, main: int, theta: Floats, widths: Floats) -> None:
    """Write down the estimate that is played when ``main`` is, and the width of each of its coordinates."""
    describe(bank, main, radius_of(bank, rule, main), novelty_of(bank, rule, main), theta, widths)
    share = lean(bank, main)
    if share > 0.0:
        lean_to(bank, main - 1, share, theta)


@kernel
def in_use(bank: Bank, k: int) -> float:
    """The memory of estimator k, in rewards: its own, or the number since it began if that is less."""
    learnt = bank.clock[LEARNT]
    if k == len(bank.keep) - 1:
        return float(learnt - bank.clock[SINCE])
    return min(float(bank.memory[k]), float(learnt))
