"""What came of keeping the shop: scores as a table, and as a page."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftbandit.shop.storefront import BANNERS, COLUMNS, DIM, SOON, TIMEOUT, open_shop, seasons

HINDSIGHT = "DiscountedTS"  # of its settings the best is chosen when all is over
RIVAL, AIM = "VowpalWabbit squarecb, power_t 0", 4.0  # points that AdaptiveUCB is to be ahead of it, and of hindsight
HEADINGS = ["player", "% of the oracle", "seed by seed", "restarts", "seconds"]


@dataclass(frozen=True)
class Score:
    """One player, one seed."""

    share: float
    restarts: int
    seconds: float


Scores = dict[str, list[Score]]  # by player, one for each seed


def mean_share(row: Sequence[Score]) -> float:
    return 100 * float(np.mean([score.share for score in row]))


def in_hindsight(scores: Scores) -> Scores:
    """The best setting of those told a memory: one for all seeds, and one for each."""
    grid = {name: row for name, row in scores.items() if name.startswith(HINDSIGHT)}
    if not grid:
        return {}
    best = max(grid, key=lambda name: mean_share(grid[name]))
    each = [max(column, key=lambda score: score.share) for column in zip(*grid.values(), strict=True)]
    setting = best.removeprefix(f"{HINDSIGHT}, ")
    return {f"{HINDSIGHT} in hindsight ({setting})": grid[best], f"{HINDSIGHT} in hindsight, seed by seed": each}


def cells(name: str, row: Sequence[Score]) -> list[str]:
    shares = [100 * score.share for score in row]
    spread = np.std(shares, ddof=1) if len(shares) > 1 else 0.0
    restarts = ", ".join(str(score.restarts) for score in row) if any(score.restarts for score in row) else "–"
    seconds = np.mean([score.seconds for score in row])
    return [name, f"{mean_share(row):.1f} ± {spread:.1f}", ", ".join(f"{x:.1f}" for x in shares), restarts, f"{seconds:.1f}"]


def ranked(scores: Scores) -> list[list[str]]:
    """Best first; hindsight's choice stands for its settings, which come last."""
    others = {name: row for name, row in scores.items() if not name.startswith(HINDSIGHT)}
    shown = sorted((others | in_hindsight(scores)).items(), key=lambda item: -mean_share(item[1]))
    return [cells(name, row) for name, row in [*shown, *(item for item in scores.items() if item[0] not in others)]]


def verdicts(scores: Scores) -> list[str]:
    """AdaptiveUCB, told nothing, beside those it is to beat, as far as they played."""
    rivals = {name: row for name, row in scores.items() if name == RIVAL} | in_hindsight(scores)
    lines = []
    for name, row in rivals.items() if "AdaptiveUCB" in scores else ():
        ahead = mean_share(scores["AdaptiveUCB"]) - mean_share(row)
        word = "met" if ahead >= AIM else "missed"
        lines.append(f"AdaptiveUCB − {name}: {ahead:+.1f} points; the aim of {AIM:+g} is {word}.")
    return lines


def page(scores: Scores, remarks: Sequence[str], seeds: Sequence[int], decisions: int, late: bool) -> str:
    """The table and what it was measured on, as Markdown."""
    lines = [HEADINGS, ["---", *["---:"] * (len(HEADINGS) - 1)], *ranked(scores)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    shops = [open_shop(seed, decisions, late) for seed in seeds]
    by_chance = 100 * np.mean([shop.chances.mean() for shop in shops])
    oracle = 100 * np.mean([shop.chances.max(axis=1).mean() for shop in shops])
    told = f"a click within {SOON} decisions, the lack of one after {TIMEOUT}" if late else "before the next decision"
    return f"""# A shop

Written by `make shop`: {decisions:,} decisions each in the shops of seeds {", ".join(map(str, seeds))}.

{table}

{chr(10).join(f"- {line}" for line in [*verdicts(scores), *remarks])}

The shop. {len(BANNERS)} banners; a visitor is {len(COLUMNS)} numbers ({"; ".join(COLUMNS)}),
scaled to a vector of length at most 1; an arm is one-hot(banner) ⊗ visitor, d = {DIM}. The log odds of a click are linear in
the visitor, with weights of each banner's own, so its chance is not. Banners shown by chance are clicked {by_chance:.1f} % of
the time, the oracle's {oracle:.1f} %. Tastes change with the season, at times that nobody is told; a part of the weights stays.
Seasons in these shops: {", ".join(str(len(seasons(seed, decisions))) for seed in seeds)}. Rewards are told {told}.

*% of the oracle*: (clicks expected of the choices − of chance) / (of the best banner for each visitor − of chance), mean ±
standard deviation over the seeds. All players meet the same visitors, and one number for each visitor decides for all players
what is clicked. *Seconds*: processor time of a run; ours in the compiled loop ({HINDSIGHT}
as one block for each banner), VowpalWabbit from Python.

AdaptiveUCB and DetectUCB are told nothing. {HINDSIGHT} is told the noise; *in hindsight*, memory and width are chosen when all
has been played, once for all seeds or for each by itself. VowpalWabbit is given the same numbers and the banners' names,
`--cb_explore_adf` with interactions of the two, and the options that its row names.
"""
