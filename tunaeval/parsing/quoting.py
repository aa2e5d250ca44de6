"""Whether a marker, or a bare object, is only quoted in inline code, or named in a sentence."""

from __future__ import annotations

import re

from tunaeval.limits import KEPT, LIST_BEFORE
from tunaeval.types import Tools
from tunaeval.window import Window

FENCE = "```"
"""Of Markdown: what is in it may be code."""

LINE_START = re.compile(r"(?:\A|\n)[ \t]*+\Z")
"""What comes next begins its line, but for white space."""

OPENS_FENCE = re.compile(r"(?:\A|\n)```([\w+-]{0,24})[ \t]{0,8}\r?\n[ \t\r\n]{0,40}\Z")
"""The line before is a code fence; its group is the language."""

IN_PROGRAM_STRING = r"[\"']{3}[ \t]{0,8}\n?[ \t]{0,40}"
"""What is before the first line of a string of several lines, in a program."""

_TICK = re.compile(r"(?<!`)``?(?!`)")


_NAMED = re.compile(r"\w \S++ ++[\w-]++ ++\S++\Z").match
"""A word, an opener, one word between blanks, and a closer."""

_BEFORE_WORDS = re.compile(r".?\w\Z|[\w*-] \Z", re.DOTALL).match
"""What is before an opener of words or signs in a sentence, or in an item of a list."""


_in_string = re.compile(rf"\S\s{{0,24}}{IN_PROGRAM_STRING}\Z").search


def in_program(text: str, at: int) -> bool:
    """Whether what begins at an index is the first line of a string in a program."""
    return _in_string(text, max(0, at - LIST_BEFORE), at) is not None


def in_sentence(window: Window, at: int) -> bool:
    """Whether a word and a blank are right before this place in the window's text."""
    before = window.text[max(0, at - 2) : max(0, at)]
    return before[1:] == " " and (before[0].isalnum() or before[0] == "_")


def quote_before(window: Window, at: int) -> str:
    """The quotation mark right before this place in the window's text, if one is there."""
    before = window.text[max(0, at - 1) : max(0, at)]
    return before if before in ('"', "'") else ""


def ends_sentence(window: Window, start: int, name: str | None, tools: Tools | None) -> bool:
    """Whether what begins at offset `start` is behind a word, in the last line of the text.

    So a reply ends: "Here is a Call to Action:", "x>>>1", "- Action: rest". Before the name of a
    tool it is no sentence.
    """
    at = start - window.base
    if tools is not None and name in tools:
        return False
    in_words = _BEFORE_WORDS(window.text[max(0, at - 2) : max(0, at)]) is not None
    return in_words and "\n" not in window.text[at:].rstrip()


def is_named_in_prose(window: Window, start: int, name: str | None, tools: Tools | None) -> bool:
    """Whether the text from offset `start` to the position is a word between tags in a sentence.

    So prose names two tags: "between <tool_call> and </tool_call>". The name of a tool is no word.
    """
    at = start - window.base
    if at < 2 or (tools is not None and name in tools):
        return False
    return _NAMED(window.text[at - 2 : window.pos]) is not None


def is_quote(window: Window) -> bool:
    """Whether inline code begins right before the position."""
    before = window.preceding(window.pos)
    return before.endswith("`") and before != "``"


def closes_code(line: str, *, whole: bool) -> bool:
    """Whether the tick that ends `line` closes inline code.

    `whole`: all of the present line is there although nothing in `line` begins one.
    """
    start = line.rfind("\n")
    return (whole or start >= 0) and len(_TICK.findall(line, start + 1)) % 2 == 0


def in_ticks(line: str) -> bool:
    """Whether the present line has opened inline code; of one too long to remember, not."""
    if "`" not in line:
        return False
    start = line.rfind("\n")
    known = start >= 0 or len(line) < KEPT
    return known and len(_TICK.findall(line, start + 1)) % 2 == 1


END_TOKENS = (
    "<|im_end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_turn|>",
    "<|END_OF_TURN_TOKEN|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "<eos>",
    "</s>",
)
"""Of chat templates: what a model ends its turn with, and servers mostly leave out."""

_ENDS = re.compile(rf"(?:(?:{'|'.join(map(re.escape, END_TOKENS))})\s{{0,40}}+){{1,8}}+")


def ends_text(window: Window) -> int | None:
    """How many characters end the text from the token here on; 0: more follows; None to wait."""
    found = _ENDS.match(window.text, window.pos)
    end = found.end() if found else window.pos
    rest = window.text[end : end + max(map(len, END_TOKENS))]
    if not rest and window.final:
        return end - window.pos
    waits = not window.final and any(token.startswith(rest) for token in END_TOKENS)
    return None if waits else 0


def before_end_tokens(text: str) -> int:
    """Where the tokens begin that the text ends with, few of them; its length if there are none."""
    end = len(text)
    for _ in range(8):
        bare = text[:end].rstrip()
        token = next((token for token in END_TOKENS if bare.endswith(token)), "")
        if not token:
            break
        end = len(bare) - len(token)
    return end


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


ELLIPSES = ("...", "…")
