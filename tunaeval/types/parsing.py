"""The result of parsing a text: calls, content, reasoning, and diagnoses."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tunaeval.showing import short_call, shows_table

from .calls import ID_SHARED, REPEATED_CALL, Span, ToolCall

Level: TypeAlias = Literal["strict", "standard", "lenient"]
"""Which repairs are allowed: none; those that change no value; also those that lose or guess."""

Outcome: TypeAlias = Literal["calls", "no_call", "malformed", "truncated"]

NOT_TEXT = "not-text"
"""The code of the diagnosis of an item among many texts that is no text."""

UNKNOWN_TOOL = "unknown-tool"
"""The code of the diagnosis of a call to a tool that was not given."""

ABSTAINED = "abstained"
"""The code of the diagnosis of a call whose name means that the reply calls nothing."""

LATER_TURN = "later-turn"
"""The code of the diagnosis of a turn that is another's, or is not the first, and is not read."""

REFUSED, LENGTH = "refusal", "length"
"""The codes of the diagnoses of an answer that was refused, or ended at its limit of tokens."""

_DETAILS = {"malformed": (UNKNOWN_TOOL, NOT_TEXT), "no_call": (ABSTAINED, REFUSED)}

JOINED = ("index-missing", "index-shared", "name-late", "id-changed", ID_SHARED)
"""The codes of what was odd about the pieces of structured calls, which were joined."""

REMARKS = frozenset({
    "quoted", "mention", "echo", LATER_TURN, "lone-surrogate", "nul", "duplicate-key",
    "too-many-diagnoses", "trailing-ellipsis", "unclosed-fence", "unclosed-reasoning", ABSTAINED,
    REPEATED_CALL, REFUSED, LENGTH, *JOINED,
})  # fmt: skip
"""Codes of diagnoses that do not concern an attempt at a call."""

LEVELS: tuple[Level, ...] = ("strict", "standard", "lenient")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why something that looked like a call is none, or what is odd about a call.

    Examples:
        >>> result = tunaeval.parse('<tool_call>{"name": "ls", "arguments": {</tool_call>')
        >>> result.diagnoses[0].code
        'invalid-json'
    """

    code: str
    message: str
    span: Span | None = None

    @property
    def is_attempt(self) -> bool:
        """Whether it concerns an attempt at a call, rather than a remark on the text."""
        return self.code not in REMARKS


@shows_table
@dataclass(frozen=True, slots=True)
class ParseResult:
    """The result of parsing a text.

    `calls` are all calls in order; `content` is the text besides calls and reasoning; `reasoning`
    is the text between reasoning markers, or None. `outcome` is "calls" if there is a call, else
    "truncated" if an attempt was cut off by the end of the text, else "malformed" if there was an
    attempt, else "no_call". `truncated` reports a cut beside any outcome.

    Examples:
        >>> result = tunaeval.parse('Look: <tool_call>{"name": "ls", "arguments": {}}</tool_call>')
        >>> result.outcome, len(result.calls), result.content
        ('calls', 1, 'Look: ')
    """

    calls: tuple[ToolCall, ...] = ()
    content: str = ""
    reasoning: str | None = None
    diagnoses: tuple[Diagnosis, ...] = ()
    truncated: bool = False
    outcome: Outcome = "no_call"

    def _in_short(self) -> str:
        return f"ParseResult: {self.detail or self.outcome}"

    def _in_rows(self) -> Iterator[tuple[str, ...]]:
        for call in self.calls:
            repairs = ", ".join(repair.code for repair in call.repairs)
            yield "call", short_call(call.name, call.arguments), repairs or "as it was written"
        yield from (("diagnosis", one.code, one.message) for one in self.diagnoses)
        kept = ("content", self.content), ("reasoning", self.reasoning)
        yield from ((what, text) for what, text in kept if text)

    @property
    def detail(self) -> str | None:
        """A more exact reason for the outcome "malformed" or "no_call", or None.

        "unknown-tool": the text would have a call if the tool that it names had been given.
        "not-text": the item was no text (see `parse_many`). "abstained": the only call has a name
        that means no call (`abstain` of `parse`). "refusal": the model, or its provider, refused.
        """
        details = _DETAILS.get(self.outcome)
        if details is None or not self.diagnoses:
            return None
        codes = {diagnosis.code for diagnosis in self.diagnoses}
        return next((code for code in details if code in codes), None)


def outcome_of(calls: Collection[object], *, attempted: bool = False, cut: bool = False) -> Outcome:
    """Return the outcome of a text with these calls. `attempted`: an attempt at a call has failed
    in it; `cut`: it ended inside an attempt.
    """
    if calls:
        return "calls"
    return "truncated" if cut else "malformed" if attempted else "no_call"
