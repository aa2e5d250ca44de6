"""`tunaeval score`: transcripts in files, scored, each with why.

Files are JSON, JSON lines, sessions, logs or spans; what holds several transcripts gives as many
scores. With `--json` there is one object for all.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .listing import add_json, print_listing
from .output import Output

if TYPE_CHECKING:
    # At run time they are imported when there is something to score, not for --help.
    from tunaeval.types import Conversation, JsonObject
    from tunaeval.types.runs import ScoreResult

_SHOWN_EVIDENCE = 8
_SHOWN_QUERY = 100
_STDIN = "-"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="transcripts in JSON or JSON lines; -: stdin"
    )
    parser.add_argument("--shape", metavar="NAME", help="whose messages they are (as they look)")
    parser.add_argument("--query", help="what was asked (what the first user says)")
    parser.add_argument("--preset", help="the categories and their weights (that of the library)")
    parser.add_argument(
        "--start",
        type=int,
        default=0,
        metavar="INDEX",
        help="the message at which the task begins (0)",
    )
    add_json(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    from tunaeval import score  # noqa: PLC0415 - pydantic, not for --help
    from tunaeval.errors import UsageError  # noqa: PLC0415 - as above
    from tunaeval.reports import json_text  # noqa: PLC0415 - as above

    preset = {} if arguments.preset is None else {"preset": arguments.preset}
    told: list[JsonObject] = []
    for file in arguments.files:
        for conversation in _conversations(file, arguments.shape):
            where = ", ".join(filter(None, (file, conversation.name)))
            try:
                asked = arguments.query or conversation.since(max(0, arguments.start)).query or ""
                found = score(conversation, asked, start=arguments.start, **preset)
            except UsageError as error:
                raise UsageError(f"{where}: {error}") from error
            told.append(_object(file, conversation, asked, found))
            if not arguments.json:
                _tell(where, conversation, asked, found, output)
    if arguments.json:
        output.result(json_text({"transcripts": told}))
    return 0


def _conversations(file: str, shape: str | None) -> tuple[Conversation, ...]:
    from tunaeval.adapters import read_file  # noqa: PLC0415 - as in `run`
    from tunaeval.errors import UsageError  # noqa: PLC0415 - as in `run`

    try:
        data = sys.stdin.buffer.read() if file == _STDIN else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{file!r} cannot be read: {why}; wanted a file, or - for stdin"
        ) from error
    return read_file(data, file=file, shape=shape)


def _object(file: str, conversation: Conversation, asked: str, found: ScoreResult) -> JsonObject:
    return {
        "file": file,
        "name": conversation.name,
        "shape": conversation.shape,
        "messages": conversation.length,
        "query": asked,
        "warnings": [notice._asdict() for notice in conversation.warnings],
        "score": found.model_dump(),
    }


def _tell(
    where: str, conversation: Conversation, asked: str, found: ScoreResult, output: Output
) -> None:
    from tunaeval.reports import visible  # noqa: PLC0415 - as in `run`

    output.result(f"{visible(where)}: {conversation.length} messages, {conversation.shape}")
    output.result(f"query: {visible(asked, _SHOWN_QUERY) or '(none)'}")
    output.result(f"{found.preset}: {visible(found.details.reasoning)}")
    print_listing(
        output,
        "categories",
        [
            {
                "category": name,
                "value": "-" if category.value is None else f"{category.value:.2f}",
                "weight": f"{category.weight:.2f}",
                "evidence": _places(category.evidence),
                "reason": category.reason,
            }
            for name, category in found.categories.items()
        ],
        ("category", "value", "weight", "evidence", "reason"),
        as_json=False,
    )
    for notice in conversation.warnings:
        place = "" if notice.source is None else f", message {notice.source}"
        output.result(f"warning: {visible(notice.message)} ({notice.code}{place})")


def _places(evidence: tuple[int, ...]) -> str:
    """The messages that a verdict rests on, as far as they fit into a column."""
    more = len(evidence) - _SHOWN_EVIDENCE
    shown = " ".join(map(str, evidence[:_SHOWN_EVIDENCE]))
    return f"{shown} and {more} more" if more > 0 else shown
