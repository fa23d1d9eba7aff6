"""Saved files, honest and not: what is damaged or made up is refused by name, before room is made for it."""

import functools
import json
import os
import signal
import subprocess
import sys
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
    AdaptiveUCB,
    BanditOverBandit,
    DetectionAugmentedUCB,
    FixedArms,
    Master,
    Policy,
    RestartUCB,
    StaticUCB,
    WindowUCB,
)
from driftbandit.core.files import write_atomically
from driftbandit.policies._base import saved
from driftbandit.policies._base.leaves import Arrays

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
    np.savez(path, **whole, checksum=saved.checksum(whole))


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
    arms = policy._kept or ARMS
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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            policy = Policy.load(path)
    except ValueError as error:
        assert str(path) in str(error)
        return str(error)
    assert still_plays(policy)
    return ""


@functools.cache
def saved_once(kind: str) -> bytes:
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"driftbandit-test-{os.getpid()}.npz"
    try:
        played(kind, rounds(300, 40)).save(path)
        return path.read_bytes()
    finally:
        path.unlink(missing_ok=True)
