"""JSON, sound and damaged."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from tunaeval.testing.strategies import json_values
from tunaeval.types.calls import JsonValue

FRAGMENTS = (
    "{", "}", "[", "]", '"', "'", ":", ",", "\\", '\\"', "\\u00e9", "\\ud83d", "a", "name",
    '"k": ', "1", "-", ".5", "e3", "true", "None", "NaN", "/*", "*/", "//", "#", "\n", " ", "“",
    "”", "=", "é",
)  # fmt: skip


def containers() -> st.SearchStrategy[JsonValue]:
    """Objects and arrays: what stands at the top of a call."""
    inner = json_values()
    return st.dictionaries(st.text(max_size=6), inner, max_size=4) | st.lists(inner, max_size=4)


def written() -> st.SearchStrategy[str]:
    """Sound JSON, written in several ways."""
    return st.builds(
        lambda value, ascii_only, indent: json.dumps(value, ensure_ascii=ascii_only, indent=indent),
        containers(),
        st.booleans(),
        st.sampled_from([None, 0, 2, "\t"]),
    )


@st.composite
def damaged_json(draw: st.DrawFn) -> str:
    """Sound JSON with some of it deleted, replaced or cut off."""
    text = draw(written())
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        piece = draw(st.sampled_from(["", *FRAGMENTS]))
        text = text[:at] + piece + text[at + draw(st.integers(0, 2)) :]
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text
