"""Covid tests at a children's hospital: isolate the patient until the result arrives?"""

from functools import partial

import numpy as np
import polars as pl

from driftbandit.replay.real.table import RealTable, by_action, read, within

LOST = 0.1  # the cost of isolating a patient who is not infected; failing to isolate one who is costs 1
RECENT = 14  # days
COLUMNS = (
    *("pan_day", "clinic_name", "result", "demo_group", "age", "drive_thru_ind", "orderset", "patient_class"),
    *("col_rec_tat", "rec_ver_tat"),
)

load = partial(read, "medicaldata", "covid_testing", COLUMNS)


def prepare(raw: pl.DataFrame) -> pl.DataFrame:
    """A round is a test, decided when its day begins; the result is told after the hours that the laboratory took, and is
    positive in one case of 18. Invalid tests are left out."""
    hours = (pl.col("col_rec_tat") + pl.col("rec_ver_tat")).clip(lower_bound=0.0)
    table = raw.filter(pl.col("result") != "invalid").select(
        pl.exclude("pan_day", "result", "col_rec_tat", "rec_ver_tat"),
        day=pl.col("pan_day"),
        decided=pl.col("pan_day").cast(pl.Float64),
        known=pl.col("pan_day") + hours / 24,
        infected=(pl.col("result") == "positive").cast(pl.Float64),
    )
    table = table.with_columns(recent_share(table))
    context = {
        "age": within(0, 100, pl.col("age")),
        "drive-through": pl.col("drive_thru_ind"),
        "order set": pl.col("orderset"),
        "patient": pl.col("demo_group") == "patient",
        "emergency": pl.col("clinic_name") == "emergency dept",
        "inpatient": (pl.col("patient_class") == "inpatient").fill_null(False),
        "recent share": within(0, 0.2, pl.col("share")),
    }
    rewards = {"isolate": 1 - LOST * (1 - pl.col("infected")), "wait": 1 - pl.col("infected")}
    return by_action(table, context, rewards, "day")


def recent_share(table: pl.DataFrame) -> pl.Series:
    """The share of positives among recent results known when a day begins, shrunk a little towards one in twenty."""
    day, known, infected = (table[name].to_numpy() for name in ("day", "known", "infected"))
    days, number = np.unique(day, return_inverse=True)
    seen = [infected[(known <= today) & (day >= today - RECENT)] for today in days]
    return pl.Series("share", np.array([(part.sum() + 1) / (len(part) + 20) for part in seen])[number])


TABLE = RealTable(
    "Covid tests at a children's hospital, 2020: isolate until the result arrives, or not; an infected patient not isolated "
    "costs 1, one isolated needlessly 0.1",
    lambda: prepare(load()), "per 1,000 tests", 1000.0, "day", together=7,
)  # fmt: skip
