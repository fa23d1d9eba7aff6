"""What all policies have in common: parameters, select and update, and being values that print, compare and copy."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Self

from numpy import ndarray
from numpy.typing import ArrayLike

from driftbandit.core import validate
from driftbandit.core.arms import Ball, Ellipsoid, FixedArms
from driftbandit.core.choice import novelty
from driftbandit.core.kinds import full_name, is_ours
from driftbandit.core.random import Seed, luck
from driftbandit.core.ridge import Ridge, keep_arms
from driftbandit.core.spread import Spread
from driftbandit.core.types import Floats
from driftbandit.core.validate import LARGEST
from driftbandit.policies._base.decision import Decision, Estimate, recognised
from driftbandit.policies._base.leaves import twin
from driftbandit.policies._base.outlook import Outlook
from driftbandit.policies._base.scratch import LUCK_ROUNDS
from driftbandit.policies._base.shown import Shown
from driftbandit.policies._base.taught import Taught
from driftbandit.policies._base.value import ALONE
from driftbandit.policies._base.verbs import begin

CONVEX = (Ball, Ellipsoid)


class Memory(NamedTuple):
    """How a memory in rounds becomes a parameter of a policy."""

    parameter: str
    of: Callable[[int], float] = int  # rounds → the parameter


@dataclass(repr=False, eq=False, kw_only=True)
class Policy(Shown, Taught, ABC):
    """An optimist: choose argmax ⟨x, θ̂⟩ + β‖x‖, learn from the reward, forget in its own way.

    Parameters, with the paper's symbols:
        dim: the number of features (d).
        arm_norm: a bound on the length of an arm (L); a longer one is an error.
        seed: fixes how ties are broken, and whatever else a policy draws.
        most_waiting: for how many rounds a decision waits for its reward: that of round t is given up when round
            t + most_waiting is decided, and a reward that comes later is an error.
        blocks: into how many blocks of equal size the features split. With more than 1, an arm lies in one block, and its
            row is the number of the block, from 0 on, then its features there. A round then costs what a block costs. Arms
            must be arrays.
        shared: how many features all blocks share, if there are blocks. They come before the blocks in θ̂, and in a row
            between the number of the block and the features there.

    Parameters are fixed once it is made. A policy belongs to one thread at a time: while one works with it, another gets a
    RuntimeError. Copies, unpickled and loaded policies accept rewards of decisions made before they parted, and of their own
    from there on.
    """

    dim: int = field(kw_only=False)
    arm_norm: float = 1.0
    seed: Seed = 0
    most_waiting: int = 100_000
    blocks: int = 1
    shared: int = 0

    fixed_only: ClassVar[bool] = False  # it cannot play arms that change
    in_blocks: ClassVar[bool] = False  # it can play a model that splits into blocks
    by_arrival: ClassVar[bool] = False  # rewards count in the order in which they arrive, not in that of their rounds
    ties_only: ClassVar[bool] = False  # chance decides between arms that tie, and has no other part in its choice
    remembers: ClassVar[Memory | None] = None  # the parameter that a memory in rounds sets, if one does
    pen: ClassVar[int | None] = None  # its own place among the pens of figures; the first eight are taken

    def __init_subclass__(cls) -> None:
        known = cls.kinds.get(cls.__name__)
        if known is not None and is_ours(known) + is_ours(cls) == 1:
            mine, yours = (known, cls) if is_ours(known) else (cls, known)
            raise TypeError(f"{full_name(yours)} must have another name: in saved files and studies it means {full_name(mine)}")
        super().__init_subclass__()

    def __post_init__(self) -> None:
        given = [f.name for f in fields(self) if not same(getattr(self, f.name), f.default)]
        self.dim = validate.whole("dim", self.dim)
        self.arm_norm = validate.positive("arm_norm", self.arm_norm)
        self.seed = validate.seed(self.seed)
        self.most_waiting = validate.whole("most_waiting", self.most_waiting)
        self._settle_blocks()
        self._settle()
        self.state = self._new_state()
        self._given = {name: getattr(self, name) for name in given}
        self.rounds = 0
        self._waiting: dict[int, Decision] = {}
        self._kept: FixedArms | None = None
        self._no_scratch()

    def _settle_blocks(self) -> None:
        self.blocks = validate.whole("blocks", self.blocks)
        if self.blocks > 1 and not self.in_blocks:
            raise ValueError(f"{type(self).__name__} does not support blocks, got blocks = {self.blocks}: leave it at 1")
        self.shared = validate.whole("shared", self.shared, least=0)
        if self.shared and self.blocks == 1:
            raise ValueError(f"shared requires blocks, got shared = {self.shared} with blocks = 1: set blocks too")
        if self.shared >= self.dim or (self.dim - self.shared) % self.blocks:
            rest = f"dim - shared = {self.dim} - {self.shared}"
            raise ValueError(f"blocks must divide {rest}, and leave a feature for each, got {self.blocks}")

    def _settle(self) -> None:
        """Check and complete the parameters that a kind of policy adds."""

    @abstractmethod
    def _new_state(self) -> Any:
        """A fresh state for the compiled loop; settles the policy's own parameters."""

    # --- deciding and learning ---------------------------------------------------------------------------------

    def select(self, arms: ArrayLike | FixedArms | Ball | Ellipsoid) -> Decision:
        """Decide the next round: ``arms`` is an (n, dim) array, new each time or not, or an arm set."""
        if self._busy:
            raise RuntimeError(ALONE)
        self._busy = True  # as in _alone
        try:
            t = self.rounds
            place = t - self._luck_from
            if place >= LUCK_ROUNDS:
                place = self._draw_luck()
            index: int | None
            if arms.__class__ is FixedArms:
                if arms is not self._met:
                    self._meet(arms)
                desk = self._desk
                index = self._decide_kept(desk.handle, t, place)
                arm = self._rows[index]
            elif arms.__class__ is Spread:  # type: ignore[comparison-overlap]  # only a chooser makes one
                index, arm = self._select_spread(t, place, arms)
            elif arms.__class__ is ndarray or not isinstance(arms, CONVEX):
                index, arm = self._select_rows(t, place, arms)
            else:
                index, arm = None, self._select_convex(t, place, arms)
            self.rounds = t + 1
            waiting = self._waiting
            waiting[t] = decision = Decision(t, index, arm, self._origin)
            if t - self.most_waiting in waiting:
                del waiting[t - self.most_waiting]
            return decision
        finally:
            self._busy = False

    def update(self, decision: Decision, reward: float) -> None:
        """Learn the reward of a decision: once, now or much later, in any order."""
        if not (isinstance(reward, float) and -LARGEST <= reward <= LARGEST):
            reward = validate.reward(reward)
        if self._busy:
            raise RuntimeError(ALONE)
        self._busy = True
        try:
            known = self._waiting.get(decision._round) if isinstance(decision, Decision) else None
            if known is None or known is not decision:
                known = recognised(decision, self._waiting, self.rounds, self.most_waiting)
            take, desk = self._take or self._bind_take(), self._desk
            take(desk.handle, known._round, known._arm, reward)
            del self._waiting[known._round]
        finally:
            self._busy = False

    def estimate(self) -> Estimate:
        """The estimate and the radius as the next ``select`` will see them; changes nothing."""
        return self.outlook().estimate()

    def theta(self) -> Floats:
        """θ̂ as the next ``select`` will see it: a part of ``estimate``, without its d × d metric."""
        return self.outlook().theta

    def appraise(self, arms: ArrayLike) -> tuple[Floats, Floats]:
        """What the next ``select`` will think of each arm of an array: the estimate of its reward, and the width added."""
        return self.outlook().appraise(self._as_rows(arms))

    def outlook(self) -> Outlook:
        """How the next ``select`` will see things: several questions at the price of one."""
        with self._alone():
            state, t = twin(self.state), self.rounds
        radius = float(begin(state, t, luck(self.seed, t, 1)[0]))
        return Outlook(state, self.dim, self.constants, radius, float(novelty(state)))

    def keep(self, arms: FixedArms) -> None:
        """Keep this set's scores up to date from now on, which makes ``select`` on a fixed set fast."""
        if arms != self._kept:
            self._check_set(arms)
            self.state = self._with_ridge(self.state, keep_arms(self.state.ridge, arms.columns))
        self._kept = arms
        self._met = None

    def _keep_none(self) -> None:
        if self._kept is not None:
            self.state = self._with_ridge(self.state, keep_arms(self.state.ridge, self.state.ridge.columns[:, :0]))
            self._kept = None

    def spawn(self, replicate: int) -> Self:
        """A fresh policy with these settings and tie-breaking of its own: one for each replicate of a study."""
        base = (self.seed,) if isinstance(self.seed, int) else self.seed
        return type(self)(**{**self._given, "seed": (*base, replicate)})

    def _with_ridge(self, state: Any, ridge: Ridge) -> Any:
        return state._replace(ridge=ridge)


def same(value: object, default: object) -> bool:
    """Whether a parameter was left at its default; an array never was."""
    return value is default or (type(value) is type(default) and bool(value == default))
