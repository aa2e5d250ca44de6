"""Turn a server's HTTP response into an `Answer`, whole or streamed, sound or not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tunaeval.models.clients.answers import error_words
from tunaeval.models.clients.server import Heard
from tunaeval.types.calls import JsonObject, JsonValue

from .deltas import delta_faults
from .folding import fold
from .frames import read_frames
from .raw import RAW_KEYS, ids_of, joined_raw, prompt_of, raw_of
from .values import Answer, ApiCall, Ask, Streamed

_REASONING = ("reasoning_content", "reasoning")
_QUOTED = 300  # characters of a body in an error


def read_answer(ask: Ask, heard: Heard) -> Answer:
    """Return the answer in a response. Never raises: what cannot be read becomes its `failure`."""
    if heard.status is None:
        return Answer(ask, failure=heard.failure or "nothing came")
    if 300 <= heard.status < 400:
        place = heard.headers.get("location", "nowhere")
        return Answer(
            ask, heard.status, error=f"redirects are not followed; this one is to {place}"
        )
    if heard.status != 200:
        return Answer(ask, heard.status, error=_error(heard.body) or f"status {heard.status}")
    if ask.streamed:
        return _streamed(ask, heard)
    if heard.failure:
        return Answer(ask, heard.status, failure=heard.failure)
    return _whole(ask, heard)


def _whole(ask: Ask, heard: Heard) -> Answer:
    body = json_object(heard.body)
    if body is None:
        kind = "HTML" if heard.body.lstrip()[:1] == b"<" else "no JSON object"
        written = heard.body[:_QUOTED].decode(errors="replace")
        return Answer(ask, 200, failure=f"the answer is {kind}: {written!r}")
    choice = _first(body.get("choices"))
    message = choice.get("message")
    if not isinstance(message, dict):
        words = error_words(body) or json.dumps(body)[:_QUOTED]
        return Answer(ask, 200, error=f"status 200 without a message: {words}")
    prompt, completion = _usage(body)
    return Answer(
        ask,
        200,
        content=message.get("content"),
        reasoning=_reasoning(message),
        calls=_calls(message.get("tool_calls")),
        finish=choice.get("finish_reason"),
        prompt_tokens=prompt,
        completion_tokens=completion,
        raw=raw_of(body, choice),
        token_ids=ids_of([body]),
        prompt=prompt_of(body),
    )


def _streamed(ask: Ask, heard: Heard) -> Answer:
    frames = read_frames(heard.body)
    faults = list(frames.faults)
    if (whole := json_object(heard.body)) is not None and "choices" in whole:
        words = "stream was true, and the answer is one JSON object"
        return Answer(ask, 200, error=words, streamed=Streamed(0, (("frame-none", words),)))
    if heard.failure or not frames.objects:
        written = heard.body[:_QUOTED].decode(errors="replace")
        words = heard.failure or f"no frame in the stream: {written!r}"
        return Answer(ask, 200, failure=words, streamed=Streamed(len(frames.objects)))
    error = next(
        (error_words(o) or str(o["error"]) for o in frames.objects if o.get("error")), None
    )
    choices = [choice for o in frames.objects if (choice := _first(o.get("choices")))]
    deltas = [delta for c in choices if isinstance(delta := c.get("delta"), dict)]
    calls, wrong = fold(deltas)
    faults += delta_faults(deltas)
    usages = [o for o in frames.objects if isinstance(o.get("usage"), dict)]
    prompt, completion = _usage(usages[-1]) if usages else (None, None)
    finishes = [c["finish_reason"] for c in choices if c.get("finish_reason") is not None]
    return Answer(
        ask,
        200,
        error=f"an error in the stream: {error}" if error else None,
        content=_joined(deltas, ("content",)),
        reasoning=_joined(deltas, _REASONING) or "",
        calls=calls,
        finish=finishes[-1] if finishes else None,
        prompt_tokens=prompt,
        completion_tokens=completion,
        raw=joined_raw(choices),
        token_ids=ids_of(frames.objects),
        streamed=Streamed(len(frames.objects), (*faults, *wrong), bool(usages)),
    )


def json_object(body: bytes) -> JsonObject | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _error(body: bytes) -> str | None:
    """Return the server's error message, plus the model's text if the error contains it."""
    found = json_object(body)
    if found is None:
        return body[:_QUOTED].decode(errors="replace").strip() or None
    words = error_words(found) or json.dumps(found)[:_QUOTED]
    inner = found.get("error")
    quoted = [str(inner[key]) for key in RAW_KEYS if isinstance(inner, dict) and inner.get(key)]
    return " ".join([words, *quoted])


def _first(choices: JsonValue) -> JsonObject:
    listed = choices if isinstance(choices, list) else []
    return next((c for c in listed if isinstance(c, dict) and not c.get("index")), {})


def _calls(listed: JsonValue) -> tuple[ApiCall, ...]:
    found = []
    for each in listed if isinstance(listed, list) else ():
        item = each if isinstance(each, dict) else {}
        function = item.get("function")
        function = function if isinstance(function, dict) else {}
        name, arguments = function.get("name"), function.get("arguments")
        found.append(ApiCall(name, arguments, item.get("id"), item.get("type")))
    return tuple(found)


def _reasoning(message: Mapping[str, JsonValue]) -> str:
    found = next(filter(None, (message.get(key) for key in _REASONING)), "")
    return found if isinstance(found, str) else ""


def _joined(deltas: Sequence[JsonObject], keys: Sequence[str]) -> str | None:
    texts = [next((d[k] for k in keys if isinstance(d.get(k), str)), None) for d in deltas]
    written = [text for text in texts if text is not None]
    return "".join(written) if written else None


def _usage(body: JsonObject) -> tuple[int | None, int | None]:
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
