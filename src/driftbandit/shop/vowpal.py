"""VowpalWabbit in the same shop, if it is installed: it gets the same numbers, and the banners' names."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from driftbandit.core.types import Floats

SPECIAL = re.compile(r"[\s:|]")  # what a name must not contain in VowpalWabbit's text format


def installed() -> bool:
    return find_spec("vowpalwabbit") is not None


@dataclass(frozen=True)
class Showing:
    index: int  # of the banner
    chance: float  # with which it was drawn
    lines: list[str]


INTERACTIONS = "--interactions cb"


class VowpalWabbit:
    """The context (namespace c) is shared by the banners (b), identified by their names; by default the two interact."""

    def __init__(
        self, banners: Sequence[str], columns: Sequence[str], options: str = "", seed: int = 0, interactions: str = INTERACTIONS
    ) -> None:
        from vowpalwabbit import Workspace

        self.workspace = Workspace(f"--cb_explore_adf {interactions} --quiet --random_seed {seed} {options}")
        self.banners = [f"|b {SPECIAL.sub('_', banner)}" for banner in banners]
        self.columns = [SPECIAL.sub("_", column) for column in columns]
        self.rng = random.Random(seed)

    def select(self, context: Floats) -> Showing:
        pairs = zip(self.columns, context.tolist(), strict=True)
        shared = "shared |c " + " ".join(f"{name}:{value:.9g}" for name, value in pairs if value)
        lines = [shared, *self.banners]
        chances = self.workspace.predict(lines)
        banner = self.rng.choices(range(len(self.banners)), chances)[0]
        return Showing(banner, chances[banner], lines)

    def update(self, showing: Showing, reward: float) -> None:
        lines = showing.lines.copy()
        lines[1 + showing.index] = f"0:{-reward:.9g}:{showing.chance:.9g} {lines[1 + showing.index]}"
        self.workspace.learn(lines)
