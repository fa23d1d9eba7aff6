"""Worlds from a table: policies live through it again, told of each round only what their own choice brought."""
