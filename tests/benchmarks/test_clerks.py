"""Choosers beside peers: the same visitors for all, each learns, and nobody is dropped in silence."""

from pathlib import Path

import chooser
import pytest
from clerks import OURS, PEERS, find, serve
from counters import COUNTERS, reward_of, visitors


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["StaticUCB, disjoint", "StaticUCB, hybrid", *(name for name in PEERS if "River" in name)])
def test_a_clerk_learns_who_likes_what(name: str) -> None:
    counter = COUNTERS["6 × 20"]
    clerk = find(name)[1](counter)
    for visitor in visitors(counter, 300):
        clerk.update(reward_of(clerk.select(visitor), visitor))
    got = 0.0
    for visitor in visitors(counter, 300):
        reward = reward_of(clerk.select(visitor), visitor)
        clerk.update(reward)
        got += reward
    assert got > 100  # by chance 50
    assert serve(clerk, visitors(counter, 3)) >= 0


def test_ratios_are_taken_against_the_fastest_peer_of_the_run() -> None:
    first, second = COUNTERS
    rows = [
        chooser.Row("RestartUCB, disjoint", {first: 10.0, second: 200.0}),
        chooser.Row("AdaptiveUCB, hybrid", {first: 50.0}, {second: "not tried: 5,050 columns"}),
        chooser.Row("VowpalWabbit squarecb, text", {first: 60.0, second: 900.0}),
        chooser.Row("VowpalWabbit squarecb, examples", {first: 50.0, second: 1000.0}),
        chooser.Row("River LinearRegression per action, epsilon", {first: 8.0}),
    ]
    lines = chooser.ratios(rows, list(COUNTERS))
    assert "RestartUCB, disjoint 5.0× as fast as the fastest peer (VowpalWabbit squarecb, examples)" in lines[0]
    assert "the aim of 5× is met; of 15 µs, met" in lines[0]
    assert "the aim of 5× is missed; of 40 µs, missed" in lines[1]
    assert "regression, takes 8.0 µs" in lines[2]
    assert "RestartUCB, disjoint 4.5× as fast as the fastest peer (VowpalWabbit squarecb, text)" in lines[3]
    assert len(lines) == 4
    assert "| AdaptiveUCB, hybrid | 50.0 | not tried: 5,050 columns |" in chooser.page([], [first]) + "\n".join(
        f"| {row.name} | {' | '.join(chooser.cell(row, place) for place in COUNTERS)} |" for row in rows
    )


def test_who_is_not_installed_or_too_large_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(PEERS, "Absent", ("no-such-package", next(iter(OURS.values()))))
    out = tmp_path / "chooser.md"
    chooser.main(["--only", "StaticUCB, hybrid", "Absent", "--most-columns", "100", "--out", str(out)])
    text = out.read_text()
    assert "| StaticUCB, hybrid | not tried: 140 columns | not tried: 5,050 columns |" in text
    assert "| Absent | not installed | not installed |" in text
    assert "Nothing to compare" in text
