"""The reader of the ordinary shape: which texts it walks through, and which it leaves alone."""

from __future__ import annotations

from collections.abc import Callable

from tunaeval.types import ParseResult, ToolCall, Tools

from ..collect import MAX_CALLS, MAX_TEXT
from ..finder import Finder, Token
from .made import result_of
from .passage import Action, Chooser, Passage, action_of, chooser_of
from .promise import ENGINE
from .rows import behind_space
from .whole import OrdinaryReader, whole_reader

_LONG = 512
"""From so many characters on it pays to look first whether there is anything to be found."""

_FEW = 16
"""So many fixed texts are searched one after the other faster than all at once."""


def ordinary_reader(finder: Finder) -> OrdinaryReader:
    """The reader of the ordinary shape for the formats of `finder`."""
    begin, go_through, absent = _beginner(finder), _walker(finder), _absent(finder)

    def read(text: str, tools: Tools | None) -> ParseResult | None:
        size = len(text)
        if size > MAX_TEXT:
            return None
        calls: list[ToolCall] = []
        start = begin(text, tools, calls)
        if start < 0 or len(calls) > MAX_CALLS:
            return None
        if start == size and calls:
            return result_of(tuple(calls), "", None)
        passage = Passage(text, tools, calls, start)
        if start or size < _LONG or not absent(text):
            return passage.result(finder) if go_through(passage) else None
        return passage.result(finder)

    return whole_reader(finder, read)


def _beginner(finder: Finder) -> Callable[[str, Tools | None, list[ToolCall]], int]:
    """Reads the blocks that a text begins with, and the markers around them.

    Returns where they end; what follows is left to the passage, which knows everything. So is what
    announces calls when none follow.
    """
    match = finder.search.match
    choosers: dict[str, tuple[Chooser | None, bool]] = {}

    def begin(text: str, tools: Tools | None, calls: list[ToolCall]) -> int:
        at, size, announced = 0, len(text), ENGINE
        while 0 <= at < size and not (at and text[at - 1] == "`"):
            hit = match(text, at) or match(text, behind_space(text, at))
            if hit is None:
                break
            found, body = hit.group(), hit.end()
            if found not in choosers:
                token = finder.token(hit)
                choosers[found] = _chooser(token), token.announces
            choose, announces = choosers[found]
            if choose is None:
                break
            reader = choose(text, body)
            count = len(calls)
            end = reader(text, hit.start(), body, tools, calls) if reader else body
            if reader and len(calls) == count and end >= 0:
                break
            announced = at if announces and not reader else ENGINE
            at = end
        return at if announced < 0 else announced

    return begin


def _chooser(token: Token) -> Chooser | None:
    """Who reads what begins with the token, if it announces calls or stands around them."""
    if token.kind == "open" and all(form.marked for form in token.formats):
        return chooser_of(token)
    return _nobody if token.kind == "around" else None


def _nobody(_text: str, _at: int) -> None:
    """What stands around calls is passed over."""


def _walker(finder: Finder) -> Callable[[Passage], bool]:
    """Goes from hit to hit; false if only the engine can tell what one is."""
    actions: dict[str | int, Action] = {}

    def go_through(passage: Passage) -> bool:
        text = passage.text
        search = finder.search_of(text).search
        while passage.at < len(text):
            hit = search(text, passage.at)
            if hit is None:
                return True
            act = actions.get(hit.group())
            if act is None:
                token = finder.token(hit)
                # A bare object begins in many ways, as there may be white space in it.
                key = token.text or id(token)
                act = actions.get(key) or action_of(token)
                actions[key] = act
            if not act(passage, hit.start(), hit.end()):
                return False
        return True

    return go_through


def _absent(finder: Finder) -> Callable[[str], bool]:
    """Whether nothing that is looked for stands in a text; told at once for a few fixed texts."""
    texts = tuple(finder.tokens)
    if len(texts) > _FEW or any(form.opener is None for form in finder.formats):
        return lambda _: False

    def absent(text: str) -> bool:
        return not any(each in text for each in texts)

    return absent
