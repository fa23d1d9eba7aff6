"""What can go wrong, by what the caller can do about it. The state is unchanged by all but the last four."""


class LiveError(Exception):
    """Any of these."""


class Invalid(LiveError, ValueError):
    """Wrong in itself: shape, type, length, not finite. Trying it again will not help. ``field`` is what is wrong, if known."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class NotFound(LiveError, LookupError):
    """No such experiment, arm set, decision or token; or one that was deleted or forgotten."""


class Gone(NotFound):
    """It was there, and retention dropped it from the journal."""


class Conflict(LiveError, ValueError):
    """The id stands for another request already, the reward was another, the name is taken."""


class Full(LiveError):
    """As many decisions wait, or as many experiments or sets there are, as the limit allows."""


class JournalError(LiveError):
    """Of the journal, not of what was asked."""


class Locked(JournalError):
    """Another process has the journal open."""


class Damaged(JournalError):
    """The journal's bytes are not what was written, or some are missing. It says from which record on."""


class Mismatch(JournalError):
    """Folded here, the journal leads to another state than where it was written. ``record`` is the first that shows it."""

    def __init__(self, message: str, record: int) -> None:
        super().__init__(message)
        self.record = record


class Broken(JournalError):
    """A commit failed, or a step broke off half-way: memory is ahead of the journal. Stop the process; opening recovers."""
