"""The simulated shop as a benchmark: through ``Chooser``, with the best settings chosen in hindsight."""

from pathlib import Path

import pytest
from takings import Score, best_of, ranked, verdicts

import shop
from common import rounds
from driftbandit import AdaptiveUCB, Chooser
from driftbandit.shop import Shop
from driftbandit.shop.storefront import BANNERS, open_shop, share


@pytest.mark.compiled
def test_a_score_is_that_of_a_loop_by_hand() -> None:
    decisions = rounds(1500, 40)
    chooser = Chooser(AdaptiveUCB, Shop.banners, Shop.context, seed=4)
    chosen = open_shop(4, decisions).wait[:, 0].copy()
    for visit in Shop(4).visits(decisions):
        choice = chooser.select(visit.fields)
        chooser.update(choice, visit.reward(choice.action))
        chosen[visit.number] = BANNERS.index(choice.action)
    score = shop.play("AdaptiveUCB", 4, decisions, late=False)
    assert score.share == share(open_shop(4, decisions), chosen)
    assert score.restarts == shop.restarts_of(chooser)
    assert score.seconds > 0


def test_every_setting_has_a_name_of_its_own() -> None:
    theirs = [name for name in shop.PLAYERS if name.startswith("VowpalWabbit")]
    assert len(theirs) == len(list(shop.vowpal_settings())) == 27
    assert "VowpalWabbit squarecb power_t 0, no interactions" in theirs
    for explorer in ("epsilon", "squarecb", "bag", "cover", "regcb", "rnd"):
        assert any(f" {explorer}" in name and "power_t 0" in name for name in theirs)


def row(*shares: float, restarts: int = 0) -> list[Score]:
    return [Score(share, restarts, 2.0, 100_000) for share in shares]


def test_hindsight_chooses_after_the_fact_and_the_verdict_follows() -> None:
    scores = {
        "AdaptiveUCB": row(0.72, 0.70, restarts=3),
        "VowpalWabbit squarecb": row(0.66, 0.68),
        "VowpalWabbit bag 5": row(0.90, 0.10),
        "DiscountedTS, memory 1,000, width 1": row(0.50, 0.91),
        "DiscountedTS, memory 3,000, width 1": row(0.73, 0.70),
    }
    assert best_of(scores, "DiscountedTS") == "DiscountedTS, memory 3,000, width 1"
    assert best_of(scores, "StaticUCB") is None
    table = ranked(scores)
    assert [line[0] for line in table[:2]] == ["DiscountedTS, memory 3,000, width 1", "AdaptiveUCB"]
    assert table[1] == ["AdaptiveUCB", "71.0 ± 1.4", "72.0, 70.0", "3, 3", "20"]
    vowpal, discounted = verdicts(scores)
    assert "VowpalWabbit squarecb, the best of 2 in hindsight: +4.0 points; the aim is met" in vowpal
    assert "width 1, the best of 2 in hindsight: -0.5 points; the aim is missed" in discounted
    assert verdicts({name: scores[name] for name in list(scores)[1:]}) == []


@pytest.mark.compiled
def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "shop.md"
    players = ["StaticUCB", "AdaptiveUCB"]
    shop.main(["--players", *players, "--seeds", "1", "2", "--decisions", "300", "--out", str(out)])
    names = [line.split("|")[1].strip() for line in out.read_text().splitlines() if line.startswith("| ")][2:]
    assert len(names) == 5 + 1
    assert "StaticUCB, width 0.1" in names
    assert "StaticUCB" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        shop.main(["--players", "Nobody"])
    assert "--players must be the beginning of one of AdaptiveUCB" in capsys.readouterr().err
