"""Worlds from a table: policies live through it again, told of each round only what their own choice brought."""

from driftbandit.core.extras import needed_for

with needed_for(__name__):  # all of this room
    import polars as polars
