"""Writes calls as text in a format; `read_back` checks that a format can express them."""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tunaeval.grammar import (
    TAG,
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
)
from tunaeval.grammar.format import Format
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools

from .judge import as_json, escaped, typed
from .repair.dialects import BRACE_KEY, PYTHON_NAME
from .repair.schema import ANY

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
            written = [_python_call(call.name, _plain_arguments(call), write) for call in calls]
            return f"[{', '.join(written)}]" if word.listed else "\n".join(written)
        case Arguments():
            if word.optional:
                return ""
            plain = _plain_arguments(calls[0])
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


def _plain_arguments(call: ToolCall) -> JsonObject:
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
        return word.prefix not in value and typed(value, ANY, None).value == value
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
