"""What the readers of requests share: faults, messages in the shape of chat completions, tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tunaeval.errors import ToolsError
from tunaeval.showing import brief
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue, Tools
from tunaeval.types.exchange import text_of

from .fields import get, listed, word
from .parts import Wanted
from .values import ApiName, Fault, Message, Part, Request, Result, chat_message

_KINDS = {str: "a text", dict: "an object"}


def fault(where: str, found: JsonValue, wanted: str) -> Fault:
    return Fault(f"'{where}' is {brief(found)}; wanted {wanted}")


def field_faults(thing: JsonObject, where: str, wanted: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for each field that is not there, or of another class than the wanted one."""
    for name, kind in wanted.items():
        if name not in thing or not isinstance(thing[name], kind):
            is_what = brief(thing[name]) if name in thing else "missing"
            yield Fault(f"'{where}.{name}' is {is_what}; wanted {_KINDS.get(kind, 'a value')}")


def part_faults(parts: JsonValue, where: str, wanted: Wanted) -> Iterator[Fault]:
    """Yield a fault for each part that lacks what parts of its type have, also inside of others.
    Fields that parts of every type have are wanted by the type "".
    """
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        here = f"{where}[{index}]"
        if not isinstance(part, dict):
            yield fault(here, part, "an object")
        elif not part.keys() - {"type"}:
            yield fault(here, part, "a part with a text, a call or data")
        else:
            yield from field_faults(part, here, wanted.get("", {}))
            yield from field_faults(part, here, wanted.get(word(part.get("type")), {}))
            yield from part_faults(part.get("content"), f"{here}.content", wanted)


def conversation(
    body: JsonObject, name: str, faults: list[Fault], wanted: str = "an object"
) -> list[tuple[str, JsonObject]]:
    """Return the messages in a field of a request, each with where it is."""
    given = body.get(name)
    if not isinstance(given, list) or not given:
        faults.append(fault(name, given, "a list of at least one message"))
    every = [(f"{name}[{index}]", one) for index, one in enumerate(listed(given))]
    faults += [fault(where, one, wanted) for where, one in every if not isinstance(one, dict)]
    return [(where, one) for where, one in every if isinstance(one, dict)]


def chat_messages(messages: Iterable[Message]) -> Iterator[JsonObject]:
    """Yield messages as chat completions have them: adjacent ones of the model, such as items, are
    one; results are messages of their own, before what else a user sends.
    """
    said: list[Part] = []
    for message in messages:
        if message.role == "assistant":
            said += message.parts
            continue
        if said:
            yield chat_message(said)
            said = []
        rest = [part for part in message.parts if part.kind != "result"]
        for part in message.parts:
            if part.kind == "result":
                result = {"role": "tool", "tool_call_id": part.id, "content": _content(part)}
                yield result | ({"is_error": True} if part.is_error else {})
        if rest or not message.parts:
            role = message.role if message.role in {"system", "developer"} else "user"
            yield {"role": role, "content": _plain(rest)}
    if said:
        yield chat_message(said)


def _plain(parts: Sequence[Part]) -> JsonValue:
    """Return parts as one text, or as they are if there are others, such as images."""
    if all(part.kind == "text" for part in parts):
        return "".join(part.text for part in parts)
    return [
        {"type": "text", "text": part.text} if part.kind == "text" else part.given for part in parts
    ]


def _content(result: Part) -> JsonValue:
    parts = result.content if isinstance(result.content, list) else ()
    is_text = all(isinstance(get(part, "text"), str) for part in parts)
    return result.text if is_text else result.content


def system(text: str) -> list[JsonObject]:
    return [{"role": "system", "content": text}] if text else []


def tools_in(functions: Sequence[JsonValue], faults: list[Fault]) -> Tools | None:
    """Return functions that a request offers as tools, or None if there are none."""
    try:
        return to_tools(functions) if functions else None
    except ToolsError as error:
        faults.append(Fault(f"'tools' cannot be read: {error}"))
        return None


def list_in(body: JsonObject, name: str, faults: list[Fault]) -> list[JsonValue]:
    """Return the list in a field, which may be missing."""
    value = body.get(name)
    if not isinstance(value, list | None):
        faults.append(fault(name, value, "a list"))
    return listed(value)


def request_of(
    api: ApiName,
    body: JsonObject,
    messages: Iterable[JsonObject],
    tools: Tools | None,
    faults: Sequence[Fault],
    *,
    wants_usage: bool = True,
) -> tuple[Request, Sequence[Fault]]:
    """Return a request whose body names the model, and says whether the answer is streamed."""
    model, streams = str(body.get("model") or ""), bool(body.get("stream"))
    request = Request(api, body, tuple(messages), tools, model, streams, wants_usage)
    return request, faults


def whole_request(body: JsonObject, model: str) -> JsonObject:
    """Return a body that asks a model for an answer that is not streamed."""
    kept = {name: one for name, one in body.items() if name != "stream_options"}
    return kept | {"stream": False} | ({"model": model} if model else {})


def tool_names(tools: JsonValue) -> Iterator[str]:
    """Yield the names of tools as any of the APIs offers them, also of tools that a server runs."""
    for tool in listed(tools):
        match tool:
            case {"function": {"name": str(name)}} | {"custom": {"name": str(name)}}:
                yield name
            case {"name": str(name)} | {"type": str(name)}:
                yield name
                yield from tool_names(tool.get("tools"))
            case {"functionDeclarations": list(inner)} | {"function_declarations": list(inner)}:
                yield from tool_names(inner)
            case dict():
                yield from tool


def results_in(messages: Sequence[Message], *content: str) -> list[Result]:
    """Return the results in the messages of a request, whose parts are at their paths; the keys of
    `content` lead from a result to its content. One with the role of a user, which has no id, is
    of the tool that the message before it names.
    """
    names = {
        part.id: part.name
        for message in messages
        for part in message.parts
        if part.kind == "call" and isinstance(part.id, str)
    }
    last = max((at for at, one in enumerate(messages) if one.role == "assistant"), default=-1)
    found = []
    for at, message in enumerate(messages):
        for part in message.parts:
            if part.kind == "result" and message.role != "assistant":
                known = names.get(part.id) if isinstance(part.id, str) else None
                is_told = at > 0 and part.role == "user"
                before = text_of(get(messages[at - 1].given, "content")) if is_told else ""
                path = (*_keys(part.path), *content)
                tool = part.name or known
                found.append(Result(path, part.content, tool, before, is_new=at > last))
    return found


def _keys(pointer: str) -> tuple[str | int, ...]:
    return tuple(int(key) if key.isdigit() else key for key in pointer.split("/")[1:])


def put(body: JsonValue, path: Sequence[str | int], value: JsonValue) -> JsonValue:
    """Return a copy of a body in which the value at the path is another one."""
    if not path:
        return value
    first, *rest = path
    made = body.copy()
    made[first] = put(body[first] if rest else None, rest, value)
    return made
