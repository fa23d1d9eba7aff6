"""A policy's state as data: its arrays by name, and the versioned file that holds them (no code, no pickle)."""

import json
import os
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT, VERSION = "driftbandit policy", 2  # 1 did not say whose the waiting decisions are

Arrays = dict[str, NDArray[Any]]


def leaves(state: Any) -> Arrays:
    """The arrays in a state of nested named tuples, by dotted name; one that stands twice is named once."""
    seen: set[int] = set()

    def walk(node: Any, prefix: str) -> Iterator[tuple[str, NDArray[Any]]]:
        for name, value in zip(node._fields, node, strict=True):
            if isinstance(value, tuple):
                yield from walk(value, f"{prefix}{name}.")
            elif isinstance(value, np.ndarray) and id(value) not in seen:
                seen.add(id(value))
                yield prefix + name, value

    return dict(walk(state, ""))


def restore(state: Any, arrays: Arrays) -> None:
    """Copy saved arrays into a state of the same make."""
    for name, array in leaves(state).items():
        saved = arrays.get(name)
        if saved is None or saved.shape != array.shape or saved.dtype != array.dtype:
            raise ValueError(f"array {name!r} is missing or of another shape")
        if not np.isfinite(saved).all():
            raise ValueError(f"array {name!r} is not finite")
        array[...] = saved


def write(path: str | Path, header: dict[str, Any], arrays: Arrays) -> None:
    """Write whole or not at all: to a file beside it, then moved into place."""
    path = Path(path)
    text = json.dumps({"format": FORMAT, "version": VERSION, **header})
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        with open(temporary, "wb") as file:
            np.savez(file, allow_pickle=False, header=np.frombuffer(text.encode(), np.uint8), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: str | Path) -> tuple[dict[str, Any], Arrays]:
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as whole:
            arrays = {name: whole[name] for name in whole.files}
        header = json.loads(arrays.pop("header").tobytes())
        known = header["format"] == FORMAT
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise ValueError(f"{path} is not a saved policy, or is damaged ({error})") from None
    if not known:
        raise ValueError(f"{path} is not a saved policy")
    if header["version"] not in range(1, VERSION + 1):
        raise ValueError(f"{path} has version {header['version']}; this release reads versions 1 to {VERSION}")
    return header, arrays
