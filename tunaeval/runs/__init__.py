"""Suites, one scenario as an episode, its grades, whole runs, and the page of a run."""

from .suites.with_faults import with_faults as with_faults
