"""A declared context as plain data, both ways: a dictionary that JSON and TOML can hold.

Fields are a list, since their order is that of the columns, and not every store keeps the order of keys::

    version = 1
    crosses = [["country", "device"]]

    [[fields]]
    name = "country"
    kind = "category"
    levels = ["DE", "FR", "US"]
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING
from dataclasses import fields as parameters
from hashlib import blake2b
from pathlib import Path
from typing import Any

from driftbandit.contexts.field import Field
from driftbandit.contexts.fields import Category, Cyclic, Flag, Hashed, Number
from driftbandit.contexts.values import nearest, refusal

VERSION = 1
KINDS: dict[str, type[Field]] = {kind.kind: kind for kind in (Number, Cyclic, Category, Flag, Hashed)}
Plain = dict[str, Any]


def to_plain(fields: Mapping[str, Field], crosses: Iterable[Iterable[str]], extra: str) -> Plain:
    """Defaults are left out, so that the fingerprint stays the same when a later release adds parameters."""
    plain: Plain = {"version": VERSION, "fields": [field_to_plain(name, field) for name, field in fields.items()]}
    if crossed := [list(cross) for cross in crosses]:
        plain["crosses"] = crossed
    if extra != "refuse":
        plain["extra"] = extra
    return plain


def field_to_plain(name: str, field: Field) -> Plain:
    given = {key: list(value) if isinstance(value, tuple) else value for key, value in field.given().items()}
    return {"name": name, "kind": field.kind, **given}


def from_plain(data: Any) -> dict[str, Any]:
    """The arguments of a ``Context``, by name."""
    table = check_keys("a context", data, ["version", "fields", "crosses", "extra"], ["version", "fields"])
    if table["version"] != VERSION or isinstance(table["version"], bool):
        advice = "declare the context again, or use the release that wrote it"
        raise refusal("version", f"{VERSION}, the one that this release reads", table["version"], advice)
    if not isinstance(table["fields"], list | tuple):
        raise refusal("fields", "a list of tables", table["fields"], "give each field a table with its name and kind")
    made = [field_from_plain(field) for field in table["fields"]]
    return {"fields": made, **{key: table[key] for key in ("crosses", "extra") if key in table}}


def field_from_plain(data: Any) -> tuple[Any, Field]:
    table = dict(check_keys("a field", data, None, ["name", "kind"]))
    name, kind = table.pop("name"), table.pop("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"field {name!r} has an unknown kind, {kind!r}; {nearest(kind, KINDS)}")
    known = [part for part in parameters(KINDS[kind]) if part.init]  # type: ignore[arg-type]  # every kind is a dataclass
    required = [part.name for part in known if part.default is MISSING]
    check_keys(f"field {name!r}, a {kind},", table, [part.name for part in known], required)
    try:
        return name, KINDS[kind](**table)
    except ValueError as error:
        raise ValueError(f"field {name!r}: {error}") from None


def check_keys(what: str, table: Any, known: list[str] | None, required: Iterable[str]) -> Mapping[str, Any]:
    if not isinstance(table, Mapping):
        raise refusal(f"{what} as plain data", "a table of keys and values", table, "pass what to_dict gave")
    for key in required:
        if key not in table:
            raise ValueError(f"{what} must have a key {key!r}, got only {', '.join(map(repr, table)) or 'none'}: add it")
    for key in table if known is not None else ():
        if key not in (known or ()):
            raise ValueError(f"{what} has no key {key!r}; {nearest(key, known or ())}")
    return table


def fingerprint(plain: Any) -> str:
    """16 hexadecimal digits that tell one declaration from another."""
    return blake2b(json.dumps(plain, sort_keys=True).encode(), digest_size=8).hexdigest()


def read(path: str | Path) -> Any:
    """The plain data in a .toml or .json file."""
    ending = Path(path).suffix.lower()
    if ending not in (".toml", ".json"):
        raise refusal("path", "a file whose name ends in .toml or .json", str(path), "rename it, or use from_dict")
    try:
        written = Path(path).read_text(encoding="utf-8")
        return tomllib.loads(written) if ending == ".toml" else json.loads(written)
    except ValueError as error:  # what TOML, JSON and UTF-8 have in common
        raise ValueError(f"{path} cannot be read as {ending[1:].upper()}: {error}") from None
