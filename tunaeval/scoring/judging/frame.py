r"""Frame the transcript in a judge's prompt, so that no text in it can forge the frame.

The frame contains JSON lines in which every `<`, every unprintable character and every bracket that
could open a chat template's control word is a `\u` escape. So no text has a marker, a line break
of its own, or a token such as `<|im_end|>`; and the boundary, a random word, differs for every
request as well.
"""

from __future__ import annotations

import re
from hashlib import sha256
from secrets import token_hex

from tunaeval.files.records import encode
from tunaeval.types.calls import JsonObject, JsonValue

BEGIN = "<<<TRANSCRIPT {}>>>"
END = "<<<END OF TRANSCRIPT {}>>>"

_BOUNDARY_DIGITS = 24  # hexadecimal, so 96 random bits
_TEMPLATE_WORD = re.compile(r"\[(?=/?[A-Z])")
"""Matches `[` as in `[INST]`, a token of some models; JSON has it only inside strings."""


def boundary(seed: int | None, subject: str) -> str:
    """Return an unpredictable word; with a seed, always the same word for the same subject."""
    if seed is None:
        return token_hex(_BOUNDARY_DIGITS // 2)
    return sha256(f"{seed}:{subject}".encode()).hexdigest()[:_BOUNDARY_DIGITS]


def framed(lines: str, word: str) -> str:
    """Return the lines between their markers."""
    return f"{BEGIN.format(word)}\n{lines}\n{END.format(word)}"


def frames(prompt: str) -> tuple[str, ...]:
    """Return the text of each frame: between two markers with the same boundary."""
    lines = prompt.split("\n")
    opening = BEGIN.format("")[:-3]
    found = []
    for number, line in enumerate(lines):
        if line.startswith(opening):
            end = END.format(line.removeprefix(opening).removesuffix(">>>"))
            if end in lines[number:]:
                found.append("\n".join(lines[number + 1 : lines.index(end, number)]))
    return tuple(found)


def json_line(fields: JsonObject) -> str:
    """Return an object on one line, without anything that could look like a part of the frame."""
    text = encode(fields).decode().rstrip("\n").replace("<", "\\u003c")
    text = _TEMPLATE_WORD.sub(r"\\u005b", text)
    return text if text.isprintable() else "".join(map(_printable, text))


def written(value: JsonValue) -> tuple[str, JsonValue]:
    """Return a value as JSON, and the value; both are its repr() if it is not JSON."""
    try:
        return encode({"": value}).decode()[4:-2], value
    except (TypeError, ValueError, RecursionError):
        return repr(value), repr(value)


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
