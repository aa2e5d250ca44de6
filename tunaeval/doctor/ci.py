"""An examination for CI servers: JUnit's XML, and annotations of GitHub Actions.

Each check is a test case. A fault of the server fails it, unless it is known; a check that was not
tested is skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import XMLGenerator

from tunaeval.reports.ci import SHOWN, command, element, local_time
from tunaeval.reports.files import new_file, write_text
from tunaeval.reports.json import json_text
from tunaeval.showing import visible

from .examination import INCOMPLETE, UNTESTED, Examination
from .report import end_words, markdown, title
from .values import ServerFinding

_LONG = 2000  # characters of the longest text: CI servers keep all reports


def _write_junit(found: Examination, path: Path) -> None:
    undecided = found.exit in (UNTESTED, INCOMPLETE)
    tags = [_tag(found, finding) for finding in found.findings]
    counts = {
        "tests": len(found.passed) + len(tags) + undecided,
        "failures": tags.count("failure"),
        "errors": int(undecided),
        "skipped": tags.count("skipped"),
    }
    more = {"timestamp": when} if (when := local_time(found.started_at)) else {}
    with new_file(path) as made, made.open("wb") as file:
        xml = XMLGenerator(file, encoding="utf-8", short_empty_elements=True)
        xml.startDocument()
        with (
            element(xml, "testsuites", name="tunaeval doctor"),
            element(
                xml, "testsuite", name=visible(title(found), _LONG), time=f"{found.seconds:.3f}",
                **{name: str(count) for name, count in counts.items()}, **more,
            ),
        ):  # fmt: skip
            for group, name in found.passed:
                _case(xml, group, name)
            for finding, tag in zip(found.findings, tags, strict=True):
                _case(xml, finding.group, finding.id, tag, finding)
            if undecided:
                with (
                    element(xml, "testcase", classname="answers", name="the whole examination"),
                    element(xml, "error", message=visible(end_words(found), _LONG), type="failed"),
                ):
                    xml.characters(visible(found.stopped or "", _LONG))
        xml.endDocument()


def _tag(found: Examination, finding: ServerFinding) -> str:
    """Return the element of a finding's test case; "" for a case that passes with a remark."""
    if finding.verdict == "server":
        return "failure" if found.is_new(finding) else "skipped"
    return "skipped" if finding.verdict == "not tested" else ""


def _case(
    xml: XMLGenerator, group: str, name: str, tag: str = "", finding: ServerFinding | None = None
) -> None:
    words = visible(str(finding.evidence["summary"]), _LONG) if finding else ""
    with element(xml, "testcase", classname=group, name=visible(name, _LONG)):
        if tag == "skipped":
            with element(xml, tag, message=words):
                pass
        elif finding and tag:
            with element(xml, tag, message=words, type=str(finding.evidence.get("fault") or tag)):
                raw = finding.evidence.get("raw")
                lines = ([f"raw: {raw}"] if raw else []) + [f"remedy: {finding.remedy}"]
                xml.characters("\n".join(visible(line, _LONG) for line in lines))
        elif finding:
            with element(xml, "system-out"):
                xml.characters(f"{finding.verdict}: {words}")


def _write_annotations(found: Examination, path: Path) -> None:
    """Write a notice, and an error for each new fault of the server."""
    faults = [one for one in found.findings if one.verdict == "server" and found.is_new(one)]
    lines = [command("notice", title(found), end_words(found))]
    lines += [
        command("error", one.id, f"{one.evidence['summary']}; {one.remedy}")
        for one in faults[: SHOWN - 1]
    ]
    if len(faults) >= SHOWN:
        lines.append(command("error", title(found), f"and {len(faults) - SHOWN + 1} more faults"))
    write_text(path, "".join(f"{line}\n" for line in lines))


WRITERS: dict[str, Callable[[Examination, Path], None]] = {
    "github": _write_annotations,
    "json": lambda found, path: write_text(path, json_text(found.as_json()) + "\n"),
    "junit": _write_junit,
    "markdown": lambda found, path: write_text(path, markdown(found)),
}
"""How an examination is written, by the names that writers have in `tunaeval run`."""
