"""What the readers of requests share: faults, messages as chat completions have them, results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


class Reading:
    """A request that is being read, and `faults`: what its API would refuse it for."""

    def __init__(self, api: ApiName, body: JsonObject) -> None:
        self._api, self.body = api, body
        self.faults: list[Fault] = []

    def refuse(self, where: str, found: JsonValue, wanted: str) -> None:
        self.faults.append(Fault(f"'{where}' is {brief(found)}; wanted {wanted}"))

    def fields(self, thing: JsonObject, where: str, wanted: Mapping[str, Any]) -> None:
        """Want these fields, of these classes."""
        for name, kind in wanted.items():
            if name not in thing or not isinstance(thing[name], kind):
                self.refuse(f"{where}.{name}", thing.get(name), _KINDS.get(kind, "a value"))

    def parts(self, parts: JsonValue, where: str, wanted: Wanted) -> None:
        """Want of each part, also inside of others, what parts of its type have; those of every
        type have the fields of the type "".
        """
        for index, part in enumerate(parts if isinstance(parts, list) else ()):
            here = f"{where}[{index}]"
            if not isinstance(part, dict):
                self.refuse(here, part, "an object")
            elif not part.keys() - {"type"}:
                self.refuse(here, part, "a part with a text, a call or data")
            else:
                for kind in ("", word(part.get("type"))):
                    self.fields(part, here, wanted.get(kind, {}))
                self.parts(part.get("content"), f"{here}.content", wanted)

    def messages(
        self, given: JsonValue, name: str, wanted: str = "an object"
    ) -> Iterator[tuple[str, JsonObject]]:
        """Yield the messages in a field, each with where it is."""
        if not isinstance(given, list) or not given:
            self.refuse(name, given, "a list of at least one message")
        for index, message in enumerate(listed(given)):
            if isinstance(message, dict):
                yield f"{name}[{index}]", message
            else:
                self.refuse(f"{name}[{index}]", message, wanted)

    def listed(self, value: JsonValue, name: str) -> list[JsonValue]:
        """Return a list that may be missing."""
        if not isinstance(value, list | None):
            self.refuse(name, value, "a list")
        return listed(value)

    def read(
        self,
        messages: Iterable[JsonObject],
        functions: Sequence[JsonValue],
        *,
        wants_usage: bool = True,
    ) -> tuple[Request, Sequence[Fault]]:
        """Return the request, whose body names the model, and says whether it wants a stream."""
        tools: Tools | None = None
        try:
            tools = to_tools(functions) if functions else None
        except ToolsError as error:
            self.faults.append(Fault(f"'tools' cannot be read: {error}"))
        model, streams = str(self.body.get("model") or ""), bool(self.body.get("stream"))
        every = tuple(messages)
        request = Request(self._api, self.body, every, tools, model, streams, wants_usage)
        return request, self.faults


def chat_messages(text: str, messages: Iterable[Message]) -> Iterator[JsonObject]:
    """Yield a system prompt and messages as chat completions have them: adjacent ones of the model,
    such as items, are one; results are messages of their own, before what else a user sends.
    """
    if text:
        yield {"role": "system", "content": text}
    parts: list[Part] = []
    for message in messages:
        if message.role == "assistant":
            parts += message.parts
            continue
        if parts:
            yield chat_message(parts)
            parts = []
        rest = [part for part in message.parts if part.kind != "result"]
        for part in message.parts:
            if part.kind == "result":
                result = {"role": "tool", "tool_call_id": part.id, "content": _content(part)}
                yield result | ({"is_error": True} if part.is_error else {})
        if rest or not message.parts:
            role = message.role if message.role in {"system", "developer"} else "user"
            yield {"role": role, "content": _one_text(rest)}
    if parts:
        yield chat_message(parts)


def _one_text(parts: Sequence[Part]) -> JsonValue:
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


def results_in(
    body: JsonObject, name: str, read: Callable[[object, str], Message], *content: str
) -> list[Result]:
    """Return the results in the messages of a request; the keys of `content` lead from a result to
    its content. One with the role of a user has no id: the message before it names the tool.
    """
    given = listed(body.get(name))
    messages = [read(message, f"/{name}/{index}") for index, message in enumerate(given)]
    calls = [part for message in messages for part in message.parts if part.kind == "call"]
    names = {part.id: part.name for part in calls if isinstance(part.id, str)}
    last = max((at for at, one in enumerate(messages) if one.role == "assistant"), default=-1)
    found = []
    for at, message in enumerate(messages):
        for part in message.parts:
            if part.kind == "result" and message.role != "assistant":
                keys = [int(key) if key.isdigit() else key for key in part.path.split("/")[1:]]
                tool = part.name or names.get(word(part.id))
                is_told = at > 0 and part.role == "user"
                before = text_of(get(messages[at - 1].given, "content")) if is_told else ""
                found.append(Result((*keys, *content), part.content, tool, before, at > last))
    return found


def put(body: JsonValue, path: Sequence[str | int], value: JsonValue) -> JsonValue:
    """Return a copy of a body in which the value at the path is another one."""
    if not path:
        return value
    key, *rest = path
    made = body.copy()
    made[key] = put(body[key] if rest else None, rest, value)
    return made
