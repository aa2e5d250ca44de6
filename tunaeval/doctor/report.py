"""An examination for people: on a console by group, or as Markdown for an issue report.

Text that a server or a model wrote is escaped first, and never interpreted as markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from shutil import get_terminal_size
from textwrap import wrap
from typing import TextIO

from tunaeval.reports.markdown import code
from tunaeval.showing import counted, visible
from tunaeval.types.calls import JsonObject

from .checks import GROUPS
from .examination import FINE, INCOMPLETE, SAME, SERVER_FAULT, UNTESTED, Examination
from .news import News
from .values import ServerFinding, Verdict

_WIDTH = 160  # columns where the output is not a terminal
_NARROWEST = 24  # columns; on a narrower terminal, lines are still this wide
_SET_IN = 11
"""The column at which the text of a finding's line begins, after its label."""
_VERDICTS: tuple[Verdict, ...] = ("pass", "server", "model", "not tested", "note")
_ENDS = {
    FINE: "nothing is wrong with the server's tool calling",
    SERVER_FAULT: "the server is at fault",
    UNTESTED: "tool calling could not be tested",
    INCOMPLETE: "too little could be judged for a verdict",
}
_SHAKY = "no fault of tool calling was seen, though the server failed now and then"


def _failures(found: Examination) -> Iterator[str]:
    """Yield how many answers failed, what could not be judged for it, and what was asked again."""
    if found.failures:
        checks = ", ".join(f"{name} ({count})" for name, count in found.failed.items())
        needed = f"; needed by {checks}" if found.exit != UNTESTED else ""
        yield f"{found.failures} of {counted(found.answers, 'answer')} failed{needed}"
    if found.retries:
        yield f"{counted(found.retries, 'request')} failed and had to be sent again"
    if found.limited:
        yield f"{counted(found.limited, 'request')} met a rate limit and had to be sent again"


def title(found: Examination) -> str:
    """Return what was examined."""
    return f"tunaeval doctor: {found.server['name']}, model {found.server['model']}"


def end_words(found: Examination) -> str:
    """Return the result; an examination in which the server failed is never called all right."""
    undecided = sum("undecided" in one.evidence for one in found.findings)
    if found.news is None and found.exit == FINE and (found.failures or found.retries):
        return _SHAKY
    if found.news is None and found.exit == FINE and undecided:
        checks = counted(undecided, "check")
        return f"no fault could be shown; in {checks} it could not be decided"
    if found.news is None:
        return _ENDS[found.exit]
    words = news_words(found.news)
    return f"{_ENDS[found.exit]}; {words}" if found.undecided else words


def news_words(found: News) -> str:
    """Return how many faults are new, known and cured."""
    new = counted(len(found.new), "new fault")
    return f"{new}, {len(found.known)} known, {len(found.cured)} cured"


def show_examination(found: Examination, stream: TextIO) -> None:
    """Print the table of groups, then the findings; on a terminal, wrapped to its width."""
    if not stream.isatty():
        stream.write("\n".join(_console(found, _WIDTH)) + "\n")
        return
    width = max(_NARROWEST, get_terminal_size().columns - 1)
    lines = [part for line in _console(found, width) for part in _wrapped(line, width)]
    stream.write("\n".join(lines) + "\n")


def markdown(found: Examination) -> str:
    """Return the examination as Markdown for an issue report."""
    return "\n".join(_markdown(found)) + "\n"


def news_lines(found: News) -> Iterator[str]:
    """Yield a line for each fault that is new, cured, or was known and not judged this time."""
    for word, ids in (("new", found.new), ("cured", found.cured), ("not judged", found.unjudged)):
        yield from (f"{word}: {id_}" for id_ in ids)


def _wrapped(line: str, width: int) -> list[str]:
    """Split a line to fit the width and indent the later parts; lines of carets are cut instead."""
    if len(line) <= width or not line.strip(" ^"):
        return [line[:width]]
    inner = _SET_IN if line.startswith("  ") else 2
    return wrap(line, width, subsequent_indent=" " * inner, drop_whitespace=True)


def _console(found: Examination, width: int) -> Iterator[str]:
    yield from (visible(line) for line in _heading(found))
    yield ""
    nothing = found.stopped and found.exit == UNTESTED  # the heading says why
    yield from () if nothing else _as_table(found, width)
    shown: set[str] = set()
    short: dict[str, list[str]] = {}
    for finding in () if nothing else found.findings:
        known = finding.verdict == "server" and not found.is_new(finding)
        again = finding.remedy in shown or finding.verdict == "not tested" or known
        if again or SAME in finding.evidence:
            words = f"{'KNOWN  ' * known}{finding.verdict.upper()}  {_words_of(finding)}"
            short.setdefault(words, []).append(f"{finding.group} / {visible(finding.id)}")
        else:
            shown.add(finding.remedy)
            yield from _full(finding, width)
    yield from (f"{words}: {', '.join(where)}" for words, where in short.items())
    yield ""
    yield from _rates(found)
    yield from (visible(line) for line in (news_lines(found.news) if found.news else ()))
    yield f"{counted(found.requests, 'request')}; {end_words(found)} (exit {found.exit})"


def _words_of(finding: ServerFinding) -> str:
    """Return what findings have in common that are shown in one line."""
    same, summary = finding.evidence.get(SAME), str(finding.evidence["summary"])
    return f"the same fault as {same}" if same else visible(summary, _WIDTH)


def _as_table(found: Examination, width: int) -> Iterator[str]:
    """Yield the verdicts by group: as columns, or as text if columns do not fit."""
    if width < _SET_IN + 12 * len(_VERDICTS):
        for group, counts in _table(found):
            phrase = ", ".join(
                f"{counts[verdict]} {verdict}" for verdict in _VERDICTS if counts[verdict]
            )
            yield f"{group}: {phrase}"
        return
    yield f"{'':12}" + "".join(f"{verdict:>12}" for verdict in _VERDICTS)
    for group, counts in _table(found):
        cells = "".join(f"{counts[verdict] or '':>12}" for verdict in _VERDICTS)
        yield f"{group:12}{cells}".rstrip()


def _full(finding: ServerFinding, width: int) -> Iterator[str]:
    yield ""
    yield f"{finding.verdict.upper()}  {finding.group} / {visible(finding.check)}"
    yield f"  {visible(str(finding.evidence['summary']), 2 * _WIDTH)}"
    for label, text, place in _lines(finding, width - _SET_IN - 1):
        yield f"  {label:8} {text}"
        if place is not None:
            yield f"  {'':8} {place}"
    if finding.remedy:
        yield f"  remedy   {visible(finding.remedy)}"
    yield ""


def _heading(found: Examination) -> Iterator[str]:
    server = found.server
    version = f" {server['version']}" if server["version"] else ""
    other = server["answers_as"] not in (None, server["model"])
    named = f" (it answers as {server['answers_as']})" if other else ""
    yield f"{server['name']}{version} at {server['base_url']}, model {server['model']}{named}"
    yield f"recognised by: {server['sign']}"
    parser = f", parser {server['parser']}" if server["parser"] else ""
    fmt = server["format"] or "unknown"
    yield f"raw text of {server['raw_text']}; the model's format: {fmt}{parser}"
    if found.stopped:
        yield f"stopped: {found.stopped}"
    yield from _failures(found)


def _table(found: Examination) -> Iterator[tuple[str, Counter[Verdict]]]:
    others = [finding.group for finding in found.findings]
    for group in dict.fromkeys([*GROUPS, *(one for one, _ in found.passed), *others]):
        checks = {one.check: one.verdict for one in found.findings if one.group == group}
        counts = Counter(checks.values())
        counts["pass"] = sum(one == group for one, _ in found.passed)
        if counts.total():
            yield group, counts


def _lines(finding: ServerFinding, width: int = _WIDTH) -> Iterator[tuple[str, str, str | None]]:
    """Yield label, text and, for the raw text, a line of carets below the spans of its calls."""
    evidence = finding.evidence
    if finding.id != finding.check:
        yield "id", finding.id, None
    if "ask" in evidence:
        yield "asked", f"{evidence['ask']}, {evidence['mode']}", None
    raw, reads = evidence.get("raw"), evidence.get("reads")
    if isinstance(raw, str):
        spans = [call["span"] for call in reads["calls"] if call["span"]] if reads else []
        yield "raw", *_marked(raw, spans, width)
    if "api" in evidence:
        yield "API", visible(_api_words(evidence["api"]), _WIDTH), None
    if reads:
        calls = [f"{call['name']} {call['arguments']}" for call in reads["calls"]]
        codes = f" ({', '.join(reads['diagnoses'])})" if reads["diagnoses"] else ""
        yield "reads", visible("; ".join(calls) or f"{reads['outcome']}{codes}", _WIDTH), None


def _api_words(api: JsonObject) -> str:
    calls = [f"{call['name']} {call['arguments'] or repr('')}" for call in api["tool_calls"]]
    phrase = f"content {api['content']!r}" if api["content"] else "no content"
    return f"{'; '.join(calls) or 'no call'}; {phrase}; finish reason {api['finish_reason']}"


def _marked(raw: str, spans: list[list[int]], width: int) -> tuple[str, str | None]:
    """Return the raw text on one line and the carets below its spans, aligned with the escapes."""
    text, marks = "", ""
    for place, character in enumerate(raw):
        shown = visible(character)
        text += shown
        inside = any(start <= place < end for start, end in spans)
        marks += ("^" if inside else " ") * len(shown)
        if len(text) >= width:
            text += "…"
            break
    return text, marks.rstrip() or None


def _rates(found: Examination) -> Iterator[str]:
    for name, rate in found.rates.items():
        if rate.value is not None and rate.low is not None and rate.high is not None:
            yield (
                f"{name}: {rate.passed} of {rate.total} "
                f"(95 % interval {100 * rate.low:.0f} to {100 * rate.high:.0f} %)"
            )


def _markdown(found: Examination) -> Iterator[str]:
    yield f"# Tool calling of {code(str(found.server['name']))}: {end_words(found)}"
    yield ""
    yield from (f"- {code(line)}" for line in _heading(found))
    yield f"- {counted(found.requests, 'request')}"
    yield from (f"- {code(line)}" for line in (news_lines(found.news) if found.news else ()))
    yield ""
    yield f"| group | {' | '.join(_VERDICTS)} |"
    yield "|---|" + "---:|" * len(_VERDICTS)
    for group, counts in _table(found):
        yield f"| {group} | {' | '.join(str(counts[v] or '') for v in _VERDICTS)} |"
    for finding in found.findings:
        yield from _section(finding)
    yield ""
    yield from (f"- {line}" for line in _rates(found))


def _section(finding: ServerFinding) -> Iterator[str]:
    yield ""
    yield f"## {finding.verdict}: {finding.group} / {code(finding.check)}"
    yield ""
    yield code(str(finding.evidence["summary"]))
    yield ""
    for label, text, _ in _lines(finding):
        yield f"- {label}: {code(text)}"
    if finding.remedy:
        yield f"- remedy: {code(finding.remedy, 1000)}"
