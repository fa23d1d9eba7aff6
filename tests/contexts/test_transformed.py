"""A fitted transformer in the place of a declared context."""

import copy
import math
import pickle
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftbandit.contexts.transformed import Transformed

HALF = 1 / math.sqrt(2)


@dataclass
class Doubled:
    """Twice what it is given; of a table, its columns in its own order."""

    outputs: list[str] = field(default_factory=lambda: ["a2", "b2"])

    def get_feature_names_out(self) -> Any:
        return np.array(self.outputs, object)

    def transform(self, table: Any) -> Any:
        return 2.0 * np.asarray(table, np.float64)


class OfTables(Doubled):
    feature_names_in_ = np.array(["a", "b"], object)

    def transform(self, table: Any) -> Any:
        assert list(table.columns) == ["a", "b"]
        return pl.DataFrame(2.0 * table.to_numpy(), schema=self.outputs)


class Sparse(Doubled):
    def transform(self, table: Any) -> Any:
        from scipy.sparse import csr_array

        return csr_array(super().transform(table))


class Broken(Doubled):
    def __init__(self, given: Any) -> None:
        super().__init__()
        self.given = given

    def transform(self, table: Any) -> Any:
        return self.given


class NotFitted:
    def transform(self, table: Any) -> Any:
        raise AttributeError("not fitted yet")

    get_feature_names_out = transform


@pytest.mark.parametrize("transformer", [Doubled(), OfTables(), Sparse()])
def test_a_row_and_a_mapping_are_transformed(transformer: Doubled) -> None:
    context = Transformed(transformer, fields=["a", "b"])
    assert (context.columns, context.dim) == (("constant", "a2", "b2"), 3)
    notes: Counter[str] = Counter()
    vector = context.encode({"b": 0.2, "a": -0.1}, notes)
    assert vector == pytest.approx([HALF, -0.2 * HALF, 0.4 * HALF])
    assert context.encode([-0.1, 0.2]).tobytes() == context.encode(np.array([-0.1, 0.2])).tobytes() == vector.tobytes()
    assert not notes
    places, values = context.encode_sparse({"a": 0, "b": 0.2})
    assert places.tolist() == [0, 2]
    assert values == pytest.approx([HALF, 0.4 * HALF])


def test_what_is_too_long_is_clipped_and_counted() -> None:
    notes: Counter[str] = Counter()
    context = Transformed(Doubled(), fields=["a", "b"])
    assert context.encode([3, -4], notes) == pytest.approx([HALF, 0.6 * HALF, -0.8 * HALF])
    assert notes == {"length clipped": 1}
    wide = Transformed(Doubled(), fields=["a", "b"], length=20)
    assert wide.encode([3, -4], notes) == pytest.approx([HALF, 0.3 * HALF, -0.4 * HALF])
    assert notes == {"length clipped": 1}
    assert wide.fingerprint != context.fingerprint


@given(st.lists(st.floats(-1e40, 1e40), min_size=2, max_size=2), st.floats(1e-3, 1e3))
def test_no_row_is_longer_than_one(row: list[float], length: float) -> None:
    vector = Transformed(Doubled(), length=length).encode(row)
    assert np.linalg.norm(vector) <= 1.0


def test_a_table_of_ones_own_kind_can_be_asked_for() -> None:
    made = []

    def frame(columns: dict[str, list[Any]]) -> Any:
        made.append(columns)
        return pl.DataFrame(columns)

    Transformed(OfTables(), frame=frame).encode({"a": 1, "b": 2})
    assert made == [{"a": [1], "b": [2]}]


def test_it_is_a_value() -> None:
    context = Transformed(Doubled(), fields=["a", "b"], extra="ignore")
    assert context == copy.deepcopy(context) == pickle.loads(pickle.dumps(context)) == eval(repr(context))
    assert context.encode({"a": 0, "b": 0, "c": 0})[0] == pytest.approx(HALF)


@pytest.mark.parametrize(
    ("visitor", "words"),
    [
        ({"a": 1}, "b is missing, got .*: pass it"),
        ({"a": 1, "b": 2, "bb": 3}, r"'bb' is not a field \(did you mean 'b'\?\), got 3 for it: leave"),
        ([1], "2 values, one for each of the fields"),
        ("ab", "must be a mapping from name to value, or a row"),
        (5, "must be a mapping from name to value, or a row"),
        (np.ones((1, 2)), "must be a mapping from name to value, or a row"),
        ([1, "x"], r"the transformer refused \[1, 'x'\]"),
        ([1, None], "output for b2 must be a finite number, got nan"),
        ([1, math.inf], "output for b2 must be a finite number, got inf"),
        ([1, 1e60], r"the transformer's output must stay within"),
    ],
)
def test_a_wrong_visitor_is_refused(visitor: Any, words: str) -> None:
    notes: Counter[str] = Counter()
    with pytest.raises(ValueError, match=words):
        Transformed(Doubled(), fields=["a", "b"]).encode(visitor, notes)
    assert not notes


@pytest.mark.parametrize(
    ("transformer", "options", "words"),
    [
        (object(), {}, "transformer must be an object with a method transform"),
        (NotFitted(), {}, r"does not name its outputs.*fit it first"),
        (Doubled(), {"fields": "ab"}, "fields must be a list of names"),
        (Doubled(), {"fields": 3}, "fields must be a list of names"),
        (Doubled(), {"fields": ["a", "a"]}, "fields must differ, got 'a' twice"),
        (Doubled(), {"outputs": ["constant", "b"]}, "the columns must differ, got 'constant' twice"),
        (Doubled(), {"length": 0}, "length must be greater than 0"),
        (Doubled(), {"extra": "drop"}, "extra must be one of"),
        (Doubled(), {"frame": pl.DataFrame}, "fields must be given with a frame"),
    ],
)
def test_a_wrong_declaration_is_refused(transformer: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Transformed(transformer, **options)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.ones((1, 3)), r"one row of 2 column\(s\), got shape \(1, 3\)"),
        (np.ones(2), "one row of 2"),
        (None, "one row of 2"),
        (np.array([["x", "y"]]), r"must be numbers, got \['x', 'y'\]"),
    ],
)
def test_a_transformer_that_gives_something_else_is_refused(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Transformed(Broken(given)).encode([1, 2])


def test_a_mapping_needs_names() -> None:
    with pytest.raises(ValueError, match=r"name the fields with fields="):
        Transformed(Doubled()).encode({"a": 1, "b": 2})


def test_scikit_learns_own() -> None:
    reason = "scikit-learn is not installed, and only this test needs it"
    compose = pytest.importorskip("sklearn.compose", reason=reason)
    preprocessing = pytest.importorskip("sklearn.preprocessing", reason=reason)
    table = pl.DataFrame({"country": ["DE", "FR", "DE", "US"], "hour": [0.0, 6.0, 12.0, 18.0]})
    parts = [
        ("where", preprocessing.OneHotEncoder(handle_unknown="ignore"), ["country"]),
        ("when", preprocessing.StandardScaler(), ["hour"]),
    ]
    context = Transformed(compose.ColumnTransformer(parts).fit(table), length=2)
    assert context.columns == ("constant", "where__country_DE", "where__country_FR", "where__country_US", "when__hour")
    hour = (12 - 9) / math.sqrt(45)
    assert context.encode({"country": "FR", "hour": 12.0}) == pytest.approx([HALF, 0, HALF / 2, 0, hour * HALF / 2])
    assert context.encode(["IT", 9.0]) == pytest.approx([HALF, 0, 0, 0, 0])
    bare = Transformed(preprocessing.StandardScaler().fit(table.select("hour").to_numpy()))
    assert bare.columns == ("constant", "x0")
    assert bare.encode([12]) == pytest.approx([HALF, hour * HALF])
    with pytest.raises(ValueError, match="does not name its outputs"):
        Transformed(preprocessing.StandardScaler())
