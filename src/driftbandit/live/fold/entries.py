"""What is kept of a decision. Frozen: one that changes is replaced, so that a list of them is a consistent snapshot."""

import msgspec

from driftbandit.live.answers import Answer, Found, State

WAITING, REWARDED, EXPIRED, UNSHOWN = range(4)
STATES: tuple[State, ...] = ("waiting", "rewarded", "expired", "unshown")


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    id: str
    first: int  # the number of its Decided record
    last: int  # the number of the last record that touched it
    asked: bytes  # a digest of what was asked
    at: float
    round: int
    index: int  # what was played
    chosen: int  # what the policy chose
    label: str | None  # the name of what was played, where it has one
    explored: bool
    baseline: bool
    chance: float | None  # with which it was chosen
    arm: bytes | int | None  # the arm, or a Chooser's encoded context, while needed; of a named set, the set's number
    deadline: float  # when its wait is over; later, when it was
    pending: bool  # deferred, and not shown yet
    state: int = WAITING
    reward: float | None = None  # as gathered so far
    keys: tuple[tuple[str, float], ...] = ()  # the rewards by key, where they are summed

    @property
    def own(self) -> bool:
        """Whether the policy's own choice was played."""
        return self.index == self.chosen

    def answer(self, repeat: bool) -> Answer:
        return Answer(
            id=self.id,
            round=self.round,
            index=self.index,
            action=self.label,
            propensity=self.chance,
            explored=self.explored,
            chosen=self.chosen,
            at=self.at,
            repeat=repeat,
            ticket=self.first,
        )

    def found(self) -> Found:
        late = self.state in (EXPIRED, UNSHOWN)  # or there is no reward
        return Found(
            answer=self.answer(repeat=True),
            state=STATES[self.state],
            reward=None if late else self.reward,
            late=self.reward if late else None,
            deadline=self.deadline if self.state == WAITING else None,
            shown=not self.pending,
        )
