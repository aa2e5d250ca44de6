"""The defects of the loopback server: what each is, which check names it, and what its remedy says.

Without raw text fewer can be blamed on the server: `blind` says which check does so all the same.
"""

from __future__ import annotations

from typing import NamedTuple


class Defect(NamedTuple):
    """One way to be wrong. `checks` are all that report it; the first is the one it is for."""

    name: str
    checks: tuple[str, ...]
    remedy: str
    blind: str | None = None


DEFECTS = (
    Defect("no-flags", ("tools-accepted",), "--enable-auto-tool-choice", "tools-accepted"),
    Defect("no-parser", ("calls-as-written",), "--tool-call-parser hermes", "calls-as-written"),
    Defect("tools-dropped", ("tools-in-prompt",), "--chat-template FILE", "tools-in-prompt"),
    Defect("results-dropped", ("results-in-prompt",), "--chat-template", "results-in-prompt"),
    Defect("past-calls-dropped", ("arguments-in-prompt",), "template", "arguments-in-prompt"),
    Defect("context-cut", ("many-tools-in-prompt",), "--max-model-len", "many-tools-in-prompt"),
    Defect("closer-ends-a-call", ("value-closers",), "newer version", "value-closers"),
    Defect("second-call-lost", ("two-calls",), "--tool-call-parser hermes"),
    Defect("answer-empty", ("calls-as-written",), "parser tunaeval", "calls-as-written"),
    Defect("inner-name-called", ("value-keys",), "newer version"),
    Defect("all-values-strings", ("typed-values",), "newer version"),
    Defect("blanks-stripped", ("typed-values",), "newer version"),
    Defect("reasoning-in-content", ("reasoning-apart",), "--reasoning-parser", "reasoning-apart"),
    Defect("finish-stop", ("finish-reason",), "finish reason", "finish-reason"),
    Defect("dashes-become-underscores", ("name-dashes",), "newer version"),
    Defect("cut-looks-complete", ("cut-call",), "max_tokens", "cut-call"),
    Defect("cut-says-tool-calls", ("cut-call",), "max_tokens", "cut-call"),
    Defect("cut-says-stop", ("cut-call",), "max_tokens"),
    Defect("none-leaves-markup", ("choice-none",), "leave `tools` out", "choice-none"),
    Defect("none-still-calls", ("choice-none",), "tool_choice", "choice-none"),
    Defect("required-ignored", ("choice-required",), "tool_choice as auto", "choice-required"),
    Defect("named-ignored", ("choice-named",), "tool_choice as auto", "choice-named"),
    Defect("parallel-ignored", ("one-at-a-time",), "keep the first call", "one-at-a-time"),
    Defect("boolean-subschema-400", ("schema-boolean",), "true: {}", "schema-boolean"),
    Defect("empty-history-500", ("history-empty-arguments",), "'{}'", "history-empty-arguments"),
    Defect("late-system-500", ("history-late-system",), "template", "history-late-system"),
    Defect("arguments-object", ("calls-as-written",), "accept an object", "calls-as-written"),
    Defect("ids-missing", ("call-ids", "stream-fragments"), "missing ids", "call-ids"),
    Defect("last-brace-lost", ("stream-as-whole",), "stream: false", "stream-as-whole"),
    Defect("stream-empty-arguments", ("no-arguments",), '"" as {}', "no-arguments"),
    Defect("other-scripts-twice", ("value-scripts",), "newer version", "stream-as-whole"),
    Defect("escapes-twice", ("value-scripts",), "newer version", "stream-as-whole"),
    Defect("lump-loses-a-call", ("two-calls",), '"" as {}', "two-calls"),
    Defect("content-again", ("calls-as-written",), "tunaeval.parse", "calls-as-written"),
    Defect("index-always-0", ("stream-fragments",), "combine fragments by id", "stream-fragments"),
    Defect("index-missing", ("stream-fragments",), "combine fragments by id", "stream-fragments"),
    Defect("name-again", ("stream-fragments",), "keep the first id", "stream-fragments"),
    Defect("empty-ids", ("stream-fragments",), "keep the first id", "stream-fragments"),
    Defect("stream-no-done", ("stream-frames",), "stream: false", "stream-frames"),
    Defect("usage-frame-without-choices", ("stream-frames",), "stream: false", "stream-frames"),
    Defect("finish-before-calls", ("stream-frames",), "to its [DONE]", "stream-frames"),
    Defect("stream-no-usage", ("usage",), "count tokens", "usage"),
    Defect("stream-no-finish", ("finish-reason",), "finish reason", "finish-reason"),
)
