"""The checks' limits belong to what is allowed."""

import pytest

from driftbandit.core import validate


def test_a_whole_number_reaches_its_limits() -> None:
    assert validate.whole("period", 1) == 1
    assert validate.whole("period", 2**62) == 2**62
    for number, words in ((0, "period must be at least 1, got 0"), (2**62 + 1, "period must be at most")):
        with pytest.raises(ValueError, match=words):
            validate.whole("period", number)
