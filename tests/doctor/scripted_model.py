"""The model behind the loopback server: what it writes for a request, from its own grammar.

It plays along with lines `Call the tool NAME with exactly these arguments: {JSON}`, writes one call
where the server constrains it to one, and else says hello. Weak models are models, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_LINE = re.compile(r"^Call the tool (\S+) with exactly these arguments: (\{.*\})$", re.MULTILINE)
_CODE = re.compile(r"code of today is (\S+?)\.")
PROSE = "Hello there, it is nice to meet you."


class Written(NamedTuple):
    """The text of a model, and the calls in it: name and arguments, by the one who wrote them."""

    text: str
    calls: Sequence[tuple[str, dict[str, Any]]] = ()
    thought: str = ""


def asked_for(messages: Sequence[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """The calls that the last user message asks for."""
    content = next((m["content"] for m in reversed(messages) if m["role"] == "user"), "")
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    return [(name, json.loads(arguments)) for name, arguments in _LINE.findall(text)]


def hermes(calls: Sequence[tuple[str, dict[str, Any]]]) -> str:
    return "\n".join(
        "<tool_call>\n"
        + json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
        + "\n</tool_call>"
        for name, arguments in calls
    )


def able(messages: Sequence[dict[str, Any]]) -> Written:
    """Copies every call that is asked for."""
    calls = asked_for(messages)
    if calls:
        return Written(hermes(calls), calls)
    codes = _CODE.findall(str(messages[:-1])) if "Which code" in str(messages[-1]) else []
    return Written(codes[-1] if codes else PROSE)


def thinking(messages: Sequence[dict[str, Any]]) -> Written:
    """The same, after a thought."""
    return able(messages)._replace(thought="They want something; let me do it.")


def talkative(_: Sequence[dict[str, Any]]) -> Written:
    """Never calls a tool."""
    return Written("Sure! I would call the tool for you, if I knew how.")


def careless(messages: Sequence[dict[str, Any]]) -> Written:
    """Calls with other values than asked: what it writes is sound, and wrong."""
    calls = [(name, dict.fromkeys(arguments, "?")) for name, arguments in asked_for(messages)]
    return Written(hermes(calls), calls) if calls else Written(PROSE)


def clumsy(messages: Sequence[dict[str, Any]]) -> Written:
    """Writes JSON that is broken, which a server leaves in the content."""
    calls = asked_for(messages)
    return Written(hermes(calls).replace('"arguments": {', '"arguments": ') if calls else PROSE)


def fenced(messages: Sequence[dict[str, Any]]) -> Written:
    """Writes calls as code, which a server need not read."""
    calls = [{"name": name, "arguments": arguments} for name, arguments in asked_for(messages)]
    text = "".join(f"Here it is:\n```json\n{json.dumps(call)}\n```\n" for call in calls)
    return Written(text or PROSE)


def bare(messages: Sequence[dict[str, Any]]) -> Written:
    """Forgets the tags: its JSON is right, and no parser of tagged calls reads it."""
    calls = [{"name": name, "arguments": arguments} for name, arguments in asked_for(messages)]
    return Written("\n".join(map(json.dumps, calls)) or PROSE)


def forgetful(messages: Sequence[dict[str, Any]]) -> Written:
    """Makes the first call alone."""
    calls = asked_for(messages)[:1]
    return Written(hermes(calls), calls) if calls else Written(PROSE)


def looping(messages: Sequence[dict[str, Any]]) -> Written:
    """Never ends."""
    return Written(("again and " if asked_for(messages) else "hello and ") * 20_000)


MODELS: dict[str, Callable[[Sequence[dict[str, Any]]], Written]] = {
    "able": able,
    "thinking": thinking,
    "talkative": talkative,
    "careless": careless,
    "clumsy": clumsy,
    "fenced": fenced,
    "bare": bare,
    "forgetful": forgetful,
    "looping": looping,
}
WEAK = ("talkative", "careless", "clumsy", "fenced", "bare", "looping")
