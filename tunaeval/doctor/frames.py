"""Read a streamed body by the rules of server-sent events, and report what breaks them.

The standard (https://html.spec.whatwg.org/multipage/server-sent-events.html) allows a byte order
mark at the start, CR, LF or CRLF, comments and unknown fields. Faults are bytes that are not UTF-8,
lines that are not fields, data that is not JSON, and an end without `[DONE]`.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from tunaeval.types.calls import JsonObject

DONE = "[DONE]"
_FIELDS = ("data", "event", "id", "retry")
_LINE_END = re.compile(r"\r\n|\n|\r")
_QUOTED = 80  # characters of a line in a message


class Frames(NamedTuple):
    """The JSON objects of a stream in order, and its faults as (code, message)."""

    objects: list[JsonObject]
    faults: list[tuple[str, str]]


def read_frames(body: bytes) -> Frames:
    """Return the frames of a body. Never raises: what cannot be read is reported as a fault."""
    faults: list[tuple[str, str]] = []
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = body.decode("utf-8-sig", "replace")
        faults.append(("frame-utf8", f"byte {error.start} is no UTF-8"))
    objects: list[JsonObject] = []
    done = False
    for data in _events(text, faults):
        if data.strip() == DONE:
            done = True
        elif done:
            faults.append(("frame-after-done", f"after [DONE] there is {data[:_QUOTED]!r}"))
        else:
            _take(data, objects, faults)
    if not done:
        faults.append(("frame-no-done", "the stream ends without [DONE]"))
    return Frames(objects, faults)


def _events(text: str, faults: list[tuple[str, str]]) -> list[str]:
    """Return the data of each event, including a last one that no blank line terminates."""
    found: list[str] = []
    data: list[str] = []
    for line in (*_LINE_END.split(text), ""):
        if not line:
            if data:
                found.append("\n".join(data))
            data = []
            continue
        name, colon, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif name and not (colon and name in _FIELDS):
            faults.append(("frame-line", f"a line is no field of an event: {line[:_QUOTED]!r}"))
    return found


def _take(data: str, objects: list[JsonObject], faults: list[tuple[str, str]]) -> None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        faults.append(("frame-json", f"an event's data are no JSON: {data[:_QUOTED]!r}"))
        return
    if not isinstance(found, dict):
        faults.append(("frame-json", f"an event's data are no object: {data[:_QUOTED]!r}"))
        return
    if not isinstance(found.get("choices"), list) and "error" not in found:
        faults.append(("frame-choices", f"a frame has no list 'choices': {data[:_QUOTED]!r}"))
    objects.append(found)
