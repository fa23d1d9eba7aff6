"""Declared contexts: what a visitor becomes, that no visitor is longer than 1, plain data both ways, and what is refused."""

import copy
import json
import math
import pickle
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftbandit.contexts.context import Context
from driftbandit.contexts.fields import Category, Cyclic, Flag, Hashed, Number
from schemas import visits

pytestmark = pytest.mark.plain

VISITOR = Context(
    {
        "country": Category(["DE", "FR", "US"]),
        "device": Category(["phone", "tablet", "desktop"]),
        "hour": Cyclic(24),
        "basket": Number(0, 500, log=True),
        "returning": Flag(),
        "page": Hashed(16),
    },
    crosses=[("country", "device")],
)
ANNA = {"country": "DE", "device": "phone", "hour": 13.5, "basket": 20.0, "returning": True, "page": "home"}


@given(visits())
def test_no_visitor_is_longer_than_one(visit: tuple[Context, dict[str, Any]]) -> None:
    context, visitor = visit
    vector = context.encode(visitor)
    assert vector.shape == (context.dim,) == (len(context.columns),)
    assert vector.dtype == np.float64
    assert np.linalg.norm(vector) <= 1.0
    assert math.fsum(vector**2) <= 1.0
    assert vector[0] > 0
    places, values = context.encode_sparse(visitor)
    assert (np.diff(places) > 0).all()
    filled = np.zeros(context.dim)
    filled[places] = values
    assert filled.tobytes() == vector.tobytes()


@given(visits())
def test_the_quick_way_is_the_careful_way(visit: tuple[Context, dict[str, Any]]) -> None:
    context, visitor = visit
    quick, careful = Counter[str](), Counter[str]()
    vector = context.encode(visitor, quick)
    assert vector.tobytes() == context.encode(MappingProxyType(visitor), careful).tobytes()  # what is no dict goes carefully
    assert quick == careful


@given(visits(), st.randoms(use_true_random=False))
def test_the_order_of_a_visitors_fields_is_no_matter(visit: tuple[Context, dict[str, Any]], random: Any) -> None:
    context, visitor = visit
    names = list(visitor)
    random.shuffle(names)
    assert context.encode({name: visitor[name] for name in names}).tobytes() == context.encode(visitor).tobytes()


@given(visits())
def test_a_context_comes_back_from_plain_data(visit: tuple[Context, dict[str, Any]]) -> None:
    context, visitor = visit
    as_dict = context.to_dict()
    written = [json.dumps(as_dict), json.dumps(as_dict, sort_keys=True)]
    again = [Context.from_dict(json.loads(text)) for text in written]
    again += [Context.from_dict(tomllib.loads(toml(as_dict))), pickle.loads(pickle.dumps(context)), copy.deepcopy(context)]
    again.append(eval(repr(context)))
    for other in again:
        assert other == context
        assert hash(other) == hash(context)
        assert other.columns == context.columns
        assert other.fingerprint == context.fingerprint
        assert other.encode(visitor).tobytes() == context.encode(visitor).tobytes()


def toml(value: Any) -> str:
    """As TOML text; tables within lists are written inline."""
    if isinstance(value, Mapping):
        return "\n".join(f"{json.dumps(key)} = {inline(part)}" for key, part in value.items())
    raise AssertionError


def inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {inline(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(letter):08x}" for letter in value) + '"'
    return json.dumps(value)


def test_the_columns_are_named() -> None:
    assert VISITOR.dim == len(VISITOR.columns) == 1 + 4 + 4 + 2 + 1 + 1 + 16 + 16
    assert VISITOR.columns[:5] == ("constant", "country=DE", "country=FR", "country=US", "country=other")
    assert VISITOR.columns[9:13] == ("hour (sin)", "hour (cos)", "basket", "returning")
    assert VISITOR.columns[13:15] == ("page#0", "page#1")
    assert VISITOR.columns[29:31] == ("country=DE × device=phone", "country=DE × device=tablet")
    assert VISITOR.columns[-1] == "country=other × device=other"


def test_a_visitor_worked_by_hand() -> None:
    unit = 1 / math.sqrt(8)  # a constant, six fields, one cross
    expected = {
        "constant": 1.0,
        "country=DE": 1.0,
        "device=phone": 1.0,
        "hour (sin)": -math.sin(math.pi / 8),  # 13.5 hours are half a turn and a sixteenth
        "hour (cos)": -math.cos(math.pi / 8),
        "basket": 2 * math.log(21) / math.log(501) - 1,
        "returning": 1.0,
        "page#3": 1.0,
        "country=DE × device=phone": 1.0,
    }
    found = {name: value / unit for name, value in zip(VISITOR.columns, VISITOR.encode(ANNA), strict=True) if value}
    assert found == pytest.approx(expected, abs=2e-9)


def test_numbers_run_from_minus_one_to_one() -> None:
    context = Context({"age": Number(20, 60), "price": Number(1, 99, log=True)})
    columns = [context.encode({"age": age, "price": price})[1:] * math.sqrt(3) for age, price in [(20, 1), (30, 14), (60, 99)]]
    middle = 2 * math.log(15 / 2) / math.log(100 / 2) - 1
    assert np.array(columns) == pytest.approx(np.array([[-1, -1], [-0.5, middle], [1, 1]]), abs=1e-9)


def test_crosses_multiply_what_stands_in_their_groups() -> None:
    context = Context({"hour": Cyclic(4), "x": Number(-1, 1), "on": Flag()}, crosses=[("hour", "x"), ("x", "on", "hour")])
    assert context.columns[-4:] == ("hour (sin) × x", "hour (cos) × x", "x × on × hour (sin)", "x × on × hour (cos)")
    found = context.encode({"hour": 1.0, "x": -0.5, "on": 1}) * math.sqrt(6)
    assert found == pytest.approx([1, 1, 0, -0.5, 1, -0.5, 0, -0.5, 0], abs=2e-9)
    assert context.encode({"hour": 1.0, "x": -0.5, "on": 0})[-2:].tolist() == [0, 0]


def test_a_rounded_sine_and_cosine_stay_within_the_circle() -> None:
    for hour in np.linspace(0, 24, 10_001).tolist():
        assert math.fsum(value**2 for _, value in Cyclic(24).pairs("hour", hour, [])) <= 1.0
    assert Cyclic(24).pairs("hour", -1.5, []) == Cyclic(24).pairs("hour", 22.5, [])


def test_the_same_bits_on_every_machine() -> None:
    visitors = [
        {**ANNA, "hour": i / 7, "basket": i * 2.5, "page": f"página {i}", "country": ["DE", "IT"][i % 2]} for i in range(200)
    ]
    digest = blake2b(b"".join(VISITOR.encode(visitor).tobytes() for visitor in visitors), digest_size=8).hexdigest()
    assert (digest, VISITOR.fingerprint) == ("da407b9b886fd446", "986ec30f7937326f")
    assert VISITOR.encode({**ANNA, "page": "\ud800"}).any()  # half a pair is no text, and yet an id
    assert Hashed(1000).pairs("page", 17, []) == Hashed(1000).pairs("page", "17", []) == ((996, 1.0),)


def test_what_is_bent_is_counted() -> None:
    notes: Counter[str] = Counter()
    odd = {**ANNA, "country": "IT", "basket": 1e9}
    bent = VISITOR.encode(odd, notes)
    assert bent.tobytes() == VISITOR.encode({**odd, "country": "ES", "basket": 500}).tobytes()
    assert bent[VISITOR.columns.index("country=other")] > 0
    VISITOR.encode_sparse({**odd, "basket": -0.01}, notes=notes)
    VISITOR.encode(ANNA, notes)
    assert notes == {"country unknown": 2, "basket clipped": 2}


def test_a_missing_value_takes_the_declared_default() -> None:
    context = Context({"x": Number(0, 1, default=0.75), "c": Category(["a", "b"], default="b"), "u": Category([1], default=7)})
    notes: Counter[str] = Counter()
    assert context.encode({"x": None}, notes).tobytes() == context.encode({"x": 0.75, "c": "b", "u": 9}).tobytes()
    assert notes == {"x missing": 1, "c missing": 1, "u missing": 1}


def test_an_error_counts_nothing() -> None:
    notes: Counter[str] = Counter()
    with pytest.raises(ValueError, match="page is missing"):
        VISITOR.encode({**ANNA, "country": "IT", "page": None}, notes)
    with pytest.raises(ValueError, match="'colour'"):
        VISITOR.encode({**ANNA, "country": "IT", "colour": "red"}, notes)
    assert not notes


def test_extra_fields_can_be_ignored() -> None:
    relaxed = Context(VISITOR.fields, VISITOR.crosses, extra="ignore")
    assert relaxed.encode({**ANNA, "colour": "red"}).tobytes() == VISITOR.encode(ANNA).tobytes()
    assert relaxed != VISITOR
    assert relaxed.fingerprint != VISITOR.fingerprint
    with pytest.raises(ValueError, match="hour is missing"):
        relaxed.encode({**{name: value for name, value in ANNA.items() if name != "hour"}, "houre": 3})


def test_an_empty_context_is_a_constant() -> None:
    empty = Context({})
    assert (empty.columns, empty.dim) == (("constant",), 1)
    assert empty.encode({}).tolist() == pytest.approx([1.0])
    assert Context.from_dict(empty.to_dict()) == empty


def test_numpys_own_values_are_fine() -> None:
    numpys = {
        "country": np.str_("DE"),
        "device": np.str_("phone"),
        "hour": np.float32(13.5),
        "basket": np.int16(20),
        "returning": np.True_,
        "page": np.str_("home"),
    }
    assert VISITOR.encode(numpys).tobytes() == VISITOR.encode(ANNA).tobytes()
    assert VISITOR.encode({**ANNA, "basket": Decimal(20), "returning": np.int8(1)}).tobytes() == VISITOR.encode(ANNA).tobytes()
    weekday = Context({"day": Category(np.arange(7), default=3)})
    assert (
        weekday.encode({"day": 3.0}).tobytes() == weekday.encode({"day": np.int64(3)}).tobytes() == weekday.encode({}).tobytes()
    )
    assert json.dumps(weekday.to_dict())


def test_a_context_is_a_value() -> None:
    pairs: Any = list(VISITOR.fields.items())
    assert Context(pairs, [["country", "device"]]) == VISITOR
    assert Context(VISITOR.fields) != VISITOR
    assert Context(dict(pairs[::-1]), VISITOR.crosses) != VISITOR
    assert VISITOR.__eq__("visitor") is NotImplemented
    with pytest.raises(AttributeError):
        VISITOR.extra = "ignore"  # type: ignore[misc]
    with pytest.raises(TypeError):
        VISITOR.fields["more"] = Flag()  # type: ignore[index]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"basket": "20"}, ["basket", "a number", "'20'", "convert"]),
        ({"basket": True}, ["basket", "a number", "True"]),
        ({"basket": math.nan}, ["basket", "finite", "nan", "declare a default"]),
        ({"basket": -math.inf}, ["basket", "finite", "-inf"]),
        ({"basket": 10**5000}, ["basket", "finite", "too long to show"]),
        ({"basket": 1j}, ["basket", "a number", "1j"]),
        ({"basket": [20.0]}, ["basket", "a number", "[20.0]"]),
        ({"basket": np.array([20.0, 1.0])}, ["basket", "a number"]),
        ({"basket": np.timedelta64(3, "h")}, ["basket", "a number"]),
        ({"hour": "13:30"}, ["hour", "a number", "'13:30'"]),
        ({"hour": math.inf}, ["hour", "finite", "inf"]),
        ({"hour": np.float64("nan")}, ["hour", "finite", "nan"]),
        ({"hour": False}, ["hour", "a number", "False"]),
        ({"country": ["DE"]}, ["country", "text", "['DE']"]),
        ({"country": {"code": "DE"}}, ["country", "text", "code"]),
        ({"country": 49}, ["country", "text", "49", "'DE'"]),
        ({"country": math.nan}, ["country", "text", "nan"]),
        ({"country": True}, ["country", "text", "True"]),
        ({"returning": 2}, ["returning", "true or false", "2"]),
        ({"returning": "yes"}, ["returning", "true or false", "'yes'"]),
        ({"returning": math.nan}, ["returning", "true or false", "nan"]),
        ({"returning": []}, ["returning", "true or false", "[]"]),
        ({"page": 3.5}, ["page", "text or a whole number", "3.5"]),
        ({"page": False}, ["page", "text or a whole number", "False"]),
        ({"page": b"home"}, ["page", "text or a whole number", "b'home'"]),
        ({"page": 10**5000}, ["page", "text or a whole number"]),
        ({"page": None}, ["page is missing", "default"]),
        ({"colour": "red"}, ["'colour'", "'red'", "not a field", "extra='ignore'"]),
        ({"contry": "DE"}, ["'contry'", "did you mean 'country'?"]),
        ({3: "DE"}, ["3", "not a field"]),
    ],
)
def test_a_wrong_value_is_told_by_field(change: dict[Any, Any], words: list[str]) -> None:
    with pytest.raises(ValueError, match=r"must be|missing|not a field") as caught:
        VISITOR.encode({**ANNA, **change})
    for word in words:
        assert word in str(caught.value)


def test_a_misspelt_field_is_told_with_the_nearest_name() -> None:
    visitor = {("contry" if name == "country" else name): value for name, value in ANNA.items()}
    with pytest.raises(ValueError, match=r"'contry' is not a field.*did you mean 'country'\?\), got 'DE' for it: leave it out"):
        VISITOR.encode(visitor)
    lenient = Context({"a": Flag(default=False)})
    with pytest.raises(ValueError, match="'b' is not a field"):  # as many fields as declared, and yet
        lenient.encode({"b": True})


@pytest.mark.parametrize("visitor", [None, 3, "DE", ["DE"], [("country", "DE")], object()])
def test_a_visitor_must_be_a_mapping(visitor: Any) -> None:
    with pytest.raises(ValueError, match="must be a mapping from name to value"):
        VISITOR.encode(visitor)
    with pytest.raises(ValueError, match="must be a mapping from name to value"):
        VISITOR.encode_sparse(visitor)


def test_an_undeclared_level_is_refused_where_there_is_no_other() -> None:
    strict = Context({"device": Category(["phone", "desktop"], other=False), "day": Category([1, 2], other=False)})
    assert strict.columns == ("constant", "device=phone", "device=desktop", "day=1", "day=2")
    with pytest.raises(ValueError, match=r"device must be one of \['phone', 'desktop'\], got 'fridge': declare"):
        strict.encode({"device": "fridge", "day": 1})
    with pytest.raises(ValueError, match="day must be a whole number, got '1'"):
        strict.encode({"device": "phone", "day": "1"})
    with pytest.raises(ValueError, match=r"day must be a whole number, got 1\.5"):
        strict.encode({"device": "phone", "day": 1.5})


ANY: Any = None
WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: Number(5, 5), "low must be less than high, got low = 5"),
    (lambda: Number("0", 1), "low must be a number"),  # type: ignore[arg-type]
    (lambda: Number(0, math.inf), "high must be finite"),
    (lambda: Number(-1, 5, log=True), "low must not be negative with log=True"),
    (lambda: Number(1e20, 1e20 + 1e5, log=True), "log=True has no effect"),
    (lambda: Number(0, 1, log=1), "log must be true or false"),  # type: ignore[arg-type]
    (lambda: Number(0, 1, default=2), "default must lie between low = 0 and high = 1, got 2"),
    (lambda: Number(0, 1, default="x"), "default must be a number"),  # type: ignore[arg-type]
    (lambda: Cyclic(0), "period must be greater than 0"),
    (lambda: Cyclic(-24), "period must be greater than 0"),
    (lambda: Cyclic(24, default=math.nan), "default must be a finite number"),
    (lambda: Category([]), "levels must be at least one"),
    (lambda: Category("DE"), "levels must be a list"),
    (lambda: Category(5), "levels must be a list"),  # type: ignore[arg-type]
    (lambda: Category(["a", "b", "a"]), "levels must differ, got 'a' twice"),
    (lambda: Category(["a", 1]), "all text or all whole numbers"),
    (lambda: Category([True]), "text or a whole number, got True"),
    (lambda: Category([["a"]]), "text or a whole number"),  # type: ignore[list-item]
    (lambda: Category([2**70]), "must be at most"),
    (lambda: Category(["\ud800"]), "valid Unicode"),
    (lambda: Category(["a", "other"]), "must not contain 'other'"),
    (lambda: Category(["a"], other=None), "other must be true or false"),  # type: ignore[arg-type]
    (lambda: Category(["a"], other=False, default="b"), r"default must be one of \['a'\], got 'b'"),
    (lambda: Category(["a"], default=3), "default must be text, got 3"),
    (lambda: Flag(default="no"), "default must be true or false"),  # type: ignore[arg-type]
    (lambda: Hashed(1), "buckets must be at least 2"),
    (lambda: Hashed(2.5), "buckets must be a whole number"),  # type: ignore[arg-type]
    (lambda: Hashed(10**9), "buckets must be at most 1,000,000"),
    (lambda: Hashed(4, default=2.5), "default must be text or a whole number"),  # type: ignore[arg-type]
    (lambda: Hashed(4, default="\ud800"), "default must be valid Unicode"),
    (lambda: Context(ANY), "fields must be a mapping"),
    (lambda: Context({"a": Flag}), "field 'a' must be a declared field"),  # type: ignore[dict-item]
    (lambda: Context({"": Flag()}), "the name of a field must be non-empty text"),
    (lambda: Context({3: Flag()}), "the name of a field must be non-empty text"),  # type: ignore[dict-item]
    (lambda: Context([("a", Flag()), ("a", Flag())]), "field 'a' is declared twice"),  # type: ignore[arg-type]
    (lambda: Context({"a": Flag()}, crosses=[("a", "b")]), "undeclared field 'b'; known: 'a'"),
    (lambda: Context({"a": Flag()}, crosses=[("a", "a")]), "two or more different fields"),
    (lambda: Context({"a": Flag()}, crosses=[("a",)]), "two or more different fields"),
    (lambda: Context({"a": Flag(), "b": Flag()}, crosses=["ab"]), "a list of lists of field names"),
    (lambda: Context({"a": Flag(), "b": Flag()}, crosses=5), "a list of lists"),  # type: ignore[arg-type]
    (lambda: Context({"a": Flag(), "b": Flag()}, [("a", "b"), ("b", "a")]), r"cross \('b', 'a'\) is declared twice"),
    (lambda: Context({"a": Flag()}, crosses=[("a", ["b"])]), r"undeclared field \['b'\]"),  # type: ignore[list-item]
    (lambda: Context({"constant": Flag()}), "two columns would be called 'constant'"),
    (lambda: Context({"a": Category(["b=c"]), "a=b": Category(["c"])}), "two columns would be called 'a=b=c'"),
    (lambda: Context({"a": Flag()}, extra="drop"), "extra must be one of 'refuse', 'ignore', got 'drop'"),
    (lambda: Context({"a": Hashed(9999), "b": Hashed(9999)}, [("a", "b")]), "at most 1,000,000 columns, got 100,000,000"),
]


@pytest.mark.parametrize(("declare", "words"), WRONG)
def test_a_wrong_declaration_is_refused(declare: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        declare()


TOML = """
version = 1
crosses = [["country", "hour"]]

[[fields]]
name = "country"
kind = "category"
levels = ["DE", "FR"]
default = "DE"

[[fields]]
name = "hour"
kind = "cyclic"
period = 24
"""


def test_a_context_is_read_from_a_file(tmp_path: Path) -> None:
    expected = Context({"country": Category(["DE", "FR"], default="DE"), "hour": Cyclic(24)}, crosses=[("country", "hour")])
    (tmp_path / "visitor.toml").write_text(TOML)
    (tmp_path / "visitor.JSON").write_text(json.dumps(expected.to_dict()))
    assert Context.from_file(tmp_path / "visitor.toml") == Context.from_file(str(tmp_path / "visitor.JSON")) == expected


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("c.yaml", "", r"ends in \.toml or \.json"),
        ("c.toml", "version =", "c.toml cannot be read as TOML"),
        ("c.json", "{", "c.json cannot be read as JSON"),
        ("c.json", "\udcff", "c.json cannot be read as JSON"),
        ("c.json", "[]", "a context as plain data must be a table"),
    ],
)
def test_a_file_that_holds_no_context_is_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=words):
        Context.from_file(tmp_path / name)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "version must be 1, the one that this release reads, got 2"),
        ({"version": "1"}, "version must be 1"),
        ({"version": True}, "version must be 1"),
        ({"version": ...}, "a context must have a key 'version'"),
        ({"fields": ...}, "a context must have a key 'fields'"),
        ({"fields": {}}, "fields must be a list of tables"),
        ({"field": []}, "a context has no key 'field'; did you mean 'fields'?"),
        ({"fields": ["a"]}, "a field as plain data must be a table"),
        ({"fields": [{"name": "a"}]}, "a field must have a key 'kind'"),
        ({"fields": [{"name": "a", "kind": "numbr"}]}, "'numbr'; did you mean 'number'?"),
        ({"fields": [{"name": "a", "kind": ["flag"]}]}, "an unknown kind"),
        ({"fields": [{"name": "a", "kind": "number", "low": 0}]}, "field 'a', a number, must have a key 'high'"),
        ({"fields": [{"name": "a", "kind": "flag", "levels": []}]}, "field 'a', a flag, has no key 'levels'"),
        ({"fields": [{"name": "a", "kind": "number", "low": 1, "high": 0}]}, "field 'a': low must be less than high"),
        ({"fields": [{"name": ["a"], "kind": "flag"}]}, "the name of a field must be non-empty text"),
        ({"fields": [{"name": "a", "kind": "flag"}] * 2}, "field 'a' is declared twice"),
        ({"crosses": [["a", "hour"]]}, "undeclared field 'a'"),
        ({"extra": []}, "extra must be one of"),
    ],
)
def test_plain_data_of_another_kind_are_refused(change: dict[str, Any], words: str) -> None:
    table = {key: value for key, value in {**VISITOR.to_dict(), "crosses": [], **change}.items() if value is not ...}
    with pytest.raises(ValueError, match=words):
        Context.from_dict(table)


def test_the_fingerprint_tells_declarations_apart() -> None:
    others = [
        Number(0, 1),
        Number(0, 2),
        Number(0, 1, log=True),
        Number(0, 1, default=0),
        Cyclic(1),
        Flag(),
        Flag(default=False),
    ]
    others += [Category([1]), Category(["1"]), Category([1], other=False), Hashed(2), Hashed(3)]
    assert len({Context({"x": field}).fingerprint for field in others}) == len(others)
    assert len(VISITOR.fingerprint) == 16
