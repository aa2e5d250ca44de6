"""Score by a model: its prompts, its replies, and how far it agrees with people."""

from .frame import frames as frames
from .judge import Judge as Judge
