"""Show a run to a person: one conversation on a terminal, or all of it as a page."""
