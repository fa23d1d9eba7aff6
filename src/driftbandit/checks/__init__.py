"""Conformance checks: what anyone may expect of a policy, ours or your own, and of a chooser that uses it."""

from driftbandit.checks.chooser import check_chooser as check_chooser
from driftbandit.checks.hired import CHOOSER_CHECKS as CHOOSER_CHECKS
from driftbandit.checks.policy import CHECKS as CHECKS
from driftbandit.checks.policy import check_policy as check_policy
from driftbandit.checks.trial import CheckFailed as CheckFailed
