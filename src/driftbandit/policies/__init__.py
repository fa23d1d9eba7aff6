"""Policies: the same optimist, each with its own way to forget."""
