from . import checks as checks
from . import theory as theory
from .arms import Ball, Ellipsoid, FixedArms
from .delay import DelayArray, FixedDelay, GeometricDelay, UniformDelay
from .drift import Abrupt, CalmBurst, Constant, Gradual, Path, RandomWalk, Seasonal, Switching
from .noise import Gaussian, NoiseArray, Rademacher, Uniform
from .play import Result, play
from .policies.base import Decision, Estimate, Policy
from .policies.bob import BanditOverBandit
from .policies.restart import OracleRestartUCB, RestartUCB, StaticUCB
from .policies.weight import WeightUCB
from .policies.window import WindowUCB
from .world import Block, UnitArms, World

__version__: str
