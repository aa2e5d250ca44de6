"""Suites asked of a model: what is asked, one scenario as an episode, and whole runs."""
