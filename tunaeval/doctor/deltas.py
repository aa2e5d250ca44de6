"""Faults in the text and roles of a stream's deltas that do not depend on the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tunaeval.types.calls import JsonObject

_LONG = 10
"""The least length in characters at which a repeated text is not a coincidence."""
_QUOTED = 60  # characters of a text in a message


def delta_faults(deltas: Sequence[JsonObject]) -> Iterator[tuple[str, str]]:
    """Yield a role other than the assistant's, and a last delta that repeats all text before it."""
    roles = [role for delta in deltas if (role := delta.get("role")) not in (None, "", "assistant")]
    if roles:
        yield "role-other", f"a delta's role is {roles[0]!r}, not 'assistant'"
    texts = [text for delta in deltas if isinstance(text := delta.get("content"), str) and text]
    before, last = texts[:-1], "".join(texts[-1:])
    if len(before) > 1 and len(last) >= _LONG and last.strip() == "".join(before).strip():
        yield "text-again", f"the last delta repeats the whole text: {last[:_QUOTED]!r}"
