"""Suites asked of a model: what is asked, one scenario as an episode, and whole runs."""

from .directory import load_report as load_report
from .suites.check import check_suite as check_suite
from .suites.loading import load_suite as load_suite
from .suites.with_faults import with_faults as with_faults
