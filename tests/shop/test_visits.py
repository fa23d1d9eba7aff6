"""The shop: fixed by its seed for good, and met visit by visit as dictionaries of named fields."""

import hashlib
from itertools import islice

import numpy as np
import pytest

from driftbandit.shop import VISITOR, Shop
from driftbandit.shop.storefront import (
    BANNERS,
    COLUMNS,
    SOON,
    TIMEOUT,
    VISITORS_PER_DAY,
    draw_visitors,
    open_shop,
    seasons,
    share,
)


@pytest.mark.parametrize(("late", "digest"), [(False, "5bf85b2b0b70ad4c"), (True, "d46ed735f47e478a")])
def test_the_shop_of_seed_1_stays_what_it_was(late: bool, digest: str) -> None:
    found = hashlib.sha256()
    for array in open_shop(1, 1000, late):
        found.update((np.round(array.astype(float), 9) + 0.0).tobytes())  # where the last bits of a libm do not show
    assert found.hexdigest()[:16] == digest


def test_a_shop_is_fixed_by_its_seed_and_a_short_one_begins_a_long_one() -> None:
    long, short, other = open_shop(1, 50_000, True), open_shop(1, 30_000, True), open_shop(2, 30_000, True)
    for whole, part, foreign in zip(long, short, other, strict=True):
        assert (whole[: len(part)] == part).all()
        assert (part != foreign).any()


def test_visitors_fit_into_the_unit_ball_and_click_now_and_then() -> None:
    traffic = open_shop(1, 100_000)
    assert traffic.contexts.shape == (100_000, len(COLUMNS))
    assert 0.99 < np.linalg.norm(traffic.contexts, axis=1).max() <= 1 + 1e-12
    assert 0.02 < traffic.chances.mean() < 0.06
    assert 1.5 < traffic.chances.max(axis=1).mean() / traffic.chances.mean() < 2.5
    assert (traffic.wait == 0).all()
    late = open_shop(1, 100_000, True).wait
    assert set(late[:, 0]) == {TIMEOUT}
    assert set(late[:, 1]) == set(range(SOON + 1))


def test_the_best_banner_changes_with_the_season_and_not_within() -> None:
    decisions = 120_000
    traffic, spans = open_shop(3, decisions), seasons(3, decisions)
    assert [start for start, _ in spans[1:]] == [stop for _, stop in spans[:-1]] == Shop(3).changes(decisions)
    assert (spans[0][0], spans[-1][1]) == (0, decisions)
    for start, stop in spans:
        odds = np.log(traffic.chances[start:stop] / (1 - traffic.chances[start:stop]))
        fit, *_ = np.linalg.lstsq(traffic.contexts[start:stop], odds, rcond=None)
        assert np.allclose(traffic.contexts[start:stop] @ fit, odds)
        after = traffic.chances[stop : stop + VISITORS_PER_DAY]
        if len(after):
            stale = 1 / (1 + np.exp(-traffic.contexts[stop : stop + VISITORS_PER_DAY] @ fit))
            assert (after.argmax(axis=1) != stale.argmax(axis=1)).mean() > 0.1


def test_a_share_is_1_for_the_oracle_and_0_for_the_average() -> None:
    traffic = open_shop(1, 2000)
    assert share(traffic, traffic.chances.argmax(axis=1)) == pytest.approx(1)
    every = [share(traffic, np.full(2000, banner)) for banner in range(len(BANNERS))]
    assert np.mean(every) == pytest.approx(0, abs=1e-12)


def test_the_fields_say_what_the_columns_of_the_world_do() -> None:
    """The odds are linear in the world's columns; so they are in the declared context's, which any seed's visitors fill."""
    visits = list(Shop(2).visits(3000))
    vectors = np.array([VISITOR.encode(visit.fields) for visit in visits])
    fit, *_ = np.linalg.lstsq(vectors, draw_visitors(2, 3000).columns(), rcond=None)
    assert np.allclose(vectors @ fit, draw_visitors(2, 3000).columns(), atol=1e-7)
    for name, levels in {"country": 5, "device": 3, "returning": 2, "basket": 15, "hour": 1000}.items():
        assert len({visit.fields[name] for visit in visits}) >= levels


def test_visits_bring_the_clicks_of_the_shop_when_they_are_known() -> None:
    traffic = open_shop(5, 3000, True)
    clicks = 0
    for t, visit in enumerate(Shop(5, late=True).visits(3000)):
        assert visit.number == t
        assert list(visit.chances.values()) == traffic.chances[t].tolist()
        for k, banner in enumerate(BANNERS):
            clicked = int(traffic.luck[t] < traffic.chances[t, k])
            clicks += clicked
            assert visit.reward(banner) == clicked
            assert visit.told(banner) == t + 1 + traffic.wait[t, clicked]
    assert clicks > 100
    assert all(visit.told("sale") == visit.number + 1 for visit in Shop(5).visits(100))
    assert list(islice(Shop(5).visits(3000), 100)) == list(Shop(5).visits(100))


def test_mistakes_are_told() -> None:
    (visit,) = Shop(1).visits(1)
    with pytest.raises(ValueError, match="unknown banner 'salt': the banners are 'sale', "):
        visit.reward("salt")
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        Shop(1).visits(0)
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        Shop(-1)
    with pytest.raises(ValueError, match="late must be true or false, got 1"):
        Shop(1, late=1)  # type: ignore[arg-type]
