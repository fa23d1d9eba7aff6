"""How values look: long ones in few words, and in notebooks as HTML that nothing told to it can break."""

import copy
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from common import every_policy
from driftbandit import AdaptiveUCB, Chooser, Constant, Decision, FixedArms, Gaussian, StaticUCB, Study, UnitArms, World, play
from driftbandit.core.shown import HEIGHT, MOST_ROWS, WIDTH, bars, shortened, sparkline, table

EVIL = "<script>alert('θ & \"x\"')</script>"


class Balanced(HTMLParser):
    """Every tag that opens closes, in order; collects the words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def words_in(shown: Any) -> str:
    """What a notebook would show, once it is seen to be sound, harmless and alone."""
    text = shown._repr_html_()
    page = Balanced(text)
    assert page.tags <= {"table", "caption", "tr", "td", "th", "svg", "g", "polyline", "rect"}
    assert "://" not in text
    assert "nan" not in text.lower()
    return " ".join(page.words)


def test_lists_are_cut_beyond_eight() -> None:
    assert shortened([1.0] * 8) == str([1.0] * 8)
    assert shortened(list(range(1009))) == "[0, 1, 2, 3, 4, 5, … 1,003 more]"


def test_a_decision_prints_whole_or_shortened() -> None:
    assert repr(Decision(3, 1, np.array([0.5, 0.0]))) == "Decision(round=3, index=1, arm=[0.5, 0.0])"
    assert repr(Decision(3, None, np.zeros(9))) == "Decision(round=3, index=None, arm=[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, … 3 more])"


def test_arms_print_as_the_call_that_makes_them_while_they_are_few() -> None:
    few = FixedArms(np.eye(8))
    assert eval(repr(few), {"FixedArms": FixedArms}) == few
    many = repr(FixedArms(np.eye(20)))
    assert many.endswith(", … 14 more])")
    assert many.count("… 14 more") == 7  # of each of the six rows shown, and of rows
    assert len(many) < 500


def test_tables_escape_what_they_are_told_and_are_cut_short() -> None:
    text = table(EVIL, [EVIL], [[EVIL, 1]] * (MOST_ROWS + 3))
    assert "<script" not in text
    assert Balanced(text).words[0] == EVIL
    assert Balanced(text).words[-1] == "… 3 more"


def test_a_line_stays_in_its_picture() -> None:
    text = sparkline(np.array([3.0, np.nan, -1.0, np.inf, 1.0]))
    numbers = re.findall(r"([\d.]+),([\d.]+)", text)
    assert len(numbers) == 3
    assert numbers[0] == (f"{1.0}", "1.0")  # the highest at the top
    assert numbers[1][1] == f"{HEIGHT - 1:.1f}"
    assert len(re.findall(r"[\d.]+,[\d.]+", sparkline(np.arange(1e5)))) == WIDTH
    assert sparkline(np.array([1.0])) == ""
    assert "nan" not in sparkline(np.zeros(3))


def test_bars_stand_on_zero() -> None:
    found = re.findall(r'y="([\d.]+)" width="[\d.]+" height="([\d.]+)"', bars(np.array([1.0, -1.0, 0.0])))
    middle = f"{HEIGHT / 2:.1f}"
    assert found == [("1.0", f"{HEIGHT / 2 - 1:.1f}"), (middle, f"{HEIGHT / 2 - 1:.1f}"), (middle, "0.0")]
    assert bars(np.array([])).startswith("<svg")


@pytest.mark.parametrize("kind", every_policy(2))
def test_every_policy_can_be_shown_and_is_not_changed_by_it(kind: str) -> None:
    policy = every_policy(2)[kind]
    assert type(policy).__name__ in words_in(policy)
    for k in range(30):
        decision = policy.select(np.eye(2))
        policy.update(decision, float(decision.arm[k % 2]))
    waiting = policy.select(np.eye(2))
    before = copy.copy(policy)
    assert "rounds 31 waiting for a reward 1" in words_in(policy)
    assert policy == before
    policy.update(waiting, 1.0)
    assert policy != before


def test_a_policy_led_by_evidence_says_what_it_believes() -> None:
    policy = AdaptiveUCB(2)
    for _ in range(30):
        policy.update(policy.select(np.eye(2)), 0.5)
    words = words_in(policy)
    for part in ("memory in use", "restarts 0", "noise", "rewards over time"):
        assert part in words
    assert "<polyline" in policy._repr_html_()


def test_a_policy_at_work_is_shown_too() -> None:
    policy = StaticUCB(2)
    with policy._alone():
        assert "in use by another thread" in words_in(policy)


def test_decisions_results_and_studies() -> None:
    assert "round 3 index 1 arm [0.5, 0.0]" in words_in(Decision(3, 1, np.array([0.5, 0.0])))
    world = World(Constant(2), Gaussian(0.1), 50, UnitArms(3))
    words = words_in(play({EVIL: StaticUCB(2)}, world, replicates=2))
    assert words.startswith("2 replicates, 50 rounds policy")
    assert EVIL in words
    table_of_world = {"drift": "constant", "noise": 0.1}
    study = Study(worlds={EVIL: table_of_world}, policies={"StaticUCB": {"width": [1.0, 2.0]}}, horizon=60, replicates=2)
    assert words_in(study) == (
        f"study: 2 replicates, 240 rounds, not run yet world {EVIL} policy StaticUCB width=1.0 policy StaticUCB width=2.0"
    )
    words = words_in(study.run())
    assert "final regret, mean ± std" in words
    best, other = (float(part) for part in re.findall(r"width=[\d.]+ ([\d.]+) ±", words))
    assert best <= other


def test_a_choice_and_how_actions_have_fared() -> None:
    shop = Chooser(StaticUCB, actions=[EVIL, "green"])
    choice = shop.select(exclude=["green"])
    assert words_in(choice).startswith(f"Choice action {EVIL} round 0 visitor")
    shop.update(choice, 0.25)
    words = words_in(shop.status())
    assert f"{EVIL} 1 1 0.25 yes" in words
    assert "green 0 0 yes" in words
