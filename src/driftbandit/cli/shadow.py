"""``journal shadow``: what another policy would have done."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftbandit.cli.opened import read_journal

if TYPE_CHECKING:
    from driftbandit.live.shadowed import Gain, Shadowed

HEADINGS = ("action", "taken", "would", "agreed", "mean reward", "where agreed", "where not")
COLUMNS = ("action", "taken", "would", "agreed", "mean", "mean_agreed", "mean_differed")


def add_shadow(verb: argparse.ArgumentParser) -> None:
    verb.description = (
        "Ask another policy at every decision of an experiment what it would have done. It learns the rewards of what was "
        "really done, as an apprentice. Prints how often it agrees, by action, and, if the experiment explores, what its "
        "choices would have gained over those of the policy in charge, with a 95 %% interval. The journal is not changed."
    )
    verb.add_argument("experiment", metavar="EXPERIMENT", help="its name; that of a Learner is: default")
    verb.add_argument("--policy", nargs="+", required=True, metavar=("NAME", "KEY=VALUE"),
                      help="the policy, and its parameters: WindowUCB window=5000")  # fmt: skip
    verb.add_argument("--out", type=Path, metavar="FILE", help="write every choice to a new .csv or .parquet file")


def shadow(chosen: argparse.Namespace) -> None:
    from driftbandit.live.export import save
    from driftbandit.live.shadowing import shadow as shadowed

    out = chosen.out
    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise ValueError(f"{out} must end in .csv or .parquet, since that is what is written")
    if out is not None and out.exists():
        raise FileExistsError(f"{out} exists: choose another name")
    kind, parameters = policy_of(chosen.policy)
    with read_journal(chosen.path) as journal:
        told = shadowed(journal, chosen.experiment, kind, **parameters)
    print(words(told))
    if out is not None:
        save(told.choices, out)
        print(f"written: {out}, {told.decisions:,} choices")


def policy_of(told: list[str]) -> tuple[Any, dict[str, Any]]:
    from driftbandit.policies import every

    name, *rest = told
    if name not in every():
        raise ValueError(f"unknown policy {name!r}: one of {', '.join(sorted(every()))}")
    if wrong := [each for each in rest if "=" not in each]:
        raise ValueError(f"a parameter must be given as KEY=VALUE, got {wrong[0]!r}")
    return every()[name], {key: value_of(value) for key, _, value in (each.partition("=") for each in rest)}


def value_of(text: str) -> Any:
    """A number, true, false, null or a list as in JSON; else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def words(told: "Shadowed") -> str:
    alike = f"would have made {share(told.agreed, told.decisions)} of them"
    if told.agreed_with_policy != told.agreed:
        alike += f", and agrees with the choice of the policy in charge in {share(told.agreed_with_policy, told.decisions)}"
    lines = [
        f"{told.experiment}: {told.decisions:,} decisions, the outcome of {told.outcomes:,} is known",
        f"{told.policy} {alike}",
        *columns([HEADINGS, *(tuple(map(shown, row)) for row in told.actions.select(COLUMNS).iter_rows())]),
        gained(told.gain),
    ]
    return "\n".join(lines)


def share(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})" if whole else "0"


def gained(gain: "Gain | None") -> str:
    if gain is None:
        return "gain: cannot be known, since no chances are: they are where an experiment has `explore`"
    drawn = f"where they differ ({gain.differ:,} of {gain.decisions:,}), exploration played its choice {gain.drawn:,} times"
    if gain.mean is None:
        return f"gain: {drawn}, which is too few to say"
    return f"gain: {gain.mean:+.4g} per decision, 95 % interval {gain.low:+.4g} to {gain.high:+.4g}; {drawn}"


def shown(cell: Any) -> str:
    return "" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else cell


def columns(rows: list[tuple[str, ...]]) -> list[str]:
    """The first flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
