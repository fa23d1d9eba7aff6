"""A study of a log as files: the TOML file it is read from, and the folder it writes."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import polars as pl

from driftbandit import figures
from driftbandit.replay.gains import FIXED, RANDOM
from driftbandit.replay.replay import Replay
from driftbandit.replay.study import LogStudy
from driftbandit.replay.tasks import Known
from driftbandit.studies.settings import SettingsError, check_keys, hint, named, read_toml
from driftbandit.studies.summary import write_data
from driftbandit.studies.tasks import expand

LOG = ("table", "round", "features", "reward", "known", "time")
ACCOUNT = ("block", "together", "scale", "unit", "replicates", "against", "draw")


def load(file: str | Path | None = None, *, replay: Replay | None = None, time: str = "", seed: int = 0) -> LogStudy:
    """The study in a file, or the one shipped for the flights. Without a replay, the file's [log] says where its table is."""
    path = Path(str(files("driftbandit") / "examples" / "flights.toml") if file is None else file)
    settings = read_toml(path)
    logs = ("name", "log") if replay is None else ("name",)
    check_keys("study", settings, [*logs, "account", "policies"], required=["policies", *logs[1:]])
    for section in ("log", "account", "policies"):
        if not isinstance(settings.get(section, {}), Mapping):
            raise SettingsError(f"[study] {section} must be a table, got {settings[section]!r}")
    check_keys("account", settings.get("account", {}), ACCOUNT)
    if replay is None:
        log = dict(settings["log"])
        check_keys("log", log, LOG, required=("table", "round", "features", "reward"))
        keys = [log["round"]] if isinstance(log["round"], str) else log["round"]
        replay = named("log", Replay, {**log, "table": path.parent / str(log["table"])})
        time = log.get("time", keys[0])
    policies = {policy.label: policy for policy in expand("policies", settings["policies"])}
    block = str(settings.get("account", {}).get("block", time))
    study = LogStudy(settings, replay, policies, block, Known(replay.dim), seed)
    known = [*policies, RANDOM, FIXED]
    for key, names in (("against", [study.against]), ("draw", study.drawn)):
        for name in names:
            if name not in known:
                raise SettingsError(f"[account] {key}: unknown policy {name!r}; {hint(str(name), known, 0.4)}")
    return study


def write(folder: Path, study: LogStudy) -> None:
    """Tables, settings, a page of Markdown, and the figure in both themes."""
    folder.mkdir(parents=True, exist_ok=True)
    gains = study.gains()
    about = {"study": study.settings, "seed": study.seed, "rounds": study.replay.rounds, "dropped": study.replay.dropped}
    write_data(folder, study.table(), about)
    (folder / "gains.md").write_text(study.page(gains), encoding="utf-8")
    parts = [
        gains.curves(over)
        .filter(pl.col("policy").is_in(study.drawn))
        .select(pl.lit(f"over {over}, with 95 % intervals").alias("over"), pl.all())
        for over in (RANDOM, study.against)
    ]
    curves = pl.concat(parts)
    figures.save_both(lambda theme: figures.gains(curves, unit=study.unit, theme=theme), folder, "gains")
