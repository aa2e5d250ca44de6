"""`tunaeval score`: scores transcripts in files, with a reason for each category.

Files are JSON, JSON lines, sessions, logs or spans; each transcript in a file gets a score. With
`--json` all scores are in one object.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tunaeval import score
from tunaeval.data.adapters.documents import event_files, read_path
from tunaeval.errors import ExpectationError, UsageError
from tunaeval.files.packed_files import read_plain
from tunaeval.files.plain_files import is_directory, unread
from tunaeval.files.records import json_text
from tunaeval.scoring.settings import ScoreSettings
from tunaeval.showing import brief, counted, visible
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.conversations import Conversation
from tunaeval.types.json_text import decoded
from tunaeval.types.runs import ScoreResult

from .named_tools import read_tools
from .output import Output, print_listing

_SHOWN_EVIDENCE = 8
_SHOWN_QUERY = 100
_MISSED = 1
_REFUSED = 2
_FAILED_ITSELF = 3
_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".traj", ".eval"})
"""How files of transcripts end in a folder; a suffix for compression may follow."""


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 0; 1 if a goal was missed by a check, an expectation or a forbidden call, or nothing
    was done; 2 if a file of a folder was refused; 3 if a check or a category was not evaluated.
    """
    given = _given(arguments)
    reported: list[JsonObject] = []
    refused: list[JsonObject] = []
    codes = [0]

    def refuse(file: str, reason: str) -> None:
        refused.append({"file": file, "reason": reason})
        codes.append(_REFUSED)
        output.note(f"refused: {reason}")

    folders = [file for file in arguments.files if file != "-" and is_directory(file)]
    for file in arguments.files:
        for one in _files_in(file, refuse) if file in folders else [file]:
            try:
                for conversation, query, found in _scored(one, arguments, given):
                    reported.append(_record_of(one, conversation, query, found))
                    codes.append(_code(found, arguments))
                    if not arguments.json:
                        show = _print_line if file in folders else _print
                        show(_where(one, conversation), conversation, query, found, output)
            except UsageError as error:
                if file not in folders:
                    raise
                refuse(one, str(error))
    summary = _summary(reported, codes) if folders else {}
    if arguments.json:
        more = {"refused": refused, "summary": summary} if folders else {}
        output.result(json_text({"transcripts": reported, **more}))
    elif folders:
        output.result(", ".join(f"{key} {value}" for key, value in summary.items()))
    return max(codes)


def _files_in(folder: str, refuse: Callable[[str, str], None]) -> list[str]:
    """Return the files of transcripts in a folder and those below it; refuse each folder that
    cannot be searched. Raises UsageError if there are no files in those that can.
    """
    closed: list[OSError] = []
    found: list[str] = []
    for at, folders, names in os.walk(folder, onerror=closed.append):
        paths = [Path(at)] if event_files(at) else [Path(at) / name for name in names]
        found += [str(path) for path in paths if path.is_dir() or {*path.suffixes} & _SUFFIXES]
        folders[:] = [name for name in folders if name != "event_cache"]  # OpenHands' copies
    for error in closed:
        refuse(str(error.filename), f"{error.filename!r} cannot be searched: {error.strerror}")
    if not (found or closed):
        raise UsageError(f"{folder}: no file in it ends in {', '.join(sorted(_SUFFIXES))}")
    return sorted(found)


def _summary(reported: Sequence[JsonObject], codes: Sequence[int]) -> JsonObject:
    totals = [one["score"]["weighted_total"] for one in reported]
    known = [total for total in totals if total is not None]
    mean = {"mean total": round(sum(known) / len(known), 4)} if known else {}
    return {
        "transcripts": len(reported),
        "with a total": len(known),
        **mean,
        "goal missed": codes.count(_MISSED),
        "not judged": codes.count(_FAILED_ITSELF),
        "refused": codes.count(_REFUSED),
    }


def _where(file: str, conversation: Conversation) -> str:
    return ", ".join(filter(None, (file, conversation.name)))


def _scored(
    file: str, arguments: argparse.Namespace, given: dict[str, Any]
) -> Iterator[tuple[Conversation, str, ScoreResult]]:
    """Yield each transcript of a file with its query and score."""
    conversations = read_path(file, shape=arguments.shape)
    for one in conversations:
        try:
            query = arguments.query or one.since(max(0, arguments.start)).query or ""
            found = score(one, query, start=arguments.start, **given)
        except UsageError as error:
            raise UsageError(f"{_where(file, one)}: {error}") from error
        _refuse_idle(file, conversations)
        yield one, query, found


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of `tunaeval.score` that the arguments ask for."""
    given: dict[str, Any] = {"check_timeout": arguments.check_timeout}
    if arguments.preset is not None:
        given["preset"] = arguments.preset
    if arguments.check is not None:
        given["check"] = arguments.check
    if arguments.expect is not None:
        given["expect"] = _expectation(arguments.expect)
    if arguments.category:
        given["categories"] = arguments.category
    if arguments.forbid:
        given["forbid"] = [_forbidden(one) for one in arguments.forbid]
    if arguments.tools is not None:
        given["settings"] = ScoreSettings(tools=read_tools(arguments.tools))
    return given


def _expectation(text: str) -> JsonValue:
    """Read an expectation from JSON text or from a file of JSON."""
    source = "--expect"
    try:
        if not text.lstrip().startswith("{"):
            source = f"--expect {brief(text, 200)}"
            text = read_plain(text).decode("utf-8-sig")
        return decoded(text)
    except (OSError, ValueError) as error:
        wanted = (
            'wanted a JSON object such as {"calls": [{"name": "read_file"}]}, or a file that '
            "contains one"
        )
        why = unread(text, wanted, error) if isinstance(error, OSError) else f"{error}; {wanted}"
        raise ExpectationError(f"{source}: {why}") from error


def _forbidden(text: str) -> JsonValue:
    """Return a forbidden tool's name unchanged, or the call that a JSON object describes."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return decoded(text)
    except ValueError as error:
        raise UsageError(
            f"--forbid: {error}; wanted a tool's name, or a call such as "
            '{"name": "bash", "arguments": {"command": {"$regex": "rm -rf"}}}'
        ) from error


def _code(found: ScoreResult, arguments: argparse.Namespace) -> int:
    """Return the exit code for a score: 1 if an option decides that the goal was missed, or the
    total is 0 without one, since nothing was done.
    """
    if found.details.outcome not in {"scored", "undecided"}:
        return _FAILED_ITSELF
    decides = arguments.check is not None or arguments.expect is not None or arguments.forbid
    is_missed = found.goal_completion == 0 and (decides or found.weighted_total == 0)
    return _MISSED if is_missed else 0


def _refuse_idle(file: str, conversations: Sequence[Conversation]) -> None:
    """Raise UsageError for a file without any message of an agent, because its total of 0 would
    look like an agent's. A run that failed before the first message is accepted.
    """
    for one in conversations:
        if one.failure is not None or any(say.role == "assistant" for say in one.messages):
            return

    raise UsageError(
        f"{file}: it has no message of an assistant, so there is nothing to score; wanted "
        "the messages of a run, including those of the agent"
    )


def _record_of(file: str, conversation: Conversation, query: str, found: ScoreResult) -> JsonObject:
    return {
        "file": file,
        "name": conversation.name,
        "shape": conversation.shape,
        "messages": conversation.length,
        "query": query,
        "warnings": [notice._asdict() for notice in conversation.warnings],
        "score": found.model_dump(),
    }


def _print(
    where: str, conversation: Conversation, query: str, found: ScoreResult, output: Output
) -> None:
    output.result(
        f"{visible(where)}: {counted(conversation.length, 'message')}, {conversation.shape}"
    )
    output.result(f"query: {visible(query, _SHOWN_QUERY) or '(none)'}")
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


def _print_line(
    where: str, conversation: Conversation, query: str, found: ScoreResult, output: Output
) -> None:
    del query
    total = "-" if found.weighted_total is None else f"{found.weighted_total:.2f}"
    calls = counted(found.details.tool_calls, "call")
    warned = f", {counted(len(conversation.warnings), 'warning')}" * bool(conversation.warnings)
    output.result(f"{total:>4}  {visible(where)}: {conversation.shape}, {calls}{warned}")


def _places(evidence: tuple[int, ...]) -> str:
    """Return the indices of the messages that are evidence, as many as fit into a column."""
    more = len(evidence) - _SHOWN_EVIDENCE
    shown = " ".join(map(str, evidence[:_SHOWN_EVIDENCE]))
    return f"{shown} and {more} more" if more > 0 else shown
