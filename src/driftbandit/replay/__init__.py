"""Worlds from a table: policies replay its rounds, told in each only the reward of their own choice."""

from driftbandit.core.extras import needed_for

with needed_for(__name__):  # for this whole folder
    import polars as polars
