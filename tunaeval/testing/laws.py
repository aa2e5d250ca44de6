"""Checks of the parser's laws, for any format or set of formats, and for any `Parser`.

All laws of one kind check the same examples, so that each example is parsed only once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tunaeval.errors import UsageError
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import parser_for, reader_named
from tunaeval.parsing.events import Event
from tunaeval.parsing.read_back import written_calls
from tunaeval.parsing.reader import Reader
from tunaeval.types.calls import JsonValue, ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS, Level, ParseResult
from tunaeval.types.roles import Parser

from . import tape as made
from .strategies import (
    calls,
    calls_in,
    damaged_calls,
    literals,
    prose,
    taped,
    tells_types,
    tools_for,
)
from .streams import stream_of, untiled, wrong_pieces
from .tape import Tape


@dataclass(frozen=True, slots=True)
class AnyText:
    """A text of any kind, its chunks, the tools that are given, and a level for the stream."""

    text: str
    chunks: list[str]
    level: Level
    tools: Tools | None


@dataclass(frozen=True, slots=True)
class Written:
    """Calls for a format, and prose to put around them."""

    form: Format
    calls: list[ToolCall]
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ReadAndStreamed:
    """The results of a reader for a text: of the whole at each level, and streamed at one level."""

    of: AnyText
    wholes: dict[Level, ParseResult]
    streamed: ParseResult
    events: list[Event]


def check_format(format: Format | Reader) -> None:  # noqa: A002 - the field's word
    """Check all laws for a format or a reader of several; raises AssertionError with the text.

    Calls that `tunaeval.render` refuses are skipped; a format in which it writes no argument fails.
    The number of examples is hypothesis's setting `max_examples`, 100 by default.
    """
    check_laws(LAWS, format)


def check_law(name: str, format: Format | Reader) -> None:  # noqa: A002 - as in check_format
    """Check one of `LAWS` by its name; raises AssertionError with the text."""
    check_laws([name], format)


def check_laws(names: Iterable[str], format: Format | Reader) -> None:  # noqa: A002 - as above
    """Check the laws of these names; laws of one kind share their examples."""
    reader = reader_named(format)
    chosen = frozenset(names)
    if of_calls := [law for name, law in _OF_CALLS.items() if name in chosen]:
        refusals, has_written = list[str](), False

        @calm
        @given(example=_written_by(reader))
        def calls_keep_the_laws(example: Written) -> None:
            nonlocal has_written
            try:
                text = written_calls(example.calls, example.form)
            except UsageError as refusal:
                refusals.append(str(refusal))
                return
            has_written = has_written or any(call.arguments for call in example.calls)
            for law in of_calls:
                law(reader, example, text)

        calls_keep_the_laws()
        few = has_written or len(refusals) < 10  # which may happen by chance
        assert few, f"no call with arguments was written: {refusals[-1]}"
    if of_texts := [law for name, law in _OF_TEXTS.items() if name in chosen]:

        @calm
        @given(example=any_texts(reader.formats))
        def texts_keep_the_laws(example: AnyText) -> None:
            _check_text(reader, example, of_texts)

        texts_keep_the_laws()


def check_text(
    text: str,
    format: Format | Reader,  # noqa: A002 - as above
    *,
    chunks: Sequence[str] | None = None,
    tools: Tools | None = None,
) -> None:
    """Check `LAWS_OF_TEXTS` for one text; by default each character is a chunk."""
    reader = reader_named(format)
    example = AnyText(text, list(text if chunks is None else chunks), "standard", tools)
    _check_text(reader, example, _OF_TEXTS.values())


def _check_text(
    reader: Reader, example: AnyText, laws: Iterable[Callable[[ReadAndStreamed], None]]
) -> None:
    text, tools = example.text, example.tools
    wholes = {level: reader.parse(text, tools=tools, level=level) for level in LEVELS}
    stream = reader.stream(tools=tools, level=example.level)
    seen = ReadAndStreamed(example, wholes, *stream_of(stream, example.chunks))
    for law in laws:
        law(seen)


def calm(law: Callable[..., None]) -> Callable[..., None]:
    """Return the test without a deadline, because its first example compiles the reader, and with
    a report of only one failure.
    """
    return settings(deadline=None, report_multiple_bugs=False)(law)


def names_and_arguments(calls: Iterable[ToolCall]) -> list[tuple[str, JsonValue]]:
    """Return the names and arguments of calls, which is what the laws compare."""
    return [(call.name, call.arguments) for call in calls]


def any_texts(forms: Sequence[Format]) -> st.SearchStrategy[AnyText]:
    """Return a strategy for texts, most of which are damaged calls in one of the `forms`."""

    def make(tape: Tape) -> AnyText:
        form, kind = tape.pick(forms), tape.below(8)
        text, meant = damaged_calls(tape, form, 4)
        if kind > 4:
            text = _row_of_pieces(tape, literals(form)) if kind < 7 else made.text(tape, 40)
        return AnyText(text, made.chunks(tape, text), tape.pick(LEVELS), _tools(tape, meant))

    return taped(make, 256)


def _row_of_pieces(tape: Tape, marks: Sequence[str]) -> str:
    def piece(tape: Tape) -> str:
        return tape.pick(marks) if marks and tape.below(4) == 3 else made.fragment(tape)

    return "".join(tape.row(piece, 16))


def _tools(tape: Tape, meant: Sequence[ToolCall]) -> Tools | None:
    """Draw no tools, tools that fit the calls in `meant`, or a few names that may occur."""
    kind = tape.below(4)
    if kind < 2:
        return None
    few = Tools(ToolSpec(name) for name in tape.row(made.name, 3))
    return tools_for(meant) if kind == 2 else few


def _written_by(reader: Reader) -> st.SearchStrategy[Written]:
    def make(tape: Tape) -> Written:
        form = tape.pick(reader.formats)
        return Written(form, calls_in(tape, form, 1, 3), made.prose(tape), made.prose(tape))

    return taped(make, 256)


def _rendered_is_read_back(reader: Reader, example: Written, text: str) -> None:
    names = Tools({call.name: ToolSpec(call.name) for call in example.calls}.values())
    unmarked = example.form.whole and reader.wants_tools
    typed = (names,) if unmarked else (None, names)
    for tools in typed if tells_types(example.form) else (tools_for(example.calls),):
        result = reader.parse(text, tools=tools)
        wanted, found = names_and_arguments(example.calls), names_and_arguments(result.calls)
        assert found == wanted, f"{text!r} is read as {found}, and was written for {wanted}"
        assert not result.content.strip(), f"{text!r} leaves content: {result.content!r}"


def _prose_changes_no_call(reader: Reader, example: Written, text: str) -> None:
    if example.form.whole:
        return  # in these formats, text beside unmarked calls makes them an attempt
    text = f"{example.before}\n{text}\n{example.after}"
    tools = None if tells_types(example.form) else tools_for(example.calls)
    result = reader.parse(text, tools=tools)
    wanted, found = names_and_arguments(example.calls), names_and_arguments(result.calls)
    assert found == wanted, f"{text!r} is read as {found}, and was written for {wanted}"
    for words in (example.before, example.after):
        assert words in result.content, f"of {text!r} the words {words!r} are lost"


def _nothing_raises(seen: ReadAndStreamed) -> None:
    """Check the results of all levels; if one had raised, this would not be called."""
    for level, result in seen.wholes.items():
        where = f"{seen.of.text!r} at {level}"
        check_shape(result, level, len(seen.of.text), where)
        unplaced = [call.name for call in result.calls if call.span is None]
        assert not unplaced, f"{where}: calls without a span: {unplaced}"


def check_shape(result: ParseResult, level: Level, length: int, where: str) -> None:
    """Check that outcome and calls agree, and that all spans and repairs are allowed."""
    agrees = (result.outcome == "calls") == bool(result.calls)
    assert agrees, f"{where}: outcome {result.outcome!r} with {len(result.calls)} calls"
    allowed, at = LEVELS[1 : LEVELS.index(level) + 1], 0
    for call in result.calls:
        assert isinstance(call.arguments, dict), f"{where}: arguments are no object: {call}"
        forbidden = [repair.code for repair in call.repairs if repair.level not in allowed]
        assert not forbidden, f"{where}: repaired by {forbidden}"
        if call.span is not None:
            inside = at <= call.span.start < call.span.end <= length
            assert inside, f"{where}: {call.span} overlaps another call or leaves the text"
            at = call.span.end
    for diagnosis in result.diagnoses:
        start, end = diagnosis.span or (0, 0)
        assert 0 <= start <= end <= length, f"{where}: {diagnosis} is outside of the text"


def _chunks_do_not_matter(seen: ReadAndStreamed) -> None:
    whole, cut = seen.wholes[seen.of.level], seen.streamed
    assert cut == whole, f"{seen.of.chunks} at {seen.of.level}: {cut}, and whole {whole}"


def _events_tile_the_text(seen: ReadAndStreamed) -> None:
    why = untiled(seen.of.text, seen.streamed, seen.events)
    assert not why, f"{seen.of.text!r}: {why}"


def _deltas_are_the_arguments(seen: ReadAndStreamed) -> None:
    why = wrong_pieces(seen.events, seen.streamed)
    assert not why, f"{seen.of.chunks}: {why}"


def check_levels(results: dict[Level, ParseResult], where: str) -> None:
    """Check that what a level accepts without a diagnosis is the same at every higher level."""
    for (low, lower), (high, higher) in pairwise(results.items()):
        if not lower.diagnoses:
            assert lower == higher, f"{where}: {low} says {lower}, and {high} {higher}"


def _only_tools_are_called(seen: ReadAndStreamed) -> None:
    for result in seen.wholes.values() if seen.of.tools is not None else ():
        check_names(result, seen.of.tools, repr(seen.of.text))


def check_names(result: ParseResult, tools: Tools | None, where: str) -> None:
    """Check that every call has the name of a tool, if tools are given."""
    unknown = [call.name for call in result.calls if tools is not None and call.name not in tools]
    assert not unknown, f"{where}: calls {unknown}, which are none of {tools}"


_OF_CALLS: dict[str, Callable[[Reader, Written, str], None]] = {
    "rendered-is-read-back": _rendered_is_read_back,
    "prose-changes-no-call": _prose_changes_no_call,
}
_OF_TEXTS: dict[str, Callable[[ReadAndStreamed], None]] = {
    "nothing-raises": _nothing_raises,
    "chunks-do-not-matter": _chunks_do_not_matter,
    "events-tile-the-text": _events_tile_the_text,
    "deltas-are-the-arguments": _deltas_are_the_arguments,
    "levels-are-monotone": lambda seen: check_levels(seen.wholes, repr(seen.of.text)),
    "only-tools-are-called": _only_tools_are_called,
}

LAWS_OF_CALLS = tuple(_OF_CALLS)
"""The names of the laws about rendered calls."""

LAWS_OF_TEXTS = tuple(_OF_TEXTS)
"""The names of the laws about any text."""

LAWS = (*LAWS_OF_CALLS, *LAWS_OF_TEXTS)

Render = Callable[[Sequence[ToolCall]], str]
"""Renders calls as text that the parser reads."""

_TAPE = 128
"""Bytes from which a text is made."""

_THREADS = 8
_TEXTS = 50
"""Each of the threads parses each of these many texts."""


@dataclass(frozen=True, slots=True)
class _Asked:
    text: str
    tools: Tools | None


def check_parser(
    parser: Parser | Format, *, examples: Sequence[str] = (), render: Render | None = None
) -> None:
    """Check the laws of every parser; raises AssertionError with the text.

    1. Nothing raises, whatever the text, the tools and the level.
    2. A text always has the same result: the second time, and in several threads at once.
    3. The outcome is "calls" if there are calls. Spans are within the text, those of calls in order
       and without overlaps; a repair is one that the level allows.
    4. Nothing is invented: content and reasoning are characters of the text, in order, that are
       outside of the calls. Prose without any markup is content completely.
    5. What a level accepts without a diagnosis, every higher level accepts with the same result.
    6. If tools are given, no other name is called.
    7. Each of `examples`, texts as models write them for this parser, contains a call; prose around
       it changes none. Hostile texts are made from the examples as well, so give some.
    8. What `render` writes is parsed back, if it is given.

    A `Format` keeps more than these: check it with `check_format`.
    """
    parser = parser_for(parser)
    for example in examples:
        assert parser.parse(example).calls, f"the example {example!r} gives no call"
    _any_text(parser, examples)
    _prose_around(parser, examples)
    _threads(parser, examples)
    if render is not None:
        _rendered_back(parser, render)


def _any_text(parser: Parser, examples: Sequence[str]) -> None:
    @calm
    @given(asked=taped(lambda tape: _made_text(tape, examples), _TAPE))
    def any_text_keeps_the_laws(asked: _Asked) -> None:
        text, where = asked.text, repr(asked.text)
        results = {level: parser.parse(text, tools=asked.tools, level=level) for level in LEVELS}
        for level, result in results.items():
            check_shape(result, level, len(text), f"{where} at {level}")
            check_names(result, asked.tools, where)
            _check_invention(result, text)
            again = parser.parse(text, tools=asked.tools, level=level)
            assert again == result, f"{where} at {level}: first {result}, then {again}"
        check_levels(results, where)

    any_text_keeps_the_laws()


def _prose_around(parser: Parser, examples: Sequence[str]) -> None:
    @calm
    @given(before=prose(), after=prose(), example=st.sampled_from([*examples, ""]))
    def prose_changes_no_call(before: str, after: str, example: str) -> None:
        text = f"{before}\n{example}\n{after}"
        result, alone = parser.parse(text), parser.parse(example)
        wanted, found = names_and_arguments(alone.calls), names_and_arguments(result.calls)
        assert found == wanted, f"{text!r} is read as {found}, and without prose as {wanted}"
        for words in (before, after):
            assert words in result.content, f"of {text!r} the words {words!r} are lost"

    prose_changes_no_call()


def _threads(parser: Parser, examples: Sequence[str]) -> None:
    """Check that threads change no result. The texts are fixed, as races cannot be shrunk."""
    chance = Random(_THREADS)
    asked = [_made_text(Tape(chance.randbytes(_TAPE)), examples) for _ in range(_TEXTS)] * _THREADS

    def read(one: _Asked) -> ParseResult:
        return parser.parse(one.text, tools=one.tools)

    alone = list(map(read, asked))
    with _switching_often(), ThreadPoolExecutor(_THREADS) as pool:
        together = list(pool.map(read, asked))
    for one, by_itself, among_others in zip(asked, alone, together, strict=True):
        results = f"alone {by_itself}, among threads {among_others}"
        assert by_itself == among_others, f"{one.text!r}: {results}"


def _rendered_back(parser: Parser, render: Render) -> None:
    @calm
    @given(wanted=calls())
    def rendered_is_read_back(wanted: list[ToolCall]) -> None:
        text = render(wanted)
        found = names_and_arguments(parser.parse(text).calls)
        assert found == names_and_arguments(wanted), (
            f"{text!r} is read as {found}, and says {names_and_arguments(wanted)}"
        )

    rendered_is_read_back()


def _check_invention(result: ParseResult, text: str) -> None:
    ends = [0, *(end for call in result.calls for end in call.span or ()), len(text)]
    outside = "".join(text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))
    for kind, words in (("content", result.content), ("reasoning", result.reasoning or "")):
        rest = iter(outside)  # `word not in rest` consumes it up to the first such character
        invented = next((word for word in words if word not in rest), None)
        assert invented is None, f"{text!r}: {kind} {words!r} is not what is there"


def _made_text(tape: Tape, examples: Sequence[str]) -> _Asked:
    """Make a damaged example, hostile markup or any characters; and tools, or none."""
    kind = tape.below(8)
    if kind < 5 and examples:
        text = made.damage(tape, made.prose(tape) + tape.pick(examples), (), 4)
    else:
        text = made.hostile(tape, 16) if kind < 7 else made.text(tape, 40)
    tools = Tools(ToolSpec(name) for name in tape.row(made.name, 3))
    return _Asked(text, tools if tape.below(3) == 2 else None)


@contextmanager
def _switching_often() -> Iterator[None]:
    """Switch threads a thousand times as often as usual, so that they meet in short texts."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 1000)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)
