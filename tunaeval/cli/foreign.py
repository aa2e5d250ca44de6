"""Rows of public data sets for `tunaeval convert` whose calls are in no text and no message.

They are read by `tunaeval.data` and written as OpenAI-style messages, with their calls as
`tool_calls`, or as text in a wire format.
"""

from __future__ import annotations

from tunaeval.data.convert import Route, Unconvertible, convert_row
from tunaeval.data.rows import Fault, Raw, as_openai
from tunaeval.data.shapes import read_row, shape_of
from tunaeval.types.calls import JsonObject, JsonValue

_ALWAYS = frozenset({"llama-factory", "xlam", "toolace", "glaive", "when2call"})
_AS_MESSAGES = frozenset({"sharegpt"})
"""Shapes whose texts are converted in place, but that have no field for structured calls."""


def convert_foreign(row: JsonObject, route: Route) -> JsonValue | Unconvertible | None:
    """Return the row as messages, or why it cannot be; None if it is converted in its own shape."""
    shape = shape_of(row)
    structured = route.target is None
    if shape not in _ALWAYS and not (shape in _AS_MESSAGES and structured):
        return None
    read = read_row(Raw(row))
    if isinstance(read, Fault):
        return Unconvertible(read.reason)
    lost = [note for _, note in read.notes if note.code not in _KEPT]
    if lost:
        return Unconvertible(f"{shape}: {lost[0].code}: {lost[0].message}")
    if not any(message.tool_calls for message in read.messages):
        return row
    made = as_openai(read)
    if structured:
        return made
    into_text = Route(None, route.target, route.tools, route.level)
    return convert_row(made, into_text)


_KEPT = frozenset({
    "quoted", "lone-surrogate", "nul", "duplicate-key", "missing-argument", "wrong-type",
    "unknown-argument", "undeclared-argument", "not-allowed", "unresolved-ref", "unclosed-fence",
    "trailing-ellipsis",
})  # fmt: skip
"""Codes of notes that do not mean a loss."""
