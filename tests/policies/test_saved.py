"""Saved files, honest and not: what is damaged or made up is refused by name, before room is made for it."""

import functools
import json
import signal
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common import FIXED_KINDS, KINDS, every_policy, rounds, unit_rows
from driftbandit import (
    FixedArms,
    Policy,
    RestartUCB,
    StaticUCB,
    WindowUCB,
)
from driftbandit.core.files import write_atomically
from driftbandit.core.ridge import new_ridge
from driftbandit.policies._base import saved
from driftbandit.policies._base.leaves import Arrays
from driftbandit.policies._base.sound import check_ridge

pytestmark = pytest.mark.plain

ARMS = unit_rows(np.random.default_rng(1), 5, 3)


def contents(path: Path) -> tuple[dict[str, Any], Arrays]:
    with np.load(path) as file:
        arrays = dict(file)
    del arrays["checksum"]
    return json.loads(arrays.pop("header").tobytes()), arrays


def forge(path: Path, header: Any, arrays: Arrays) -> None:
    """A file with whatever is wanted in it, and a checksum that fits."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    whole = {"header": np.frombuffer(text, np.uint8), **arrays}
    np.savez(path, allow_pickle=False, **whole, checksum=saved.checksum(whole))


def played(kind: str, total: int) -> Policy:
    """One that has fixed arms every other kind, and some rewards that are late or missing."""
    policy, rng = every_policy(3, scale=rounds(100, 12), fixed=True)[kind], np.random.default_rng(2)
    fixed = FixedArms(ARMS) if FIXED_KINDS.index(kind) % 2 or kind not in KINDS else None
    waiting = []
    for t in range(total):
        waiting.append(policy.select(unit_rows(rng, 4, 3) if fixed is None else fixed))
        while len(waiting) > t % 5:
            decision = waiting.pop(int(rng.integers(len(waiting))))
            policy.update(decision, float(decision.arm[0] * (1 if t < total // 2 else -1) + 0.1 * rng.standard_normal()))
    return policy


def still_plays(policy: Policy) -> bool:
    """Whether it takes the rewards it waits for, decides and learns, and keeps finite estimates."""
    arms = policy._kept or (FixedArms(ARMS) if policy.fixed_only else ARMS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for decision in list(policy._waiting.values()):
            policy.update(decision, 0.5)
        for _ in range(8):
            decision = policy.select(arms)
            policy.update(decision, float(decision.arm[0]))
        estimate = policy.estimate()
    return bool(np.isfinite(estimate.theta).all() and np.isfinite(estimate.metric).all() and np.isfinite(estimate.radius))


def refused_or_plays(path: Path) -> str:
    """Why a file is refused; nothing if it is not, and then the policy in it plays."""
    why = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            policy = Policy.load(path)
    except ValueError as error:
        why = str(error)
    else:
        assert still_plays(policy)
    assert not why or str(path) in why
    return why


@functools.cache
def saved_once(kind: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.npz"
        played(kind, rounds(300, 40)).save(path)
        return path.read_bytes()


# --- what is honest ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FIXED_KINDS)
@pytest.mark.parametrize("total", [0, 1, 2, rounds(300, 40)])
def test_what_is_saved_loads(kind: str, total: int, tmp_path: Path) -> None:
    policy = played(kind, total)
    policy.save(tmp_path / "p.npz")
    loaded = Policy.load(tmp_path / "p.npz")
    assert loaded == policy
    assert still_plays(loaded)


@pytest.mark.parametrize("kind", FIXED_KINDS)
@pytest.mark.parametrize("size", [1.0, 1e9, 1e49, 1e-49])
def test_rewards_that_cancel_load_too(kind: str, size: float, tmp_path: Path) -> None:
    """b is 0 to the last bit then, and θ̂ is what rounding has left: nothing that could be compared."""
    policy = every_policy(3, scale=rounds(100, 12), fixed=True)[kind]
    arms = FixedArms(np.eye(3))
    for t in range(24):
        policy.update(policy.select(arms), size * (-1) ** t)
        policy.save(tmp_path / "p.npz")
        assert Policy.load(tmp_path / "p.npz") == policy


@pytest.mark.filterwarnings("ignore:arm_norm")
@pytest.mark.parametrize("make", [StaticUCB, functools.partial(WindowUCB, window=7)])
@pytest.mark.parametrize("ridge", [1e-12, 1e-8])
def test_an_ill_conditioned_estimate_loads_too(make: Any, ridge: float, tmp_path: Path) -> None:
    policy, rng = make(3, ridge=ridge), np.random.default_rng(4)
    for _ in range(40):
        decision = policy.select((np.ones((4, 3)) + 1e-5 * rng.standard_normal((4, 3))) / 2)
        policy.update(decision, float(rng.standard_cauchy()))
        policy.save(tmp_path / "p.npz")
        assert Policy.load(tmp_path / "p.npz") == policy


def test_a_decision_that_was_broken_off_does_no_harm(tmp_path: Path) -> None:
    for kind in FIXED_KINDS:
        policy = played(kind, 30)
        policy.select(policy._kept or ARMS)
        policy.rounds -= 1  # an interrupt between the decision and its being counted
        del policy._waiting[policy.rounds]
        policy.save(tmp_path / "p.npz")
        assert Policy.load(tmp_path / "p.npz") == policy


@pytest.mark.parametrize("version", [1, 2])
def test_older_versions_load_without_a_checksum(version: int, tmp_path: Path) -> None:
    path, policy = tmp_path / "p.npz", played("window", 30)
    policy.save(path)
    header, arrays = contents(path)
    del header["cancelled"]
    if version == 1:
        del arrays["waiting.origin"]
    np.savez(
        path, allow_pickle=False, header=np.frombuffer(json.dumps(header | {"version": version}).encode(), np.uint8), **arrays
    )
    assert Policy.load(path) == policy


def test_a_fresh_process_finds_every_policy_of_ours_by_name(tmp_path: Path) -> None:
    WindowUCB(2, window=5).save(tmp_path / "p.npz")
    code = "import sys; from driftbandit import Policy; print(type(Policy.load(sys.argv[1])).__name__)"
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "p.npz"], capture_output=True, text=True, check=True)
    assert done.stdout == "WindowUCB\n"


def test_a_users_class_has_to_be_imported_first(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    StaticUCB(2).save(path)
    header, arrays = contents(path)
    forge(path, header | {"policy": "TheirsUCB"}, arrays)
    with pytest.raises(ValueError, match="holds a TheirsUCB, which this library does not define: import the module"):
        Policy.load(path)


# --- what is not ---------------------------------------------------------------------------------------------------


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    RestartUCB(2, period=10).save(path)
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        starts = [whole.index(archive.read(member)) for member in archive.infolist() if member.file_size > 200]
    for place in starts:
        path.write_bytes(whole[: place + 150] + bytes([whole[place + 150] ^ 1]) + whole[place + 151 :])
        with pytest.raises(ValueError, match=r"p\.npz is not a saved policy, or is damaged"):
            Policy.load(path)


def test_a_change_that_means_nothing_is_told_by_the_checksum(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    played("window", 30).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays["rewards"][0] += 1e-9
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=r"p\.npz is .* damaged: its checksum does not match its contents"):
        Policy.load(path)


HEADERS: dict[str, tuple[dict[str, Any] | bytes, str]] = {
    "rounds below 0": ({"rounds": -5}, "rounds must be at least 0, got -5"),
    "rounds that are no whole number": ({"rounds": 1e300}, r"its header must state rounds, got 1e\+300"),
    "too many rounds": ({"rounds": 10**30}, "rounds must be at most"),
    "rounds that the state has not seen": ({"rounds": 10**6}, "the last decided round must lie between"),
    "rounds as text": ({"rounds": "7"}, "its header must state rounds, got '7'"),
    "no version": ({"version": None}, "its header must state version, got None"),
    "a strange version": ({"version": "2"}, "its header must state version"),
    "no policy": ({"policy": ["WindowUCB"]}, "its header must state policy"),
    "an abstract policy": ({"policy": "Policy"}, "abstract"),
    "no parameters": ({"given": None}, "its header must state given"),
    "an unknown parameter": ({"given": {"dim": 3, "window": 12, "colour": 1}}, "colour"),
    "another format": ({"format": "bread"}, "it has no valid header"),
    "a list": (b"[1, 2]", "it has no valid header"),
    "no JSON": (b"\xff{", "is not a saved policy, or is damaged"),
    "a deep header": (b"[" * 10**5 + b"]" * 10**5, "RecursionError"),
    "a long number": (b'{"format": ' + b"9" * 10**4 + b"}", "is not a saved policy, or is damaged"),
    "more features than the file has bytes": ({"given": {"dim": 10**6, "window": 12}}, "dim must fit into what the file holds"),
    "far more features": ({"given": {"dim": 10**18, "window": 12}}, "dim must fit into what the file holds"),
    "other features": ({"given": {"dim": 2, "window": 12}}, "must be float64 of shape"),
    "a window of more rows than the file has bytes": (
        {"given": {"dim": 3, "window": 10**9}},
        "window must fit into what the file holds",
    ),
    "a tuned one": ({"given": {"dim": 3, "horizon": 10**18, "path_length": 1e-9}}, "window must fit into what the file holds"),
    "another window": ({"given": {"dim": 3, "window": 13}}, "must be int64 of shape"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_made_up_header_is_refused(case: str, tmp_path: Path) -> None:
    change, message = HEADERS[case]
    path = tmp_path / "p.npz"
    path.write_bytes(saved_once("window"))
    header, arrays = contents(path)
    forge(path, change if isinstance(change, bytes) else header | change, arrays)
    with pytest.raises(ValueError, match=message) as caught:
        Policy.load(path)
    assert str(path) in str(caught.value)


def claiming(shape: tuple[int, ...], data: bytes) -> bytes:
    """A member of a file that claims another shape than it has."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + data


def rezip(path: Path, change: Callable[[str, bytes], Iterator[tuple[str, bytes]]], method: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", method) as archive:
        warnings.simplefilter("ignore")  # of names that stand twice
        for name, data in members.items():
            for written in change(name, data):
                archive.writestr(*written)


def test_claims_are_held_against_the_file_before_room_is_made_for_them(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"

    def check(message: str, change: Callable[[str, bytes], Iterator[tuple[str, bytes]]], method: int = 0) -> None:
        path.write_bytes(saved_once("window"))
        rezip(path, change, method)
        with pytest.raises(ValueError, match=message) as caught:
            Policy.load(path)
        assert str(path) in str(caught.value)

    def only(victim: str, *written: tuple[str, bytes]) -> Callable[[str, bytes], Iterator[tuple[str, bytes]]]:
        return lambda name, data: iter(written if name == f"{victim}.npy" else [(name, data)])

    check("'rewards' claims a shape of", only("rewards", ("rewards.npy", claiming((10**15,), b"12345678"))))
    check("'rewards' claims a shape of", only("rewards", ("rewards.npy", claiming((-1, -1), b"12345678"))))
    check("'rewards' must be float64 of shape", only("rewards", ("rewards.npy", claiming((10**5,), bytes(8 * 10**5)))))
    check("'rewards' is missing", only("rewards"))
    check("'extra' does not belong to this policy", only("rewards", ("extra.npy", claiming((1,), bytes(8)))))
    check("'kept' must be float64 of shape", only("kept", ("kept.npy", claiming((1, 1), bytes(8)))))
    check("is defined twice", lambda name, data: iter([(name, data)] * 2))
    check("is compressed", only(""), zipfile.ZIP_DEFLATED)
    check("'rewards' is in an unknown format", only("rewards", ("rewards.npy", b"\x93NUMPY\x03\x00" + bytes(100))))
    check("magic string", only("rewards", ("rewards.npy", b"nothing")))


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    path.write_bytes(saved_once("window"))
    with zipfile.ZipFile(path, "a") as archive:
        largest = max(archive.infolist(), key=lambda member: member.file_size)
        for k in range(20):
            twin = zipfile.ZipInfo(f"twin{k}.npy")
            for name in ("header_offset", "CRC", "compress_size", "file_size", "flag_bits"):
                setattr(twin, name, getattr(largest, name))
            archive.filelist.append(twin)
        archive._didModify = True  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"p\.npz is .* damaged"):
        Policy.load(path)


def changed(array: np.ndarray[Any, Any], *place: Any, to: Any) -> np.ndarray[Any, Any]:
    array = array.copy()
    array[place] = to
    return array


STATES: list[tuple[str, str, Callable[[Any], Any], str]] = [
    ("window", "clock", lambda a: changed(a, 2, to=10**7), "the window must be"),
    ("window", "clock", lambda a: changed(a, 1, to=0), "the last decided round must lie between"),
    ("window", "rounds", lambda a: np.roll(a, 1), "not in their places"),
    ("window", "arms", lambda a: a * 0.5, "V does not match the arms in the window"),
    ("window", "ridge.tally", lambda a: changed(a, 0, to=2), "as many rewards as are counted"),
    ("static", "ridge.tally", lambda a: changed(a, 0, to=-1), "the count of observations must lie between 0"),
    ("static", "ridge.matrix", lambda a: a * np.nan, "array 'ridge.matrix' is not finite"),
    ("static", "ridge.matrix", lambda a: changed(a, 0, 0, 1, to=9.0), "V is not symmetric"),
    ("static", "ridge.matrix", lambda a: changed(a, 0, 0, 0, to=-1.0), "V is not positive definite"),
    ("static", "ridge.matrix", lambda a: a * [[[1.001]], [[1.0]]], "METRIC is not the inverse of V"),
    ("static", "ridge.matrix", lambda a: a * [[[1.0]], [[1.001]]], "METRIC is not the inverse of V"),
    ("static", "ridge.vector", lambda a: changed(a, 1, to=7.0), "θ̂ does not match V and b"),
    ("static", "ridge.vector", lambda a: changed(a, 0, to=7.0), "θ̂ does not match V and b"),
    ("static", "ridge.score", lambda a: changed(a, 0, 0, to=7.0), "the arms' means do not match θ̂"),
    ("static", "ridge.score", lambda a: changed(a, 1, 0, to=7.0), "the arms' widths do not match METRIC"),
    ("static", "ridge.columns", lambda a: a * 0.9, "'ridge.columns' does not hold the fixed arms"),
    ("restart", "clock", lambda a: changed(a, 0, to=a[0] + 1), "the next epoch begins in round"),
    ("restart", "clock", lambda a: changed(a, 2, to=1), "the period must be"),
    ("oracle", "clock", lambda a: changed(a, 3, to=1), "the change points are not those given"),
    ("weight", "ridge.matrix", lambda a: changed(a, 0, 0, 0, to=-1.0), "V is not positive semidefinite"),
    ("weight", "matrix", lambda a: changed(a, 0, 0, 1, to=9.0), "Ṽ is not symmetric"),
    ("weight", "mass", lambda a: -a, "the count of observations must lie between 0"),
    ("light-weight", "ridge.matrix", lambda a: changed(a, 0, to=np.eye(3) * 1e9), "the trace of V must lie between"),
    ("cusum", "sums", lambda a: a + 99.0, "the sums of residuals must lie between"),
    ("bob", "clock", lambda a: changed(a, 1, to=99), "the choice from the pool must lie between"),
    ("bob", "meta.chance", lambda a: np.roll(a, 1) * 0.7, "the probabilities do not match the weights"),
    ("bob", "pool", lambda a: a + 1, "the pool must be"),
    ("master", "clock", lambda a: changed(a, 1, to=40), "the order of this block must lie between"),
    ("master", "earned", lambda a: a - 99.0, "the count of rewards of order 0"),
    ("augmented", "seen", lambda a: changed(a, 0, to=10**6), "the counts of forced visits must lie between"),
    ("augmented", "cover", lambda a: a[::-1], "the covering arms are not those"),
    ("adaptive", "bank.clock", lambda a: changed(a, 1, to=99), "the numbers of estimators must lie between"),
    ("adaptive", "bank.keep", lambda a: a * 0.5, "the bank's memories do not match the parameters"),
    ("adaptive", "bank.matrix", lambda a: a * [[[[1.01]], [[1.0]]]], "METRIC is not the inverse of V"),
    ("adaptive-intercept", "bank.scale", lambda a: changed(a, 8, to=0.5), "the last arms have another constant than the bank"),
    ("adaptive", "bank.scale", lambda a: changed(a, 5, to=1e45), "λ in units of an arm's length² must lie between"),
    ("adaptive", "bank.evidence", lambda a: a - 1.0, "the evidence must lie between"),
    ("adaptive", "bank.scale", lambda a: changed(a, 0, to=0.0), "the noise must lie between"),
    ("adaptive", "archive.scale", lambda a: changed(a, 0, to=-0.5), "trust must lie between"),
    ("adaptive", "archive.ridge.score", lambda a: changed(a, 0, 0, to=7.0), "the archive: the arms' means do not match θ̂"),
    ("adaptive", "lateness.clock", lambda a: changed(a, 3, to=7), "whether rewards are held must lie between"),
    ("adaptive", "diary.clock", lambda a: changed(a, 0, to=512), "the count of notes must lie between"),
    ("adaptive", "diary.clock", lambda a: changed(a, 1, to=3), "rewards per note must be a power of 2"),
    ("window", "waiting.round", lambda a: a[::-1], "the rounds that wait are not in order"),
    ("window", "waiting.round", lambda a: a * 0 + 20, "the rounds that wait are not in order"),
    ("window", "waiting.round", lambda a: a + 10**6, "the rounds that wait must lie between 0"),
    ("window", "waiting.arm", lambda a: a * 3.0, "the squared lengths of the arms that wait must lie between"),
    ("window", "waiting.arm", lambda a: a[:, :2], "'waiting.arm' must be float64 of shape"),
    ("window", "waiting.index", lambda a: a[:1], "'waiting.index' must be int64 of shape"),
]


@pytest.mark.parametrize(("kind", "name", "change", "message"), STATES)
def test_a_state_that_cannot_be_is_refused(
    kind: str, name: str, change: Callable[[Any], Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "p.npz"
    path.write_bytes(saved_once(kind))
    header, arrays = contents(path)
    forge(path, header, arrays | {name: change(arrays[name]).astype(arrays[name].dtype)})
    assert message in refused_or_plays(path)


def test_v_is_neither_less_than_its_regulariser_nor_more_than_its_observations() -> None:
    for factor, message in ((0.5, "V is less than its λI"), (2.0, "V is more than its observations allow")):
        ridge = new_ridge(3, 1.0)
        check_ridge("ridge", ridge, 0, 1.0)
        ridge.matrix[:] *= np.array([factor, 1.0 / factor])[:, None, None]
        with pytest.raises(ValueError, match=message):
            check_ridge("ridge", ridge, 0, 1.0)


FLOATS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e160, 1e100, 1e51, -1.0, 0.0, 1.0, 1e-310]
WHOLES = [-(2**63), 2**63 - 1, 2**62, 2**31, 10**6, -1, 0, 1]


@pytest.mark.parametrize("kind", FIXED_KINDS)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_whatever_number_is_changed_it_is_refused_or_the_policy_plays(
    kind: str, data: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("saved") / "p.npz"
    path.write_bytes(saved_once(kind))
    header, arrays = contents(path)
    name = data.draw(st.sampled_from([name for name, array in arrays.items() if array.size]))
    array = arrays[name].copy()
    place = data.draw(st.integers(0, array.size - 1))
    whole, old = array.dtype.kind == "i", array.flat[place].item()
    near = [new for new in (old + 1, old - 1, -old) if not whole or abs(new) < 2**63]
    array.flat[place] = data.draw(st.sampled_from([*(WHOLES if whole else FLOATS), *near]))
    forge(path, header, arrays | {name: array})
    refused_or_plays(path)


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
ANYTHING = PLAIN | st.lists(PLAIN, max_size=3) | st.dictionaries(st.text(max_size=4), PLAIN, max_size=3)


@pytest.mark.parametrize("kind", FIXED_KINDS)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=st.data())
def test_whatever_a_header_says_it_is_refused_or_the_policy_plays(
    kind: str, data: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("saved") / "p.npz"
    path.write_bytes(saved_once(kind))
    header, arrays = contents(path)
    name = data.draw(st.sampled_from([*header, *(f"given.{name}" for name in header["given"])]))
    table = header["given"] if name.startswith("given.") else header
    table[name.removeprefix("given.")] = data.draw(ANYTHING)
    forge(path, header, arrays)
    refused_or_plays(path)


# --- writing -------------------------------------------------------------------------------------------------------

KILLED = """
import sys
from driftbandit.core.files import write_atomically
def write(file):
    file.write(b"half")
    print("writing", flush=True)
    sys.stdin.readline()
write_atomically(sys.argv[1], write)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no lock to tell the dead from the living")
def test_what_a_killed_writer_leaves_is_cleared_away_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    path, bystander = tmp_path / "p.npz", tmp_path / ".q.npz.0123456789ab.part"
    bystander.write_text("of another path")
    command = [sys.executable, "-c", KILLED, str(path)]
    writers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for writer in writers:
        assert cast(Any, writer.stdout).readline() == "writing\n"
    writers[0].send_signal(signal.SIGKILL)
    writers[0].wait()
    assert len(list(tmp_path.iterdir())) == 3
    RestartUCB(2, period=5).save(path)
    assert len(list(tmp_path.glob(".p.npz.*.part"))) == 1
    assert Policy.load(path) == RestartUCB(2, period=5)
    writers[1].communicate("go on\n")
    assert path.read_bytes() == b"half"
    assert sorted(tmp_path.iterdir()) == [bystander, path]
    for writer in writers:
        cast(Any, writer.stdout).close()
        cast(Any, writer.stdin).close()


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "[p].npz"
    write_atomically(path, lambda file: file.write(b"old"))

    def fail(file: Any) -> None:
        file.write(b"half")
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    (tmp_path / ".[p].npz.0123456789ab.part").write_text("left by one that was killed")
    write_atomically(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path] or sys.platform == "win32"
