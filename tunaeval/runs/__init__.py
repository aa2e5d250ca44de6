"""Run suites of scenarios: their files, episodes, grades, whole runs, and the page of a run."""

from .suites.with_faults import with_faults as with_faults
