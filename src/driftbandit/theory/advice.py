"""Tuning made useful: the parameters for each policy, and what the theory then promises, in words."""

from dataclasses import dataclass

from driftbandit.core import validate
from driftbandit.theory.bounds import bob_regret_bound, regret_bound
from driftbandit.theory.tuning import episode_length, optimal_discount, optimal_period, period_pool

NO_CONSTANTS = "promised the same order of regret as RestartUCB; the paper gives no constants."


@dataclass(frozen=True)
class Advice:
    """A policy's parameters and the regret it is promised; ``bound`` is None where the paper gives no constants."""

    policy: str
    parameters: dict[str, float | list[int]]
    bound: float | None
    trivial: float  # the most regret any policy can have: 2LS per round
    words: str

    @property
    def vacuous(self) -> bool | None:
        """Whether the bound says nothing, being no less than the most there is to lose; None where there is no bound."""
        return None if self.bound is None else self.bound >= self.trivial

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.policy}({given}): {self.words}"


def advise(
    dim: int,
    horizon: int,
    path_length: float,
    *,
    ridge: float = 1.0,
    theta_norm: float = 1.0,
    arm_norm: float = 1.0,
    noise: float = 1.0,
) -> list[Advice]:
    """What the theory recommends and promises for this many rounds with this much drift.

    >>> for advice in advise(dim=2, horizon=50_000, path_length=6.83, noise=0.3):
    ...     print(advice.policy, advice.vacuous)
    RestartUCB True
    WindowUCB None
    WeightUCB None
    BanditOverBandit True
    """
    scales = {
        name: validate.positive(name, value)
        for name, value in {"ridge": ridge, "theta_norm": theta_norm, "arm_norm": arm_norm, "noise": noise}.items()
    }
    period = optimal_period(dim, horizon, path_length)
    trivial = 2.0 * arm_norm * theta_norm * horizon
    bound = float(regret_bound(horizon, period, path_length, dim, **scales))
    episode = episode_length(dim, horizon)
    pool = period_pool(dim, horizon, theta_norm, episode)
    whole = bob_regret_bound(horizon, episode, pool, path_length, dim, **scales)
    valid = "" if arm_norm**2 <= ridge else " The bound is proved only for arm_norm² ≤ ridge."
    return [
        Advice("RestartUCB", {"period": period}, bound, trivial, promise(bound, trivial, horizon) + valid),
        Advice("WindowUCB", {"window": period}, None, trivial, NO_CONSTANTS),
        Advice("WeightUCB", {"discount": optimal_discount(dim, horizon, path_length)}, None, trivial, NO_CONSTANTS),
        Advice("BanditOverBandit", {"pool": pool}, whole, trivial, promise(whole, trivial, horizon) + valid),
    ]


def promise(bound: float, trivial: float, horizon: int) -> str:
    if bound >= trivial:
        return (
            f"promised a regret of at most {bound:,.0f}, which says nothing: no policy can lose more than {trivial:,.0f} in "
            f"{horizon:,} rounds. Take the tuning as a rule of thumb, and compare it with others on data like yours."
        )
    return f"promised a regret of at most {bound:,.0f}, {bound / trivial:.0%} of the most that {horizon:,} rounds can cost."
