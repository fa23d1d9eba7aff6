"""Conformance checks: what anyone may expect of a policy, ours or your own, and of a chooser that uses it."""

from driftbandit.checks.chooser import check_chooser
from driftbandit.checks.policy import check_policy
from driftbandit.checks.trial import CheckFailed

__all__ = ["CheckFailed", "check_chooser", "check_policy"]
