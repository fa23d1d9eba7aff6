"""Results of the shop: scores as a table, and as a page."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftbandit.shop import Shop
from driftbandit.shop.storefront import BANNERS, SOON, TIMEOUT, open_shop, seasons

RIVALS = ("VowpalWabbit", "StaticUCB", "DiscountedTS")  # the best setting of each is chosen in hindsight
HEADINGS = ["player", "% of the oracle", "seed by seed", "restarts", "µs per decision"]


@dataclass(frozen=True)
class Score:
    """One player, one seed."""

    share: float
    restarts: int
    seconds: float
    decisions: int


Scores = dict[str, list[Score]]  # by player, one for each seed


def mean_share(row: Sequence[Score]) -> float:
    return 100 * float(np.mean([score.share for score in row]))


def best_of(scores: Scores, rival: str) -> str | None:
    """Its best setting, chosen in hindsight, one for all seeds."""
    return max((name for name in scores if name.startswith(rival)), key=lambda name: mean_share(scores[name]), default=None)


def cells(name: str, row: Sequence[Score]) -> list[str]:
    shares = [100 * score.share for score in row]
    spread = np.std(shares, ddof=1) if len(shares) > 1 else 0.0
    restarts = ", ".join(str(score.restarts) for score in row) if any(score.restarts for score in row) else "–"
    micros = 1e6 * np.mean([score.seconds / score.decisions for score in row])
    return [name, f"{mean_share(row):.1f} ± {spread:.1f}", ", ".join(f"{x:.1f}" for x in shares), restarts, f"{micros:.0f}"]


def ranked(scores: Scores) -> list[list[str]]:
    """Best first."""
    return [cells(name, row) for name, row in sorted(scores.items(), key=lambda item: -mean_share(item[1]))]


def verdicts(scores: Scores) -> list[str]:
    """AdaptiveUCB, told nothing, compared with the best setting of each rival that played."""
    lines = []
    for rival in RIVALS if "AdaptiveUCB" in scores else ():
        if name := best_of(scores, rival):
            ahead = mean_share(scores["AdaptiveUCB"]) - mean_share(scores[name])
            tried = sum(other.startswith(rival) for other in scores)
            word = "met" if ahead >= 0 else "missed"
            lines.append(f"AdaptiveUCB − {name}, the best of {tried} in hindsight: {ahead:+.1f} points; the aim is {word}.")
    return lines


def page(scores: Scores, remarks: Sequence[str], seeds: Sequence[int], decisions: int, late: bool, command: str) -> str:
    """The table and what it was measured on, as Markdown."""
    lines = [HEADINGS, ["---", *["---:"] * (len(HEADINGS) - 1)], *ranked(scores)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    shops = [open_shop(seed, decisions, late) for seed in seeds]
    by_chance = 100 * np.mean([shop.chances.mean() for shop in shops])
    oracle = 100 * np.mean([shop.chances.max(axis=1).mean() for shop in shops])
    told = f"late: a click within {SOON} decisions, no click after {TIMEOUT}" if late else "before the next decision"
    columns = len(Shop.context.columns)
    return f"""# A shop

Written by `{command}`: {decisions:,} decisions each in the shops of seeds {", ".join(map(str, seeds))}.

{chr(10).join(f"- {line}" for line in [*verdicts(scores), *remarks])}

{table}

The shop. {len(BANNERS)} banners; a visitor is a mapping with {", ".join(Shop.context.fields)}, which a declared
context turns into {columns} columns. The log odds of a click are linear in what is known about the visitor, with separate
weights for each banner, so its probability is not. Banners shown at random are clicked {by_chance:.1f} % of the time, the
oracle's {oracle:.1f} %. Tastes change with the season, at times that no player is told; part of the weights stay. Seasons in
these shops: {", ".join(str(len(seasons(seed, decisions))) for seed in seeds)}. Rewards are told {told}.

*% of the oracle*: (expected clicks of the choices − of random choice) / (of the best banner for each visitor − of random
choice), mean ± standard deviation over the seeds. All players meet the same visitors, and one number per visitor decides for
all players what is clicked. *µs*: processor time from Python of one decision with all that belongs to it.

Ours play through `Chooser` with its default model (separate parameters for each banner and shared ones, in all
{(len(BANNERS) + 1) * columns} columns). AdaptiveUCB and DetectUCB are told nothing but the number of columns. StaticUCB and
DiscountedTS are told a width, DiscountedTS also the noise and a memory. VowpalWabbit gets the same numbers, the banners' names,
`--cb_explore_adf`, interactions of the two (with *pairs*, also of each two numbers and the banner), and the options in its row.
*In hindsight*: the setting is chosen after everything has been played, one for all seeds.
"""
