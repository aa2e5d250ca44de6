"""The loopback server's answers in the words of the Responses API and of Anthropic's Messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from tests.doctor.answering import Reply, answer
from tests.doctor.serving import Served
from tunaeval.wire.apis import APIS

Event = dict[str, Any]
Spoil: TypeAlias = Callable[[str, list[Event]], list[Event]]
"""Spoils an answer of an API: the events of a stream, or a list of the whole answer alone."""


def sound(_: str, events: list[Event]) -> list[Event]:
    return events


def answer_worded(served: Served, api: Any, body: dict[str, Any], spoil: Spoil) -> Reply:
    request, _ = APIS[api].read_request(body, {})
    chat = {
        "model": body.get("model"),
        "messages": [dict(message) for message in request.messages],
        "tools": request.tools.as_openai() if request.tools else [],
        "max_tokens": body["max_output_tokens" if api == "responses" else "max_tokens"],
    }
    reply = answer(served, chat)
    if reply.status != 200:
        return reply
    made = APIS["chat"].read_reply(json.loads(reply.body))
    if not request.streams:
        return Reply.json(spoil(api, [APIS[api].write_reply(made, request, 1)])[0])
    written = APIS[api].write_events(made, request, 1)
    events = spoil(api, [json.loads(json.dumps(one)) for one in written])
    text = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
    return Reply(200, {"Content-Type": "text/event-stream"}, text.encode())
