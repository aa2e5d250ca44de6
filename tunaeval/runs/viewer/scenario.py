"""One result in full: the prompt, each reply with its marks, and expected beside actual calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tunaeval.errors import TunaevalError
from tunaeval.reports.summary import REACTIONS
from tunaeval.runs.replies import Replies
from tunaeval.types.calls import Tools
from tunaeval.types.exchange import text_of
from tunaeval.types.parsing import ParseResult
from tunaeval.types.runs import AttemptRecord, Report, RunInfo, ScenarioResult, TaskRecord

from .beside import Pair, Rules, side_by_side, words_of
from .marks import CALL, DIAGNOSIS, REPAIR, Mark, Piece, marks_of, pieces_of
from .secrets import COVER, hidden, hidden_shortened

WENT_WRONG = "where it went wrong first"
REASONING_KEYS = ("reasoning_content", "reasoning")
_OTHERWISE = "this version does not read the reply as the run did; the run's own words are here"


@dataclass(frozen=True, slots=True)
class AttemptView:
    """A reply: its text in pieces, the calls that the server parsed, and the marks in the text."""

    record: AttemptRecord
    pieces: tuple[Piece, ...]
    marks: tuple[Mark, ...]
    reasoning: str
    structured: tuple[str, ...]
    note: str = ""
    user: str = ""
    """The user's message right before this reply, in a later turn."""
    results: tuple[tuple[str, str], ...] = ()
    """The results of the reply's calls: the tool, and the text that the model received."""
    is_wrong: bool = False
    """Whether this is the first turn where an episode went wrong."""


@dataclass(frozen=True, slots=True)
class ScenarioView:
    """A result with everything that is shown of it; secrets are hidden in all texts."""

    result: ScenarioResult
    prompt: str
    reason: str
    attempts: tuple[AttemptView, ...]
    pairs: tuple[Pair, ...]
    checks: tuple[str, ...] = ()
    """For an episode: a line for each check's result, each fault, and each reaction to faults."""


class Viewer:
    """Makes views of a run's results; reads the replies again to find the spans in their text."""

    def __init__(self, info: RunInfo, directory: str | None) -> None:
        self._info = info
        self._replies: Replies | None = None
        try:
            self._replies = Replies(info, directory)
            self._why = ""
        except TunaevalError as error:
            self._why = f"the reply cannot be read again: {error}"

    @classmethod
    def of(cls, report: Report) -> Viewer:
        return cls(report.run, report.directory)

    def look(self, result: ScenarioResult) -> ScenarioView:
        """Return the view of a result. Never raises for what a model wrote."""
        read, why = self._read(result)
        wrong = None if result.task is None else result.task.wrong_turn
        attempts = [
            _of_episode(_attempt(record, found, why), is_wrong=number == wrong)
            for number, (record, found) in enumerate(zip(result.attempts, read, strict=True), 1)
        ]
        pairs = self._pairs(result)
        given = result.error or result.reason
        cover = hidden_shortened if _has_secret(pairs) else hidden
        checks = () if result.task is None else tuple(map(hidden, _checks(result.task)))
        prompt = hidden(result.prompt)
        return ScenarioView(result, prompt, cover(given), tuple(attempts), pairs, checks)

    def _read(self, result: ScenarioResult) -> tuple[list[ParseResult | None], str]:
        nothing: list[ParseResult | None] = [None] * len(result.attempts)
        if self._replies is None:
            return nothing, self._why
        try:
            return [*self._replies.read(result)], ""
        except TunaevalError as error:  # raised by a plug-in's parser
            return nothing, f"the reply cannot be read again: {error}"

    def _pairs(self, result: ScenarioResult) -> tuple[Pair, ...]:
        tools = self._replies.tools(result.scenario) if self._replies else Tools()
        return side_by_side(result.expected, result.got, Rules(self._info.profile, tools))


def _has_secret(pairs: tuple[Pair, ...]) -> bool:
    """Whether a value that the reason may quote has a secret in it."""
    values = ((one.wanted, one.got) for pair in pairs for one in pair.arguments)
    return any(COVER in value for pair in values for value in pair if value)


def _attempt(record: AttemptRecord, found: ParseResult | None, why: str) -> AttemptView:
    text = hidden(text_of(record.message.get("content")))
    if found is None or not _agrees(record, found):
        marks = tuple(_recorded(record))
        return AttemptView(
            record,
            (Piece(text),),
            marks,
            _reasoning(record),
            _structured(record),
            why or _OTHERWISE,
        )
    marks = tuple(replace(mark, words=hidden(mark.words)) for mark in marks_of(found))
    pieces = pieces_of(text, marks)
    return AttemptView(record, pieces, marks, _reasoning(record), _structured(record))


def _of_episode(view: AttemptView, *, is_wrong: bool) -> AttemptView:
    record = view.record
    results = tuple((one.tool, hidden(one.content)) for one in record.results)
    return replace(view, user=hidden(record.user or ""), results=results, is_wrong=is_wrong)


def _checks(task: TaskRecord) -> Iterator[str]:
    for check in task.checks:
        word = "passed" if check.ok else "fails" if check.ok is False else "failed itself"
        at = "" if check.turn is None else f" (turn {check.turn})"
        yield f"{word}: {check.check}: {check.reason}{at}"
    for fault in task.faults:
        yield f"fault: {fault.fault}: " + (
            "hit no turn" if fault.turn is None else f"hit turn {fault.turn}"
        )
    for name, words in REACTIONS.items():
        did: bool | None = getattr(task, name)
        if did is not None:
            yield f"{words}: {'yes' if did else 'no'}"


def _agrees(record: AttemptRecord, found: ParseResult) -> bool:
    then = [(call.name, call.arguments) for call in record.calls]
    return then == [(call.name, call.arguments) for call in found.calls]


def _recorded(record: AttemptRecord) -> Iterator[Mark]:
    """Yield marks for what the run recorded, which has no spans."""
    found = [(CALL, call.format, call.name) for call in record.calls]
    found += [(REPAIR, code, "") for call in record.calls for code in call.repairs]
    for given in record.diagnoses:
        code, _, words = given.partition(": ")
        found.append((DIAGNOSIS, code, words))
    for number, (kind, code, words) in enumerate(found, 1):
        yield Mark(number, kind, code, hidden(words), None)


def _reasoning(record: AttemptRecord) -> str:
    """Return the reasoning that the server gave beside the text."""
    given = (record.message.get(key) for key in REASONING_KEYS)
    return hidden(next((text for text in given if isinstance(text, str)), ""))


def _structured(record: AttemptRecord) -> tuple[str, ...]:
    """Return the calls that the server parsed, as it gave them."""
    items = record.message.get("tool_calls") or record.message.get("function_call") or ()
    listed = items if isinstance(items, list) else [items] if items else []
    return tuple(hidden(words_of(one)) for one in listed)
