"""Formats written: calls as the text a model would write, and how to tell a model to."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tunaeval.errors import UsageError
from tunaeval.grammar import (
    Arguments,
    Attribute,
    CallObject,
    Elements,
    Format,
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
from tunaeval.types import JsonObject, JsonValue, ToolCall, Tools

from ..typing import as_json, escaped
from .elements import written_elements
from .notations import braces, python_call, python_calls

_EXAMPLE = ToolCall("a_tool", {"an_argument": "its value"})
_NESTED = ToolCall("a_tool", {**_EXAMPLE.arguments, "another_argument": {"a_key": [1, 2]}})
"""Where arguments are bare text, the example also shows one that is none."""


def render_calls(calls: Sequence[ToolCall], form: Format) -> str:
    """The calls as text; several share one block where the format holds an array."""
    if not calls:
        return ""
    if form.python or (form.call and (form.call.array or form.call.joined)):
        blocks = _block(form, calls)
    else:
        blocks = form.separator.join(_block(form, [call]) for call in calls)
    if form.around:
        opener, closer = form.around
        blocks = f"{opener.text}{form.separator}{blocks}{form.separator}{closer.text}"
    if form.envelope and not form.envelope.one_each:
        return _message(form, blocks)
    return blocks


def instructions_for(tools: Tools, form: Format) -> str:
    """What to put into a system prompt so that a model writes calls in this format."""
    lines = "\n".join(as_json(spec.as_openai()["function"], spec.name) for spec in tools.values())
    bare = any(isinstance(word, Many) for word in form.words)
    example = render_calls([_NESTED if bare else _EXAMPLE], form)
    return (
        f"You can call these tools, one JSON object a line:\n{lines}\n\n"
        f"To call a tool, write its name and its arguments in exactly this form:\n{example}\n\n"
        "Write one such block for each call. When no tool is needed, answer in plain words."
    )


def _block(form: Format, calls: Sequence[ToolCall]) -> str:
    """One block, in a message of its own where every call has one."""
    block = _written(form.words, calls)
    own = form.envelope is not None and form.envelope.one_each
    return _message(form, block, calls[0].name) if own else block


def _message(form: Format, block: str, name: str = "") -> str:
    """A block, or several, in a message to a tool."""
    envelope = form.envelope
    if envelope is None:
        return block
    route = envelope.call
    header = envelope.opens.text + route.text.replace("{name}", name)
    body = "" if form.opener and form.opener.text == route.body else route.body
    return f"{header}{body}{block}{envelope.closes.text}"


def _written(words: Sequence[Word], calls: Sequence[ToolCall]) -> str:
    return "".join(_word(word, calls) for word in words)


def _word(word: Word, calls: Sequence[ToolCall]) -> str:
    match word:
        case Literal() | Space() | Markup():
            return word.text
        case CallObject():
            return _objects(word, calls)
        case Name():
            return word.before + calls[0].name + word.after_text
        case PythonCalls():
            written = [python_call(call.name, _plain(call)) for call in calls]
            return python_calls(written, listed=word.listed)
        case Arguments(optional=True):
            return ""
        case Arguments():
            plain = _plain(calls[0])
            return braces(plain, word.mark) if word.mark else as_json(plain, calls[0].name)
        case Maybe():
            return _written(word.words, calls) if word.written else ""
        case Elements():
            return written_elements(calls[0].arguments, word)
        case Many():
            arguments = calls[0].arguments.items()
            return "".join(_argument(word.words, key, value) for key, value in arguments)
    raise UsageError(f"{word!r} is outside of Many()")


def _argument(words: Sequence[Word], key: str, value: JsonValue) -> str:
    """One argument: its key, and its value as bare text."""
    parts = []
    for word in words:
        match word:
            case Key():
                parts.append(escaped(key) if word.escaped else key)
            case Maybe():
                parts.append(_argument(word.words, key, value) if word.written else "")
            case Attribute():
                parts.append(word.text[0] if isinstance(value, str) else _kind(value, word))
            case Value():
                text = value if isinstance(value, str) else as_json(value, key)
                parts.append(f"\n{text}\n" if word.trim.startswith("newline") else text)
            case _:
                parts.append(_word(word, ()))
    return "".join(parts)


def _kind(value: JsonValue, word: Attribute) -> str:
    """The attribute's word for a value that is no text: the fitting one, else its first."""
    names = {bool: "boolean", int: "number", float: "number", dict: "object", list: "array"}
    name = names.get(type(value), "null")
    return name if name in word.json else word.json[0]


def _plain(call: ToolCall) -> JsonObject:
    """The arguments as JSON has them: nothing but its own types."""
    plain: JsonObject = json.loads(as_json(call.arguments, call.name))
    return plain


def _objects(word: CallObject, calls: Sequence[ToolCall]) -> str:
    """The calls' objects: one alone, several joined or in a list."""
    written = [_object(word, call) for call in calls]
    if word.inside:
        return f'{{"{word.inside[0]}": [{", ".join(written)}]}}'
    alone = len(written) == 1 and not word.listed
    return word.joined.join(written) if word.joined or alone else f"[{', '.join(written)}]"


def _object(word: CallObject, call: ToolCall) -> str:
    arguments = as_json(call.arguments, call.name)
    quote = "" if word.bare_keys else '"'
    name = json.dumps(call.name, ensure_ascii=False)
    if word.keyed:
        return f"{{{name}: {arguments}}}"
    return f"{{{quote}{word.name}{quote}: {name}, {quote}{word.arguments}{quote}: {arguments}}}"
