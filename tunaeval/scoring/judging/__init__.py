"""Scores by a model: what it is asked, how its reply is read, how far it agrees with people."""
