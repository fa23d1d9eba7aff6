"""The output of a study: its table summarised in a few lines, and as files."""

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from driftbandit import __version__
from driftbandit.report.tables import Grid, signed
from driftbandit.studies.scaling import fit_exponents
from driftbandit.studies.settings import SettingsError
from driftbandit.studies.study import Study


def summaries(study: Study) -> list[Grid]:
    """For each world: final regret, time and state size of each policy, best first."""
    both = ["world", "policy"]
    last = study.table().filter(pl.col("round") == pl.col("round").max().over(both))
    regret = last.group_by(both).agg(mean=pl.col("regret").mean(), std=pl.col("regret").std())
    cost = (
        study.timing()
        .group_by(both)
        .agg(time=1e9 * (pl.col("seconds") / pl.col("rounds")).median(), bytes=pl.col("bytes").first())
    )
    rows = regret.join(cost, on=both).sort("mean")
    return [
        Grid(
            ("policy", "final regret, mean ± std", "time per round", "state (bytes)"),
            [
                (policy, f"{mean:,.0f} ± {std or 0.0:,.0f}", f"{nanoseconds:,.0f} ns", f"{size:,}" if size else "–")
                for _, policy, mean, std, nanoseconds, size in rows.filter(world=world.label).iter_rows()
            ],
            f"{world.label}: T = {world.settings['horizon']:,}, {study.replicates} replicates",
        )
        for world in study.world_variants
    ]


def paired(study: Study) -> Grid:
    """How the final regret of each policy differs from that of the first."""
    rows = []
    for world, horizon, policy, mean, half, ratio in study.differences().iter_rows():
        times = "" if ratio is None else f"{ratio:.2f}"
        rows.append((f"{world}: T = {horizon:,}", policy, f"{signed(mean, ',.0f')} ± {half:,.0f}", times))
    first = study.policy_variants[0].label
    return Grid(("world", "policy", "difference", "ratio"), rows, f"final regret compared with {first}, paired, ± 95 %")


def exponents(study: Study) -> Grid:
    """How the final regret of each policy grows with the horizon, compared with the rates 2/3 and 3/4."""
    return Grid(
        ("world", "policy", "exponent", "95 % interval", "− 2/3", "− 3/4"),
        [
            (
                world,
                policy,
                f"{power:.3f}",
                f"{low:.3f} … {high:.3f}",
                signed(power - 2 / 3, ".3f"),
                signed(power - 3 / 4, ".3f"),
            )
            for world, policy, power, low, high in fit_exponents(study.final()).iter_rows()
        ],
        "final regret ∝ T^exponent",
    )


def refuse_another(folder: Path, name: str) -> None:
    """Raise an error if the folder holds the files of a study with another name, which would be overwritten."""
    path = folder / "settings.json"
    written = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    other = written.get("study", {}).get("name", name)
    if other != name:
        raise SettingsError(f"{folder} holds the study {other!r}, which {name!r} would overwrite: give another folder (--out)")


def write_data(folder: Path, table: pl.DataFrame, about: dict[str, Any], timing: pl.DataFrame | None = None) -> None:
    """The tables as Parquet and CSV, settings and versions as JSON."""
    for name, frame in (("table", table), ("timing", timing)):
        if frame is not None:
            frame.write_parquet(folder / f"{name}.parquet")
            frame.write_csv(folder / f"{name}.csv")
    text = json.dumps({**about, "versions": versions()}, indent=2, ensure_ascii=False)
    (folder / "settings.json").write_text(text + "\n", encoding="utf-8")


def versions() -> dict[str, str]:
    others = {name: version(name) for name in ("numpy", "numba")}
    return {"Python": platform.python_version(), "driftbandit": __version__, **others}
