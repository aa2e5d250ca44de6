"""How Acme's first model wrote a call, which no grammar says: read by plain code.

    !read_file filepath=a.txt

A line is a call: an exclamation mark, a name, and words that are a key and a text. A `Parser`
has a name and a method; that is all there is to it. It reads whole texts and cannot write any.
"""

from __future__ import annotations

from dataclasses import dataclass

from tunaeval.types import Diagnosis, Level, Outcome, ParseResult, Span, ToolCall, Tools


@dataclass(slots=True)
class LineParser:
    """Reads calls that are lines."""

    name: str = "acme-lines"
    summary: str = "a line of an exclamation mark, a name, and words like key=text"
    models: tuple[str, ...] = ("Acme 0",)

    def parse(
        self,
        text: str,
        *,
        tools: Tools | None = None,
        level: Level = "standard",  # noqa: ARG002 - nothing is ever repaired, so all are alike
    ) -> ParseResult:
        """All calls in order; a line that tries to be one and is none stays content."""
        calls: list[ToolCall] = []
        content: list[str] = []
        diagnoses: list[Diagnosis] = []
        at = 0
        for line in text.splitlines(keepends=True):
            span = Span(at, at + len(line.rstrip()))
            at += len(line)
            found = _call(line.rstrip(), span, tools) if line.startswith("!") else None
            if isinstance(found, ToolCall):
                calls.append(found)
                continue
            if isinstance(found, Diagnosis):
                diagnoses.append(found)
            content.append(line)
        outcome: Outcome = "calls" if calls else "malformed" if diagnoses else "no_call"
        return ParseResult(
            tuple(calls), "".join(content), diagnoses=tuple(diagnoses), outcome=outcome
        )


def _call(line: str, span: Span, tools: Tools | None) -> ToolCall | Diagnosis:
    """The call that a line is, or why it is none."""
    name, *words = line[1:].split(" ")
    if not name or (tools is not None and name not in tools):
        return Diagnosis("unknown-tool", f"{name[:60]!r} is no tool", span)
    pairs = [word.partition("=") for word in words if word]
    if not all(key and mark for key, mark, _ in pairs):
        return Diagnosis("invalid-arguments", "wanted words like key=text", span)
    arguments = {key: text for key, _, text in pairs}
    return ToolCall(name, arguments, format="acme-lines", span=span)


PARSER = LineParser()
