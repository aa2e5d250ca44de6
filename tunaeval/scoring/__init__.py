"""Scores from transcripts."""

SCORERS: dict[str, str] = {}
