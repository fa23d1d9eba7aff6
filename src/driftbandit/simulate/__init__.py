"""Policies × a world → regret."""
