"""Read a completion in any shape into the model's attempts: calls, and what is broken.

    "..."                             a text, with or without its special tokens
    {"role": "assistant", ...}        a message (a dict or an object), ParsedResponse included
    [{"role": "assistant", ...}, ...] messages, of which only the model's count
    ParseResult                       a result of an earlier parse
    None, or anything else            no completion

A call in a code fence or a scratchpad may be an illustration and not meant to run.

Calls behind thoughts that begin again and again (`_MOST_THOUGHTS`) count as repaired.

A call may offer two values for one thing: by a repeated key, by two keys with the same meaning
("args" and "input"), or by a key that calls do not have. Of repeated keys the last is read, as in
every JSON reader; of keys with the same meaning, that of the call's format.

Texts of several turns have parts that the model did not write: turns of tools and of others (verl
passes them to rewards like this). Blanks replace them, so that offsets stay the same. A message is
one turn. Another's turn in a message, and an answer of a tool within the model's turn, are
invented: they are blanked as well, and are broken attempts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple
from unicodedata import category

import orjson

from tunaeval.grammar.turns import FAMILIES, PROMPTED, Turns
from tunaeval.grammar.words import THINKING
from tunaeval.parsing.api import parse, parser_for
from tunaeval.parsing.collect import widened, without_abstaining
from tunaeval.parsing.finder import finder_of
from tunaeval.parsing.message import structured as read_items
from tunaeval.parsing.reader import Reader
from tunaeval.parsing.sets import auto
from tunaeval.types.calls import ARGUMENTS_KEYS, NAME_KEYS, Span, ToolCall, Tools
from tunaeval.types.exchange import field_of, text_of
from tunaeval.types.json_text import RepeatedKeyError, decoded, decoded_or
from tunaeval.types.parsing import ABSTAINED, LATER_TURN, REMARKS, Diagnosis, ParseResult
from tunaeval.wire.chat import foreign_calls

from .engines import Run, run_by
from .gold import MARKS, Gold
from .leftovers import apart, most_tries, tries_inside, tries_left
from .recipe import Recipe

NO_COMPLETION = "no_completion"
TOO_LONG = "too_long"
NOT_A_CALL = "not-a-call"


class BrokenSpan(NamedTuple):
    """Where a broken attempt is: characters `start` to `end` of the text of a message.

    `message` is its index, or None if the completion is one text or one message.
    """

    start: int
    end: int
    message: int | None = None


@dataclass(slots=True)
class Attempts:
    """The calls in a completion and what is broken in it; `fenced` are the indices of calls in a
    code fence, `hedged` those of calls that give two values for one thing (a repeated key).
    """

    calls: list[ToolCall]
    fenced: set[int]
    hedged: set[int] = field(default_factory=set)
    broken: int = 0
    spans: tuple[BrokenSpan, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    outcome: str = "no_call"
    speaks: bool = False
    """Whether the completion ends with something besides its calls."""
    placed: int | None = None
    """How many calls come before everything broken; None if nothing is broken."""
    owners: list[int | None] = field(default_factory=list)
    """For several messages, the index of the message of each call."""

    def lose(self, notes: Sequence[Diagnosis], spans: Iterable[Span] = (), more: int = 0) -> None:
        """Count broken attempts: one for each note, or `more`; `spans` are their places."""
        self.broken += more or len(notes)
        self.diagnoses += tuple(notes)
        self.spans += tuple(BrokenSpan(*span) for span in spans)
        if self.broken and self.outcome == "no_call":
            self.outcome = "malformed"

    def add(self, other: Attempts, message: int) -> None:
        """Append the attempts in the model's next message, which has the index `message`."""
        if self.placed is None and other.placed is not None:
            self.placed = len(self.calls) + other.placed
        self.fenced |= {index + len(self.calls) for index in other.fenced}
        self.hedged |= {index + len(self.calls) for index in other.hedged}
        self.calls += other.calls
        self.owners += [message] * len(other.calls)
        self.broken += other.broken
        self.spans += tuple(span._replace(message=message) for span in other.spans)
        self.diagnoses += other.diagnoses
        self.speaks = other.speaks
        self.outcome = max(self.outcome, other.outcome, key=_WEIGHT.__getitem__)


_WEIGHT = {NO_COMPLETION: -1, "no_call": 0, "truncated": 1, "malformed": 2, "calls": 3, TOO_LONG: 4}


_MODELS = frozenset({"assistant", "model", "gpt", "ai"})  # roles of the model in data sets


def attempts_of(completion: object, tools: Tools | None, recipe: Recipe) -> Attempts:
    """Return the attempts in a completion. It never raises, whatever a model wrote."""
    if isinstance(completion, str):
        if recipe.engine is not None:
            return _of_message({"content": completion}, tools, recipe, turns=recipe.observations)
        return _of_text(completion, tools, recipe, turns=recipe.observations)
    if isinstance(completion, ParseResult):
        return of_result(completion, recipe, tools=tools)
    if isinstance(completion, Sequence) and not isinstance(completion, bytes | bytearray):
        return _of_messages(completion, tools, recipe)
    if _is_message(completion) and is_of_model(completion):
        return _of_message(completion, tools, recipe)
    return Attempts([], set(), outcome=NO_COMPLETION)


def _is_message(thing: object) -> bool:
    return isinstance(thing, Mapping) or hasattr(thing, "content") or hasattr(thing, "tool_calls")


def _of_text(
    text: str, tools: Tools | None, recipe: Recipe, *, called: bool = False, turns: bool = False
) -> Attempts:
    """Return a text's attempts; `called`: beside structured calls; `turns`: others have turns."""
    if len(text) > recipe.max_characters:
        return Attempts([], set(), outcome=TOO_LONG)
    text = str.__str__(text)  # makes a plain str of a subclass
    result, others = read_turns(text, tools, recipe, called=called)
    forged = [span for span, made_up in others if made_up or not turns]
    text = without(text, [span for span, _ in others])
    found = of_result(result, recipe, text, tools, turns=len(others))
    if forged:
        found.lose([_FORGED] * len(forged), forged)
        found.placed = _placed(found)
    return found


_FORGED = Diagnosis(NOT_A_CALL, "the model itself wrote what a tool answers, or another's turn")


is_alone = re.compile(
    r'\s*(?:<tool_call>\s*)?\{"name": ?"[^"\\]*", ?"arguments": ?\{[^{}]*\}\}\s*'
    r"(?:</tool_call>\s*)?"
).fullmatch
"""Matches most of what a trained model writes: a call that has nothing beside it or in it."""


def of_result(
    result: ParseResult,
    recipe: Recipe,
    text: str = "",
    tools: Tools | None = None,
    *,
    message: int | None = None,
    turns: int = 0,
) -> Attempts:
    """Return the attempts in a parse result; only `text` shows which calls are in a fence.

    `turns` are how many turns of others are between those of the model's.
    """
    calls = [*result.calls]
    speaks = has_words(result.content) or result.detail == ABSTAINED
    found = Attempts(calls, set(), outcome=result.outcome, speaks=speaks)
    if result.diagnoses:
        found.diagnoses = result.diagnoses
        found.hedged = {*keys_twice(result.diagnoses, calls)}
        spans = [*_broken(result.diagnoses, calls)]
        if text and tools is not None and not calls:
            spans = [*_meant(text, spans, tools)]
            found.outcome = found.outcome if spans else "no_call"
        found.spans = tuple(BrokenSpan(*span) for span in spans if span.end > span.start)
        found.broken = len(spans)
    if not found.broken and found.outcome in {"malformed", "truncated"}:
        found.broken = 1
    if text:
        found.hedged |= hedged_in(text, calls, turns)
    _add_leftovers(found, result, recipe, text, tools)
    if found.broken:
        found.placed = _placed(found)
    if message is not None:
        found.spans = tuple(span._replace(message=message) for span in found.spans)
    if calls and text:
        found.fenced = {*fenced(text, calls, recipe.reader)}
    return found


def hedged_in(text: str, calls: Sequence[ToolCall], turns: int = 0) -> set[int]:
    """Return the indices of calls that a text hedges: all of them where thoughts pad the reply."""
    if sum(map(text.count, _THINKS)) > len(calls) + turns + _MOST_THOUGHTS:
        return {*range(len(calls))}
    return two_keys(text, calls)


_THINKS, _MOST_THOUGHTS = tuple(one.open for one in THINKING), 2
"""The markers that begin a thought, and how many more of them than calls and other turns a reply
may have. A model may think before each call, but thoughts that begin again and again only pad it.
"""


def _placed(found: Attempts) -> int:
    """Return how many calls end before the first broken attempt; 0 if no attempt has a span."""
    first = min((span.start for span in found.spans), default=0)
    return sum(call.span is not None and call.span.end <= first for call in found.calls)


def _add_leftovers(
    found: Attempts, result: ParseResult, recipe: Recipe, text: str, tools: Tools | None
) -> None:
    """Count beginnings of calls in the content as broken attempts, unless diagnoses cover them."""
    if found.broken and most_tries(result.content, tools) <= found.broken:
        return
    quotes = recipe.engine is not None
    left = tries_left(result.content, recipe.reader, tools, quotes=quotes)
    more = len(left) - found.broken
    if more <= 0:
        return
    start, end = left[0]
    note = f"{result.content[start:end]!r} begins a call, and none follows"
    found.lose([Diagnosis(NOT_A_CALL, note)], more=more)
    known = [call.span for call in result.calls if call.span]
    known += [Span(span.start, span.end) for span in found.spans]
    if text:
        if text != result.content:
            left = tries_left(text, recipe.reader, tools, quotes=quotes)
        new = (BrokenSpan(*span) for span in apart(text, left, known)[-more:])
        found.spans = tuple(sorted((*found.spans, *new)))


def add_swallowed(found: Attempts, gold: Gold, reader: str, tools: Tools | None) -> None:
    """Count the calls that an unclosed call took into its arguments as broken attempts.

    Arguments that are exactly those of a wanted call contain no such calls.
    """
    for index, call in enumerate(found.calls):
        more = tries_inside(call, reader, tools)
        if not more or any(wanted[:2] == (call.name, call.arguments) for wanted in gold.calls):
            continue
        note = f"another call is in the arguments of the call of {call.name!r:.60}"
        found.lose([Diagnosis(NOT_A_CALL, note, call.span)], more=more)
        found.placed = index if found.placed is None else min(index, found.placed)


def _broken(diagnoses: Sequence[Diagnosis], calls: Sequence[ToolCall]) -> Iterator[Span]:
    """Yield the spans of broken attempts; diagnoses that overlap are one attempt."""
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


def _meant(text: str, spans: Sequence[Span], tools: Tools) -> Iterator[Span]:
    """Yield the spans of broken attempts that an answer in words does more than show.

    What names no given tool is only shown in a closed code fence that words introduce. A reply that
    begins with the fence has attempted the call.
    """
    fences = [one for mark in _FENCES for one in _fences(text, mark, ()) if one.end < len(text)]
    fences = sorted(fences) if fences and has_words(text[: min(fences).start]) else []
    for span in spans:
        if not _is_in(span, fences) or any(text.find(name, *span) >= 0 for name in tools):
            yield span


# --- messages ------------------------------------------------------------------------------------


def _of_messages(messages: Sequence[object], tools: Tools | None, recipe: Recipe) -> Attempts:
    """Add up the attempts in the model's messages; those of tools and users do not count."""
    found = Attempts([], set(), outcome=NO_COMPLETION)
    size = 0
    for index, message in enumerate(messages):
        if not is_of_model(message):
            found.speaks = False
            continue
        if isinstance(message, str):
            one = _of_message({"content": message}, tools, recipe)
        elif _is_message(message):
            one = _of_message(message, tools, recipe)
        else:
            continue
        found.add(one, index)
        size += _size(message)
    if size > recipe.max_characters:
        return Attempts([], set(), outcome=TOO_LONG)
    return found


def is_of_model(message: object) -> bool:
    """Whether the model wrote a message; one without a role is the model's."""
    role = field_of(message, "role")
    return role is None or (isinstance(role, str) and role in _MODELS)


def _of_message(
    message: object, tools: Tools | None, recipe: Recipe, *, turns: bool = False
) -> Attempts:
    """Return a message's attempts; calls in its text besides structured ones are broken."""
    if _size(message) > recipe.max_characters:
        return Attempts([], set(), outcome=TOO_LONG)
    items = field_of(message, "tool_calls")
    if not isinstance(items, list | tuple):  # one call, or a text, in place of the list
        items = [items] if isinstance(items, str | Mapping) and items else []
    legacy = field_of(message, "function_call")
    items = [*items] or ([] if legacy is None else [legacy])
    content = field_of(message, "content")
    prose = text_of(content) if content else ""
    runs: list[Run] = []
    if recipe.engine is not None and not items and prose:
        others = read_turns(prose, tools, recipe, called=True)[1] if turns else ()
        prose = without(prose, [span for span, made_up in others if not made_up])
        runs, spans = run_by(recipe.engine, prose, recipe.reader, tools)
        prose, items = without(prose, spans), [run.item for run in runs]
    text = Attempts([], set())
    if prose:
        text = _of_text(prose, tools, recipe, called=bool(items), turns=turns)
    refused = field_of(message, "refusal")
    text.speaks = text.speaks or (isinstance(refused, str) and has_words(refused))
    foreign = foreign_calls(content, items)
    foreign += foreign_calls((message,)) if isinstance(field_of(message, "type"), str) else []
    if not items and not (recipe.engine is not None and text.calls):
        return _with_foreign(text, foreign)
    result, _, again = structured(items, tools, recipe)
    items = [item for at, item in enumerate(items) if at not in again]
    found = of_result(result, recipe)
    if len(items) == len(result.calls):
        found.hedged |= {at for at, item in enumerate(items) if is_hedge(_inside(item))}
        found.hedged |= {at for at, run in enumerate(runs) if repeats_key(run.text)}
        for at, run in enumerate(runs):
            found.calls[at] = replace(found.calls[at], span=run.span)
    known = [(call.name, call.arguments) for call in result.calls]
    leaked = [call for call in text.calls if (call.name, call.arguments) not in known]
    attempted = [item for item in items if field_of(_inside(item), "name") not in recipe.abstain]
    found.broken = max(len(attempted) - len(result.calls), 0) + text.broken
    found.spans, found.diagnoses = text.spans, found.diagnoses + text.diagnoses
    beside = "a call of {!r:.60} in the text, beside structured calls"
    notes = [Diagnosis(NOT_A_CALL, beside.format(call.name)) for call in leaked]
    found.lose(notes, (call.span for call in leaked if call.span))
    found.speaks = text.speaks or has_words(prose) or result.detail == ABSTAINED
    return _with_foreign(found, foreign)


def structured(
    items: Sequence[object], tools: Tools | None, recipe: Recipe
) -> tuple[ParseResult, list[ToolCall | None], set[int]]:
    """Parse structured calls as `parse_message` parses those of a message."""
    return read_items(items, tools, recipe.level, frozenset(recipe.abstain))


def _with_foreign(found: Attempts, kinds: Sequence[str]) -> Attempts:
    """Count calls in another API's shape as broken attempts: they are not read, but were made."""
    other = "{!r} is a call of another API, which is not read"
    found.lose([Diagnosis(NOT_A_CALL, other.format(kind)) for kind in kinds])
    return found


def _inside(item: object) -> object:
    inner = field_of(item, "function")
    return inner if isinstance(inner, Mapping) else item


def _size(message: object) -> int:
    """Return how many characters a message has in its text and in arguments that are text."""
    content = field_of(message, "content")
    size = len(content) if isinstance(content, str) else len(text_of(content)) if content else 0
    items = field_of(message, "tool_calls")
    for item in items if isinstance(items, list | tuple) else ():
        arguments = field_of(field_of(item, "function") or item, "arguments")
        size += len(arguments) if isinstance(arguments, str) else 0
    return size


def two_keys(text: str, calls: Sequence[ToolCall]) -> set[int]:
    """Return the indices of calls whose object in the text is a hedge, as `two_guesses` says."""
    found: set[int] = set()
    for index, call in enumerate(calls):
        if call.span is None or not text.startswith("{", call.span.start):
            continue
        try:
            value = orjson.loads(text[call.span.start : call.span.end])
        except orjson.JSONDecodeError:  # the call was repaired, then, which costs as much
            continue
        inner = _inside(value)
        if two_guesses(inner, call.name) or (inner is not value and two_guesses(value, "")):
            found.add(index)
    return found


def is_hedge(inner: object) -> bool:
    """Whether a structured call has two values for one thing, also by a repeated key."""
    given = field_of(inner, "arguments")
    return two_guesses(inner, "") or (isinstance(given, str) and repeats_key(given))


def two_guesses(value: object, name: str) -> bool:
    """Whether a call's object has two keys for the name, or for the arguments, with different
    values, or any key that calls do not have, with a value. The object of a call of `name` may
    also have that name as its only key.
    """
    if not isinstance(value, Mapping) or len(value) <= 1 or value.keys() == _SOUND:
        return False
    names = [value[key] for key in NAME_KEYS if isinstance(value.get(key), str)]
    if name and name not in names:  # just arguments, or a name that is a key
        return name in value
    inputs = [value[key] for key in ARGUMENTS_KEYS if key in value]
    if any(one != names[0] for one in names) or any(one != inputs[0] for one in inputs):
        return True
    return any(
        (one not in _EMPTY or not _is_mark(str(key))) and not (key in MARKS and _is_mark(str(one)))
        for key, one in value.items()
        if key not in NAME_KEYS and key not in ARGUMENTS_KEYS
    )


_SOUND = frozenset({"name", "arguments"})  # the keys of almost every call
_EMPTY: tuple[object, ...] = (None, False, "", [], {})
_is_mark = re.compile(r"[\w.:-]{0,64}\Z").match


def repeats_key(text: str) -> bool:
    """Whether an object in JSON repeats a key, at any depth; False for a text that is no JSON."""
    try:
        decoded(text, duplicates="refuse")
    except RepeatedKeyError:
        return decoded_or(text) is not None
    except ValueError:
        pass
    return False


def keys_twice(diagnoses: Sequence[Diagnosis], calls: Sequence[ToolCall]) -> Iterator[int]:
    """Yield the indices of calls in which a key is repeated, as the diagnoses say."""
    twice = sorted(note.span for note in diagnoses if note.code == "duplicate-key" and note.span)
    for index, call in enumerate(calls if twice else ()):
        if call.span is not None:
            at = bisect_left(twice, call.span)
            if at < len(twice) and twice[at].start < call.span.end:
                yield index


_FENCES = ("```", "~~~")
OF_A_FENCE = frozenset({"fence", "tool-code"})
"""Formats that are a code fence themselves, which costs nothing if the recipe asks for them."""

WITH_MARKS = OF_A_FENCE | {"command-r", "deepseek-v3"}
"""Formats that write fence marks around a call, which are no fence for anything else."""

_BEFORE = 64
"""The most characters from such a mark to its call."""

_before = re.compile(r"```[\w+-]{0,24}[\s\[({,;]{1,24}\Z").search
"""Match such a mark before its call, with the language and brackets; not one that ends a fence."""

_behind = re.compile(r"[\s\])},;]{0,64}```").match


def fenced(text: str, calls: Sequence[ToolCall], reader: str) -> Iterator[int]:
    """Yield the indices of calls in a scratchpad, in a code fence, or in a format that is a code
    fence itself.
    """
    marks = [mark for mark in _FENCES if mark in text]
    spans = [_block(text, call, call.span) for call in calls if call.span and marks]
    marked = [_fences(text, mark, spans) for mark in marks]
    pads = [*_pads(text)]
    for index, call in enumerate(calls if marks or pads else ()):
        is_own = call.format == reader and reader in OF_A_FENCE
        around = pads if is_own else [*pads, *marked]
        odd = call.format in OF_A_FENCE and not is_own
        if call.span and (odd or any(_is_in(call.span, each) for each in around)):
            yield index


def _block(text: str, call: ToolCall, span: Span) -> Span:
    """Return the span of a call, including the fence marks that its format writes around it."""
    if call.format not in WITH_MARKS:
        return span
    before = _before(text, max(0, span.start - _BEFORE), span.start)
    behind = _behind(text, span.end)
    return Span(before.start() if before else span.start, behind.end() if behind else span.end)


def _is_in(span: Span, fences: Sequence[Span]) -> bool:
    at = bisect_left(fences, span) - 1
    return at >= 0 and fences[at].start < span.start < fences[at].end


def _fences(text: str, mark: str, calls: Sequence[Span]) -> list[Span]:
    """Return the code fences: each from a line that begins with the mark to the next such line.

    If one is left open, it is unknown which, so the fence is from the first mark to the end.
    """
    found: list[Span] = []
    first = start = -1
    at = call = 0
    inside = sorted(calls)
    while (mark_at := text.find(mark, at)) >= 0:
        at = mark_at + len(mark)
        while call < len(inside) and inside[call].end <= mark_at:
            call += 1
        if call < len(inside) and inside[call].start <= mark_at:
            continue
        first = first if first >= 0 else mark_at
        if text[text.rfind("\n", 0, mark_at) + 1 : mark_at].strip(" \t>"):
            continue
        if start < 0:
            start = mark_at
        else:
            found.append(Span(start, mark_at))
            start = -1
    return found if start < 0 else [Span(first, len(text))]


_PADS = (
    "<scratchpad>", "<scratch_pad>", "<reflection>", "<reasoning>", "<analysis>", "<plan>",
    "<draft>", "<notes>", "<example>",
)  # fmt: skip
"""Elements in which a model writes for itself, and which no format takes for its reasoning."""


def _pads(text: str) -> Iterator[list[Span]]:
    """Yield the spans of the elements in which a model writes for itself, in order, by name."""
    for opener in _PADS:
        found, at = list[Span](), text.find(opener)
        while at >= 0 and (end := text.find(f"</{opener[1:]}", at)) >= 0:
            found.append(Span(at, end))
            at = text.find(opener, end)
        if found:
            yield found


@cache
def _marks(turns: tuple[Turns, ...]) -> Callable[[str], re.Match[str] | None]:
    """Return what finds what no parse result shows: fences, scratchpads and others' turns."""
    others = finder_of((), more=(*FAMILIES, PROMPTED, *turns)).others
    return re.compile("|".join([others.pattern, *_FENCES, *_PADS])).search


def has_others(text: str, recipe: Recipe) -> bool:
    """Whether there may be something in a text that no parse result shows."""
    return _marks(recipe.turns)(text) is not None


def read_turns(
    text: str, tools: Tools | None, recipe: Recipe, *, called: bool = False
) -> tuple[ParseResult, list[tuple[Span, bool]]]:
    """Read all turns of the model's; return the result and the spans of what others have said.

    Beside each span is whether the model has made it up. What prompts without a template write
    around an answer are words where nothing is called.
    """
    parser, names = parser_for(recipe.reader), frozenset(recipe.abstain)
    reader, known = parser if isinstance(parser, Reader) else auto, widened(tools, names)
    result, others = reader.read_turns(text, known, recipe.level, (PROMPTED, *recipe.turns))
    silent = all(note.code == LATER_TURN for note in result.diagnoses)
    if others and not (called or result.calls) and silent:
        result, others = reader.read_turns(text, known, recipe.level, recipe.turns)
    if reader is parser:
        return without_abstaining(result, names), others
    blanked = without(text, [span for span, _ in others])
    return parse(blanked, parser, tools, recipe.level, abstain=recipe.abstain), others


def without(text: str, spans: Sequence[Span]) -> str:
    """Return the text with blanks in place of the spans."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


_TOKEN = re.compile(
    r"<\|(?:im_start|start_header_id|start|channel)\|>\s*\w{0,24}"  # a turn's head and role
    r"|<\|[^<>|\s]{1,40}\|>"
    r"|<\uff5c[^<>\uff5c\s]{1,40}\uff5c>"
    r"|</?(?:s|think|tools?|tool_calls?|tool_response)>|`{3,}\w*"
    r"|<start_of_turn>\s*(?:model)?|<end_of_turn>|<turn\|>"
    r"|<(?:pad|eos|bos|unk|mask|unused\d{1,5})>|\[(?:PAD|EOS|BOS|UNK|SEP|CLS)\]|\[/?INST\]"
)
_WORDLESS = frozenset("\u115f\u1160\u2139\u3164\uffa0")
"""Letters by their category that are blank in every font, and one that is a pictogram."""


def has_words(text: str) -> bool:
    """Whether a text has anything to read besides control tokens: a letter or a digit, and not only
    punctuation, pictograms, or a value such as `null`.

    Examples:
        >>> has_words("It rains.<|im_end|>"), has_words("<|im_end|>"), has_words("?")
        (True, False, False)
    """
    words = _TOKEN.sub("", text) if "<" in text or "[" in text or "`" in text else text
    seen = any(category(sign)[0] in "LN" and sign not in _WORDLESS for sign in words)
    return seen and words.strip() not in _NOTHING


_NOTHING = frozenset({"null", "None", "none", "nil", "undefined", "NaN", "true", "false"})
"""Values without a word, which are no answer."""
