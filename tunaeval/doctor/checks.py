"""All checks of the doctor as values: the asks, the rule that judges them, and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from . import asks, rules
from .rules import Rule, each, reaches, result_reaches
from .values import Ask

Needs: TypeAlias = Literal["nothing", "copying"]
"""What a check needs of the model: nothing, or the ability to copy a call (the gate)."""


@dataclass(frozen=True, slots=True)
class Check:
    """One property of a server to test.

    `rule` judges the answers to `asks`, which other checks may share. `remedy` names what repairs a
    fault for which the judgement names no remedy of its own.
    """

    name: str
    group: str
    asks: tuple[Ask, ...]
    rule: Rule
    needs: Needs
    remedy: str

    @property
    def quick(self) -> bool:
        """Whether `--quick` makes this check: its first ask, which it is about, is quick."""
        return self.asks[0].quick


TOOLS_ACCEPTED = "tools-accepted"
"""The check whose failure makes every other request with tools meaningless."""

TOOLS_IN_PROMPT = "tools-in-prompt"
"""The check whose failure means that no model can be asked for a call."""

STREAM_FRAMES = "stream-frames"
"""The check that reports a server that does not stream; other checks judge whole answers."""

_GATE = tuple(ask for pair in asks.GATE for ask in pair)
_CALLING = (*_GATE, *asks.EMPTY, *asks.TWO)
_PAIRED = (*_CALLING, *asks.TYPES, *(ask for pair in asks.HOSTILE for ask in pair))
_HOSTILE = ("closers", "quotes", "scripts", "keys", "code")
_SCHEMAS = ("ref", "boolean", "type-list", "pattern")
_HISTORY = (
    "past-call", "empty-arguments", "null-content", "content-parts", "two-results", "late-system",
)  # fmt: skip
_NAMED = ("name-dashes", "name-of-64", "name-dot")


def _streams(found: Sequence[Ask]) -> tuple[Ask, ...]:
    return tuple(ask for ask in found if ask.streamed)


def _wholes(found: Sequence[Ask]) -> tuple[Ask, ...]:
    return tuple(ask for ask in found if not ask.streamed)


CHECKS: tuple[Check, ...] = (
    Check(TOOLS_ACCEPTED, "reach", asks.ONE[:1], each(rules.accepted), "nothing", "flags"),
    Check("model-name", "reach", (asks.BAD_MODEL,), each(rules.known_model), "nothing", "error"),
    Check(
        TOOLS_IN_PROMPT, "prompt", (asks.ONE_TOOL, asks.PLAIN, asks.CONTROL),
        reaches("a tool", against=asks.PLAIN), "nothing", "tools",
    ),
    Check(
        "results-in-prompt", "prompt", (asks.LONG_RESULT, asks.PAST, asks.CONTROL),
        reaches("a tool's result", against=asks.PAST), "nothing", "past",
    ),
    Check(
        "arguments-in-prompt", "prompt", (asks.LONG_ARGUMENTS, asks.PAST, asks.CONTROL),
        reaches("past arguments", against=asks.PAST), "nothing", "past",
    ),
    Check(
        "content-in-prompt", "prompt", (asks.LONG_CONTENT, asks.PAST, asks.CONTROL),
        reaches("content beside a past call", against=asks.PAST), "nothing", "past",
    ),
    Check(
        "parts-in-prompt", "prompt", (asks.IN_PARTS, asks.PLAIN, asks.CONTROL),
        reaches("a text in parts", against=asks.PLAIN), "nothing", "past",
    ),
    Check(
        "many-tools-in-prompt", "prompt", (asks.MANY_TOOLS, asks.PLAIN, asks.CONTROL),
        reaches(f"{asks.MANY} tools", against=asks.PLAIN, times=asks.MANY), "nothing", "context",
    ),
    Check("calls-as-written", "calls", _GATE, each(rules.as_written), "copying", "calls-lost"),
    Check("no-call-wanted", "calls", asks.HELLO, each(rules.as_written), "copying", "calls-lost"),
    Check(
        "no-arguments", "calls", asks.EMPTY, each(rules.as_written), "copying", "empty-arguments"
    ),
    Check("call-ids", "calls", _wholes(_CALLING), each(rules.sound_ids), "nothing", "call-ids"),
    Check(
        "finish-reason", "calls", (*_CALLING, *asks.HELLO), each(rules.honest_finish), "nothing",
        "finish-reason",
    ),
    Check("two-calls", "parallel", asks.TWO, each(rules.as_written), "copying", "calls-lost"),
    Check(
        "one-at-a-time", "parallel", (asks.TWO_REFUSED,), each(rules.one_at_a_time), "copying",
        "parallel-ignored",
    ),
    Check(
        STREAM_FRAMES, "stream", (*_streams(_CALLING), *asks.HELLO[1:]),
        rules.frames_sound, "nothing", "frame",
    ),
    Check(
        "stream-fragments", "stream", _streams(_CALLING), each(rules.fragments_sound),
        "nothing", "index",
    ),
    Check(
        "usage", "stream", (*asks.ONE, *asks.HELLO), rules.counted_alike, "nothing",
        "usage-missing",
    ),
    Check(
        "stream-as-whole", "stream", _PAIRED, rules.same_in_both, "copying", "stream-differs"
    ),
    Check(
        "choice-none", "choice", (asks.NONE_ECHO, asks.NONE_PLAIN), each(rules.no_call_at_none),
        "nothing", "none-markup",
    ),
    Check(
        "choice-required", "choice", asks.REQUIRED, each(rules.a_call_at_required), "copying",
        "choice-ignored",
    ),
    Check(
        "choice-named", "choice", (asks.CHOSEN,), each(rules.that_call_when_named), "copying",
        "choice-ignored",
    ),
    Check(
        "choice-unknown", "choice", (asks.UNKNOWN_CHOICE,), each(rules.refused), "nothing",
        "choice-unknown",
    ),
    Check("typed-values", "schema", asks.TYPES, each(rules.as_written), "copying", "value-changed"),
    *(
        Check(f"schema-{name}", "schema", (ask,), each(rules.accepted), "nothing", "schema")
        for name, ask in zip(_SCHEMAS, asks.SCHEMAS, strict=True)
    ),
    Check(
        "strict", "schema", (asks.STRICT,), each(rules.within_schema), "copying", "strict-ignored"
    ),
    *(
        Check(f"value-{name}", "values", pair, each(rules.as_written), "copying", "value-changed")
        for name, pair in zip(_HOSTILE, asks.HOSTILE, strict=True)
    ),
    *(
        Check(f"history-{name}", "history", (ask,), each(rules.accepted), "nothing", "history")
        for name, ask in zip(_HISTORY, asks.HISTORY, strict=True)
    ),
    Check(
        "result-reaches-model", "history",
        (asks.FROM_RESULT, asks.FROM_MESSAGE, asks.LONG_RESULT, asks.PAST, asks.CONTROL),
        result_reaches, "copying", "past",
    ),
    Check(
        "reasoning-apart", "reasoning", asks.THINK, each(rules.thought_apart), "copying",
        "reasoning-leaks",
    ),
    Check("cut-call", "limits", asks.CUT, each(rules.cut_is_cut), "copying", "cut-finish"),
    *(
        Check(name, "names", (ask,), each(rules.read_or_refused), "copying", "name-changed")
        for name, ask in zip(_NAMED, asks.NAMES, strict=True)
    ),
    Check(
        "stability", "stability", _wholes(_CALLING), rules.steady, "copying", "calls-lost"
    ),
)  # fmt: skip
"""All checks, in the order of a report."""

REPEATED = _wholes(_CALLING)
"""The asks that `--repeats` repeats."""
