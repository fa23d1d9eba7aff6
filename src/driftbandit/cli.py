"""The command line. Nothing heavy is imported before it is needed, so that ``--help`` answers at once."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial

from driftbandit import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="driftbandit",
        description="Linear bandits for a world that changes.",
        epilog="Start with `driftbandit reproduce --repetitions 5`: the paper's experiment in a few seconds.",
    )
    parser.add_argument("--version", action="version", version=f"driftbandit {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    reproduce_command = commands.add_parser(
        "reproduce",
        help="play the paper's experiment and print the regret of each policy",
        description=(
            "Play the paper's two worlds, abrupt and gradual (d = 2, 20 fixed arms, noise of variance 0.1), with every "
            "policy against the same rounds, and print the mean and standard deviation of the final dynamic regret."
        ),
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    reproduce_command.add_argument("--repetitions", type=at_least(1), default=50, help="worlds drawn", metavar="N")
    reproduce_command.add_argument("--horizon", type=at_least(100), default=50_000, help="rounds (T)", metavar="T")
    reproduce_command.add_argument("--seed", type=at_least(0), default=0, help="same seed, same numbers", metavar="S")
    reproduce_command.set_defaults(run=reproduce)

    chosen = parser.parse_args(arguments)
    try:
        chosen.run(chosen)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    return 0


def at_least(least: int) -> Callable[[str], int]:
    """A type for argparse: a whole number not below ``least``."""

    def whole_number(text: str) -> int:
        number = int(text.replace(",", ""))
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {number}")
        return number

    return whole_number


def reproduce(chosen: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from driftbandit.paper import experiment
    from driftbandit.play import play

    console = Console()
    for name in ("abrupt", "gradual"):
        world, memory, policies = experiment(name, chosen.horizon, chosen.seed)
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task(
                f"{name} world (the first run compiles for half a minute)",
                total=chosen.horizon * chosen.repetitions * len(policies),
            )
            result = play(policies, world, replicates=chosen.repetitions, progress=partial(bar.advance, task))
        table = Table(
            title=f"{name} world: T = {chosen.horizon:,}, P_T = {world.path_length():.2f}, "
            f"memory τ = {memory:,}, {chosen.repetitions} repetitions"
        )
        table.add_column("policy")
        for heading in ("final regret, mean", "± standard deviation", "time a round"):
            table.add_column(heading, justify="right")
        order = result.mean[:, -1].argsort()
        for k in order:
            table.add_row(
                result.names[k],
                f"{result.mean[k, -1]:,.0f}",
                f"{result.std[k, -1]:,.0f}",
                f"{1e9 * result.seconds[k].min() / chosen.horizon:,.0f} ns",
            )
        console.print(table)
