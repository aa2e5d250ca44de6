"""Scores by a model: what it is asked, how its reply is read, how far it agrees with people."""

from .frame import frames as frames
from .judge import Judge as Judge
