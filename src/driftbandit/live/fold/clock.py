"""A clock that keeps its pace: set by the computer's when it is made, and from then on deaf to those who move that one."""

import time
from collections.abc import Callable


def steady(wall: Callable[[], float] = time.time, pace: Callable[[], float] = time.monotonic) -> Callable[[], float]:
    """Seconds since 1970, never running back or jumping: waits hang on it."""
    begin = wall() - pace()
    return lambda: begin + pace()
