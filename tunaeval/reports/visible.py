"""Text that a model wrote, made fit for a terminal or a page: all of it seen, none of it obeyed."""

from __future__ import annotations


def visible(text: str, limit: int | None = None) -> str:
    r"""`text` on one line, with everything unprintable written as an escape (\n, \x1b, \u202e).

    That takes in control characters, ANSI sequences, bidirectional marks, line separators,
    zero-width characters and lone surrogates. So is a colon that would begin a command to GitHub's
    runner (`::error::`), which obeys such lines of a log. Past `limit` characters the rest is an
    ellipsis; what is far beyond the limit is not looked at.
    """
    cut = limit is not None and len(text) > limit
    if limit is not None:
        text = text[: limit + 1]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _escaped(c) for c in text)
    if text.lstrip(" ").startswith("::"):
        text = text.replace(":", r"\x3a", 1)
    if limit is not None and (cut or len(text) > limit):
        text = f"{text[: max(limit - 1, 0)]}…"
    return text


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
