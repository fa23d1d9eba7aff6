"""A policy that lives: decisions that are durable when they are answered, in the process or over HTTP."""

from driftbandit.core.extras import needed_for

with needed_for(__name__):  # all of this room
    import msgspec as msgspec

from driftbandit.live.answers import Ask as Ask
from driftbandit.live.learner import Learner as Learner
from driftbandit.live.service import Service as Service
from driftbandit.live.settings import Settings as Settings
from driftbandit.live.shadowing import shadow as shadow
