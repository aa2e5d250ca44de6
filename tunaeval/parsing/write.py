"""Writes calls as text in a format, and checks that the text is read back as the same calls.

Only the reader decides what a format can express: no rule is repeated for writing. The patterns of
a format's words are only used to explain why something was read differently.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeAlias

import orjson

from tunaeval.errors import UsageError
from tunaeval.grammar import (
    Arguments,
    Attribute,
    CallObject,
    Elements,
    Envelope,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Space,
    Value,
    Word,
    flat,
    literal_texts,
)
from tunaeval.grammar.format import Format
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import Diagnosis, ParseResult

from .collect import arguments_text
from .judge import as_json, escaped, typed
from .reader import reader_of
from .repair.dialects import BRACE_KEY, PYTHON_NAME
from .repair.values import not_json
from .tagged import TAG

_LINE = "\n    "
"""What is written before each object of a list that has a line for each."""

_Argument: TypeAlias = tuple[str, JsonValue]
"""An argument's name and its value."""

_EXAMPLE = ToolCall("a_tool", {"an_argument": "its value"})
_NESTED = ToolCall("a_tool", {**_EXAMPLE.arguments, "another_argument": {"a_key": [1, 2]}})
"""The example for formats with bare text: it also has an argument that is no string."""


def instructions_for(tools: Tools, form: Format) -> str:
    """Return instructions for a system prompt: how to call these tools in this format."""
    lines = "\n".join(as_json(spec.as_openai()["function"], spec.name) for spec in tools.values())
    bare = any(isinstance(word, Many) for word in form.words)
    example = render_calls([_NESTED if bare else _EXAMPLE], form)
    return (
        f"You can call these tools, one JSON object a line:\n{lines}\n\n"
        f"To call a tool, write its name and its arguments in exactly this form:\n{example}\n\n"
        "Write one such block for each call. When no tool is needed, answer in plain words."
    )


def render_calls(calls: Sequence[ToolCall], form: Format) -> str:
    """Return the calls as text, in one block if the format allows several calls in a block."""
    if not calls:
        return ""
    envelope = form.envelope
    if envelope and envelope.one_each:
        return form.separator.join(
            message(envelope, form, _framed(form, [call]), call.name) for call in calls
        )
    text = _framed(form, calls)
    return message(envelope, form, text) if envelope else text


def _framed(form: Format, calls: Sequence[ToolCall]) -> str:
    """Return the blocks of calls, between the texts that are around them."""
    blocks = [calls] if form.several else [[call] for call in calls]
    text = form.separator.join(_row(form.words, block) for block in blocks)
    if form.around:
        opener, closer = form.around
        inner = form.separator if form.inner is None else form.inner
        text = f"{opener.text}{inner}{text}{inner}{closer.text}"
    return text


def message(envelope: Envelope, form: Format, block: str, name: str = "") -> str:
    """Return the text of one or more blocks (`block`) in a message that calls a tool."""
    route = envelope.call
    header = envelope.opens.text + route.text.replace("{name}", name)
    body = "" if form.opener and form.opener.text == route.body else route.body
    return f"{header}{body}{block}{envelope.closes.text}"


def _row(row: Sequence[Word], calls: Sequence[ToolCall], argument: _Argument = ("", None)) -> str:
    return "".join(word_text(word, calls, argument) for word in row)


def word_text(word: Word, calls: Sequence[ToolCall], argument: _Argument) -> str:
    """Return the text that a word of a format writes.

    `argument` is the one that the repetition (`Many`) around the word is writing.
    """
    match word:
        case Literal() | Space() | Markup():
            return word.text
        case CallObject():
            return _objects(word, calls)
        case Name():
            return word.before + calls[0].name + word.after_text
        case PythonCalls():
            write = as_template if word.json else repr
            written = [_python_call(call.name, _plain(call), write) for call in calls]
            return f"[{', '.join(written)}]" if word.listed else "\n".join(written)
        case Arguments():
            if word.optional:
                return ""
            plain = _plain(calls[0])
            return braces(plain, word.mark) if word.mark else as_json(plain, calls[0].name)
        case Maybe():
            return _row(word.words, calls, argument) if word.written else ""
        case Many():
            return "".join(_row(word.words, calls, pair) for pair in calls[0].arguments.items())
        case Elements():
            return _elements(calls[0].arguments, word)
    return _of_argument(word, *argument)


def _of_argument(word: Key | Attribute | Value, key: str, value: JsonValue) -> str:
    """Return what the word writes: an argument's name, its type, or its value as bare text."""
    match word:
        case Key():
            return escaped(key) if word.escaped else key
        case Attribute():
            return word.text[0] if isinstance(value, str) else type_word(value, word)
    text = value if isinstance(value, str) else as_json(value, key)
    # With "newlines" they are needed only where those of the value would be removed.
    kept = word.trim == "newlines" and not (len(text) > 1 and text[0] == text[-1] == "\n")
    return f"\n{text}\n" if word.trim.startswith("newline") and not kept else text


def type_word(value: JsonValue, word: Attribute) -> str:
    """Return the word of an attribute for the type of a value; its first word if none fits."""
    names = {bool: "boolean", int: "number", float: "number", dict: "object", list: "array"}
    name = names.get(type(value), "null")
    return name if name in word.json else word.json[0]


def _plain(call: ToolCall) -> JsonObject:
    """Return the arguments converted to plain JSON types, by way of JSON text."""
    plain: JsonObject = json.loads(as_json(call.arguments, call.name))
    return plain


def _objects(word: CallObject, calls: Sequence[ToolCall]) -> str:
    """Return the calls as JSON objects: a single one, or several joined or in a list."""
    objects = [
        call_object(word, call.name, as_json(call.arguments, call.name), str(number))
        for number, call in enumerate(calls)
    ]
    opener, between, closer = around_objects(word, len(calls))
    return f"{opener}{between.join(objects)}{closer}"


def around_objects(word: CallObject, number: int) -> tuple[str, str, str]:
    """Return three texts: before `number` objects, between two of them, and after the last."""
    if word.inside:
        return f'{{"{word.inside[0]}": [', ", ", "]}"
    if word.lines:
        return f"[{_LINE}", f",{_LINE}", "\n]"
    if word.joined or (number == 1 and not word.listed):
        return "", word.joined, ""
    return "[", ", ", "]"


def call_object(word: CallObject, name: str, arguments: str, number: str) -> str:
    """Return a call as a JSON object, whose arguments are written already."""
    quote = "" if word.bare_keys else '"'
    name = json.dumps(name, ensure_ascii=False)
    if word.keyed:
        return f"{{{name}: {arguments}}}"
    members = f"{quote}{word.name}{quote}: {name}, {quote}{word.arguments}{quote}: {arguments}"
    return f'{{"{word.number}": "{number}", {members}}}' if word.number else f"{{{members}}}"


def _elements(arguments: JsonObject, word: Elements) -> str:
    """Return the arguments as nested elements; a value that cannot nest is JSON in its element."""
    between = "" if word.prefix else "\n"
    return between.join(_element(key, value, word) for key, value in arguments.items())


def _element(key: str, value: JsonValue, word: Elements) -> str:
    if isinstance(value, str):
        body = value if word.prefix or "\n" not in value else f"\n{value}\n"
    elif isinstance(value, dict) and word.prefix and _nests(value, word):
        body = _elements(value, word)
    elif isinstance(value, list) and word.prefix and _nests(value, word):
        body = "".join(_element(word.item, item, word) for item in value)
    else:
        body = as_json(value, key)
    return f"{word.prefix}<{key}>{body}{word.prefix}</{key}>"


def _nests(value: JsonValue, word: Elements) -> bool:
    """Whether a value that is written as elements is read back unchanged without a schema."""
    if isinstance(value, dict):
        keys = [key for key in value if (tag := TAG.fullmatch(f"<{key}>")) and not tag[1]]
        is_object = len(keys) == len(value) > 0 and any(key != word.item for key in keys)
        return is_object and all(_nests(inner, word) for inner in value.values())
    if isinstance(value, list):
        return bool(value) and all(_nests(inner, word) for inner in value)
    if isinstance(value, str):
        return word.prefix not in value and typed(value, None, None).value == value
    return True


def as_template(value: JsonValue) -> str:
    """Return a value as the template of LFM2 writes it in a Python call."""
    if isinstance(value, str):
        for char, written in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r")):
            value = value.replace(char, written)
        return f"'{value}'"
    return as_json(value, "") if isinstance(value, dict | list) else repr(value)


def _python_call(name: str, arguments: JsonObject, write: Callable[[JsonValue], str]) -> str:
    """Return a Python call with literals; keys that are no identifiers go into `**{...}`."""
    names = [key for key in arguments if PYTHON_NAME.fullmatch(key) and key.isascii()]
    names = [key for key in names if key.isidentifier() and not keyword.iskeyword(key)]
    plain = {key: arguments[key] for key in names}
    other = {key: value for key, value in arguments.items() if key not in plain}
    written = [f"{key}={write(value)}" for key, value in plain.items()]
    return f"{name}({', '.join([*written, f'**{other!r}'] if other else written)})"


def braces(value: JsonValue, mark: str) -> str:
    """Return a value as `BraceReader` reads it: bare keys, sorted, and strings between two marks.

    A string that contains the mark is written in quotes, which are read with a repair.
    """
    match value:
        case str():
            return json.dumps(value) if mark in value else f"{mark}{value}{mark}"
        case dict():
            members = [
                f"{key if BRACE_KEY.fullmatch(key) else braces(key, mark)}:{braces(item, mark)}"
                for key, item in sorted(value.items(), key=lambda member: member[0].lower())
            ]
            return f"{{{','.join(members)}}}"
        case list():
            return f"[{','.join(braces(item, mark) for item in value)}]"
    return json.dumps(value)


_HARMLESS = frozenset({
    "duplicate-key", "lone-surrogate", "nul", "wrong-type", "missing-argument", "unknown-argument",
    "undeclared-argument", "misplaced-argument", "swallowed-markup",
    "not-allowed", "unresolved-ref", "quoted", "stray-closer", "trailing-ellipsis",
    "unclosed-fence", "unclosed-reasoning",
})  # fmt: skip
"""Diagnoses of valid calls and of text that was never a call; others mean that a call was lost."""


def written_calls(calls: Sequence[ToolCall], form: Format) -> str:
    """Return text that is read back as these calls, perhaps only with the schemas of their tools.

    Raises `UsageError` with the name or the argument that the format cannot express.
    """
    refuse_odd_calls(calls, f"format {form.name!r}")
    text = render_calls(calls, form)
    if calls and (why := _fault(text, calls, form)):
        raise UsageError(f"format {form.name!r} cannot write {_culprit(calls, form, why)}")
    return text


def refuse_odd_calls(calls: Sequence[ToolCall], writer: str) -> None:
    """Raise `UsageError` for a call that nothing can write; `writer` is what cannot write it."""
    for call in calls:
        if why := _shape_fault(call):
            raise UsageError(f"{writer} cannot write {why}")


def _shape_fault(call: ToolCall) -> str | None:
    """Return why no format can write this call (its name, arguments, a key, depth), or None."""
    name, arguments = call.name, call.arguments
    if not isinstance(name, str):
        return f"the name {brief(name)}: a tool's name is a text, not {type(name).__name__}"
    if re.search("[\ud800-\udfff]", name):
        return f"the name {brief(name)}: a lone surrogate is no character; leave it out"
    if not isinstance(arguments, dict):
        kind = type(arguments).__name__
        return f"the arguments of {brief(name)}: they are {kind}, not a dict; none at all are {{}}"
    for key in arguments:
        if not isinstance(key, str):
            what = f"the argument {key!r:.60} of {brief(name)}"
            return f"{what}: its name is {type(key).__name__}, not a text; write {str(key)!r:.60}"
    for key, value in arguments.items():
        # Writing a value deeper than readers allow could exhaust the stack.
        if isinstance(value, dict | list) and (fault := not_json(value)):
            return f"the argument {key!r} of {name!r}: its value is no JSON: {fault}"
    return None


def lost_call(diagnoses: Sequence[Diagnosis]) -> str | None:
    """Return the first diagnosis of text that was meant as a call but not read; None if none."""
    found = (f"{one.code}: {one.message}" for one in diagnoses if one.code not in _HARMLESS)
    return next(found, None)


def misread(
    back: ParseResult, meant: Sequence[ToolCall], *, ordered: bool = False, by_schema: bool = False
) -> str | None:
    """Return how the calls of `back` differ from the calls `meant`; None if they do not.

    `ordered`: the order of arguments counts, too. `by_schema`: a string may be read as the number,
    list or other value that it spells, as happens without a schema that asks for a string.
    """
    if lost := lost_call(back.diagnoses):
        return f"it would be read with {lost}"
    for wanted, read in zip_longest(meant, back.calls):
        if not (wanted and read and _same(wanted, read, ordered=ordered, by_schema=by_schema)):
            return f"{_shown(wanted):.200} is read as {_shown(read):.200}"
    return None


def _same(meant: ToolCall, read: ToolCall, *, ordered: bool, by_schema: bool) -> bool:
    if meant.name != read.name:
        return False
    wanted, found = meant.arguments, read.arguments
    if by_schema and wanted.keys() == found.keys():
        wanted = {
            key: typed(value, None, None).value
            if isinstance(value, str) and value != found[key]
            else value
            for key, value in wanted.items()
        }
    as_text = arguments_text if ordered else _canonical
    return as_text(wanted) == as_text(found)


def _canonical(value: JsonValue) -> str:
    """Return the value as JSON with sorted keys."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:
        return json.dumps(json.loads(json.dumps(value)), sort_keys=True)


def _shown(call: ToolCall | None) -> str:
    return f"{call.name}({arguments_text(call.arguments)})" if call else "no call"


def _fault(text: str, calls: Sequence[ToolCall], form: Format) -> str | None:
    """Return why `text` is not read back as exactly these calls; None if it is."""
    back = reader_of(form).parse(text, tools=_tools_of(calls, {}) if form.by_tool else None)
    why = misread(back, calls)
    if why and _has_bare_values(form):
        why = misread(back, calls, by_schema=True) or _typed_fault(calls, form)
    if why is None and back.content.strip():
        return f"{back.content.strip()!r:.200} is read as content"
    # An unclosed call is ended by the text after it, which may be missing elsewhere.
    repairs = [repair for call in back.calls for repair in call.repairs]
    unclosed = (repair.message for repair in repairs if repair.code == "unclosed")
    return why or next((f"it would be read with the repair unclosed: {m}" for m in unclosed), None)


def _tools_of(calls: Sequence[ToolCall], text: JsonObject) -> Tools:
    """Return tools that declare the calls' arguments; strings have `text` as their schema."""
    keys: dict[str, JsonObject] = {}
    for call in calls:
        declared = {k: text if isinstance(v, str) else {} for k, v in call.arguments.items()}
        keys.setdefault(call.name, {}).update(declared)
    return Tools(ToolSpec(name, parameters={"properties": one}) for name, one in keys.items())


def _typed_fault(calls: Sequence[ToolCall], form: Format) -> str | None:
    """Return why a call is misread even if a schema says which values are strings, or None."""
    for call in calls:
        tools = _tools_of([call], {"type": "string"})
        back = reader_of(form).parse(render_calls([call], form), tools=tools)
        if why := misread(back, [call]):
            return why
    return None


def _culprit(calls: Sequence[ToolCall], form: Format, why: str) -> str:
    """Return what cannot be written, and why: the first name or argument that fails on its own."""
    for call in calls:
        alone = _alone(call, form)
        if alone is None:
            continue
        if bare := _alone(replace(call, arguments={}), form):
            return f"the name {call.name!r}: {_pattern_fault(Name, call.name, form) or bare}"
        for key, value in call.arguments.items():
            if one := _alone(replace(call, arguments={key: value}), form):
                reason = _pattern_fault(Key, key, form) or _markup_fault(key, value, form) or one
                return f"the argument {key!r} of {call.name!r}: {reason}"
        return f"all arguments of {call.name!r} in one call: {alone}"
    return f"these {len(calls)} calls in one text: {why}"


def _alone(call: ToolCall, form: Format) -> str | None:
    return _fault(render_calls([call], form), [call], form)


def _pattern_fault(kind: type[Name | Key], text: str, form: Format) -> str | None:
    """Return which pattern of the format a name or a key does not match; None if all do."""
    what = "an argument's name" if kind is Key else "a name"
    for word in flat(form.words):
        if isinstance(word, Name | Key) and isinstance(word, kind):
            written = escaped(text) if isinstance(word, Key) and word.escaped else text
            if not re.fullmatch(word.pattern, written):
                return f"{what} fits the pattern {word.pattern!r} there"
    return None


def _markup_fault(key: str, value: JsonValue, form: Format) -> str | None:
    """Return which markup of a format with bare values a value contains; None if it has none."""
    if not _has_bare_values(form):
        return None
    text = value if isinstance(value, str) else as_json(value, key)
    prefixes = (word.prefix for word in form.words if isinstance(word, Elements))
    marks = (*literal_texts(form.words), *prefixes)
    inside = next((mark for mark in marks if len(mark) > 1 and mark in text), None)
    return f"its value contains {inside!r}, which is the format's own markup" if inside else None


def _has_bare_values(form: Format) -> bool:
    """Whether the format writes values as bare text, so that only a schema says their types."""
    return any(isinstance(word, Many | Elements) for word in form.words)
