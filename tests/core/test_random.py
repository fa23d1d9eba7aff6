"""What a seed means never changes."""

import numpy as np
import pytest

from driftbandit.core.random import generator, luck, page_sizes, pages_of, regroup


def test_a_page_is_4096_rounds() -> None:
    assert list(page_sizes(10_000)) == [4096, 4096, 1808]
    assert [len(page) for page in pages_of("delays", np.arange(9_000), 8_192)] == [4096, 4096]
    with pytest.raises(ValueError, match="delays must have an entry for each of 10 rounds, got 9"):
        pages_of("delays", np.arange(9), 10)


def test_an_address_is_a_spawn_key() -> None:
    for seed, entropy, key in ((5, 5, (0, 2, 1)), ((5, 7), 5, (7, 0, 2, 1))):
        expected = np.random.Philox(np.random.SeedSequence(entropy, spawn_key=key))
        np.testing.assert_array_equal(generator(seed, 0, 2, 1).random(4), np.random.Generator(expected).random(4))


def test_luck_is_the_same_however_cut() -> None:
    whole = luck(3, 0, 20)
    assert whole.shape == (20, 4)
    np.testing.assert_array_equal(luck(3, 13, 7), whole[13:])


def test_rows_keep_their_order_in_blocks_of_any_size() -> None:
    for block in (1, 3, 4, 10, 25):
        cut = list(regroup(iter(np.split(np.arange(20), [7, 8])), block))
        assert [len(rows) for rows in cut[:-1]] == [block] * (len(cut) - 1)
        assert np.concatenate(cut).tolist() == list(range(20))
