"""What holds for every valid state of a policy guided by evidence: checks for states from a file, damaged or forged."""

from typing import Any

import numpy as np

from driftbandit.core.ridge import MOST_STEPS, STEPS, Ridge
from driftbandit.policies._base.sound import (
    check_now,
    check_range,
    check_rewards,
    check_ring,
    check_rows,
    check_scores,
    check_solved,
    demand,
)
from driftbandit.policies._evidence import archive as trust
from driftbandit.policies._evidence import bank as rows
from driftbandit.policies._evidence import history as notebook
from driftbandit.policies._evidence import lateness as late
from driftbandit.policies._evidence.archive import Archive
from driftbandit.policies._evidence.bank import Bank
from driftbandit.policies._evidence.block_bank import FAINT
from driftbandit.policies._evidence.history import Diary
from driftbandit.policies._evidence.lateness import Lateness
from driftbandit.policies._evidence.leaning import EXPLAINED, SQUARED
from driftbandit.policies._evidence.scales import LEAST_PENALTY, MOST_COUNTED, MOST_PENALTY
from driftbandit.policies._evidence.scales import STEADY as MOST_WEIGHT
from driftbandit.policies._evidence.sources import HEARD, LOUDNESS
from driftbandit.policies._evidence.verbs import size

MOST_SQUARE, MOST_FOURTH = 1e205, 1e305  # of rewards up to 1e50, or of the θ that they give with the shortest arms
MOST_LOUD = 1e140  # in units of the noise and an arm's length², so that its square is a number
LEAST = 1e-300  # for divisors
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)  # a noise that is given falls with every restart


def check_memories(bank: Bank, fresh: Bank) -> None:
    """The memories follow from the parameters, up to a last bit that may differ between machines."""
    for mine, other in ((bank.memory, fresh.memory), (bank.keep, fresh.keep), (bank.turns, fresh.turns)):
        demand(np.allclose(mine, other, rtol=1e-12, atol=0.0), "the bank's memories do not match the parameters")


def check_bank(bank: Bank, rounds: int, blocks: int, longest: float, refuted: float) -> None:
    clock, estimators = bank.clock, len(bank.keep)
    learnt = int(clock[rows.LEARNT])
    check_range("the count of rewards learnt", learnt, 0, rounds)
    check_range("the count of restarts", clock[rows.RESTARTS], 0, rounds)
    check_range("the reward of the last restart", clock[rows.SINCE], 0, learnt)
    check_range("the numbers of estimators", clock[[rows.MAIN, rows.SOUND]], 0, estimators - 1)
    check_range("the latest rounds", clock[[rows.NEWEST, rows.BIRTH]], 0, rounds)
    check_range("whether rewards varied", clock[rows.VARIED], 0, 1)
    check_range("the rounds of restarts", bank.restarts, 0, rounds)
    check_range("the evidence", bank.evidence, 0.0, refuted)
    check_range("the onsets of evidence", bank.onset, 0, learnt)
    check_range("the gaps between forecasts", bank.gaps[:, SQUARED], 0.0, MOST_FOURTH)
    check_range("what gaps between forecasts explain", bank.gaps[:, EXPLAINED], -MOST_FOURTH, MOST_FOURTH)
    check_range("λ in V", bank.built[:-1], LEAST if learnt else 0.0, MOST_SQUARE)
    check_range("the squares of residuals", bank.squares, 0.0, MOST_SQUARE)
    check_range("the squares that the noise is learnt from", bank.taken, 0.0, MOST_SQUARE)
    check_range("what was heard of sources of noise", bank.sources[HEARD], 0.0, MOST_FOURTH)
    check_range("the logarithms of variances", bank.logs, 0.0, 1e3)
    check_range("the rounds of the last rewards", bank.decided, 0, rounds)
    check_range("the latest rounds at the last rewards", bank.newest, 0, rounds)
    check_rows("the last arms", bank.arms[:, : bank.features], blocks, longest)
    check_rewards("the last rewards", bank.rewards)
    check_scales(bank, rounds, longest)
    loudest = MOST_LOUD * max(float(bank.scale[rows.NOISE2]), LEAST)
    check_range("how loud sources of noise are", bank.sources[LOUDNESS], 0.0, loudest)
    constant = bank.arms[: min(learnt, len(bank.arms)), bank.features :]
    demand((constant == bank.scale[rows.CONSTANT]).all(), "the last arms have another constant than the bank")
    check_range("the counts of steps since a fresh solve", bank.tally[..., STEPS], 0, MOST_STEPS)
    if blocks > 1:
        check_blocks(bank, learnt)
    if learnt:
        check_solved("an estimator of the bank", bank.matrix[:-1], bank.vector[:-1], bank.tally[:-1])


def check_blocks(bank: Any, learnt: int) -> None:
    """What a bank in blocks has in addition."""
    check_range("what is left of V and b", bank.left, FAINT, 1.0)
    check_range("since when sums over blocks are kept", bank.summed, 0, learnt)
    check_range("the counts of steps since a fresh solve", bank.shared_tally[:, STEPS], 0, MOST_STEPS)
    if learnt and len(bank.rest):
        check_solved("what blocks share", bank.shared_matrix[:-1], bank.shared_vector[:-1], bank.shared_tally[:-1])


def check_scales(bank: Bank, rounds: int, longest: float) -> None:
    scale, settled = bank.scale, bank.clock[rows.LEARNT] >= rows.SETTLE * size(bank)
    check_range("the noise", scale[rows.NOISE2], SMALLEST if bank.clock[rows.LEARNT] else 0.0, MOST_SQUARE)
    check_range("the noise at present", scale[rows.LOUD], 0.0, MOST_SQUARE)
    check_range("how much louder arms with noise are", scale[rows.LOUDER], 0.0, MOST_SQUARE)
    check_range("the fourth power of the noise", scale[rows.FOURTH], 0.0, MOST_FOURTH)
    check_range("the count of rewards in the noise", scale[rows.COUNTED], 0.0, max(MOST_COUNTED, rounds))
    check_range("the signal", scale[rows.SIGNAL2], 0.0, MOST_FOURTH)
    check_range("an arm's squared length", scale[rows.LENGTH2], 0.0, (1.001 * longest) ** 2)
    check_range("the constant", scale[rows.CONSTANT], 0.0, 1.001 * max(longest, 1.0))
    check_range("the count of rewards in the signal", scale[rows.WEIGHT], 0.0, MOST_WEIGHT)
    check_range("λ", scale[rows.PENALTY], LEAST if bank.clock[rows.LEARNT] else 0.0, MOST_SQUARE)
    if settled:
        unit = scale[rows.LENGTH2] if scale[rows.LENGTH2] > 0.0 else 1.0
        check_range("λ in units of an arm's length²", scale[rows.PENALTY] / unit, LEAST_PENALTY * 0.999, MOST_PENALTY * 1.001)
    check_rewards("the first reward", scale[[rows.SHIFT, rows.FIRST]])


def check_played(played: Any) -> None:
    check_range("the numbers of estimators that are played", played.which, 0, len(played.bank.keep) - 1)
    check_range("how far the estimate leans", played.share, 0.0, float(played.which[0] > 0))


def check_archive(archive: Archive, rounds: int) -> None:
    scale = archive.scale
    bound = check_solved("the archive", archive.ridge.matrix, archive.ridge.vector, archive.ridge.tally)
    if isinstance(archive.ridge, Ridge):
        check_scores("the archive", archive.ridge, float(bound))
    check_range("the archive's steps since a fresh solve", archive.ridge.tally[..., STEPS], 0, MOST_STEPS)
    check_range("trust", scale[trust.TRUST], 0.0, MOST_SQUARE)
    check_range("what is known of trust", scale[trust.INFORMATION], trust.DOUBTFUL, MOST_FOURTH)
    check_range("whether this round is a probe", scale[trust.PROBING], 0.0, 1.0)
    check_range("the spread of rewards", scale[[trust.SPREAD2, trust.BANK_SPREAD2]], 0.0, MOST_SQUARE)
    check_range("the count of comparisons", scale[trust.COMPARED], 0.0, trust.LASTING)
    check_range("the count of rewards averaged", scale[trust.AVERAGED], 0.0, trust.RECENT)
    check_ring("the rounds of comparisons", archive.rounds - 1, trust.OUTSTANDING, 0, rounds)


def check_lateness(lateness: Lateness, rounds: int, blocks: int, longest: float) -> None:
    clock, moments = lateness.clock, lateness.moments
    check_now(clock[late.DECIDED] - 1, rounds)
    check_range("the next round to be learnt", clock[late.CURSOR], 0, rounds + 1)
    check_range("the count of rewards held", clock[late.HELD], (lateness.rounds > 0).sum(), rounds)
    check_range("whether rewards are held", clock[late.HOLDING], 0, late.NO_MORE)
    check_range("the rounds of rewards held", lateness.rounds, 0, rounds + 1)
    check_ring("the rounds of rewards held", lateness.rounds - 1, late.MOST_HELD, 0, rounds)
    check_rows("the arms of rewards held", lateness.arms, blocks, longest)
    check_rewards("the rewards held", lateness.rewards)
    check_range("the counts of delays", moments[[late.COUNT, late.SINCE]], 0.0, late.STEADY)
    check_range("the longest delays", moments[[late.LONGEST, late.LONGEST_BEFORE]], 0.0, rounds)
    check_range("the mean logarithm of delays", moments[late.MEAN_LOG], 0.0, np.log1p(rounds))
    check_range("the spread of delays", moments[late.LOG2], 0.0, np.log1p(rounds) ** 2)
    check_range("the spread of rewards", moments[late.REWARD2], 0.0, MOST_SQUARE)
    check_rewards("the mean reward", moments[late.MEAN_REWARD])


def check_diary(diary: Diary, rounds: int) -> None:
    filled, stride, waited = diary.clock.tolist()
    check_range("the count of notes", filled, 0, len(diary.notes) - 1)
    demand(0 < stride <= rounds + 1 and stride & (stride - 1) == 0, f"rewards per note must be a power of 2, got {stride}")
    check_range("the count of rewards since the last note", waited, 0, stride - 1)
    check_rewards("the mean reward since the last note", diary.total / max(waited, 1))
    check_range("the rounds of notes", diary.notes[:filled, notebook.ROUND], 0, rounds)
