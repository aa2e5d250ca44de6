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
    Space,
    Value,
    Word,
)
from tunaeval.types import JsonValue, ToolCall, Tools

from .elements_writing import written_elements
from .typing import as_json, escaped

_EXAMPLE = ToolCall("a_tool", {"an_argument": "its value"})


def render_calls(calls: Sequence[ToolCall], form: Format) -> str:
    """The calls as text; several share one block where the format holds an array."""
    if not calls:
        return ""
    if form.call and (form.call.array or form.call.joined):
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
    lines = "\n".join(json.dumps(spec.as_openai()["function"]) for spec in tools.values())
    example = render_calls([_EXAMPLE], form)
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
        case CallObject() if len(calls) == 1:
            return _object(word, calls[0])
        case CallObject() if word.joined:
            return word.joined.join(_object(word, call) for call in calls)
        case CallObject():
            return "[" + ", ".join(_object(word, call) for call in calls) + "]"
        case Name():
            return word.before + calls[0].name + word.after_text
        case Arguments():
            return as_json(calls[0].arguments, calls[0].name)
        case Maybe():
            return _written(word.words, calls) if word.written else ""
        case Elements():
            return written_elements(calls[0].arguments, word)
        case Many():
            arguments = calls[0].arguments.items()
            return "".join(_argument(word.words, key, value) for key, value in arguments)
    raise UsageError(f"{word!r} stands outside of Many()")


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
                parts.append(f"\n{text}\n" if word.trim == "newline" else text)
            case _:
                parts.append(_word(word, ()))
    return "".join(parts)


def _kind(value: JsonValue, word: Attribute) -> str:
    """The attribute's word for a value that is no text: the fitting one, else its first."""
    names = {bool: "boolean", int: "number", float: "number", dict: "object", list: "array"}
    name = names.get(type(value), "null")
    return name if name in word.json else word.json[0]


def _object(word: CallObject, call: ToolCall) -> str:
    arguments = as_json(call.arguments, call.name)
    quote = "" if word.bare_keys else '"'
    name = json.dumps(call.name, ensure_ascii=False)
    if word.keyed:
        return f"{{{name}: {arguments}}}"
    return f"{{{quote}{word.name}{quote}: {name}, {quote}{word.arguments}{quote}: {arguments}}}"
