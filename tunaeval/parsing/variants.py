"""The tags around a value as models miswrite them: in capitals, with other signs, shortened.

Or without the prefix that all tags of the format have. Such a text may as well be a tag of other
markup, where closers have openers. So only one that has lost the other is a sign: a closer in front
of another tag or at the value's end, or an opener with all that belongs to it.

Where a stretch of text is lost, a closer may go on as an opener: `</paramrameter=key>`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tunaeval.grammar import Format, Literal, Many, Maybe, Value, Word
from tunaeval.limits import SHORTENED_NAME, SHORTEST_NAME, SHORTEST_TAIL, WIDEST_GAP

from .patterns import row

_RUNS = re.compile(r"([A-Za-z0-9]++)")
_SIGNS = r"[^a-z0-9/\n]{0,3}+"
_SEAM = r"[^\w\s<]{0,4}+\s{0,40}+"
_END = "(?![a-z0-9])"
_LINE = r"[^\w\s<]?[ \t]{0,40}+(?=\n|\Z)"
"""The rest of an opener without its key that is a line of its own."""


class _Parts(NamedTuple):
    """What a closer's text is made of: what all closers of the format share is around the name."""

    prefix: str
    name: str
    suffix: str


class Variants:
    """What may be in a value instead of the tags around it; compiled for the first that is near."""

    __slots__ = ("_form", "_glued", "_many", "_seeds", "_tags", "_tail")

    def __init__(self, form: Format, many: Many) -> None:
        self._form, self._many = form, many
        self._seeds = _seeds(form, many)
        self._tail, glued = _glued(form, many)
        self._glued = re.compile(glued).search
        self._tags: re.Pattern[str] | None = None

    def inside(self, text: str, *, closed: bool) -> bool:
        """Whether the text holds one that has lost the other.

        In a text that is not `closed` itself, any opener without a closer is a sign.
        """
        if self._tail and self._tail in text and self._glued(text):
            return True
        lowered = text.lower() if self._seeds else ""
        if not lowered or any(seed not in lowered for seed in self._seeds):
            return False
        if self._tags is None:
            self._tags = re.compile(_pattern(self._form, self._many), re.IGNORECASE)
        openers: list[bool] = []
        for found in self._tags.finditer(text):
            if found["closer"] is None:
                openers.append(not closed or _is_whole(found) or _alone(found))
            elif openers:
                openers.pop()
            elif found["seam"] is not None:
                return True
        return any(openers)


def _is_whole(found: re.Match[str]) -> bool:
    """Whether it has its key: inside, or in a tag before it."""
    start = found.start()
    before = found.string[max(0, start - WIDEST_GAP) : start].rstrip()
    return found["whole"] is not None and (found["key"] is not None or before[-1:] == ">")


def _alone(found: re.Match[str]) -> bool:
    """Whether it is a line of its own behind others."""
    return found["line"] is not None and found.string[found.start() - 1 : found.start()] == "\n"


def _seeds(form: Format, many: Many) -> tuple[str, ...]:
    """What all of them have; nothing if the tags around the value have no word of their own."""
    closer = _closer(many)
    words = [word[:SHORTENED_NAME].lower() for word in _RUNS.findall(_parts(form, closer).name)]
    longest = max(words, key=len, default="")
    if len(longest) < SHORTEST_NAME:
        return ()
    return (*words,) if _has_slash(closer) else (longest,)


def _value_at(many: Many) -> int:
    return next((at for at, word in enumerate(many.words) if isinstance(word, Value)), -1)


def _closer(many: Many) -> str:
    word = many.words[_value_at(many) + 1]
    return word.text if isinstance(word, Literal) else ""


def _parts(form: Format, closer: str) -> _Parts:
    """A closer's text without its first character, and a slash behind that."""
    if not _has_slash(closer):
        return _Parts("", _bare(closer[1:]), "")
    others = {_bare(text[2:]) for text in _texts(form.words) if text[:2] == closer[:2]}
    name, prefix, suffix = _bare(closer[2:]), "", ""
    if len(others) > 1:
        prefix = _shared(others)
        suffix = _shared({text[::-1] for text in others})[::-1]
    return _Parts(prefix, name[len(prefix) : len(name) - len(suffix)], suffix)


def _has_slash(closer: str) -> bool:
    return closer[1:2] == "/"


def _bare(text: str) -> str:
    """Up to its last letter."""
    ends = [found.end() for found in _RUNS.finditer(text)]
    return text[: ends[-1]] if ends else ""


def _shared(texts: set[str]) -> str:
    """What all texts begin with, up to its last sign that is no letter."""
    first, last = min(texts), max(texts)
    same = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return re.sub(r"[A-Za-z0-9]{0,99}\Z", "", first[:same])


def _texts(words: Sequence[Word]) -> list[str]:
    found = []
    for word in words:
        if isinstance(word, Literal):
            found.append(word.text)
        elif isinstance(word, Maybe | Many):
            found += _texts(word.words)
    return found


def _pattern(form: Format, many: Many) -> str:
    """Closers, perhaps in front of a seam, and openers, perhaps with all that belongs to them."""
    closer = _closer(many)
    first, parts = re.escape(closer[0]), _parts(form, closer)
    named = f"{_loose(parts.name, shortened=True)}(?:{_loose(parts.suffix)})?+{_END}"
    slash = f"{_SIGNS}/" if _has_slash(closer) else ""
    before = f"(?:{_loose(parts.prefix)})?+" if parts.prefix else ""
    closes = f"{slash}{before}{_SIGNS}{named}(?P<seam>{_SEAM}(?={first}|\\Z))?"
    opens = _opens(many, closer, parts, named)
    return f"{first}(?:(?P<closer>{closes})|{opens})"


def _opens(many: Many, closer: str, parts: _Parts, named: str) -> str:
    """Openers; where tags share a prefix, only one that has it may be whole."""
    known = parts.name if _has_slash(closer) else ""
    opener, args = _opener(many, closer, known)
    if not opener:
        return "(?P<whole>(?!))(?P<key>)(?P<line>)"
    if not known:
        return f"{_SIGNS}{_loose(_bare(opener[1:]))}{_END}(?P<whole>(?P<key>))(?P<line>(?!))?"
    rest = _rest(opener, parts)
    own = f"(?P<own>{_loose(parts.prefix)})?+" if parts.prefix else "(?P<own>)"
    key = "(?P<key>(?!))?" if args == "" else "(?P<key>)"
    whole = "(?!)" if args is None else f"(?(own)|(?!)){re.escape(rest)}{args}{key}"
    return f"{own}{_SIGNS}{named}(?:(?P<whole>{whole})|(?P<line>{_LINE}))?"


def _opener(many: Many, closer: str, known: str) -> tuple[str, str | None]:
    """The last tag in front of the value with this name, and the pattern of what is behind it."""
    words = many.words[: _value_at(many)]
    texts = [word.text if isinstance(word, Literal) else "" for word in words]
    places = [at for at, text in enumerate(texts) if text[:1] == closer[0] and known in text]
    return (texts[places[-1]], row(words[places[-1] + 1 :])) if places else ("", None)


def _rest(opener: str, parts: _Parts) -> str:
    """What is behind the opener's name."""
    return opener[opener.index(parts.name) + len(parts.name) :].removeprefix(parts.suffix)


def _glued(form: Format, many: Many) -> tuple[str, str]:
    """The end of an opener with its key, and the pattern of one that begins as a closer does."""
    closer = _closer(many)
    parts = _parts(form, closer)
    opener, args = _opener(many, closer, parts.name)
    if not (_has_slash(closer) and parts.name and opener and args):
        return "", "(?!)"
    tail = parts.name[-SHORTEST_TAIL:] + _rest(opener, parts)
    begins = rf"{re.escape(closer[:2])}[^<>\s/]{{0,40}}?"
    return tail, f"{begins}{re.escape(tail)}{args}"


def _loose(text: str, *, shortened: bool = False) -> str:
    """The same letters with other signs between them; `shortened`: of the last word the first."""
    runs = _RUNS.split(text)
    for at, run in enumerate(runs):
        if at % 2 == 0 and run:
            runs[at] = f"{_SIGNS}/{_SIGNS}" if "/" in run else _SIGNS
    if shortened and len(runs) > 1 and len(runs[-2]) >= SHORTENED_NAME:
        runs[-2] = f"{runs[-2][:SHORTENED_NAME]}[a-z]{{0,8}}+"
    return "".join(runs)
