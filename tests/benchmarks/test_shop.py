"""The simulated shop: the compiled loop plays what select and update play, and the table says who did what."""

from pathlib import Path

import numpy as np
import pytest
import shop
import storefront
from shopkeepers import Ours, play_shop, restarts_of, serve_all, serve_plainly
from storefront import BANNERS, COLUMNS, DIM, SOON, TIMEOUT, open_shop
from takings import RIVAL, Score, in_hindsight, ranked, verdicts

from common import rounds
from driftbandit import AdaptiveUCB, DetectUCB, DiscountedTS, Policy, StaticUCB
from driftbandit.core.types import Ints

POLICIES = [
    AdaptiveUCB(DIM),
    DetectUCB(DIM),
    StaticUCB(DIM, width=0.1, noise=0.5),
    DiscountedTS(DIM, discount=0.99, noise=0.25, width=0.3),
]


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


def test_a_shop_is_fixed_by_its_seed_and_a_short_one_begins_a_long_one() -> None:
    long, short, other = open_shop(1, 50_000, True), open_shop(1, 30_000, True), open_shop(2, 30_000, True)
    for whole, part, foreign in zip(long, short, other, strict=True):
        assert (whole[: len(part)] == part).all()
        assert (part != foreign).any()


def test_visitors_fit_into_the_unit_ball_and_click_now_and_then() -> None:
    visitors = open_shop(1, 100_000)
    assert visitors.contexts.shape == (100_000, len(COLUMNS))
    assert 0.99 < np.linalg.norm(visitors.contexts, axis=1).max() <= 1 + 1e-12
    assert 0.02 < visitors.chances.mean() < 0.06
    assert 1.5 < visitors.chances.max(axis=1).mean() / visitors.chances.mean() < 2.5
    assert (visitors.wait == 0).all()
    late = open_shop(1, 100_000, True).wait
    assert set(late[:, 0]) == {TIMEOUT}
    assert set(late[:, 1]) == set(range(SOON + 1))


def test_the_best_banner_changes_with_the_season_and_not_within() -> None:
    decisions, day = 120_000, storefront.VISITORS_PER_DAY
    visitors, spans = open_shop(3, decisions), storefront.seasons(3, decisions)
    assert [start for start, _ in spans[1:]] == [stop for _, stop in spans[:-1]]
    assert (spans[0][0], spans[-1][1]) == (0, decisions)
    for start, stop in spans:
        odds = np.log(visitors.chances[start:stop] / (1 - visitors.chances[start:stop]))
        fit, *_ = np.linalg.lstsq(visitors.contexts[start:stop], odds, rcond=None)
        assert np.allclose(visitors.contexts[start:stop] @ fit, odds)
        after = visitors.chances[stop : stop + day]
        if len(after):
            stale = 1 / (1 + np.exp(-visitors.contexts[stop : stop + day] @ fit))
            assert (after.argmax(axis=1) != stale.argmax(axis=1)).mean() > 0.1


def test_a_share_is_1_for_the_oracle_and_0_for_the_average() -> None:
    visitors = open_shop(1, 2000)
    best: Ints = visitors.chances.argmax(axis=1)
    assert storefront.share(visitors, best) == pytest.approx(1)
    every = [storefront.share(visitors, np.full(2000, banner)) for banner in range(BANNERS)]
    assert np.mean(every) == pytest.approx(0, abs=1e-12)


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
