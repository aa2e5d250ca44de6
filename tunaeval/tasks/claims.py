"""Find what an answer claims: a phrase that is said, and not denied, asked, conditional, or quoted.

Code and quotations are taken out first. Then a phrase is looked for in any case and with any white
space, and the words around it, up to the end of its clause or sentence, say what it means there.
This reads English; a phrase in another language is claimed wherever it is outside of quotations.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

_APART = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(code|pre|q|blockquote)\b.*?(?:</\1>|\Z)"
    r"|``[^`\n]*+``|`[^`\n]*+`|^[ \t]*+>[^\n]*+"
    r'|"(?:[^"\n]|\n(?!\s*\n))*+"|“[^”]*+(?:”|\Z)|„[^“”]*+[“”]|«[^»]*+»'
    r"|(?<!\w)'(?!\s)(?:[^'\n]|(?<=\w)'(?=\w))*+'(?!\w)",
    re.DOTALL | re.MULTILINE,
)
"""Code, and quotations in all their marks; an apostrophe within a word opens none."""
_TAKEN_OUT = " \ufffc "
_SENTENCE = re.compile(r"[.!?…]++(?=[\s)\]*_]|\Z)|\n\s*\n|\n\s*(?:[-*•+]|\d+[.)])\s|\n#+\s")
_PART = re.compile(
    r"[;:—–]|\s-\s|,\s*(?:(?:and|so|then|but)\s+)?(?:i|we|it|they|you|he|she|all|do|let|please)\b"
    r"|\b(?:but|however|although|though|nevertheless)\b|\band\s+(?:i|we|then)\b"
)
"""What begins a clause that a denial before it does not reach."""
_DENIED = re.compile(
    r"(?:\b(?:not|never|no|none|nothing|nobody|neither|nor|without|cannot|unable|hardly|barely"
    r"|(?:fail|refus|declin)(?:e|ed|s|es|ing)?\s+to|rather\s+than|instead\s+of|yet\s+to)\b|n't\b)"
    r"(?!\s+(?:only|just|merely|(?:any\s+|a\s+)?(?:problems?|trouble|issues?|errors?|doubt)\b))"
)
_DENIED_AFTER = re.compile(
    r"\W*(?:(?:is|are|was|were|has|have|had|did|does|do|could|can|will|would)\s*)?(?:not|n't|never)\b"
)
_OPEN = re.compile(
    r"\b(?:if|unless|whether|would|could|should|might|may|assuming|provided|suppose|until|once"
    r"|in\s+case|as\s+soon\s+as)\b"
)
_OPEN_AT_FIRST = re.compile(
    r"\W*(?:(?:and|but|so|then|even)\s+)?(?:if|unless|should|once|suppose)\b"
)
_OPEN_AFTER = re.compile(r"\W*(?:(?:only|but)\s+)?(?:if|unless|once|provided|assuming|in\s+case)\b")


def claimed(answer: str, phrases: Iterable[str]) -> str | None:
    """Return the first of the phrases that the answer claims, or None."""
    text = _APART.sub(_TAKEN_OUT, answer.replace("\u2019", "'")).casefold()
    sentences = [*_sentences(text)]
    for phrase in phrases:
        words = phrase.replace("\u2019", "'").casefold().split()
        found = re.compile(r"(?<!\w)" + r"[\s*_]+".join(map(re.escape, words)) + r"(?!\w)")
        if any(_is_claim(sentence, found) for sentence in sentences):
            return phrase
    return None


def _sentences(text: str) -> Iterator[str]:
    """Yield each sentence with the sign that ends it."""
    begin = 0
    for end in _SENTENCE.finditer(text):
        yield text[begin : end.end()]
        begin = end.end()
    yield text[begin:]


_CLAUSE = 500
"""How many characters before and behind a phrase may say what it means."""


def _is_claim(sentence: str, phrase: re.Pattern[str]) -> bool:
    found = [*phrase.finditer(sentence)]
    if not found or _OPEN_AT_FIRST.match(sentence):
        return False
    breaks = [0, *(one.start() for one in _PART.finditer(sentence)), len(sentence)]
    is_question = "?" in sentence[-3:]
    for one in found:
        begin = max(breaks[bisect_right(breaks, one.start()) - 1], one.start() - _CLAUSE)
        end = breaks[bisect_left(breaks, one.end())]
        before, after = (
            sentence[begin : one.start()],
            sentence[one.end() : min(end, one.end() + _CLAUSE)],
        )
        is_asked = is_question and end == len(sentence)
        is_denied = _DENIED.search(before) or _DENIED_AFTER.match(after)
        if not (is_asked or is_denied or _OPEN.search(before) or _OPEN_AFTER.match(after)):
            return True
    return False
