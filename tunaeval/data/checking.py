"""What is wrong with rows: each finding with its code, its place and its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import orjson

from tunaeval.parsing.repair.schema import fits
from tunaeval.showing import brief, counted
from tunaeval.types.calls import ToolCall
from tunaeval.types.messages import Message
from tunaeval.types.runs import Suite

from .rows import Fault, Row

FINDINGS: Mapping[str, str] = {
    "unreadable-row": "the row cannot be read",
    "unknown-tool": "a call of a tool that the row does not list",
    "misfit": "a call whose arguments do not fit the tool's schema",
    "broken-beside-good": "a call that cannot be read, in a message with one that can",
    "broken-call": "a call that cannot be read, and no other beside it",
    "repaired-call": "a call that was read only after a repair",
    "unanswered-call": "a call without a result, although the conversation goes on",
    "stray-result": "a result of no call of the message before it",
    "duplicate-row": "the same conversation as an earlier row",
    "contaminated": "a question that a suite asks, word for word",
}
"""Every code of a finding, and what it means."""

_HARMLESS = frozenset({"quoted", "lone-surrogate", "nul", "unclosed-fence", "trailing-ellipsis"})
_OF_THE_SCHEMA = frozenset({
    "missing-argument", "wrong-type", "unknown-argument", "undeclared-argument", "not-allowed",
    "unresolved-ref",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a row: `message` is the index of its message, if it is one's."""

    code: str
    reason: str
    message: int | None = None


@dataclass(slots=True)
class Checker:
    """Looks at rows in order, and remembers them for duplicates: some 100 bytes for each row."""

    questions: frozenset[str] = frozenset()
    _seen: dict[bytes, int] = field(default_factory=dict)

    @classmethod
    def against(cls, suites: Iterable[Suite]) -> Checker:
        """One that also looks for the questions of these suites."""
        return cls(frozenset(plain(one.prompt) for suite in suites for one in suite.scenarios))

    def check(self, row: Row | Fault) -> tuple[Finding, ...]:
        """All that is wrong with the row."""
        if isinstance(row, Fault):
            return (Finding("unreadable-row", row.reason),)
        return (*_calls(row), *_answers(row), *self._repeated(row), *self._known(row))

    def _repeated(self, row: Row) -> Iterator[Finding]:
        first = self._seen.setdefault(_digest(row), row.number)
        if first != row.number:
            yield Finding("duplicate-row", f"the same as row {first}")

    def _known(self, row: Row) -> Iterator[Finding]:
        for index, message in enumerate(row.messages):
            if message.role == "user" and plain(message.content) in self.questions:
                yield Finding(
                    "contaminated", f"{brief(message.content)} is asked by a suite", index
                )


def plain(text: str) -> str:
    """A question without what nobody would ask it differently for: case and white space."""
    return " ".join(text.split()).casefold()


@dataclass(slots=True)
class Report:
    """What a data set came to: rows, those with findings, and how many have each."""

    rows: int = 0
    faulty: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """Of each code the first few rows, with the reason."""

    def add(self, row: Row | Fault, findings: Sequence[Finding], most: int = 3) -> None:
        """Count one row."""
        self.rows += 1
        self.faulty += bool(findings)
        self.shapes[row.shape if isinstance(row, Row) else "unreadable"] += 1
        self.counts.update({finding.code for finding in findings})
        for finding in findings:
            shown = self.examples.setdefault(finding.code, [])
            if len(shown) < most:
                shown.append((row.number, finding.reason))


def check_rows(rows: Iterable[Row | Fault], *, suites: Iterable[Suite] = ()) -> Report:
    """What is wrong with a data set, counted by rows.

    Examples:
        >>> from tunaeval.data import read_rows
        >>> check_rows(read_rows([{"a": 1}])).counts["unreadable-row"]
        1
    """
    checker, report = Checker.against(suites), Report()
    for row in rows:
        report.add(row, checker.check(row))
    return report


# --- calls ---------------------------------------------------------------------------------------


def _calls(row: Row) -> Iterator[Finding]:
    for index, message in enumerate(row.messages):
        for call in message.tool_calls:
            yield from _call(row, call, index)
    for index, note in row.notes:
        if note.code in _HARMLESS or note.code in _OF_THE_SCHEMA:
            continue
        calls = row.messages[index].tool_calls
        if note.span and any(call.span == note.span for call in calls):
            continue
        if note.code == "unknown-tool":
            yield Finding("unknown-tool", note.message, index)
        code = "broken-beside-good" if calls else "broken-call"
        if note.code != "unknown-tool" or calls:
            yield Finding(code, f"{note.code}: {note.message}", index)


def _call(row: Row, call: ToolCall, index: int) -> Iterator[Finding]:
    if call.repairs:
        codes = ", ".join(sorted({repair.code for repair in call.repairs}))
        yield Finding("repaired-call", f"{call.name}: {codes}", index)
    if row.tools is None:
        return
    if call.name not in row.tools:
        names = ", ".join([*row.tools][:8])
        yield Finding("unknown-tool", f"{brief(call.name)} is none of: {names}", index)
    elif not fits(call.name, call.arguments, row.tools):
        said = [note.message for at, note in row.notes if at == index]
        why = f": {said[0]}" if said else ": its arguments do not fit the schema"
        yield Finding("misfit", f"{call.name}{why}", index)


def _answers(row: Row) -> Iterator[Finding]:
    """Calls without results, but for those of the last message; and results without calls.

    Behind calls that cannot be read, nobody knows whose results they are.
    """
    messages, odd, at = row.messages, {index for index, _ in row.notes}, 0
    while at < len(messages):
        calls = messages[at].tool_calls
        first = at if messages[at].is_result else at + 1
        end = first
        while end < len(messages) and messages[end].is_result:
            end += 1
        results = messages[first:end]
        open_, stray = _unpaired(calls, results, goes_on=end < len(messages))
        if open_ and first < len(messages):
            yield Finding("unanswered-call", f"{counted(open_, 'call')} without a result", at)
        for index in () if at in odd else stray:
            yield Finding("stray-result", "a result of no call before it", first + index)
        at = max(end, at + 1)


def _unpaired(
    calls: Sequence[ToolCall], results: Sequence[Message], *, goes_on: bool
) -> tuple[int, Sequence[int]]:
    """How many calls have no result, and which results are of none: by ids where all have them."""
    if calls and all(call.id for call in calls) and all(one.tool_call_id for one in results):
        waiting = Counter(call.id for call in calls)
        stray = []
        for index, result in enumerate(results):
            if not waiting[result.tool_call_id]:
                stray.append(index)
            waiting[result.tool_call_id] -= waiting[result.tool_call_id] > 0
        return waiting.total(), stray
    if len(results) == 1 and calls and goes_on and _joined(results[0]):
        return 0, ()
    return max(len(calls) - len(results), 0), range(len(calls), len(results))


def _joined(result: Message) -> bool:
    """Whether one result may be that of several calls: a list, as ToolACE and APIGen have it."""
    return result.tool_call_id is None and result.content.lstrip()[:1] in {"[", "{"}


def _digest(row: Row) -> bytes:
    said = [
        [one.role, one.content, [[call.name, call.arguments] for call in one.tool_calls]]
        for one in row.messages
    ]
    tools = sorted(row.tools or ())
    try:
        text = orjson.dumps([said, tools], option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a lone surrogate, or an integer beyond 64 bits
        text = repr([said, tools]).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).digest()
