"""``doctor``: whether everything is in order here: versions, compiler, extras, folders, and a game with a known end."""

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

OK, NOTE, MISSING, BROKEN = "ok", "note", "missing", "broken"
REQUIRED = ("numpy", "numba", "llvmlite", "scipy", "platformdirs", "lazy-loader")
# How `game` ends, with the compiler and without.
REGRET, THETA = 33.909019532426974, (0.47117830930319143, -0.2534449145171225, 0.6778702212929186)


class Finding(NamedTuple):
    name: str
    found: str
    word: str = OK


def add_doctor(commands: Commands) -> None:
    command = commands.add_parser(
        "doctor",
        help="check that everything is in order on this machine",
        description="Check the installation: versions, the compiler and its cache, which optional packages are installed and "
        "the pip command for those that are not, whether folders can be written to, and a small game whose outcome is known. "
        "It takes seconds, the first time while it compiles perhaps half a minute. Ends with exit code 1 if something is "
        "broken; what is merely missing is not.",
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
    """What is found; a failure to look is a finding too."""
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

    on = "on" if COMPILED else "off, by NUMBA_DISABLE_JIT: the same numbers, hundreds of times slower"
    yield Finding("compiler", on, OK if COMPILED else NOTE)
    folder = cache_folder()
    can = usable(folder)
    kept = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) if can else 0
    why = f"{kept / 1e6:,.1f} MB kept" if can else "cannot be written, so every process compiles: set NUMBA_CACHE_DIR"
    yield Finding("cache", f"{folder}: {why}", OK if can else BROKEN)


def extras() -> Iterator[Finding]:
    for extra in dict.fromkeys(EXTRAS.values()):
        found = {package: installed(package) for package, of in EXTRAS.items() if of == extra}
        missing = [package for package, number in found.items() if number is None]
        if missing:
            yield Finding(extra, f"lacks {', '.join(missing)}: pip install 'driftbandit[{extra}]'", MISSING)
        else:
            yield Finding(extra, ", ".join(f"{package} {number}" for package, number in found.items()))


def folders() -> Iterator[Finding]:
    yield writable("temporary", Path(tempfile.gettempdir()), BROKEN)
    yield writable("current", Path.cwd(), NOTE)  # of no matter to those who say --out


def writable(name: str, folder: Path, otherwise: str) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return Finding(name, str(folder))
    except OSError as error:
        return Finding(name, f"{folder} cannot be written ({error.strerror}): choose another, as with --out FOLDER", otherwise)


def self_test() -> Iterator[Finding]:
    began = time.perf_counter()
    regret, theta = game()
    right = abs(regret - REGRET) <= 1e-9 * REGRET and all(abs(a - b) <= 1e-9 for a, b in zip(theta, THETA, strict=True))
    took = f"{time.perf_counter() - began:.1f} s on {os.cpu_count()} processors"
    if right:
        yield Finding("a known game", f"ended as it must, in {took}")
    else:
        yield Finding("a known game", f"ended with regret {regret!r}, not {REGRET!r}, and θ̂ {theta!r}, not {THETA!r}", BROKEN)


def game() -> tuple[float, tuple[float, ...]]:
    """RestartUCB in a small world, in the loop and then by hand: the regret of the one, the estimate of the other."""
    from driftbandit import Gaussian, RestartUCB, Switching, UnitArms, World, play

    policy = RestartUCB(3, period=100, noise=0.1)
    world = World(Switching(3, every=150), Gaussian(0.1), 600, UnitArms(5), seed=1)
    regret = float(play(policy, world, threads=1).regret[0, 0, -1])
    for now in next(iter(world.deal(0, 60))).theta:
        decision = policy.select([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        policy.update(decision, float(decision.arm @ now))
    return regret, tuple(policy.estimate().theta.tolist())


LOOKS = {"versions": versions, "compiler": compiler, "extras": extras, "folders": folders, "self-test": self_test}
