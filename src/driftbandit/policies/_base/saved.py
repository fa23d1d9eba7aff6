"""The versioned file that holds a policy: arrays by name and a header, data without code; and checks of what a file claims."""

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.core.files import write_atomically
from driftbandit.policies._base.leaves import Arrays

FORMAT, VERSION = "driftbandit policy", 3  # 1 did not say whose the waiting decisions are; 1 and 2 had no checksum
HEADER, CHECKSUM = "header", "checksum"

Make = tuple[Any, tuple[int, ...]]  # the type and the shape of an array


def write(path: str | Path, header: dict[str, Any], arrays: Arrays) -> None:
    """Write the whole file or nothing."""
    write_atomically(path, lambda file: write_to(file, header, arrays))


def write_to(file: BinaryIO, header: dict[str, Any], arrays: Arrays) -> None:
    text = json.dumps({"format": FORMAT, "version": VERSION, **header})
    arrays = {HEADER: np.frombuffer(text.encode(), np.uint8), **arrays}
    arrays[CHECKSUM] = checksum(arrays)
    np.savez(file, allow_pickle=False, **arrays)


def checksum(arrays: Arrays) -> NDArray[np.uint8]:
    """SHA-256 of all arrays: names, types, shapes and bytes."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data if array.size else b"")
    return np.frombuffer(digest.digest(), np.uint8)


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Whatever goes wrong while a file is read, say in which file: damaged bytes can fail in any way."""
    try:
        yield
    except Exception as error:
        what = f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"{path} is not a saved policy, or is damaged: {what}") from error


class Claim(NamedTuple):
    """What a file says it holds under a name; the array itself is still to be read."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    columnwise: bool
    rest: Any  # the member of the archive, at its first number

    def read(self) -> NDArray[Any]:
        data = self.rest.read()
        return np.ndarray(self.shape, self.dtype, data, order="F" if self.columnwise else "C")


class Saved:
    """An open file: its header, and what it claims to hold. No claim exceeds what the file has bytes for."""

    def __init__(self, file: BinaryIO) -> None:
        self.size = file.seek(0, os.SEEK_END)
        archive = zipfile.ZipFile(file)
        members = archive.infolist()
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("it is compressed, which no saved policy is")
        if sum(member.file_size for member in members) > self.size:
            raise ValueError(f"it claims to hold more than its own {self.size:,} bytes")
        self.claims: dict[str, Claim] = {}
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in self.claims:
                raise ValueError(f"array {name!r} is defined twice")
            self.claims[name] = _claim(archive, member, name)
        self._text = self._claimed(HEADER, np.uint8).read()
        self.header = _header(self._text.tobytes())
        self.version: int = self.header["version"]

    def _claimed(self, name: str, dtype: Any, shape: tuple[int, ...] | None = None) -> Claim:
        claim = self.claims.get(name)
        if claim is None:
            raise ValueError(f"array {name!r} is missing")
        if claim.dtype != dtype or (shape is not None and claim.shape != shape):
            wanted = f"{np.dtype(dtype)}" if shape is None else f"{np.dtype(dtype)} of shape {shape}"
            raise ValueError(f"array {name!r} must be {wanted}, not {claim.dtype} of shape {claim.shape}")
        return claim

    def kept(self, dim: int) -> NDArray[Any] | None:
        """The rows of the fixed set, if there is one."""
        if "kept" not in self.claims:
            return None
        return self._claimed("kept", np.float64, (*self.claims["kept"].shape[:1], dim)).read()

    def arrays(self, make: Mapping[str, Make], read: Arrays) -> Arrays:
        """The arrays, once each is seen to have this type and shape and none is superfluous; with those read before."""
        known = {*make, *read, HEADER, *([CHECKSUM] if self.version >= 3 else [])}
        if strange := sorted(self.claims.keys() - known):
            raise ValueError(f"array {strange[0]!r} does not belong to this policy")
        claims = {name: self._claimed(name, *wanted) for name, wanted in make.items()}
        arrays = read | {name: claim.read() for name, claim in claims.items()}
        if self.version >= 3:
            told = self._claimed(CHECKSUM, np.uint8, (32,)).read()
            if not np.array_equal(told, checksum({HEADER: self._text, **arrays})):
                raise ValueError("its checksum does not match its contents, so it was changed after it was saved")
        return arrays


def _claim(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Claim:
    rest = archive.open(member)
    if np.lib.format.read_magic(rest) != (1, 0):
        raise ValueError(f"array {name!r} is in an unknown format")
    shape, columnwise, dtype = np.lib.format.read_array_header_1_0(rest)
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != member.file_size - rest.tell():
        raise ValueError(f"array {name!r} claims a shape of {shape}, which does not match its bytes")
    return Claim(shape, dtype, columnwise, rest)


def _header(text: bytes) -> dict[str, Any]:
    header = json.loads(text)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError("it has no valid header")
    for name, kind in (("version", int), ("policy", str), ("given", dict), ("rounds", int)):
        if type(header.get(name)) is not kind:
            raise ValueError(f"its header must state {name}, got {header.get(name)!r}")
    return header
