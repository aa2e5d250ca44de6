"""Let a model score transcripts: its prompts, its replies, and its agreement with people."""

from .judge import Judge as Judge
from .view import frames as frames
