"""Run suites of scenarios: episodes, whole runs and their directories, and judging again."""

from tunaeval.tasks.suites.with_faults import with_faults as with_faults
