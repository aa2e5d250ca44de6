"""Turns that a model invents behind its answer: the words and tokens that begin one.

Small models go on after a complete answer: they write the next question, or a tool's result, and
answer that, too. What they call there nobody asked for.
"""

from __future__ import annotations

import re

LINES = (
    "### Instruction",
    "### Input",
    "### User",
    "### Human",
    "### Question",
    "### Response",
    "### Assistant",
    "User:",
    "Human:",
    "Assistant:",
    "Question:",
    "Output:",
    "Observation:",
    '"""',
    "'''",
)
"""They begin a later turn at the beginning of a line, as anybody writes a dialogue.

An answer of the model's own is one, too: it has answered already. So is the end of a string that
nothing began: the model goes on with a program that has the answer in a string.
"""

TOKENS = (
    "<|im_start|>user",
    "<|im_start|>tool",
    "<|start_header_id|>user",
    "<|start_header_id|>ipython",
    "<|start_header_id|>tool",
    "<|start|>user",
    "<|start|>functions.",
    "<|user|>",
    "<|observation|>",
    "<|USER|>",
    "<|User|>",
    "<｜User｜>",
    "<start_of_turn>user",
    "[INST]",
    "[TOOL_RESULTS]",
    "<tool_response>",
)
"""Of chat templates: what a user's or a tool's turn begins with."""

TURNS = frozenset((*LINES, *TOKENS))

_LINE = rf"(?m:^)[ \t]*+(?:{'|'.join(map(re.escape, LINES))})"
begins_turn = re.compile(rf"{_LINE}|{'|'.join(map(re.escape, TOKENS))}").search
"""Search the first later turn."""
