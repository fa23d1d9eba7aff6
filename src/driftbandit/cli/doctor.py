"""``doctor``: check an installation: versions, compiler, extras, folders, and a small run with a known result."""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from driftbandit.cli.options import Commands
from driftbandit.core.extras import EXTRAS

OK, NOTE, ABSENT, BROKEN = "ok", "note", "-", "broken"
REQUIRED = ("numpy", "numba", "llvmlite", "scipy", "platformdirs", "lazy-loader")
# The result of `game`, with the compiler and without.
REGRET, THETA = 33.909019532426974, (0.47117830930319143, -0.2534449145171225, 0.6778702212929186)


class Finding(NamedTuple):
    name: str
    found: str
    word: str = OK


def add_doctor(commands: Commands) -> None:
    command = commands.add_parser(
        "doctor",
        help="check the installation on this machine",
        description="Check the installation: versions, the compiler and its cache, which optional packages are installed and "
        "the pip command for those that are not, whether folders are writable, and a small run whose result is known. It takes "
        "seconds, or about half a minute the first time, when it compiles. The exit code is 1 if something is broken; a "
        "missing optional package does not count as broken.",
    )
    command.set_defaults(run=doctor)


def doctor(chosen: argparse.Namespace) -> int:
    broken = 0
    for title, look in LOOKS.items():
        print(title)
        for finding in tried(look):
            print(f"  {finding.word:8} {finding.name:14} {finding.found}", flush=True)
            broken += finding.word == BROKEN
    things = "1 thing is" if broken == 1 else f"{broken} things are"
    print(f"{things} broken: see above" if broken else "everything is in order")
    return int(broken > 0)


def tried(look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """The findings; a check that itself fails is a finding too."""
    try:
        yield from look()
    except Exception as error:
        yield Finding("failed", f"{type(error).__name__}: {error}", BROKEN)


def versions() -> Iterator[Finding]:
    from driftbandit import __version__

    yield Finding("driftbandit", f"{__version__} in {Path(__file__).parents[1]}")
    yield Finding("Python", f"{platform.python_version()} at {sys.executable}")
    yield Finding("system", platform.platform())
    for package in REQUIRED:
        found = installed(package)
        yield Finding(package, found or "not installed: pip install driftbandit", OK if found else BROKEN)


def installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def compiler() -> Iterator[Finding]:
    from driftbandit.core.compile import COMPILED, cache_folder, usable

    on = "on" if COMPILED else "off, because of NUMBA_DISABLE_JIT: the same numbers, hundreds of times slower"
    yield Finding("compiler", on, OK if COMPILED else NOTE)
    folder = cache_folder()
    can = usable(folder)
    kept = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) if can else 0
    why = f"{kept / 1e6:,.1f} MB cached" if can else "not writable, so every process compiles anew: set NUMBA_CACHE_DIR"
    yield Finding("cache", f"{folder}: {why}", OK if can else BROKEN)


def extras() -> Iterator[Finding]:
    for extra in dict.fromkeys(EXTRAS.values()):
        found = {package: installed(package) for package, of in EXTRAS.items() if of == extra}
        missing = [package for package, number in found.items() if number is None]
        if missing:
            yield Finding(extra, f"{', '.join(missing)} not installed (optional): pip install 'driftbandit[{extra}]'", ABSENT)
        else:
            yield Finding(extra, ", ".join(f"{package} {number}" for package, number in found.items()))


def folders() -> Iterator[Finding]:
    yield writable("temporary", Path(tempfile.gettempdir()), BROKEN)
    yield writable("current", Path.cwd(), NOTE)  # does not matter with --out


def writable(name: str, folder: Path, otherwise: str) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return Finding(name, str(folder))
    except OSError as error:
        return Finding(name, f"{folder} is not writable ({error.strerror}): choose another, such as --out FOLDER", otherwise)


def self_test() -> Iterator[Finding]:
    began = time.perf_counter()
    regret, theta = game()
    right = abs(regret - REGRET) <= 1e-9 * REGRET and all(abs(a - b) <= 1e-9 for a, b in zip(theta, THETA, strict=True))
    took = f"{time.perf_counter() - began:.1f} s on {os.cpu_count()} processors"
    if right:
        yield Finding("known run", f"gave the expected result, in {took}")
    else:
        yield Finding("known run", f"gave regret {regret!r}, not {REGRET!r}, and θ̂ {theta!r}, not {THETA!r}", BROKEN)


def game() -> tuple[float, tuple[float, ...]]:
    """RestartUCB in a small world: the regret of the compiled loop, then the estimate from select and update."""
    from driftbandit import Gaussian, RestartUCB, Switching, UnitArms, World, play

    policy = RestartUCB(3, period=100, noise=0.1)
    world = World(Switching(3, every=150), Gaussian(0.1), 600, UnitArms(5), seed=1)
    regret = float(play(policy, world, threads=1).regret[0, 0, -1])
    for now in next(iter(world.deal(0, 60))).theta:
        decision = policy.select([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        policy.update(decision, float(decision.arm @ now))
    return regret, tuple(policy.estimate().theta.tolist())


LOOKS = {"versions": versions, "compiler": compiler, "extras": extras, "folders": folders, "self-test": self_test}
