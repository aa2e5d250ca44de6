"""A run as a person looks at it: one conversation on a terminal, or all of it as a page."""
