"""How far a policy trusts its own forgetting: what moves trust, and what must not settle it for good."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from common import unit_rows
from driftbandit import AdaptiveUCB, FixedArms
from driftbandit.core.ridge import new_ridge
from driftbandit.policies._evidence.archive import (
    BANK_BASE,
    BASE,
    CLAIM,
    DOUBTFUL,
    INFORMATION,
    OTHER,
    OUTSTANDING,
    TRUST,
    Archive,
    chance_above,
    compare,
    drawn_trust,
    new_archive,
)

NOISE = 0.1


def tell(archive: Archive, truth: float, claims: int, n: int, claim: float = 0.2) -> int:
    """So many comparisons, half of them decided either way, where this share of a claim comes true."""
    rng = np.random.default_rng(n)
    for k in range(claims):
        sign = 0.5 if k % 2 else -0.5
        archive.outstanding[n % OUTSTANDING, [CLAIM, OTHER, BASE, BANK_BASE]] = sign * claim, 0.0, 0.0, 0.0
        archive.rounds[n % OUTSTANDING] = n + 1
        compare(archive, n, truth * sign * claim + NOISE * rng.standard_normal(), NOISE**2, n)
        n += 1
    return n


@pytest.mark.parametrize("truth", [0.0, 0.3, 1.0])
def test_trust_is_the_share_of_claims_that_comes_true(truth: float) -> None:
    archive = new_archive(new_ridge(2, 1.0))
    tell(archive, truth, 2000, 1000)
    assert archive.scale[TRUST] == pytest.approx(truth, abs=4.0 / archive.scale[INFORMATION] ** 0.5)
    assert archive.scale[INFORMATION] > 100


def test_a_spell_of_false_claims_is_made_good() -> None:
    """Until a change is noticed the policy's claims are the opposite of the truth: they must not silence it for good."""
    archive = new_archive(new_ridge(2, 1.0))
    n = tell(archive, 1.0, 100, 1000)
    n = tell(archive, -5.0, 100, n)
    assert archive.scale[TRUST] == 0.0
    tell(archive, 1.0, 600, n)
    assert archive.scale[TRUST] > 0.5


def test_what_is_known_of_trust_ages() -> None:
    """Half of it while rewards double, down to what is known before any comparison; trust itself stays as it is."""
    archive = new_archive(new_ridge(2, 1.0))
    n = tell(archive, 0.3, 100, 1000)
    trust, known = archive.scale[TRUST], archive.scale[INFORMATION]
    for later in range(n, 2 * n):
        compare(archive, later, 0.0, NOISE**2, later)
    assert archive.scale[TRUST] == trust
    assert archive.scale[INFORMATION] == pytest.approx(known / 2, rel=0.01)
    for later in range(2 * n, 40 * n):
        compare(archive, later, 0.0, NOISE**2, later)
    assert archive.scale[INFORMATION] == DOUBTFUL


@pytest.mark.parametrize("edge", [-0.5, 0.2, 0.3, 0.5, 1.5])
def test_the_chance_of_a_draw_is_as_stated(edge: float) -> None:
    archive = new_archive(new_ridge(2, 1.0))
    archive.scale[TRUST], archive.scale[INFORMATION] = 0.3, 25.0
    rng, above, draws = np.random.default_rng(1), 0, 20_000
    for luck in rng.random((draws, 4)):
        above += drawn_trust(archive, luck) > edge
    chance = chance_above((edge - 0.3) * 5.0)
    assert above / draws == pytest.approx(chance, abs=4 * (chance * (1 - chance) / draws) ** 0.5)


def test_a_policy_that_is_distrusted_is_still_tried_and_an_archive_is_not() -> None:
    """Trying the policy costs little, since it knows most of what the archive does; an archive may be long out of date."""
    assert chance_above(6.0) > 1e-3
    assert 1.0 - chance_above(-6.0) < 1e-8


def test_the_archive_scores_the_arms_it_is_asked_about() -> None:
    """It keeps the scores of a fixed set; arms that are new are another set, be they fewer, as many or more."""

    def chosen(make: Callable[[Any], Any]) -> list[int | None]:
        rng, policy = np.random.default_rng(0), AdaptiveUCB(3, seed=5)
        sets = [make(unit_rows(rng, 8, 3)), *(unit_rows(rng, n, 3) for n in (3, 8, 20))]
        indices = []
        for t in range(1200):
            decision = policy.select(sets[t % 4])
            sign = 1.0 if t // 150 % 2 else -1.0
            policy.update(decision, sign * float(decision.arm[0]) + 0.1 * rng.standard_normal())
            indices.append(decision.index)
        assert policy.status().restart_count > 0  # else nobody asks the archive
        return indices

    assert chosen(FixedArms) == chosen(np.asarray)
