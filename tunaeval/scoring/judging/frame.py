r"""The frame around what a judge is shown: where it begins and ends, which no text can forge.

What is framed is JSON lines in which every `<`, every unprintable character and every bracket that
could open a chat template's control word is written as a `\u` escape. So no text has a marker, a
line break of its own, or a token such as `<|im_end|>`; and the boundary, a random word, differs for
every request besides.
"""

from __future__ import annotations

import re
from hashlib import sha256
from secrets import token_hex

from tunaeval.files.records import encode
from tunaeval.types.calls import JsonObject, JsonValue

BEGIN = "<<<TRANSCRIPT {}>>>"
END = "<<<END OF TRANSCRIPT {}>>>"

_BOUNDARY_DIGITS = 24
_TEMPLATE_WORD = re.compile(r"\[(?=/?[A-Z])")
"""As in `[INST]`, which is a token to some models; outside of a string no JSON has it."""


def boundary(seed: int | None, subject: str) -> str:
    """A word that nobody can foresee; with a seed, the same one for the same subject."""
    if seed is None:
        return token_hex(_BOUNDARY_DIGITS // 2)
    return sha256(f"{seed}:{subject}".encode()).hexdigest()[:_BOUNDARY_DIGITS]


def framed(lines: str, word: str) -> str:
    """The lines between their markers."""
    return f"{BEGIN.format(word)}\n{lines}\n{END.format(word)}"


def frames(prompt: str) -> tuple[str, ...]:
    """What is between a beginning and the end of the same boundary, for each beginning."""
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
    """An object on one line, without anything that could be taken for part of the frame."""
    text = encode(fields).decode().rstrip("\n").replace("<", "\\u003c")
    text = _TEMPLATE_WORD.sub(r"\\u005b", text)
    return text if text.isprintable() else "".join(map(_printable, text))


def written(value: JsonValue) -> tuple[str, JsonValue]:
    """A value as JSON, and the value; what is no JSON is a text, as Python shows it."""
    try:
        return encode({"": value}).decode()[4:-2], value
    except (TypeError, ValueError, RecursionError):
        return repr(value), repr(value)


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
