"""``shop``: a simulated shop to learn with, played by policies told nothing, by some told a little, and by VowpalWabbit."""

import argparse
from pathlib import Path

from driftbandit.cli.options import Commands, Defaults, at_least


def add_shop(commands: Commands) -> None:
    command = commands.add_parser(
        "shop",
        help="a simulated shop to learn with: which banner to show to whom",
        description="Simulate a shop. Visitors come one by one; their country, device, hour, basket and whether they have been "
        "here before are known. Each is shown one of six banners, and a few per cent click. Tastes change with the season, and "
        "no policy is told when. AdaptiveUCB and DetectUCB are told nothing but the number of features; StaticUCB, which never "
        "forgets, is told a width, and DiscountedTS noise, width and memory; VowpalWabbit plays if it is installed (pip "
        "install vowpalwabbit). All meet the same visitors with the same luck. Prints the share of clicks that each captured, "
        "from choosing at random (0) to an oracle that knows every probability (100), and writes a folder with the figure "
        "(PNG, SVG, light and dark), the table (Parquet, CSV, Markdown), the first visitors (CSV) and the settings (JSON).",
        epilog="The same shop from Python: `from driftbandit.shop import Shop`, then `for visit in Shop(seed=1).visits(1000)` "
        "gives visit.fields, a dictionary for `Chooser.select`, and visit.reward(banner). "
        "For a first look: `driftbandit shop --seeds 2 --decisions 20000`.",
        formatter_class=Defaults,
    )
    command.add_argument("--seeds", nargs="+", type=at_least(0), default=argparse.SUPPRESS, help="one shop per seed; same "
                         "seed, same numbers (default: 1 2)", metavar="S")  # fmt: skip
    command.add_argument("--decisions", type=at_least(1), default=40_000, help="visitors per shop", metavar="N")
    command.add_argument("--late", action="store_true", help="report a click within 50 decisions, and no click, as 0, "
                         "after 500: until then one could still come")  # fmt: skip
    command.add_argument("--policies", help="only these players (default: all)", metavar="NAME,...")
    command.add_argument("--out", help="folder to write to", default=Path("out/shop"), type=Path, metavar="FOLDER")
    command.set_defaults(run=shop)


def shop(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit.cli.screen import print_grid, progress_bar
    from driftbandit.shop.keepers import chosen_keepers
    from driftbandit.shop.takings import Plan, grid, write

    console = Console()
    names = None if chosen.policies is None else [name.strip() for name in chosen.policies.split(",")]
    playing, absent = chosen_keepers(names)
    if absent:
        missing = f"VowpalWabbit is not installed, so {' and '.join(absent)} cannot play: pip install vowpalwabbit"
        if not playing:
            raise ModuleNotFoundError(missing)
        console.print(missing, soft_wrap=True)
    plan = Plan(playing, list(dict.fromkeys(getattr(chosen, "seeds", (1, 2)))), chosen.decisions, chosen.late)
    with progress_bar(console) as bar:
        task = bar.add_task("playing (a first run compiles for one to three minutes)", total=plan.total)
        takings = plan.run(lambda decisions: bar.advance(task, decisions))
    print_grid(console, grid(plan, takings))
    with console.status("drawing"):
        write(chosen.out, plan, takings)
    console.print(f"written: {chosen.out}", soft_wrap=True)
