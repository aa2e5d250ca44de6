"""The public functions that take a format: they read texts and messages, and write calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS, REFUSED, SET_ALIASES
from tunaeval.grammar.turns import Turns
from tunaeval.registry import Registry, who
from tunaeval.showing import brief
from tunaeval.types.calls import STRUCTURED, Source, ToolCall, Tools
from tunaeval.types.parsing import LEVELS, NOT_TEXT, Diagnosis, Level, ParseResult, outcome_of
from tunaeval.types.roles import Parser
from tunaeval.types.shapes import instance_of
from tunaeval.types.third_party import guarded
from tunaeval.types.wanted import refusal, wanted_items, wanted_name
from tunaeval.workers import spread, why_unsendable

from .collect import widened, without_abstaining
from .read_back import refuse_odd_calls, refuse_unread, unread_fault, written_calls
from .reader import AnyTools, Reader, Stream, known_text, known_tools, names_of, reader_of
from .sets import READERS
from .write import instructions_for

_READERS: dict[str, Reader] = {reader.name: reader for reader in READERS}
"""Readers by name: those of the sets, and of each format that was used."""


def parse(
    text: str,
    format: str | Format | Parser = "auto",  # noqa: A002 - the API's word for it
    tools: AnyTools = None,
    level: Level = "standard",
    *,
    abstain: Collection[str] = (),
    template: str | None = None,
) -> ParseResult:
    """Read the calls out of a model's text. Never raises on model text.

    If `tools` are given, only calls of these tools count, and arguments are converted to their
    schemas; to read many texts, convert a list once with `to_tools`. If `format` is (or names) a
    third-party parser that fails, `PluginError` is raised. A plug-in cannot replace a built-in name
    here.

    `abstain` are names that the prompt gives a model to say that it calls nothing. A call of such a
    name is left out; if there is no other, the outcome is "no_call" with the detail "abstained".
    These names need not be among the tools.

    A text may hold turns of others, as chat templates write them: only the model's first turn is
    read. `template` is the text of a chat template (Jinja) whose turns begin as in none that is
    known; `tunaeval template check` says whether they are.

    Examples:
        >>> text = 'Look: <tool_call>{"name": "ls", "arguments": {"path": "."}}</tool_call>'
        >>> result = tunaeval.parse(text)
        >>> result.calls[0].name, result.calls[0].arguments, result.content
        ('ls', {'path': '.'}, 'Look: ')
    """
    parser = parser_for(format)
    if template is not None:
        parser = reader_named(parser).knowing(turns_of(template))  # type: ignore[arg-type]  # refuses others
    if isinstance(parser, Reader):
        return parser.parse(text, tools=tools, level=level, abstain=abstain)
    return reading(parser, known_tools(tools), level, names_of(abstain))(known_text(text))


def parse_levels(
    text: str,
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    *,
    abstain: Collection[str] = (),
) -> dict[Level, ParseResult]:
    """Read the calls out of a text at all three levels, at little more than the cost of one.

    A well-formed text is read once, and so is each damaged object; levels whose results must be
    equal share one result. A third-party parser reads the text once for each level. A call with a
    trailing comma has the outcome "malformed" at "strict" and "calls" at the other levels.

    Examples:
        >>> text = '<tool_call>{"name": "ls", "arguments": {},}</tool_call>'
        >>> levels = tunaeval.parse_levels(text)
        >>> {level: result.outcome for level, result in levels.items()}
        {'strict': 'malformed', 'standard': 'calls', 'lenient': 'calls'}
    """
    text, parser, names = known_text(text), parser_for(format), names_of(abstain)
    known = widened(known_tools(tools), names)
    if isinstance(parser, Reader):
        levels = parser.parse_levels(text, tools=known)
    else:
        levels = {level: parser.parse(text, tools=known, level=level) for level in LEVELS}
    found = {id(result): without_abstaining(result, names) for result in levels.values()}
    return {level: found[id(result)] for level, result in levels.items()}


def parse_message(
    message: object,
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
    *,
    source: Source | None = None,
    abstain: Collection[str] = (),
) -> ParseResult:
    """Read an OpenAI-style message (a dict or an object): structured calls first, then its text.

    A whole answer is read, too, if it is one of OpenAI's chat completions or Responses, Anthropic's
    Messages, Gemini or Bedrock's Converse; it is recognised by its fields.

    `source` says where calls are expected. "structured" means that the server got the tools and
    should have parsed the calls, so a call in the text counts with a repair (`leaked-call`, level
    `standard`), and does not count at `strict`. With None, calls in either place count. `abstain`
    is as in `parse`, for structured calls, too.

    Examples:
        >>> calls = [{"function": {"name": "ls", "arguments": '{"path": "."}'}}]
        >>> tunaeval.parse_message({"tool_calls": calls}).calls[0].arguments
        {'path': '.'}
    """
    from .message import read_message, with_leaked  # noqa: PLC0415 - as in `reader`

    known, names = known_tools(tools), names_of(abstain)
    if level not in LEVELS:  # a message without text would not be checked
        wanted_name(level, "level", LEVELS)
    read = reading(parser_for(format), known, level, names)
    result = read_message(message, read, known, level, names)
    return with_leaked(result, level) if source == STRUCTURED else result


def parse_many(
    texts: Iterable[str],
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
    workers: int = 1,
    *,
    abstain: Collection[str] = (),
) -> list[ParseResult]:
    """Read the texts of any iterable and return a list of their results, in order.

    An item that is no text (None, bytes, a number) raises nothing: its result has no calls and the
    diagnosis "not-text" with its index and type. The outcome is "malformed", because "no_call" and
    "calls" may be correct answers, and "truncated" would blame the end of a text.

    With `workers` above 1, that many processes read the texts. They are started by the start method
    of `multiprocessing`, and have ended when the function returns or raises. This is faster if
    reading a text takes longer than about 25 µs, twice the time to transfer its result: for damaged
    texts and calls of thousands of characters (1.6 to 1.8 times with two workers), but not for
    prose and short valid calls (`benchmarks/many.py`). Starting a process takes as long as reading
    thousands of short texts; fewer than 257 texts are read in the calling process.
    Raises `TunaevalError` when a process dies. `abstain` is as in `parse`.

    Examples:
        >>> good = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'
        >>> [result.outcome for result in tunaeval.parse_many([good, "Hello.", None])]
        ['calls', 'no_call', 'malformed']
    """
    if type(workers) is not int or workers < 1:
        raise UsageError(f"workers is {brief(workers)}, wanted a number of processes, 1 or more")
    wanted_name(level, "level", LEVELS)
    parser, how = parser_for(format), (known_tools(tools), level, names_of(abstain))
    chunks = _chunks(_checked(texts))
    first, second = next(chunks, []), next(chunks, None) if workers > 1 else None
    if second is None:  # too few texts for a second process
        read = _each(reading(parser, *how))
        return [read(text) for chunk in chain([first], chunks) for text in chunk]
    if (reason := why_unsendable(parser)) and not isinstance(format, str):
        raise UsageError(
            f"the parser {parser.name!r} cannot be sent to other processes ({reason}); use "
            "workers=1, or register it as a plug-in and give its name"
        )
    sent = format if reason else parser
    answers = spread(_chunk_reader, (sent, how), chain([first, second], chunks), workers)
    return [_unpacked(each) for answer in answers for each in answer]


def stream(
    format: str | Format | Reader = "auto",  # noqa: A002 - as in `parse`
    tools: AnyTools = None,
    level: Level = "standard",
    *,
    abstain: Collection[str] = (),
    template: str | None = None,
) -> Stream:
    """Return a reader for a text that arrives in pieces; its result equals that of `parse`.

    In the events, a call by which the model abstains (`abstain`, as in `parse`) is markup.
    `template` is as in `parse`.

    Examples:
        >>> reader = tunaeval.stream("hermes")
        >>> events = reader.feed('<tool_call>{"name": "ls", "arguments": {}}</tool_call>')
        >>> reader.finish().outcome
        'calls'
    """
    reader = reader_named(format).knowing(turns_of(template))
    return reader.stream(tools=tools, level=level, abstain=abstain)


_CHUNK_TEXTS = 256
_CHUNK_CHARACTERS = 1 << 18
"""A chunk for a process ends at this many texts or, if that is earlier, at this many characters."""

_RESULT = attrgetter(*ParseResult.__slots__)
_CALL = attrgetter(*ToolCall.__slots__)

_Text: TypeAlias = str | ParseResult
"""A text to be read, or the ready result of an item that is not a text."""

_How: TypeAlias = tuple[Tools | None, Level, frozenset[str]]
"""The tools, the level, and the names by which a model abstains."""


def reading(
    parser: Parser, tools: Tools | None, level: Level, abstain: frozenset[str]
) -> Callable[[str], ParseResult]:
    """Return a function that reads one text and leaves out calls of names in `abstain`."""
    known, parse = widened(tools, abstain), parser.parse
    return lambda text: without_abstaining(parse(text, tools=known, level=level), abstain)


def _each(read: Callable[[str], ParseResult]) -> Callable[[_Text], ParseResult]:
    return lambda text: text if isinstance(text, ParseResult) else read(text)


def _chunk_reader(given: tuple[Any, _How]) -> Callable[[list[_Text]], list[object]]:
    """Return the function that reads chunks in another process; `given`: parser and options."""
    parser, how = given
    read = _each(reading(parser_for(parser), *how))
    return lambda chunk: [_packed(read(text)) for text in chunk]


def _packed(result: ParseResult) -> object:
    """Return the result as a tuple for transfer; a result of a plug-in's own class stays unchanged.

    Collecting tuples from the processes costs a third of collecting the objects.
    """
    if type(result) is not ParseResult or any(type(call) is not ToolCall for call in result.calls):
        return result
    calls, *rest = _RESULT(result)
    return tuple(map(_CALL, calls)), *rest


def _unpacked(packed: object) -> ParseResult:
    if not isinstance(packed, tuple):
        return packed  # type: ignore[return-value]  # what `_packed` left unchanged
    calls, *rest = packed
    return ParseResult(tuple(ToolCall(*call) for call in calls), *rest)


def _checked(texts: Iterable[object]) -> Iterator[_Text]:
    if isinstance(texts, str | bytes | bytearray | Mapping) or not isinstance(texts, Iterable):
        raise refusal("texts", texts, "several, in an iterable; for one text use parse")
    for index, text in enumerate(texts):
        if isinstance(text, str):
            yield text if type(text) is str else str.__str__(text)
            continue
        # Only the type is reported, as a `repr` could be long or raise.
        hint = "; decode bytes first" if isinstance(text, bytes | bytearray) else ""
        fault = Diagnosis(NOT_TEXT, f"texts[{index}] is {type(text).__name__}, wanted a str{hint}")
        yield ParseResult(diagnoses=(fault,), outcome=outcome_of((), attempted=True))


def _chunks(texts: Iterator[_Text]) -> Iterator[list[_Text]]:
    chunk: list[_Text] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text) if type(text) is str else 0
        if len(chunk) == _CHUNK_TEXTS or size >= _CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def render(
    calls: Sequence[ToolCall],
    format: str | Format | None = None,  # noqa: A002 - as in `parse`
    *,
    template: str | None = None,
    tools: AnyTools = None,
    messages: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the calls as a model would write them in this format; `parse` reads them back.

    The text is read back as a check: a call that the format cannot express raises `UsageError`,
    which names the argument (or the tool's name) and the reason. In formats whose values are bare
    text, only `parse` with tools can tell "5" from 5. Without a format it is "hermes".

    `template` is the text of a chat template (Jinja) in place of a format: the calls are written as
    the turn of the assistant that the template writes after `messages` with these `tools`, without
    what the prompt begins and what ends every turn. A template that fails, never ends or leaves out
    a call raises `UsageError`; whether its text is read back, `tunaeval template check` says.

    Examples:
        >>> tunaeval.render([tunaeval.ToolCall("ls", {"path": "."})], "mistral-v11")
        '[TOOL_CALLS]ls[ARGS]{"path": "."}'
    """
    found = wanted_items(calls, "calls", ToolCall, "tool calls")
    if template is None:
        return written_calls(found, format_named("hermes" if format is None else format))
    if format is not None:
        raise UsageError("calls are written in a format or by a template; give one of the two")
    from .templates import turn_by  # noqa: PLC0415 - most calls need no jinja2

    refuse_odd_calls(found, "a template")
    return turn_by(template, found, known_tools(tools), messages) if found else ""


def turns_of(template: str | None) -> tuple[Turns, ...]:
    """Return the family of a chat template's markers of turns; none without a template."""
    if template is None:
        return ()
    from .templates import turns_by  # noqa: PLC0415 - most texts need no jinja2

    return (turns_by(template),)


def instructions(tools: AnyTools, format: str | Format = "hermes") -> str:  # noqa: A002 - as in `parse`
    """Return instructions for a system prompt: how to call these tools in this format.

    Examples:
        >>> text = tunaeval.instructions([{"name": "ls"}], format="hermes")
        >>> "<tool_call>" in text
        True
    """
    return instructions_for(known_tools(tools) or Tools(), format_named(format))


def parser_for(format: str | Format | Reader | Parser) -> Parser:  # noqa: A002 - as in `parse`
    """Return the parser with that name (built-in or a plug-in), or that of the given format.

    A third-party parser is wrapped, so that all its errors are `PluginError`.

    Raises FormatError for a `Format` that does not read the calls that it writes.

    Examples:
        >>> text = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'
        >>> tunaeval.parser_for("hermes").parse(text).calls[0].name
        'ls'
    """
    if isinstance(format, str):
        if (reader := _READERS.get(format)) is not None:
            return reader
        if format in FORMATS:
            return _READERS.setdefault(format, reader_of(FORMATS[format]))
        found = formats.get(format)
        return reader_of(found) if isinstance(found, Format) else guarded(found)
    if isinstance(format, Reader):
        refuse_unread(*format.formats)
        return format
    if isinstance(format, Format):
        refuse_unread(format, *format.also)
        return reader_of(format)
    if isinstance(format, type):
        raise UsageError(f"{brief(format)} is no format: {_IS_PARSER(format)}")
    # The class comes first, as `isinstance` of a protocol takes longer than to parse.
    if Parser in type(format).__mro__ or isinstance(format, Parser):
        return guarded(format)
    raise UsageError(f"{brief(format)} is no format: wanted a name, a Format or a Parser")


def sole_parser_for(format: str | Format | Reader | Parser) -> Parser:  # noqa: A002 - as in `parse`
    """Do what `parser_for` does, but raise PluginClashError if a plug-in has a built-in name.

    The check reads the entry points of all installed packages, which takes longer than thousands of
    parses, so this function is for whole runs.
    """
    if isinstance(format, str):
        formats.refuse_clash(format)
    return parser_for(format)


def reader_named(format: str | Format | Reader) -> Reader:  # noqa: A002 - as in `parse`
    """Return the `Reader` of a format; refuse a third-party parser, which cannot stream."""
    parser = parser_for(format)
    if isinstance(parser, Reader):
        return parser
    name = who(parser, "parser")
    raise UsageError(f"{name} reads whole texts; it cannot be streamed or converted")


def format_named(format: str | Format | Parser) -> Format:  # noqa: A002 - as in `parse`
    """Return the format of that name, to write in; refuse sets, as calls are written in one."""
    found = formats.get(format) if isinstance(format, str) else format
    if isinstance(found, Format):
        refuse_unread(found)
        return found
    if isinstance(found, Reader):
        first, *others = found.formats
        if tuple(others) == first.also:
            return first
        names = " or ".join(repr(form.name) for form in found.formats)
        given = format if isinstance(format, str) else found.name
        raise UsageError(
            f"{given!r} reads several formats, and calls are written in one; give the one that is "
            f"meant: {names}"
        )
    raise UsageError(f"{who(found, 'parser')} can be read but not written")


_IS_PARSER = instance_of(Parser)


def _no_format(thing: object) -> str | None:
    if not isinstance(thing, Format):
        return _IS_PARSER(thing)
    return None if thing.trusted else unread_fault(thing)


class _Formats(Registry[Parser | Format]):
    """The registry of formats."""

    def add(self, name: str, thing: Parser | Format) -> Parser | Format:
        """Register a format or parser; raise FormatError for a format that is not read back."""
        if isinstance(thing, Format):
            refuse_unread(thing, *thing.also)
        return super().add(name, thing)

    def _shaped(self, thing: object, what: str, name: str) -> Parser | Format:
        """Name a format as it is registered, so that its calls have a name that finds it again."""
        found = super()._shaped(thing, what, name)
        if not isinstance(found, Format) or found.name == name:
            return found
        return replace(found, name=name, aliases=(), checked=False)

    def __reduce__(self) -> str:
        """Pickle the name `formats` only: another process imports the registry."""
        return "formats"


formats: Registry[Parser | Format] = _Formats(
    "tunaeval.parsers",
    "format or parser",
    builtins={
        **{one.name: f"tunaeval.parsing.sets:{one.name.replace('-', '_')}" for one in READERS},
        **{
            name: "tunaeval.grammar.formats:" + name.upper().replace("-", "_").replace(".", "")
            for name in FORMATS
        },
    },
    aliases={
        **SET_ALIASES,
        **{alias: name for name, form in FORMATS.items() for alias in form.aliases},
    },
    refused=REFUSED,
    check=_no_format,
    command="tunaeval formats",
)
"""The registry of all formats and parsers, built-in and plug-ins, by name."""
