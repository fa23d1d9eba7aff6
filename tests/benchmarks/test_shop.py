"""The simulated shop: the compiled loop plays what select and update play, and the table says who did what."""

from pathlib import Path

import pytest
from shopkeepers import Ours, play_shop, restarts_of, serve_all, serve_plainly
from takings import RIVAL, Score, in_hindsight, ranked, verdicts

import shop
from common import rounds
from driftbandit import AdaptiveUCB, DetectUCB, DiscountedTS, Policy, StaticUCB
from driftbandit.shop import storefront
from driftbandit.shop.storefront import DIM, TIMEOUT, open_shop

POLICIES = [
    AdaptiveUCB(DIM),
    DetectUCB(DIM),
    StaticUCB(DIM, width=0.1, noise=0.5),
    DiscountedTS(DIM, discount=0.99, noise=0.25, width=0.3),
]


@pytest.mark.plain  # compiling this loop takes a minute and a half, and its parts are tried compiled elsewhere
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_the_compiled_loop_plays_as_select_and_update_do(policy: Policy, late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storefront, "TIMEOUT", rounds(TIMEOUT, 10))
    open_shop.cache_clear()
    visitors = open_shop(4, rounds(6000, 40), late)
    fast, plain = policy.spawn(4), policy.spawn(4)
    chosen = serve_all(fast, visitors)
    assert chosen.tolist() == serve_plainly(Ours(plain), visitors).tolist()
    assert len(set(chosen.tolist())) > 1
    assert restarts_of(fast) == restarts_of(plain)
    assert play_shop(policy, 4, len(chosen), late=late) == (storefront.share(visitors, chosen), restarts_of(fast))
    open_shop.cache_clear()


def test_hindsight_chooses_after_the_fact_and_the_verdict_follows() -> None:
    scores = {
        "AdaptiveUCB": [Score(0.72, 3, 1.0), Score(0.70, 4, 1.0)],
        RIVAL: [Score(0.66, 0, 1.0), Score(0.68, 0, 1.0)],
        "DiscountedTS, memory 1,000, width 1": [Score(0.50, 0, 1.0), Score(0.71, 0, 1.0)],
        "DiscountedTS, memory 3,000, width 1": [Score(0.64, 0, 1.0), Score(0.69, 0, 1.0)],
    }
    one, each = in_hindsight(scores).items()
    assert one == ("DiscountedTS in hindsight (memory 3,000, width 1)", scores["DiscountedTS, memory 3,000, width 1"])
    assert [score.share for score in each[1]] == [0.64, 0.71]
    table = ranked(scores)
    assert table[0][:4] == ["AdaptiveUCB", "71.0 ± 1.4", "72.0, 70.0", "3, 4"]
    assert [line[0] for line in table[-2:]] == list(scores)[2:]
    peer, fixed, free = verdicts(scores)
    assert "+4.0 points; the aim of +4 is met" in peer
    assert "+4.5 points; the aim of +4 is met" in fixed
    assert "+3.5 points; the aim of +4 is missed" in free


@pytest.mark.compiled
def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "shop.md"
    shop.main(
        ["--players", "StaticUCB", "DiscountedTS, memory 1,000", "--seeds", "1", "2", "--decisions", "300", "--out", str(out)]
    )
    names = [line.split("|")[1].strip() for line in out.read_text().splitlines() if line.startswith("| ")][2:]
    assert len(names) == 1 + 2 + 3
    assert "StaticUCB, width 0.1" in names
    assert "StaticUCB" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        shop.main(["--players", "Nobody"])
    assert "must begin a name of AdaptiveUCB" in capsys.readouterr().err
