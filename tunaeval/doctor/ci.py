"""An examination for CI servers: JUnit's XML, and annotations of GitHub Actions.

Each check is a test case. A fault of the server fails it, unless it is known; a check that was not
tested is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tunaeval.files.new_files import write_text
from tunaeval.files.records import json_text
from tunaeval.reports.ci import SHOWN, Case, CaseSuite, command, write_suites
from tunaeval.showing import visible

from .examination import Examination
from .report import end_words, markdown, title


def _write_junit(found: Examination, path: Path) -> None:
    write_suites(path, [CaseSuite(title(found), found.started_at, lambda: _cases(found))])


def _cases(found: Examination) -> Iterator[Case]:
    for group, name in found.passed:
        yield Case(group, name)
    for one in found.findings:
        tag = "skipped" if one.verdict in ("server", "not tested") else ""
        if one.verdict == "server" and found.is_new(one):
            tag = "failure"
        text = visible(f"raw: {one.evidence.get('raw')}\nremedy: {one.remedy}", _LONG)
        yield Case(one.group, one.id, 0.0, tag, str(one.evidence["summary"]), one.verdict, text)
    if found.undecided:  # nothing that failed may look green
        words = found.stopped or end_words(found)
        yield Case("answers", "the whole examination", 0.0, "error", words, "not tested")


_LONG = 2000  # characters of the raw text and the remedy


def _write_annotations(found: Examination, path: Path) -> None:
    """Write a notice, and an error for each new fault of the server."""
    faults = [one for one in found.findings if one.verdict == "server" and found.is_new(one)]
    lines = [command("notice", title(found), end_words(found))]
    lines += [
        command("error", one.id, f"{one.evidence['summary']}; {one.remedy}")
        for one in faults[: SHOWN - 1]
    ]
    if len(faults) >= SHOWN:  # the last one counts the rest
        lines.append(command("error", title(found), f"and {len(faults) - SHOWN + 1} more"))
    write_text(path, "".join(f"{line}\n" for line in lines))


WRITERS: dict[str, Callable[[Examination, Path], None]] = {
    "github": _write_annotations,
    "json": lambda found, path: write_text(path, json_text(found.as_json()) + "\n"),
    "junit": _write_junit,
    "markdown": lambda found, path: write_text(path, markdown(found)),
}
"""How an examination is written, by the names that writers have in `tunaeval run`."""
