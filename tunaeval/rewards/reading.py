"""Read a completion in any shape into the model's attempts: calls, and what is broken.

"..."                                  a text, with or without its special tokens
{"role": "assistant", ...}             a message (a dict or an object), ParsedResponse included
[{"role": "assistant", ...}, ...]      messages, of which only the model's count
ParseResult                            a result of an earlier parse
None, or anything else                 no completion
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from tunaeval.parsing.api import parse
from tunaeval.types.calls import Span, ToolCall, Tools
from tunaeval.types.exchange import foreign_calls, text_of
from tunaeval.types.parsing import ABSTAINED, REMARKS, Diagnosis, ParseResult

from .attempts import NO_COMPLETION, NOT_A_CALL, TOO_LONG, Attempts, BrokenSpan
from .fences import fenced, has_fences
from .gold import Gold
from .hedges import has_two_keys, keys_twice, two_guesses, two_keys
from .leftovers import apart, most_tries, tries_inside, tries_left
from .observed import has_observations, observations, without
from .recipe import Recipe
from .words import has_words

_MODELS = frozenset({"assistant", "model", "gpt", "ai"})  # roles of the model in data sets


def attempts_of(completion: object, tools: Tools | None, recipe: Recipe) -> Attempts:
    """Return the attempts in a completion. Never raises, whatever a model wrote."""
    if isinstance(completion, str):
        return _of_text(completion, tools, recipe)
    if isinstance(completion, ParseResult):
        return of_result(completion, recipe, tools=tools)
    if isinstance(completion, Sequence) and not isinstance(completion, bytes | bytearray):
        return _of_messages(completion, tools, recipe)
    if isinstance(completion, Mapping) or any(hasattr(completion, key) for key in _FIELDS):
        return _of_message(completion, tools, recipe)
    return Attempts([], set(), outcome=NO_COMPLETION)


_FIELDS = ("content", "tool_calls")


def _of_text(text: str, tools: Tools | None, recipe: Recipe) -> Attempts:
    if len(text) > recipe.max_characters:
        return Attempts([], set(), outcome=TOO_LONG)
    text = str.__str__(text)  # makes a plain str of a subclass
    result = parse(text, recipe.reader, tools, recipe.level, abstain=recipe.abstain)
    forged: list[Span] = []
    if has_observations(text):
        others = observations(text, [call.span for call in result.calls if call.span])
        if others:
            text = without(text, others)
            result = parse(text, recipe.reader, tools, recipe.level, abstain=recipe.abstain)
            forged = [] if recipe.observations else others
    found = of_result(result, recipe, text, tools)
    if forged:
        found.broken += len(forged)
        found.spans += tuple(BrokenSpan(*span) for span in forged)
        found.diagnoses += (_FORGED,) * len(forged)
        found.placed = _placed(found)
    return found


_FORGED = Diagnosis(NOT_A_CALL, "the model itself wrote what a tool answers, or another's turn")


def has_others(text: str) -> bool:
    """Whether a text may have more than its result shows: other speakers' turns, or code fences."""
    return has_fences(text) or has_observations(text)


def of_result(
    result: ParseResult,
    recipe: Recipe,
    text: str = "",
    tools: Tools | None = None,
    *,
    message: int | None = None,
) -> Attempts:
    """Return the attempts in a parse result; `text`, if given, shows which calls are in a fence."""
    calls = [*result.calls]
    speaks = has_words(result.content) or result.detail == ABSTAINED
    found = Attempts(calls, set(), outcome=result.outcome, speaks=speaks)
    if result.diagnoses:
        found.diagnoses = result.diagnoses
        found.hedged = {*keys_twice(result.diagnoses, calls)}
        spans = [*_broken(result.diagnoses, calls)]
        found.spans = tuple(BrokenSpan(*span) for span in spans if span.end > span.start)
        found.broken = len(spans)
    if not found.broken and result.outcome in {"malformed", "truncated"}:
        found.broken = 1
    if has_two_keys(text):
        found.hedged |= {*two_keys(text, calls)}
    _add_leftovers(found, result, recipe, text, tools)
    if found.broken:
        found.placed = _placed(found)
    if message is not None:
        found.spans = tuple(span._replace(message=message) for span in found.spans)
    if has_fences(text):
        found.fenced = {*fenced(text, calls, recipe.reader)}
    return found


def _placed(found: Attempts) -> int:
    """Return how many calls come before everything broken; 0 if the broken part has no span."""
    first = min((span.start for span in found.spans), default=0)
    return sum(call.span is not None and call.span.end <= first for call in found.calls)


def _add_leftovers(
    found: Attempts, result: ParseResult, recipe: Recipe, text: str, tools: Tools | None
) -> None:
    """Add calls that only begin in the content; those that have a diagnosis are not added again."""
    if found.broken and most_tries(result.content, tools) <= found.broken:
        return
    left = tries_left(result.content, recipe.reader, tools)
    more = len(left) - found.broken
    if more <= 0:
        return
    start, end = left[0]
    note = f"{result.content[start:end]!r} begins a call, and none follows"
    found.diagnoses += (Diagnosis(NOT_A_CALL, note),)
    found.broken = len(left)
    if found.outcome == "no_call":
        found.outcome = "malformed"
    known = [call.span for call in result.calls if call.span]
    known += [Span(span.start, span.end) for span in found.spans]
    if text:
        every = left if text == result.content else tries_left(text, recipe.reader, tools)
        new = (BrokenSpan(*span) for span in apart(text, every, known)[-more:])
        found.spans = tuple(sorted((*found.spans, *new)))


def add_swallowed(found: Attempts, gold: Gold, reader: str, tools: Tools | None) -> None:
    """Add calls inside another call's arguments, where a call without an end swallows them.

    Arguments that the gold itself wants have swallowed nothing.
    """
    for index, call in enumerate(found.calls):
        more = tries_inside(call, reader, tools)
        if not more or any(wanted[:2] == (call.name, call.arguments) for wanted in gold.calls):
            continue
        note = f"another call is in the arguments of the call of {call.name!r:.60}"
        found.diagnoses += (Diagnosis(NOT_A_CALL, note, call.span),)
        found.broken += more
        found.placed = index if found.placed is None else min(index, found.placed)


def _broken(diagnoses: Sequence[Diagnosis], calls: Sequence[ToolCall]) -> Iterator[Span]:
    """Yield the spans of broken attempts; overlapping diagnoses are one attempt."""
    sound = sorted(call.span for call in calls if call.span)
    spans = {note.span or Span(0, 0) for note in diagnoses if note.code not in REMARKS}
    last = Span(-1, -1)
    at = 0
    for span in sorted(spans):
        while at < len(sound) and sound[at].end <= span.start:
            at += 1
        if at < len(sound) and sound[at].start < span.end:
            continue
        if span.start < last.end:
            continue
        last = span
        yield span


# --- messages ------------------------------------------------------------------------------------


def _of_messages(messages: Sequence[object], tools: Tools | None, recipe: Recipe) -> Attempts:
    """Add up the model's turns; the turns of tools and users never count."""
    found = Attempts([], set(), outcome=NO_COMPLETION)
    size = 0
    for index, message in enumerate(messages):
        role = _get(message, "role")
        if role is not None and not (isinstance(role, str) and role in _MODELS):
            found.speaks = False
            continue
        if isinstance(message, str):
            one = _of_text(message, tools, recipe)
        elif isinstance(message, Mapping) or any(hasattr(message, key) for key in _FIELDS):
            one = _of_message(message, tools, recipe)
        else:
            continue
        found.add(one, index)
        size += _size(message)
    if size > recipe.max_characters:
        return Attempts([], set(), outcome=TOO_LONG)
    return found


def _of_message(message: object, tools: Tools | None, recipe: Recipe) -> Attempts:
    """Take the structured calls as the calls; calls in the text beside them are broken attempts."""
    if _size(message) > recipe.max_characters:
        return Attempts([], set(), outcome=TOO_LONG)
    items = _get(message, "tool_calls")
    items = [*items] if isinstance(items, list | tuple) else [items] if _is_odd(items) else []
    legacy = _get(message, "function_call")
    if not items and legacy is not None:
        items = [legacy]
    content = _get(message, "content")
    prose = text_of(content) if content else ""
    text = _of_text(prose, tools, recipe) if prose else Attempts([], set())
    foreign = foreign_calls(content, items)
    foreign += foreign_calls((message,)) if isinstance(_get(message, "type"), str) else []
    if not items:
        return _with_foreign(text, foreign)
    result = structured(items, tools, recipe)
    found = of_result(result, recipe)
    if len(items) == len(result.calls):
        found.hedged |= {at for at, item in enumerate(items) if two_guesses(_inside(item))}
    beside = [call for call in text.calls if not _is_among(call, result.calls)]
    attempted = [item for item in items if _get(_inside(item), "name") not in recipe.abstain]
    found.broken = max(len(attempted) - len(result.calls), 0) + text.broken + len(beside)
    leaked = (BrokenSpan(*call.span) for call in beside if call.span)
    found.spans = (*text.spans, *leaked)
    found.diagnoses += text.diagnoses
    found.diagnoses += tuple(
        Diagnosis(NOT_A_CALL, f"a call of {call.name!r:.60} in the text, beside structured calls")
        for call in beside
    )
    found.speaks = has_words(prose) or result.detail == ABSTAINED
    return _with_foreign(found, foreign)


def structured(items: Sequence[object], tools: Tools | None, recipe: Recipe) -> ParseResult:
    """Parse structured calls as those of a message."""
    read, level = _reader_of_messages(), recipe.level
    return read({"tool_calls": items}, recipe.reader, tools, level, abstain=recipe.abstain)


@cache
def _reader_of_messages() -> Callable[..., ParseResult]:
    """Imported for the first message, because the import takes as long as parsing a text needs."""
    from tunaeval.parsing.api import parse_message  # noqa: PLC0415 - see above

    return parse_message


def _is_odd(items: object) -> bool:
    """Whether the value in place of the list of structured calls is a string or a mapping."""
    return isinstance(items, str | Mapping) and bool(items)


def _with_foreign(found: Attempts, kinds: Sequence[str]) -> Attempts:
    """Count calls of another API as broken: they are not read, and are no abstention."""
    if kinds:
        found.broken += len(kinds)
        found.diagnoses += tuple(
            Diagnosis(NOT_A_CALL, f"{kind!r} is a call of another API, which is not read")
            for kind in kinds
        )
        if found.outcome == "no_call":
            found.outcome = "malformed"
    return found


def _is_among(call: ToolCall, calls: Sequence[ToolCall]) -> bool:
    return any(call.name == one.name and call.arguments == one.arguments for one in calls)


def _inside(item: object) -> object:
    inner = _get(item, "function")
    return inner if isinstance(inner, Mapping) else item


def _size(message: object) -> int:
    """Return the length of a message's text and of its arguments that are text, in characters."""
    content = _get(message, "content")
    size = len(content) if isinstance(content, str) else len(text_of(content)) if content else 0
    items = _get(message, "tool_calls")
    for item in items if isinstance(items, list | tuple) else ():
        arguments = _get(_get(item, "function") or item, "arguments")
        size += len(arguments) if isinstance(arguments, str) else 0
    return size


def _get(thing: object, key: str) -> object:
    return thing.get(key) if isinstance(thing, (dict, Mapping)) else getattr(thing, key, None)
