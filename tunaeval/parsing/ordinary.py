"""The ordinary shape of every format at once: sound blocks, and nothing unusual anywhere.

Made from the same words as the engine reads, when first used. It answers only where it can be sure
that the engine would say the same in every field, with any tools and at every level; else it
answers None, and the engine reads the text from its start.
"""

from __future__ import annotations

from collections.abc import Callable

from tunaeval.types import ParseResult, ToolCall, Tools

from .collect import MAX_TEXT
from .finder import Finder, Token
from .ordinary_blocks import block_reader
from .ordinary_made import result_of
from .ordinary_passage import Action, Chooser, Passage, action_of, chooser_of
from .ordinary_promise import BlockReader
from .ordinary_whole import OrdinaryReader, whole_reader

__all__ = ["OrdinaryReader", "ordinary_reader"]

_LONG = 512
"""From so many characters on it pays to look first whether there is anything to be found."""

_FEW = 16
"""So many fixed texts are searched one after the other faster than all at once."""


def ordinary_reader(finder: Finder) -> OrdinaryReader:
    """The reader of the ordinary shape for the formats of `finder`."""
    usual, usual_reader = _usual(finder)
    size, begin, go_through, absent = (
        len(usual),
        _beginner(finder),
        _walker(finder),
        _absent(finder),
    )

    def read(text: str, tools: Tools | None) -> ParseResult | None:
        if len(text) > MAX_TEXT:
            return None
        calls: list[ToolCall] = []
        start = 0
        if usual_reader is None:
            start = begin(text, tools, calls)
        elif text.startswith(usual):
            start = usual_reader(text, 0, size, tools, calls)
        if start == len(text) and calls:
            return result_of(tuple(calls), "", None)
        if start < 0:
            return None
        passage = Passage(text, tools, calls, start)
        if not start and len(text) >= _LONG and absent(text):
            return passage.result(finder)
        return passage.result(finder) if go_through(passage) else None

    return whole_reader(finder, read)


def _usual(finder: Finder) -> tuple[str, BlockReader | None]:
    """The one opener of a single format, and its reader; nothing for a set of formats."""
    form = finder.formats[0]
    opener = form.opener
    if len(finder.formats) > 1 or opener is None or not form.marked:
        return "", None
    token = finder.tokens[opener.text]
    alone = token.formats == (form,) and not token.around
    return (opener.text, block_reader(form)) if alone else ("", None)


def _beginner(finder: Finder) -> Callable[[str, Tools | None, list[ToolCall]], int]:
    """Reads a block that the text begins with: where it ends, 0 if there is none of the kind."""
    match = finder.search.match
    choosers: dict[str, Chooser | None] = {}

    def begin(text: str, tools: Tools | None, calls: list[ToolCall]) -> int:
        hit = match(text)
        if hit is None:
            return 0
        found, body = hit.group(), hit.end()
        if found not in choosers:
            choosers[found] = _chooser(finder.token(hit))
        choose = choosers[found]
        reader = choose(text, body) if choose else None
        return reader(text, 0, body, tools, calls) if reader else 0

    return begin


def _chooser(token: Token) -> Chooser | None:
    """Who reads what begins with the token, if it announces a call."""
    announces = all(form.marked for form in token.formats)
    return chooser_of(token) if token.kind == "open" and announces else None


def _walker(finder: Finder) -> Callable[[Passage], bool]:
    """Goes from hit to hit; false if only the engine can tell what one is."""
    search = finder.search.search
    actions: dict[str | int, Action] = {}

    def go_through(passage: Passage) -> bool:
        text = passage.text
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
