"""Your own studies: ``compare`` runs one, ``example`` prints one to start from."""

import argparse
from pathlib import Path

from driftbandit.cli.characters import write_utf8
from driftbandit.cli.options import Commands, Defaults, add_run_options

EXAMPLES = ("first", "policies", "paper", "scaling", "suite", "real", "flights", "replay")


def add_compare(commands: Commands) -> None:
    command = commands.add_parser(
        "compare",
        help="run your own study, written as a TOML file",
        description="Run the study in FILE.toml and write its tables of regret and timing (Parquet, CSV), its figure (PNG, "
        "SVG) and its settings (JSON). If it is interrupted, rerun the same command to resume. "
        "`driftbandit example > FILE.toml` prints a commented file to start from.",
        epilog='`driftbandit example policies` lists the policies. One of your own is `kind = "module:Class"`.',
        formatter_class=Defaults,
    )
    command.add_argument("file", type=Path, help="the study", metavar="FILE.toml")
    add_run_options(command, out="out/NAME")
    command.set_defaults(run=compare)


def compare(chosen: argparse.Namespace) -> None:
    from rich.console import Console

    from driftbandit import figures
    from driftbandit.cli.screen import print_grid, run_studies
    from driftbandit.studies.study import Study
    from driftbandit.studies.summary import exponents, paired, refuse_another, summaries, write_data

    console = Console()
    study = Study.from_file(chosen.file)
    folder = getattr(chosen, "out", Path("out") / study.name)
    refuse_another(folder, study.name)
    run_studies(console, {study.name: study}, folder, chosen)
    write_data(folder, study.table(), {"study": study.settings()}, study.timing())
    figures.save(study.draw(), folder, study.figure)
    comparison = [paired(study)] if study.replicates > 1 and len(study.policy_variants) > 1 else []
    for grid in [exponents(study)] if study.figure == "scaling" else summaries(study) + comparison:
        print_grid(console, grid)
    console.print(f"written: {folder}", soft_wrap=True)


def add_example(commands: Commands) -> None:
    command = commands.add_parser(
        "example",
        help="print an example study file to start from",
        description="Print an example study file: `first`, fully commented; `policies`, every policy with what it is told; "
        "`paper`, the paper's experiment, "
        "every parameter of which can be changed; `scaling`, how regret grows with the horizon; "
        "`suite`, the worlds and policies of `driftbandit suite`; `real`, the policies of `driftbandit suite --real`; "
        "`flights`, the policies of `driftbandit flights`; `replay`, for a log of your own, fully commented.",
    )
    command.add_argument("name", nargs="?", choices=EXAMPLES, default="first")
    command.set_defaults(run=example)


def example(chosen: argparse.Namespace) -> None:
    from importlib.resources import files

    write_utf8((files("driftbandit") / "examples" / f"{chosen.name}.toml").read_text(encoding="utf-8"))
