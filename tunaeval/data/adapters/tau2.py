"""Messages of tau2-bench: like chat completions, except that results have the call's id in `id`,
and that the simulated user makes calls too, which are not the agent's.
"""

from __future__ import annotations

from tunaeval.types.messages import Usage

from .fields import get, identifier, instant, json_words, listed, usage_of, word
from .reading import Reading

_USER = "user"


def claims(message: object) -> bool:
    """Whether it is tau2's: its results and calls have a field with their requestor."""
    calls = [message, *listed(get(message, "tool_calls")), *listed(get(message, "tool_messages"))]
    return any(word(get(one, "requestor")) in {_USER, "assistant"} for one in calls)


def read(message: object, reading: Reading) -> None:
    role = word(get(message, "role"))
    several = listed(get(message, "tool_messages"))
    if role == "tool":
        reading.begin(role, at=instant(get(message, "timestamp")))
        for one in several or [message]:
            _read_result(one, reading)
        return
    reading.begin(role, usage=_usage(message), at=instant(get(message, "timestamp")))
    reading.text(word(get(message, "content")))
    for call in listed(get(message, "tool_calls")):
        if role == _USER or get(call, "requestor") == _USER:
            words = f"{word(get(call, 'name'))} {json_words(get(call, 'arguments'))}"
            reading.text(f"[{words}]")
            reading.notice("call-of-user", f"the user calls {words[:80]}, which is no agent's call")
        else:
            reading.call(get(call, "name"), get(call, "arguments"), get(call, "id"))


def _read_result(message: object, reading: Reading) -> None:
    content, failed = get(message, "content"), get(message, "error")
    text = content if isinstance(content, str) else "" if content is None else json_words(content)
    if get(message, "requestor") == _USER:
        reading.text(text, _USER)
        return
    is_error = failed if isinstance(failed, bool) else None
    reading.result(identifier(get(message, "id")), text, is_error)


def _usage(message: object) -> Usage | None:
    return usage_of({**_dict(get(message, "usage")), "cost": get(message, "cost")})


def _dict(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, dict) else {}
