"""Words printed in the notation of `Format.of`, as far as it can express them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any

from tunaeval.grammar import WITH_COLONS, Literal, Many, Maybe, Name, Space, Word
from tunaeval.grammar.format import PLACEHOLDERS

_EXACT = re.compile(r"(\A[ \t\r\n]+|[ \t\r]*\n[ \t\r\n]*|[ \t\r\n]+\Z)")


class InexpressibleError(Exception):
    """The notation has no text for a row of words."""


def printed(words: Sequence[Word]) -> str:
    """The pattern that means these words; raises `InexpressibleError` if there is none."""
    pieces = [_printed(words, at) for at in range(len(words))]
    for one, other in pairwise(words):
        if isinstance(one, Space) and isinstance(other, Space):
            raise InexpressibleError(words)
    return "".join(pieces)


def _printed(words: Sequence[Word], at: int) -> str:
    word, before = words[at], words[at - 1] if at else None
    match word:
        case Literal(text, ()):
            split = "⟨|⟩" if isinstance(before, Literal) and not before.also else ""
            return split + _fixed(text)
        case Literal(text, also):
            return f"⟨{'¦'.join((text, *also))}⟩"
        case Space(text):
            after = words[at + 1] if at + 1 < len(words) else None
            plain = [isinstance(side, Literal) and not side.also for side in (before, after)]
            bare = "\n" in text if all(plain) else text and before and after
            return text if bare else f"⟨{text}⟩"
        case Many(inner) | Maybe(inner):
            kind = "each" if isinstance(word, Many) else "maybe"
            written = " written" if isinstance(word, Maybe) and word.written else ""
            return f"⟨{kind}{written}⟩{_inner(inner)}⟨/{kind}⟩"
    return _placeholder(word, words[at + 1 :])


def _inner(words: Sequence[Word]) -> str:
    """As in `printed`; white space at the ends touches the marks."""
    text = printed(words)
    if words and isinstance(words[0], Space) and words[0].text:
        text = words[0].text + text.removeprefix(f"⟨{words[0].text}⟩")
    if words and isinstance(words[-1], Space) and words[-1].text:
        text = text.removesuffix(f"⟨{words[-1].text}⟩") + words[-1].text
    return text


def _fixed(text: str) -> str:
    if not text or re.search("[⟨⟩¦]", text):
        raise InexpressibleError(text)
    return "".join(
        f"⟨={piece}⟩" if at % 2 and piece else piece for at, piece in enumerate(_EXACT.split(text))
    )


def _placeholder(word: Word, behind: Sequence[Word]) -> str:
    shown = []
    for kind, usual in PLACEHOLDERS.items():
        if type(usual) is not type(word):
            continue
        options = {
            field.name: (getattr(word, field.name), getattr(usual, field.name))
            for field in fields(word)
            if field.name != "opens" and getattr(word, field.name) != getattr(usual, field.name)
        }
        if isinstance(word, Name):
            _by_colon(word, behind, options)
        if not any(isinstance(one, bool) and not one for one, _ in options.values()):
            shown.append(
                " ".join((kind, *(_option(key, one) for key, (one, _) in options.items())))
            )
    if not shown:
        raise InexpressibleError(word)
    return f"⟨{min(shown, key=len)}⟩"


def _by_colon(word: Name, behind: Sequence[Word], options: dict[str, tuple[Any, Any]]) -> None:
    """Leave out the pattern that a name has before a colon."""
    first = behind[0] if behind else None
    first = first.words[0] if isinstance(first, Many | Maybe) and first.words else first
    texts = first.spellings if isinstance(first, Literal) else ()
    if ":" in word.after or any(text.startswith(":") for text in texts):
        if word.pattern == WITH_COLONS:
            raise InexpressibleError(word)
        if word.pattern == Name().pattern:
            options.pop("pattern", None)


def _option(key: str, value: object) -> str:
    if value is True:
        return key
    text = ",".join(value) if isinstance(value, tuple) else str(value)
    if "`" in text or re.search("[⟨⟩¦]", text):
        raise InexpressibleError(text)
    if isinstance(value, tuple) and tuple(text.split(",")) != value:
        raise InexpressibleError(text)
    return f"{key}=`{text}`" if not text or re.search(r"\s", text) else f"{key}={text}"
