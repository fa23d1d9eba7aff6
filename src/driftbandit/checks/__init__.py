"""Conformance: what anyone may expect of a policy, and of a chooser with it, as checks that any policy can be put through."""

from driftbandit.checks.chooser import check_chooser as check_chooser
from driftbandit.checks.hired import CHOOSER_CHECKS as CHOOSER_CHECKS
from driftbandit.checks.policy import CHECKS as CHECKS
from driftbandit.checks.policy import check_policy as check_policy
from driftbandit.checks.trial import CheckFailed as CheckFailed
