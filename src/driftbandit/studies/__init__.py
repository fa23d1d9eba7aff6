"""Experiments as data: resumable, on any engine."""
