"""The page about the paper, section by section: what was found → text and figures."""

from collections.abc import Callable
from typing import Any

from driftbandit import figures
from driftbandit.figures.look import DARK, LIGHT, Theme
from driftbandit.paper.findings import Findings
from driftbandit.paper.settings import NOISE, WORLDS
from driftbandit.report.page import Plate, Section
from driftbandit.studies.summary import summaries

Draw = Callable[[Theme], Any]


def plate(name: str, caption: str, draw: Draw) -> Plate:
    return Plate(name, caption, draw(LIGHT), draw(DARK))


def regret(found: Findings) -> Section:
    return Section(
        "Regret over time",
        plates=[
            plate(
                "regret",
                "Dynamic regret, mean and one standard deviation, on a logarithmic scale. Every policy meets the same "
                "rounds, so differences between lines are due to the policies alone.",
                lambda theme: figures.regret_over_time(found.table, theme=theme),
            )
        ],
        grids=[grid for name in WORLDS for grid in summaries(found.done[name])],
    )


def claims(found: Findings) -> Section:
    pool, horizon = found.choices[1], found.done["abrupt"].horizon
    over_bandits = BOB_TEXT.format(first=pool[0], last=pool[-1], horizon=horizon)
    return Section("The paper's claims", [CLAIMS_TEXT, over_bandits], verdicts=found.claims)


def factor(found: Findings) -> Section:
    return Section(
        "The factor in τ",
        FACTOR_TEXT,
        plates=[
            plate(
                "factor",
                "Final regret against the factor by which the memory exceeds Theorem 2's. The paper's experiments use "
                "10; the order of the policies in the abrupt world depends on it.",
                lambda theme: figures.regret_by_factor(found.factors, theme=theme),
            )
        ],
    )


def time(found: Findings) -> Section:
    return Section(
        "Running time",
        plates=[
            plate(
                "time",
                "Processor time per round inside the compiled loop, median and one standard deviation over repetitions. "
                "WeightUCB keeps two covariance matrices and solves afresh each round.",
                lambda theme: figures.running_time(found.timing, theme=theme),
            )
        ],
    )


def memory(found: Findings) -> Section:
    return Section(
        "Memory",
        plates=[
            plate(
                "memory",
                "Size of each policy's state as the horizon grows, in the gradual world. WindowUCB stores its window, "
                "which the theory makes longer with T; the others are constant.",
                lambda theme: figures.memory_growth(found.memory, theme=theme),
            )
        ],
    )


def forgetting(found: Findings) -> Section:
    return Section(
        "What forgetting looks like",
        plates=[
            plate(
                "restarts",
                "One run of RestartUCB in the abrupt world: how far its estimate is from the truth. Each epoch starts "
                "from nothing, so a change costs at most the rest of an epoch.",
                lambda theme: figures.restarts(*found.restarts, theme=theme),
            ),
            plate(
                "choices",
                "One run of BanditOverBandit: the meta-learner's probability of each period, its choice in each "
                "episode, and the reward it received. With so few episodes it has hardly begun to learn by the end.",
                lambda theme: figures.meta_choices(*found.choices, theme=theme),
            ),
        ],
    )


def mathematics(found: Findings) -> Section:
    return Section(
        "The mathematics, tested",
        THEORY_TEXT,
        verdicts=found.statements,
        plates=[
            plate(
                "sigma",
                "Theorem 4: the quantity that earlier proofs bound by 1, on the theorem's own features, grows with the "
                "square root of the period. So the lemma they rest on is false.",
                lambda theme: figures.labelled_lines(found.sigma, "period H", "largest singular value", theme=theme),
            ),
            plate(
                "bound",
                "RestartUCB with Theorem 2's period in the abrupt world, and what the theorem promises at each round. The "
                "bound is true; where it lies above the most that any policy can lose, it says nothing.",
                lambda theme: figures.labelled_lines(found.promised, "round", "dynamic regret", theme=theme),
            ),
        ],
    )


def left_open(found: Findings) -> Section:
    return Section(
        "What the paper left open",
        OPEN_TEXT,
        verdicts=found.left_open,
        plates=[
            plate(
                "untold",
                "The same rounds as above. RestartUCB, WindowUCB and WeightUCB are told horizon, noise and path length, and "
                "BanditOverBandit horizon and noise; AdaptiveUCB and DetectUCB are told only the number of features.",
                lambda theme: figures.regret_over_time(found.untold, theme=theme),
            )
        ],
        grids=[grid for name in WORLDS for grid in summaries(found.done[f"{name} untold"])],
    )


def reading(found: Findings) -> Section:
    return Section("How the paper was read", READING_TEXT)


CLAIMS_TEXT = (
    "Each statement of the Results paragraph, what was measured, and whether it holds here. Differences are paired over "
    "repetitions, with a 95 % confidence interval: where it contains zero, the claim is undecided. A claim that fails is shown "
    "as failing."
)
BOB_TEXT = (
    "BanditOverBandit over RestartUCB, which the paper describes but does not plot, is shown with the others. Its "
    "pool of periods runs from {first} to {last} at T = {horizon:,}, so it can neither reach the memory that the experiments "
    "use nor avoid trying periods too short to learn anything."
)
THEORY_TEXT = [
    "Each numbered statement, tested with exact algebra or a simulation that tries to break it; `driftbandit verify` runs ten "
    "times as many instances, so its worst ratios are somewhat larger. Four statements are false and shown failing: two claims "
    "of earlier work, one lemma outside the condition that its proof needs, and one line of a proof whose lemma still holds.",
]
FACTOR_TEXT = [
    "The experiments set τ to ten times what the theory suggests. The figure shows what other factors would have given.",
]
OPEN_TEXT = [
    "The paper asks whether “an adaptive epoch length with a certain statistical detection” would do better than a fixed one, "
    "and how to do without the path length. Two policies that are not in the paper try this: DetectUCB restarts when "
    "there is evidence that the world has changed, and AdaptiveUCB plays the longest of many memories that no shorter one "
    "contradicts. Neither has a regret bound, so the question of the rate stays open; what follows is measured.",
    "Part of the difference is due to the width of the confidence radius: the paper's policies use the theory's, these two a "
    "calibrated one, which is narrower.",
]
READING_TEXT = [
    f"Arms: one fixed set of 20, drawn from a normal distribution and scaled to unit length. Noise N(0, 0.1) is read as "
    f"variance 0.1 (standard deviation {NOISE:.3f}). λ = S = L = 1, R is the noise's standard deviation, δ = 1/T.",
    "The abrupt world changes at T/8, 2T/8, 3T/8 and 4T/8. An epoch plays all its H rounds from an empty estimate; the "
    "printed loop plays one fewer, after an arbitrary first arm. V in the selection rule is V of the round before.",
    "WeightUCB keeps both V and Ṽ as its authors' analysis needs; their released code builds Ṽ from V.",
    "Exp3's rate and the scaling of an episode's reward, which the paper does not state, are those of Auer et al. (2002) and "
    "of the bound of Lemma 7.",
]

SECTIONS = (regret, claims, left_open, factor, time, memory, forgetting, mathematics, reading)  # in the order of the page
