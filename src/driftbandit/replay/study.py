"""A study of a logged world, written as a TOML file: its table, its policies, and what is written about them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from driftbandit import figures
from driftbandit.figures.look import DARK, LIGHT
from driftbandit.policies._base.policy import Policy
from driftbandit.replay.gains import FIXED, RANDOM, Gains, make_policies, play_log
from driftbandit.replay.replay import Progress, Replay
from driftbandit.report.tables import Grid, as_markdown
from driftbandit.studies.settings import SettingsError, check_keys, hint, named, read_toml
from driftbandit.studies.summary import write_data

Stage = Callable[[str, int], Progress]  # (its name, its rounds) → what is called with rounds just played

LOG = ("table", "round", "features", "reward", "known", "time")
ACCOUNT = ("block", "together", "scale", "unit", "replicates", "against", "draw")


@dataclass(frozen=True)
class LogStudy:
    """A replay, the policies to play it, and how to count: what a block is, the unit, whom to hold against whom."""

    settings: Mapping[str, Any]
    replay: Replay
    policies: Mapping[str, Policy]
    block: str
    seed: int = 0

    @property
    def name(self) -> str:
        return str(self.settings.get("name", "replay"))

    @property
    def rounds(self) -> int:
        return self.replay.rounds * len(self.policies) * int(self.counting("replicates", 1))

    def counting(self, key: str, default: Any) -> Any:
        return self.settings.get("account", {}).get(key, default)

    @property
    def against(self) -> str:
        return str(self.counting("against", next(iter(self.policies))))

    @property
    def unit(self) -> str:
        return str(self.counting("unit", "reward"))

    @property
    def drawn(self) -> list[str]:
        return list(self.counting("draw", [*list(self.policies)[:9], FIXED]))

    def run(self, progress: Progress | None = None) -> Gains:
        options = {key: self.counting(key, 1) for key in ("together", "scale", "replicates")}
        return play_log(self.replay, self.policies, block=self.block, seed=self.seed, progress=progress, **options)

    def grid(self, gains: Gains) -> Grid:
        drawn = self.block if gains.together == 1 else f"{gains.together} × {self.block}"
        caption = f"{self.unit} a decision; {self.replay.rounds:,} decisions; 95 % intervals, resampling by {drawn}"
        return gains.grid(self.against, caption)

    def page(self, gains: Gains) -> str:
        """In Markdown: what the table is, if the settings say so, and the gains."""
        about = self.settings.get("about")
        return (f"# {self.name}: {about}\n\n" if about else "") + as_markdown(self.grid(gains))


def load(file: str | Path | None = None, *, replay: Replay | None = None, time: str = "", seed: int = 0) -> LogStudy:
    """The study of a file, or the one shipped for the flights. Without a replay, the file's [log] says where its table is."""
    path = Path(str(files("driftbandit") / "examples" / "flights.toml") if file is None else file)
    settings = read_toml(path)
    logs = ("name", "log") if replay is None else ("name",)
    check_keys("study", settings, [*logs, "account", "policies"], required=["policies", *logs[1:]])
    check_keys("account", settings.get("account", {}), ACCOUNT)
    if replay is None:
        log = dict(settings["log"])
        check_keys("log", log, LOG, required=("table", "round", "features", "reward"))
        keys = [log["round"]] if isinstance(log["round"], str) else log["round"]
        time = log.get("time", keys[0])
        replay = named("log", Replay, {**log, "table": path.parent / log["table"]})
    policies = make_policies(settings["policies"], replay.dim, seed)
    study = LogStudy(settings, replay, policies, str(settings.get("account", {}).get("block", time)), seed)
    known = [*policies, RANDOM, FIXED]
    for key, names in (("against", [study.against]), ("draw", study.drawn)):
        for name in names:
            if name not in known:
                raise SettingsError(f"[account] {key}: there is no policy {name!r}; {hint(name, known, 0.4)}")
    return study


def write(folder: Path, study: LogStudy, gains: Gains) -> None:
    """Tables, settings, a page of Markdown, and the figure in both themes."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"study": study.settings, "seed": study.seed, "rounds": study.replay.rounds, "dropped": study.replay.dropped}
    write_data(folder, gains.table(), about)
    (folder / "gains.md").write_text(study.page(gains), encoding="utf-8")
    parts = [
        gains.curves(over)
        .filter(pl.col("policy").is_in(study.drawn))
        .select(pl.lit(f"over {over}, with 95 % intervals").alias("over"), pl.all())
        for over in (RANDOM, study.against)
    ]
    curves = pl.concat(parts)
    for name, theme in (("gains", LIGHT), ("gains-dark", DARK)):
        figures.save(figures.gains(curves, unit=study.unit, theme=theme), folder, name)
