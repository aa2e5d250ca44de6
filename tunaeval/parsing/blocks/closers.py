"""The closers of a block, where one of them is missing: a repair of the call before it."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence

from tunaeval.grammar import Format, Literal, Name, Space, Word
from tunaeval.limits import WIDE_SPACE
from tunaeval.repair import QUOTES
from tunaeval.window import Window

from .ledger import Ledger
from .steps import bounded, literal, stands

_SPACE = re.compile(WIDE_SPACE)


def missing(word: Word, window: Window, ledger: Ledger, *, behind_object: bool) -> None:
    """A closer is not here. Behind an object, more of what is in one may be."""
    wanted = word.text if isinstance(word, Literal) else repr(word)
    char = window.text[window.pos : window.pos + 1]
    where = "other text follows" if char else "the text ends"
    ledger.repair("unclosed", f"{where} before {wanted!r}")
    if char and behind_object and char in f",{{{QUOTES}":
        ledger.repair("early-closer", "more arguments follow their closer", "lenient")
    left = len(window.text) - window.pos if window.final else 0
    near = isinstance(word, Literal) and 0 < left <= len(word.text)
    if near and wanted.startswith(window.text[window.pos :]):
        window.pos = len(window.text)


def closers(words: Sequence[Word], window: Window) -> Generator[None, None, bool]:
    """Read the closers behind a missing one, as far as they are here; whether the last one is."""
    closed = False
    for word in words:
        if not isinstance(word, Literal):
            continue
        start = window.offset
        yield from bounded(window, _SPACE)
        closed = yield from literal(window, word.spellings)
        if not closed:
            window.pos = start - window.base
            break
    return closed


def another(form: Format, window: Window) -> Generator[None, None, bool]:
    """Whether another call follows in a block that was not closed, by what is before its name.

    That is in the name's word, or a fixed text of its own behind the opener.
    """
    before = next((word.before for word in form.words if isinstance(word, Name)), "")
    inner = next((word for word in form.words[1:] if not isinstance(word, Space)), None)
    texts = inner.spellings if isinstance(inner, Literal) else (before,) if before else ()
    return bool(form.opener) and (yield from stands(window, texts))
