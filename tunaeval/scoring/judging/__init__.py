"""Score by a model: its prompts, its replies, and how far it agrees with people."""

from .judge import Judge as Judge
from .view import frames as frames
