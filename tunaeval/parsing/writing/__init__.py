"""Calls as the text that a model would write, and whether that is read back."""
