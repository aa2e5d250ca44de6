"""`tunaeval doctor`: does a server call tools correctly, and if not, whose fault is it?"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from pathlib import Path

from tunaeval.doctor.ci import WRITERS
from tunaeval.doctor.examination import FINE, INCOMPLETE, UNTESTED, Examination, examine
from tunaeval.doctor.news import known_findings, news, read_report, too_little
from tunaeval.doctor.recorded import decoder, pairs_in, replay
from tunaeval.doctor.report import markdown, news_lines, news_words, show_examination
from tunaeval.doctor.runner import DoctorSettings
from tunaeval.doctor.values import ServerAnswer
from tunaeval.errors import RecordError, UsageError
from tunaeval.files.new_files import try_to_write
from tunaeval.files.records import json_text, replace_document
from tunaeval.reports.markdown import code
from tunaeval.types.calls import JsonObject

from .clients import reached_by
from .output import Output
from .report import asked_for, by_suffix

_UNDECIDED = (UNTESTED, INCOMPLETE)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 2 if nothing could be examined, else 3 if too much failed, else 1 for a fault of the
    server that is not known, else 0.
    """
    match arguments.words:
        case ["compare", old, new]:
            return _compared(old, new, arguments, output)
        case [] | ["replay", _]:
            pass
        case words:
            raise UsageError(
                f"found {' '.join(words)!r:.80}; wanted --base-url URL, compare OLD NEW, or "
                "replay FILE"
            )
    written = list(_writers(arguments))
    known = read_report(arguments.known) if arguments.known else None
    if arguments.write_known:
        try_to_write(Path(arguments.write_known))
    found = _replayed(arguments) if arguments.words else _examined(arguments, output)
    if known is not None:
        found = found.against(known)
    if arguments.write_known:
        found = _kept(found, known, Path(arguments.write_known), output)
    _print(found, arguments, output)
    code = found.exit
    for path, name in written:
        try:
            WRITERS[name](found, path)
        except RecordError as error:
            output.note(f"tunaeval: {error}; the report is not written")
            code = UNTESTED
    return code


def _writers(arguments: argparse.Namespace) -> Iterator[tuple[Path, str]]:
    """Yield the path of each report, and the name of its writer. Raises UsageError."""
    for file in arguments.report:
        if (name := arguments.writer or by_suffix(file)) not in WRITERS:
            raise UsageError(
                f"the doctor's report {file!r} cannot be written as {name}; wanted a name that "
                f"ends in .xml, .md or .json, or one of --writer {', '.join(WRITERS)}"
            )
    for asked in asked_for(arguments.report, arguments.writer):
        yield asked.path, asked.writer.name


def _examined(arguments: argparse.Namespace, output: Output) -> Examination:
    def report(answer: ServerAnswer) -> None:
        output.note(f"tunaeval: {answer.ask.key}: {answer.status or answer.failure}")

    if arguments.base_url is None:
        raise UsageError("name the server to examine: --base-url http://127.0.0.1:8000/v1")
    settings = DoctorSettings(
        **{one.name: getattr(arguments, one.name) for one in fields(DoctorSettings)}
    )
    network, key_variables = reached_by(arguments)
    return asyncio.run(
        examine(
            arguments.base_url,
            settings,
            only=arguments.only,
            skip=arguments.skip,
            network=network,
            key_variables=key_variables,
            on_answer=None if arguments.quiet else report,
        )
    )


def _replayed(arguments: argparse.Namespace) -> Examination:
    decode = decoder(Path(arguments.tokenizer)) if arguments.tokenizer else None
    return replay(pairs_in(Path(arguments.words[1])), decode=decode)


def _kept(found: Examination, known: JsonObject | None, path: Path, output: Output) -> Examination:
    """Write the file of known faults, unless too little was examined; the exit code is then 0."""
    if found.undecided:
        output.note(f"tunaeval: {str(path)!r} is not written, as too little could be judged")
        return found
    faults = known_findings(found.as_json(), known)
    replace_document(path, faults)
    return replace(found, exit=FINE) if known is not None else found.against(faults)


def _print(found: Examination, arguments: argparse.Namespace, output: Output) -> None:
    if arguments.json:
        output.result(json_text(found.as_json()))
    elif arguments.markdown:
        output.result(markdown(found).rstrip("\n"))
    else:
        output.draw(lambda stream: show_examination(found, stream))


def _compared(old: str, new: str, arguments: argparse.Namespace, output: Output) -> int:
    """Print what the report `new` has that `old` lacks; return 1 if that is anything. If too little
    was examined for `new`, return its own exit code.
    """
    before, now = read_report(old), read_report(new)
    found = news(before, now)
    if arguments.json:
        output.result(json_text(asdict(found)))
    else:
        for line in (*news_lines(found), news_words(found)):
            output.result(f"- {code(line)}" if arguments.markdown else line)
    ended = INCOMPLETE if too_little(found, now) else now.get("exit")
    if ended in _UNDECIDED:
        output.note(f"tunaeval: for {new!r} too little could be judged (exit code {ended})")
        return int(ended)
    return int(bool(found.new))
