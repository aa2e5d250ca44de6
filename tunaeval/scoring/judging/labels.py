"""Read transcripts with people's labels, with which a judge is compared, from JSON lines.

    {"id": "...", "query": "...", "messages": [...], "label": {"goal-completion": true, ...}}

A label is true, false, or a share from 0 to 1; `notes` may say why. Errors name the file, the line,
the field, what was found and what was wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeAlias

from tunaeval.errors import RecordError, UsageError
from tunaeval.files import records
from tunaeval.files.plain_files import read_plain
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.messages import Message
from tunaeval.types.roles import Transcript

from .calibration import LabelsInfo
from .rubrics import RUBRICS

ReadMessages: TypeAlias = Callable[[Iterable[object]], tuple[Message, ...]]
"""Converts messages of any shape; passed in because adapters are in a higher layer."""

_FIELDS = frozenset({"id", "query", "messages", "label"})
_NOTES = "notes"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A transcript, and the share that people gave it by category."""

    id: str
    transcript: Transcript
    label: dict[str, float]


class Labels(NamedTuple):
    """The contents of a file of labels."""

    items: tuple[Labelled, ...]
    info: LabelsInfo


def read_labels(path: Path, read_messages: ReadMessages) -> Labels:
    """Return a file's labels. Raises UsageError for an invalid label, RecordError for no file."""
    try:
        text = read_plain(path)
    except OSError as error:
        raise RecordError(f"cannot read {str(path)!r}: {error.strerror}; check the path") from error
    items: dict[str, Labelled] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            place = _Place(path, number)
            item = _labelled(_fields(line, place), place, read_messages)
            if item.id in items:
                place.refuse("id", item.id, "an id that no other line has")
            items[item.id] = item
    if not items:
        raise UsageError(f"{path}: no line has a transcript; wanted at least one")
    info = LabelsInfo(file=path.name, sha256=sha256(text).hexdigest(), transcripts=len(items))
    return Labels(tuple(items.values()), info)


class _Place(NamedTuple):
    path: Path
    line: int

    def refuse(self, field: str, found: JsonValue, wanted: str) -> NoReturn:
        where = f"{self.path}, line {self.line}" + (f", {field}" if field else "")
        raise UsageError(f"{where}: found {found!r:.80}, wanted {wanted}")


def _fields(line: bytes, place: _Place) -> JsonObject:
    try:
        fields = records.decode(line)
    except (ValueError, RecursionError):
        place.refuse("", line[:60], "a JSON object on one line")
    for name in sorted(_FIELDS - set(fields)):
        place.refuse(name, None, "this field")
    for name in sorted(set(fields) - _FIELDS - {_NOTES}):
        place.refuse(
            name, fields[name], f"no other fields than {', '.join(sorted(_FIELDS))}, notes"
        )
    return fields


def _labelled(fields: JsonObject, place: _Place, read_messages: ReadMessages) -> Labelled:
    for name in ("id", "query"):
        if not isinstance(fields[name], str) or not fields[name]:
            place.refuse(name, fields[name], "a text that is not empty")
    if not isinstance(fields["messages"], list):
        place.refuse("messages", fields["messages"], "a list of messages")
    try:
        messages = read_messages(fields["messages"])
    except UsageError as error:
        raise UsageError(f"{place.path}, line {place.line}: {error}") from None
    return Labelled(
        fields["id"], Transcript(fields["query"], messages), _label(fields["label"], place)
    )


def _label(label: JsonValue, place: _Place) -> dict[str, float]:
    if not isinstance(label, dict) or not label:
        place.refuse("label", label, "an object from category to true, false or a share")
    for name, value in label.items():
        if name not in RUBRICS:
            place.refuse(f"label.{name}", name, f"one of {', '.join(RUBRICS)}")
        if not isinstance(value, bool | int | float) or not 0 <= value <= 1:
            place.refuse(f"label.{name}", value, "true, false, or a number from 0 to 1")
    return {name: float(value) for name, value in label.items()}
