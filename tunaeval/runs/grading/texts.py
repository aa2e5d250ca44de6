"""Compare a text with a wish, and say what it lacks."""

from __future__ import annotations

from collections.abc import Iterator

from tunaeval.matching.calls import match
from tunaeval.types.calls import ToolCall
from tunaeval.types.tasks import TextWish


def text_faults(text: str, wish: TextWish) -> Iterator[str]:
    """Yield what is wrong with the text, in words."""
    seen = text.casefold() if wish.ignore_case else text

    def has(part: str) -> bool:
        return (part.casefold() if wish.ignore_case else part) in seen

    if wish.equals is not None:
        wanted = wish.equals.casefold() if wish.ignore_case else wish.equals
        if seen != wanted:
            yield f"is {_shown(text)}, wanted {_shown(wish.equals)}"
    yield from (f"does not contain {_shown(part)}" for part in wish.contains if not has(part))
    yield from (f"contains {_shown(part)}" for part in wish.lacks if has(part))
    if wish.any_of and not any(map(has, wish.any_of)):
        yield f"contains none of {', '.join(map(_shown, wish.any_of))}"
    if wish.fits is not None:
        expect = {"calls": [{"name": "text", "arguments": {"text": wish.fits}}]}
        if not match(expect, [ToolCall("text", {"text": text})]):
            yield f"is {_shown(text)}, wanted what fits {wish.fits!r:.80}"


def says_nothing(wish: TextWish) -> bool:
    """Whether the wish fits any text."""
    given = (wish.equals, wish.contains or None, wish.lacks or None, wish.any_of or None, wish.fits)
    return all(one is None for one in given)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
