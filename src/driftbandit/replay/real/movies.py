"""MovieLens: which of five films that a user will rate does the user like best?"""

from functools import partial

import polars as pl

from driftbandit.replay.real.table import RealTable, read, within
from driftbandit.replay.table import shuffled

OFFERED = 5
SHUFFLE = 1995  # the seed of the order of films within a round: the source has them as they were rated
GENRES = (
    *("Action", "Adventure", "Animation", "Children", "Comedy", "Crime", "Documentary", "Drama", "Fantasy", "Film-Noir"),
    *("Horror", "IMAX", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
)
USUAL, STEADY = 3.5, 5  # a film starts with so many ratings of this value
LONGEST = 5**0.5  # the intercept, three numbers, and genres that share one

load = partial(read, "dslabs", "movielens", ["movieId", "year", "genres", "userId", "rating", "timestamp"])


def prepare(raw: pl.DataFrame) -> pl.DataFrame:
    """A round is five successive ratings of a user in a day, decided when the first is given; each is told when it is given.
    What all users said of a film before the decision is known."""
    ratings = raw.with_row_index("row").sort("userId", "timestamp", "row")
    group = pl.int_range(pl.len()).over("userId", pl.col("timestamp") // 86_400) // OFFERED
    ratings = ratings.with_columns(day=pl.col("timestamp") // 86_400, group=group)
    ratings = ratings.with_columns(decided=pl.col("timestamp").min().over("userId", "day", "group"))
    table = with_past(ratings.sort("row"), raw).with_columns(made=pl.from_epoch("decided"))
    table = table.with_columns(month=pl.col("made").dt.truncate("1mo"), shown=pl.col("genres").str.split("|"))
    parts = {
        "1": pl.lit(1.0),
        "mean so far": within(0, 5, pl.col("mean")),
        "ratings so far": within(0, 3, (1 + pl.col("count")).log10()),
        "age": within(0, 100, pl.col("made").dt.year() - pl.col("year")).fill_null(0.0),
        **{name: pl.col("shown").list.contains(name) / pl.col("shown").list.len() for name in GENRES},
    }
    features = {name: part / LONGEST for name, part in parts.items()}
    keys = ["decided", "userId", "group"]
    done = table.select(*keys, "month", known="timestamp", reward=pl.col("rating") / 5, **features)
    done = done.sort(*keys, maintain_order=True).with_columns(round=pl.struct(keys).rle_id()).drop("userId", "group")
    return shuffled(done, "round", seed=SHUFFLE)


def with_past(ratings: pl.DataFrame, raw: pl.DataFrame) -> pl.DataFrame:
    """How often, and how highly, a film had been rated before each decision."""
    past = raw.sort("timestamp").select(
        "movieId",
        decided="timestamp",
        count=pl.int_range(1, pl.len() + 1).over("movieId"),
        sum=pl.col("rating").cum_sum().over("movieId"),
    )
    table = ratings.sort("decided").join_asof(
        past, on="decided", by="movieId", allow_exact_matches=False, check_sortedness=False
    )
    count, total = pl.col("count").fill_null(0), pl.col("sum").fill_null(0.0)
    return table.with_columns(count=count, mean=(total + STEADY * USUAL) / (count + STEADY))


TABLE = RealTable(
    "MovieLens, 1995–2016: which of five films that a user is about to rate, by genre, age and what others said; told then",
    lambda: prepare(load()), "stars in 100 films", 500.0, "month",
)  # fmt: skip
