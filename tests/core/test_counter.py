"""Draws from a key and a counter: the published mixing, and numbers that look independent."""

import numpy as np

from common import rounds
from driftbandit.core.counter import key_of, normals, scramble, uniform

N = rounds(20_000, 3_000)


def test_scrambles_as_published() -> None:
    words = np.random.default_rng(0).integers(2**32, size=500, dtype=np.uint32)
    x = words ^ (words >> 16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> 15
    x *= np.uint32(0x846CA68B)
    x ^= x >> 16
    assert [scramble(int(word)) for word in words] == x.tolist()


def test_numbers_are_uniform_and_unrelated_over_counters_and_keys() -> None:
    rng = np.random.default_rng(1)
    keys = [(key_of(a), key_of(b)) for a, b in rng.random((N, 2))]
    columns = np.array([[uniform(a, b, k) for k in range(4)] for a, b in keys]).T
    along = np.array([uniform(keys[0][0], keys[0][1], k) for k in range(N)])
    near = np.array([uniform(7, k, 0) for k in range(N)])
    for u in (*columns, along, near):
        assert 0 < u.min() < u.max() < 1
        counts = np.histogram(u, 20, (0, 1))[0]
        assert ((counts - N / 20) ** 2 / (N / 20)).sum() < 50  # χ² with 19 degrees of freedom
    correlations = np.corrcoef([*columns, along, near, np.roll(along, 1), np.roll(near, 1)])
    assert abs(correlations - np.eye(8)).max() < 5 / np.sqrt(N)


def test_a_number_is_the_middle_of_its_word() -> None:
    assert scramble(0) == 0
    assert uniform(0, 0, 0) == 2**-33


def test_normals_are_normal_in_even_and_odd_numbers() -> None:
    even, odd = np.empty(N), np.empty(5)
    normals(3, 4, even)
    normals(3, 4, odd)
    np.testing.assert_array_equal(odd, even[:5])
    for power, moment, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((even**power).mean() - moment) < 5 * np.sqrt(spread / N)
