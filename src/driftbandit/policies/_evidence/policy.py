"""What AdaptiveUCB and DetectUCB share: their parameters, and what they say of themselves."""

import math
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from driftbandit.core import validate
from driftbandit.core.blocks import new_estimate
from driftbandit.core.extras import needed_for
from driftbandit.core.ridge import Ridge, keep_arms, new_ridge
from driftbandit.core.types import Floats
from driftbandit.policies._base.policy import Policy
from driftbandit.policies._evidence import history as notebook
from driftbandit.policies._evidence.archive import TRUST, certainty, new_archive
from driftbandit.policies._evidence.bank import FIRST, LEARNT, MOST_RESTARTS, NOISE2, RESTARTS, VARIED, new_bank
from driftbandit.policies._evidence.block_bank import new_block_bank
from driftbandit.policies._evidence.history import new_diary
from driftbandit.policies._evidence.lateness import HOLDING, NOW, new_lateness
from driftbandit.policies._evidence.played import played_of
from driftbandit.policies._evidence.refutation import ON_TRIAL, against
from driftbandit.policies._evidence.shown import ShownEvidence
from driftbandit.policies._evidence.sound import (
    check_archive,
    check_bank,
    check_diary,
    check_lateness,
    check_memories,
    check_played,
)
from driftbandit.policies._evidence.state import EvidenceState, Rule, describe_played, in_use, to_play

if TYPE_CHECKING:
    import polars as pl

KAPPA = 0.45  # calibrated: in simulated worlds, on real tables and in the simulated shop
ENOUGH = 10_000  # rewards after which it warns that they never vary: clicks at 0.1 % would have
FAR_MORE = 10.0  # times as many restarts as chance would bring …
DISTRUST = 0.5  # … and trust in them below this, by two standard deviations


class AssumptionWarning(UserWarning):
    """The rewards visibly violate a policy's assumptions."""


class Status(NamedTuple):
    """What a policy guided by evidence believes now."""

    memory: float  # rewards that the estimate in use remembers
    restarts: list[int]  # the rounds reached when the longest memory was found wrong and rebuilt: the last 256, in order
    restart_count: int  # how many there were in all
    evidence: float  # against the estimate in use, in nats: what a shorter memory would have predicted better
    noise: float  # the standard deviation of the rewards' noise, as learnt
    theta: Floats  # θ̂
    widths: Floats  # of its coordinates: how far each may be off; infinite while rewards have not varied
    trust: float  # how far forgetting has paid: 1 fully; 0 not at all, so that the archive, which never forgets, decides
    holds_rewards: bool  # whether rewards wait for those decided with them, because their delay gives them away


@dataclass(repr=False, eq=False, kw_only=True)
class EvidencePolicy(ShownEvidence, Policy):
    """What AdaptiveUCB and DetectUCB share.

    Parameters:
        dim: the number of features (d).
        intercept: also learn a constant that all rewards have in common. Needed if they have one (a base rate) that no feature
            carries.
        width: how optimistic, in standard deviations (κ), for arms as well known as any; others are up to several times as
            wide. "theory" for the radius of eq. 9, the same for all.
        noise: a first guess of the noise's standard deviation; it is learnt from there, unless ``noise_known``.
        noise_known: use ``noise`` as it is.
        refuted: evidence, in nats, at which an estimator is rebuilt.
        probe: how often to look for a change that does not show at the arms played: the chance is probe·√(d/(n + d)), n
            rewards after a restart; less if the arms played have all features, so that little can change unseen.
        arm_norm: a bound on the length of an arm, if a longer one is to be an error.
        most_waiting: for how many rounds a decision waits for its reward; then it is given up.
        blocks: into how many blocks the features split; with more than 1, an arm begins with the number of its block.
        shared: how many features all blocks share; in an arm they come next.
        seed: fixes how ties are broken, when the policy probes and when it asks the archive.
    """

    arm_norm: float = validate.LARGEST
    intercept: bool = False
    width: float | str = KAPPA
    noise: float | None = None
    noise_known: bool = False
    refuted: float = 10.0
    probe: float = 0.2

    by_arrival: ClassVar[bool] = True
    in_blocks: ClassVar[bool] = True
    keeps_scores: ClassVar[bool] = False  # what is played changes
    memories: ClassVar[Sequence[int]]
    block_memories: ClassVar[Sequence[int]]  # in blocks, each of which sees only some of the rewards

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        shared = (EvidencePolicy.__doc__ or "").partition("\n\n")[2]
        cls.__doc__ = f"{(cls.__doc__ or '').rstrip()}\n\n{shared}"  # so that help() explains every parameter

    @abstractmethod
    def _rule(self) -> Rule:
        """What the policy does with evidence; settles its own parameters."""

    def _settle(self) -> None:
        self.intercept = validate.flag("intercept", self.intercept)
        if self.width != "theory":
            self.width = validate.not_negative("width", self.width)  # type: ignore[arg-type]
        self.noise = None if self.noise is None else validate.positive("noise", self.noise)
        self.noise_known = validate.flag("noise_known", self.noise_known)
        if self.noise_known and self.noise is None:
            raise ValueError("noise must be given if noise_known=True, got None: pass its standard deviation")
        self.refuted = validate.positive("refuted", self.refuted)
        self.probe = validate.not_negative("probe", self.probe)
        if self.refuted <= ON_TRIAL:
            raise ValueError(f"refuted must exceed {ON_TRIAL:g}, the evidence left in a trial, got {self.refuted}")

    def _new_state(self) -> EvidenceState:
        bank = self._new_bank()
        ridge = new_ridge(self.dim + self.constants, 1.0) if self.blocks == 1 else played_of(bank)
        archive = new_archive(new_estimate(self.dim, self.blocks, self.shared, 1.0))
        lateness, diary = new_lateness(bank.arms.shape[1] - self.constants), new_diary(self.dim)
        return EvidenceState(ridge, bank, archive, lateness, self._rule(), diary)

    def _new_bank(self) -> Any:
        if self.blocks == 1:
            return new_bank(self.dim, self.intercept, self.memories, self.noise)
        if self.intercept:
            raise ValueError(f"intercept needs blocks = 1, got {self.blocks}: give every block a constant feature instead")
        width = (self.dim - self.shared) // self.blocks
        return new_block_bank(self.blocks, width, self.shared, self.block_memories, self.noise)

    def _check_state(self) -> None:
        check_memories(self.state.bank, self._new_bank())
        check_bank(self.state.bank, self.rounds, self.blocks, self.arm_norm, self.refuted)
        if self.blocks > 1:
            check_played(self.state.ridge)
        check_archive(self.state.archive, self.rounds)
        check_lateness(self.state.lateness, self.rounds, self.blocks, self.arm_norm)
        check_diary(self.state.diary, self.rounds)

    def _with_ridge(self, state: EvidenceState, ridge: Ridge) -> EvidenceState:
        archive = state.archive._replace(ridge=keep_arms(state.archive.ridge, ridge.columns[: self.dim]))
        return state._replace(ridge=ridge, archive=archive)

    def _no_scratch(self) -> None:
        super()._no_scratch()
        self._warned = False

    @property
    def constants(self) -> int:
        return int(self.intercept)

    @property
    def _kappa(self) -> float:
        return -1.0 if self.width == "theory" else float(self.width)

    def _draw_luck(self) -> int:
        if not self._warned and (trouble := self.trouble()):  # checked only when luck is drawn, which is rare
            self._warned = True
            warnings.warn(trouble, AssumptionWarning, stacklevel=3)
        return super()._draw_luck()

    def trouble(self) -> str | None:
        """What is visibly wrong with the rewards, and what to do about it; None if nothing is."""
        bank, archive = self.state.bank, self.state.archive
        learnt, restarts, trust = int(bank.clock[LEARNT]), int(bank.clock[RESTARTS]), float(archive.scale[TRUST])
        if learnt >= ENOUGH and not bank.clock[VARIED]:
            return (
                f"all {learnt} rewards so far were {bank.scale[FIRST]:g}, so there is nothing to learn: pass what each "
                "decision earned to update(), including what the absence of a reward means (0, for example)"
            )
        by_chance = learnt * len(bank.keep) * math.exp(-self.refuted)
        if restarts > FAR_MORE * (1.0 + by_chance) and trust + 2.0 / certainty(archive) < DISTRUST:
            return (
                f"{restarts} restarts in {learnt} rewards, where independent noise would cause about {by_chance:.0f}, and "
                f"they do not pay (trust {trust:.2f}): rewards seem to depend on each other, as on days that are bad for all "
                f"arms. An estimate that never forgets decides instead; to restart less often, raise refuted = {self.refuted:g}"
            )
        return None

    def status(self) -> Status:
        """What it believes, and why: see ``Status``."""
        with self._alone():
            bank, rule, d = self.state.bank, self.state.rule, self.dim
            main = int(to_play(bank, rule))  # the one that the next decision would play
            count = int(bank.clock[RESTARTS])
            recent = [int(bank.restarts[k % MOST_RESTARTS]) for k in range(max(0, count - MOST_RESTARTS), count)]
            theta, widths = np.empty(d), np.empty(d)
            describe_played(bank, rule, main, theta, widths)
            return Status(
                memory=float(in_use(bank, main)),
                restarts=recent,
                restart_count=count,
                evidence=float(bank.evidence[main, against(bank, main)]),
                noise=math.sqrt(bank.scale[NOISE2]),
                theta=theta,
                widths=widths if bank.clock[VARIED] else np.full(d, math.inf),
                trust=float(self.state.archive.scale[TRUST]),
                holds_rewards=bool(self.state.lateness.clock[HOLDING] == NOW),
            )

    def history(self) -> "pl.DataFrame":
        """The same over time: one row per note, at most 512 of them, evenly spaced; rewards are means since the last note."""
        with needed_for(f"{type(self).__name__}.history"):
            import polars as pl

        with self._alone():
            diary, d = self.state.diary, self.dim
            notes = diary.notes[: diary.clock[notebook.FILLED]].copy()
        theta, width = notes[:, notebook.ESTIMATE : notebook.ESTIMATE + d], notes[:, notebook.ESTIMATE + d :]
        table = pl.DataFrame(
            {
                **dict(zip(notebook.COLUMNS, notes.T, strict=False)),
                **{f"theta_{i}": theta[:, i] for i in range(d)},
                **{f"width_{i}": width[:, i] for i in range(d)},
            }
        )
        return table.cast({"round": pl.Int64, "restarts": pl.Int64})
