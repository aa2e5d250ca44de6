"""Calls written as the text of a format, which is confirmed to be read back as them.

What a format can say is decided by the reader alone: no rule of it is stated a second time for
writing. Only once something was read differently are the words' patterns asked for the reason.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

import orjson

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
from tunaeval.repair import BRACE_KEY, PYTHON_NAME, not_json
from tunaeval.showing import brief
from tunaeval.types import (
    Diagnosis,
    JsonObject,
    JsonValue,
    ParseResult,
    ToolCall,
    Tools,
    ToolSpec,
)

from .blocks.elements import TAG
from .live import arguments_text
from .reader import reader_of
from .typing import as_json, escaped, typed

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


# --- arguments as nested elements ---


def written_elements(arguments: JsonObject, word: Elements) -> str:
    """The arguments as nested elements; what elements cannot say stands in them as JSON."""
    between = "" if word.prefix else "\n"
    return between.join(_element(key, value, word) for key, value in arguments.items())


def _element(key: str, value: JsonValue, word: Elements) -> str:
    return f"{word.prefix}<{key}>{_body(key, value, word)}{word.prefix}</{key}>"


def _body(key: str, value: JsonValue, word: Elements) -> str:
    if isinstance(value, str):
        return value if word.prefix or "\n" not in value else f"\n{value}\n"
    if not word.prefix:
        return as_json(value, key)
    if isinstance(value, dict) and _sayable(value, word):
        return written_elements(value, word)
    if isinstance(value, list) and _sayable(value, word):
        return "".join(_element(word.item, item, word) for item in value)
    return as_json(value, key)


def _sayable(value: JsonValue, word: Elements) -> bool:
    """Whether elements say it so that it is read back the same without a schema."""
    if isinstance(value, dict):
        keys = [key for key in value if (tag := TAG.fullmatch(f"<{key}>")) and not tag[1]]
        said = len(keys) == len(value) > 0 and any(key != word.item for key in keys)
        return said and all(_sayable(inner, word) for inner in value.values())
    if isinstance(value, list):
        return bool(value) and all(_sayable(inner, word) for inner in value)
    if isinstance(value, str):
        return word.prefix not in value and typed(value, None, None).value == value
    return True


# --- as Python, and in braces ---


def python_call(name: str, arguments: JsonObject) -> str:
    """A call with literals for arguments; names that Python has no words for are unpacked."""
    plain = {key: value for key, value in arguments.items() if _is_word(key)}
    other = {key: value for key, value in arguments.items() if key not in plain}
    written = [f"{key}={value!r}" for key, value in plain.items()]
    return f"{name}({', '.join([*written, f'**{other!r}'] if other else written)})"


def _is_word(key: str) -> bool:
    known = bool(PYTHON_NAME.fullmatch(key)) and key.isascii()
    return known and key.isidentifier() and not keyword.iskeyword(key)


def python_calls(calls: Sequence[str], *, listed: bool) -> str:
    """Calls in a list, or one on each line."""
    return f"[{', '.join(calls)}]" if listed else "\n".join(calls)


def braces(value: JsonValue, mark: str) -> str:
    """A value with bare keys, and texts between two marks.

    A text that holds the mark itself is written in quotes, which is read as a repair.
    """
    match value:
        case str():
            return json.dumps(value) if mark in value else f"{mark}{value}{mark}"
        case dict():
            members = [f"{_key(key, mark)}:{braces(item, mark)}" for key, item in value.items()]
            return f"{{{','.join(members)}}}"
        case list():
            return f"[{','.join(braces(item, mark) for item in value)}]"
    return json.dumps(value)


def _key(key: str, mark: str) -> str:
    return key if BRACE_KEY.fullmatch(key) else braces(key, mark)


# --- read back ---

_HARMLESS = frozenset({
    "duplicate-key", "lone-surrogate", "nul", "wrong-type", "missing-argument", "unknown-argument",
    "undeclared-argument", "misplaced-argument", "swallowed-markup",
    "not-allowed", "unresolved-ref", "quoted", "stray-closer", "trailing-ellipsis",
    "unclosed-fence", "unclosed-reasoning",
})  # fmt: skip
"""Diagnoses of calls that count, and of words that are no calls; the others tell of a lost call."""


def written_calls(calls: Sequence[ToolCall], form: Format) -> str:
    """The calls as text that is read back as them, up to the types that only a schema tells.

    Raises `UsageError` with the argument, or the name, that the format cannot say.
    """
    for call in calls:
        if why := _shape_fault(call) or _depth_fault(call):
            raise UsageError(f"format {form.name!r} cannot write {why}")
    text = render_calls(calls, form)
    if calls and (why := _fault(text, calls, form)):
        raise UsageError(f"format {form.name!r} cannot write {_culprit(calls, form, why)}")
    return text


def _shape_fault(call: ToolCall) -> str | None:
    """Why the call is none that any text could say, if so: its name, its arguments, a key."""
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
    return None


def _depth_fault(call: ToolCall) -> str | None:
    """Deeper than anything that is read: writing it could take all of the stack."""
    for key, value in call.arguments.items():
        if isinstance(value, dict | list) and (fault := not_json(value)):
            return f"the argument {key!r} of {call.name!r}: its value is no JSON: {fault}"
    return None


def lost_call(diagnoses: Sequence[Diagnosis]) -> str | None:
    """The first sign that something which wanted to be a call was not read as one."""
    for found in diagnoses:
        if found.code not in _HARMLESS:
            return f"{found.code}: {found.message}"
    return None


def misread(
    back: ParseResult,
    meant: Sequence[ToolCall],
    *,
    ordered: bool = False,
    by_schema: bool = False,
) -> str | None:
    """Why `back` holds other calls than were meant, if so.

    `ordered`: the order of arguments counts, too. `by_schema`: a text may be read as the number,
    list or the like that it looks like, as it would be where no schema says that it is a text.
    """
    if lost := lost_call(back.diagnoses):
        return f"it would be read with {lost}"
    for wanted, read in zip_longest(meant, back.calls):
        if (
            wanted is None
            or read is None
            or not _same(wanted, read, ordered=ordered, by_schema=by_schema)
        ):
            return f"{_said(wanted):.200} is read as {_said(read):.200}"
    return None


def _same(meant: ToolCall, read: ToolCall, *, ordered: bool, by_schema: bool) -> bool:
    if meant.name != read.name:
        return False
    wanted, found = meant.arguments, read.arguments
    if by_schema and wanted.keys() == found.keys():
        wanted = {key: _as_read(value, found[key]) for key, value in wanted.items()}
    if ordered:
        return arguments_text(wanted) == arguments_text(found)
    return _canonical(wanted) == _canonical(found)


def _canonical(value: JsonValue) -> str | bytes:
    """The value as JSON text, whatever the order of keys."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return json.dumps(json.loads(json.dumps(value)), sort_keys=True)


def _as_read(value: JsonValue, read: JsonValue) -> JsonValue:
    """A text as it is read where nothing says that it is one."""
    return value if not isinstance(value, str) or value == read else typed(value, None, None).value


def _said(call: ToolCall | None) -> str:
    return f"{call.name}({arguments_text(call.arguments)})" if call else "no call"


# --- why -----------------------------------------------------------------------------------------


def _fault(text: str, calls: Sequence[ToolCall], form: Format) -> str | None:
    """Why the text is not read back as the calls alone, if so."""
    back = reader_of(form).parse(text, tools=_declared(calls) if form.by_tool else None)
    why = misread(back, calls)
    if why and any(isinstance(word, Many | Elements) for word in form.words):
        why = misread(back, calls, by_schema=True) or _typed_fault(calls, form)
    if why is None and back.content.strip():
        return f"{back.content.strip()!r:.200} is read as content"
    return why or next(filter(None, map(_unclosed, back.calls)), None)


def _declared(calls: Sequence[ToolCall]) -> Tools:
    """Tools that declare the arguments of these calls, and not of what types they are."""
    keys: dict[str, JsonObject] = {}
    for call in calls:
        keys.setdefault(call.name, {}).update({key: {} for key in call.arguments})
    return Tools(ToolSpec(name, parameters={"properties": one}) for name, one in keys.items())


def _unclosed(call: ToolCall) -> str | None:
    """Why a call is read only because what is behind it shows its end; that may be missing."""
    found = next((repair for repair in call.repairs if repair.code == "unclosed"), None)
    return f"it would be read with the repair unclosed: {found.message}" if found else None


def _typed_fault(calls: Sequence[ToolCall], form: Format) -> str | None:
    """Why one of the calls is read as another where a schema says which values are texts."""
    for call in calls:
        declared: JsonObject = {
            key: {"type": "string"} if isinstance(value, str) else {}
            for key, value in call.arguments.items()
        }
        tools = Tools([ToolSpec(call.name, parameters={"properties": declared})])
        back = reader_of(form).parse(render_calls([call], form), tools=tools)
        if why := misread(back, [call]):
            return why
    return None


def _culprit(calls: Sequence[ToolCall], form: Format, why: str) -> str:
    """What cannot be written, and why: the first name or argument that fails alone."""
    for call in calls:
        alone = _alone(call, form)
        if alone is None:
            continue
        if bare := _alone(replace(call, arguments={}), form):
            return f"the name {call.name!r}: {_name_reason(call.name, form) or bare}"
        for key, value in call.arguments.items():
            if one := _alone(replace(call, arguments={key: value}), form):
                reason = _argument_reason(key, value, form) or one
                return f"the argument {key!r} of {call.name!r}: {reason}"
        return f"all arguments of {call.name!r} in one call: {alone}"
    return f"these {len(calls)} calls in one text: {why}"


def _alone(call: ToolCall, form: Format) -> str | None:
    return _fault(render_calls([call], form), [call], form)


def _name_reason(name: str, form: Format) -> str | None:
    for word in _flat(form.words):
        if isinstance(word, Name) and not re.fullmatch(word.pattern, name):
            return f"a name fits the pattern {word.pattern!r} there"
    return None


def _argument_reason(key: str, value: JsonValue, form: Format) -> str | None:
    """A pattern that the key does not fit, or markup that the value holds."""
    words = [*_flat(form.words)]
    for word in words:
        if isinstance(word, Key) and not re.fullmatch(
            word.pattern, escaped(key) if word.escaped else key
        ):
            return f"an argument's name fits the pattern {word.pattern!r} there"
    text = value if isinstance(value, str) else as_json(value, key)
    marks = [text for word in words if isinstance(word, Literal) for text in word.spellings]
    marks += [word.prefix for word in words if isinstance(word, Elements)]
    inside = next((mark for mark in marks if len(mark) > 1 and mark in text), None)
    bare = any(isinstance(word, Many | Elements) for word in form.words)
    return (
        f"its value contains {inside!r}, which is the format's own markup"
        if inside and bare
        else None
    )


def _flat(words: Sequence[Word]) -> Iterator[Word]:
    for word in words:
        if isinstance(word, Maybe | Many):
            yield from _flat(word.words)
        else:
            yield word
