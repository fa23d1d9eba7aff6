"""Runs of records folded at once come to what they come to one by one, to the last bit."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from driftbandit import AdaptiveUCB, Policy, RestartUCB, StaticUCB
from driftbandit.core.compile import COMPILED
from driftbandit.live import Ask, Service, Settings
from driftbandit.live.answers import Counts
from driftbandit.live.disk import state as fold
from driftbandit.live.disk.sqlite import SqliteJournal
from driftbandit.live.disk.state import State, recover, tail
from driftbandit.live.errors import LiveError, Mismatch
from driftbandit.live.fold import records as r
from driftbandit.live.fold.running import run
from live_service import FAST, Clock, bits, crash, opened

KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "short": {"wait": 6.0, "most_remembered": 12},
    "brief": {"wait": 4.0, "remember": 3.0, "late": "learn"},
    "default": {"wait": 5.0, "default": 0.0},
    "drawn": {"explore": 0.3},
}
POLICIES: dict[str, Policy] = {"short": StaticUCB(3)} | ({} if COMPILED else {"plain": AdaptiveUCB(3)})


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(dir=FAST) as name:
        yield Path(name)


def lived(path: Path, rounds: int) -> None:
    """Experiments by turns and one at a time, with all that can happen on named sets."""
    chance, clock = np.random.default_rng(5), Clock()
    service = Service.open(SqliteJournal(path), clock=clock)
    for k in range(rounds):
        if k % 200 == 0:
            restart(service, chance.uniform(-0.5, 0.5, (5, 3)))
        name = list(KINDS)[k // 7 % len(KINDS)] if k < rounds // 2 else str(chance.choice(list(KINDS)))
        decide(service, chance, name, k)
        for back in (chance.integers(0, 4), chance.integers(0, 40)):  # some never, some twice, some late, some for another's id
            if (k - back) % 14:
                with suppress(LiveError):
                    service.reward(name, str(k - back), 0.25 * float(back))
        if k % 61 == 60:
            service.put_set(name, "shelf", chance.uniform(-0.5, 0.5, (4, 3)), list("abcd") if k % 2 else None)
        clock.now += 0.3
        service.tick()
    service.snapshot()
    service.commits.through(service.commits.next - 1)
    crash(service)


def restart(service: Service, arms: Any) -> None:
    for name, settings in KINDS.items():
        with suppress(LiveError):
            service.delete(name)
        service.create(name, POLICIES.get(name, RestartUCB(3, period=20)), Settings(**settings))
        service.put_set(name, "shelf", arms)


def decide(service: Service, chance: np.random.Generator, name: str, k: int) -> None:
    if k % 13 == 0:
        service.decide(name, str(k), Ask(set="shelf", baseline=int(chance.integers(4))))
    elif k % 7 == 0:
        service.decide(name, str(k), Ask(set="shelf", deferred=True))
        if k % 2:
            service.shown(name, str(k))
    elif k % 29 == 0:
        service.decide(name, str(k), Ask(arms=chance.uniform(-0.5, 0.5, (3, 3))))
    else:
        service.decide(name, str(k), Ask(set="shelf"))
        service.decide(name, str(k), Ask(set="shelf"))


def test_same_as_one_by_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is looked at."""
    lived(folder / "a", 400)
    journal = SqliteJournal(folder / "a")
    records = [record for _, record in tail(journal, 0)]
    each, taken, met = State(), list[int](), list[Counts]()

    def counted(*told: Any) -> int:
        taken.append(run(*told))
        return taken[-1]

    monkeypatch.setattr(fold, "run", counted)
    for number, record in enumerate(records, 1):
        each.apply(record)
        if number % 41 == 0 or number == len(records):
            once = State()
            once.extend(records[:number])
            assert once.freeze().encode() == each.freeze().encode()
            met += [replace(experiment.counts) for experiment in each.experiments.values()]
    for of, experiment in each.experiments.items():
        assert once.experiments[of].due(1e9, 1000) == experiment.due(1e9, 1000)
    assert recover(journal, use_snapshots=False).freeze().encode() == each.freeze().encode()
    assert max(taken) > 10
    assert 0 in taken
    for what in ("late", "expired", "unshown", "explored", "agreed"):
        assert any(getattr(counts, what) for counts in met), what
    journal.close()


def test_a_run_that_differs(folder: Path) -> None:
    """The record is named, whether it is the first of a run or not."""
    lived(folder / "a", 60)
    journal = SqliteJournal(folder / "a")
    found = dict(tail(journal, 0))
    journal.close()
    plain = [n for n, record in found.items() if isinstance(record, r.Decided) and record.set and record.baseline is None]
    for wrong in plain[:: len(plain) // 6]:
        changed = [replace(record, chosen=record.chosen + 1) if n == wrong else record for n, record in found.items()]
        with pytest.raises(Mismatch, match=f"record {wrong}, "):
            State().extend(changed)
        adopted = State(adopting=True)
        adopted.extend(changed)
        assert adopted.mismatch == wrong


ASKS = {
    "set": Ask(set="shelf"),
    "deferred": Ask(set="shelf", deferred=True),
    "unknown": Ask(set="shop"),
    "baseline": Ask(set="shelf", baseline=1),
    "rows": Ask(arms=[[0.1, 0.2], [0.3, 0.2]]),
}
BATCHES: list[tuple[str, list[str]]] = [  # what is asked of the first and of the others, and the ids
    ("set set", ["a", "b", "c"]),
    ("set set", ["d", "b", "e"]),  # one is known
    ("deferred deferred", ["f", "g"]),
    ("set deferred", ["h", "i", "g"]),
    ("set set", ["j", "k", "j"]),  # twice in one batch
    ("set baseline", ["l", "k", "m"]),  # a conflict
    ("unknown unknown", ["n", "o"]),
    ("set set", ["p", "q" * 129, "\ud800", "", "r"]),
    ("rows set", ["s", "t"]),
    ("set set", ["u", "v", "w", "x", "y", "z"]),  # more than there is room for
]


def told(made: Any) -> Any:
    return (type(made), str(made)) if isinstance(made, LiveError) else made


def alone(service: Service, id: str, ask: Ask) -> Any:
    try:
        return service.decide("shop", id, ask)
    except LiveError as error:
        return error


@pytest.mark.parametrize("explore", [0.0, 0.5])
def test_decisions_at_once(folder: Path, explore: float) -> None:
    """As one by one: answers, what is refused, records, and the state to the last bit."""
    services = [opened(folder / name, Clock(), most_waiting=20, explore=explore) for name in "ab"]
    for kinds, ids in BATCHES:
        first, others = kinds.split()
        asks = [ASKS[first if k == 0 else others] for k in range(len(ids))]
        made = services[0].decide_all("shop", ids, asks)
        assert list(map(told, made)) == [told(alone(services[1], *each)) for each in zip(ids, asks, strict=True)], kinds
    assert [*services[0].commits._gathered] == [*services[1].commits._gathered]
    assert bits(services[0]) == bits(services[1])
    for service in services:
        crash(service)


def test_decisions_at_once_are_witnessed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftbandit.live.service.WITNESS_EVERY", 5)
    service = opened(folder / "a", Clock())
    for batch in range(4):
        service.decide_all("shop", [f"{batch} {k}" for k in range(3)], 3 * [ASKS["set"]])
    service.commits.through(service.commits.next - 1)
    assert sum(isinstance(record, r.Witness) for _, record in tail(service.journal, 0)) == 2
    assert recover(service.journal, use_snapshots=False).freeze().encode() == bits(service)
    crash(service)
