"""A request to a model and its reply, and a task for a whole agent and its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from types import UnionType
from typing import Any, Literal, get_args

from tunaeval.showing import brief, visible

from .calls import JsonObject, JsonValue, Source
from .deadlines import Deadline
from .messages import Usage


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model.

    `messages` and `tools` are in the shape of OpenAI's chat completions; `tools` is None if they
    are in the prompt. `schema` is a JSON schema that constrains the reply; `fields` go along in the
    body as they are, such as a grammar. `scenario`, `repeat` and `attempt` (both from 1) identify
    the request, so that a recording can answer it.
    `within_seconds` limits the time for the reply with all retries; None is no limit. A client
    stops `deadline` while it delays all of its requests.
    """

    messages: Sequence[JsonObject]
    tools: Sequence[JsonObject] | None = None
    schema: JsonObject | None = None
    fields: JsonObject | None = None
    max_tokens: int = 300
    temperature: float | None = 0.0
    seed: int | None = None
    scenario: str = ""
    repeat: int = 1
    attempt: int = 1
    within_seconds: float | None = None
    deadline: Deadline | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply: the assistant's message as the server sent it, and data about it.

    `latency_seconds` is None if no model was run. `retries` counts failed tries before it. `source`
    says where its calls belong: "structured" if the tools went through the server's API, so that a
    call in the text was left there by mistake; "text" if calls belong in the text; None if that is
    unknown. `notes` describe what else the server sent and no code reads.
    """

    message: JsonObject
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    latency_seconds: float | None = None
    retries: int = 0
    raw: JsonObject | None = None
    source: Source | None = None
    streamed: Streamed | None = None
    notes: tuple[str, ...] = ()
    cached_at: str | None = None
    """When the reply was received that a cache repeats, in ISO 8601; None for a new one."""

    def kept(self) -> JsonObject:
        """Return the fields of an `AttemptRecord` on this reply's source, streaming and cache."""
        streamed = self.streamed or Streamed(None)
        return {
            "source": self.source,
            "first_token_seconds": streamed.first_token_seconds,
            "tokens_per_second": streamed.tokens_per_second,
            "stream_notes": (*self.notes, *streamed.notes),
            "cached_at": self.cached_at,
        }


@dataclass(frozen=True, slots=True)
class Streamed:
    """How a reply was streamed.

    `first_token_seconds` is the time from the request to the first text, reasoning or call;
    `tokens_per_second` counts from then on, and is None if the server counts no tokens. `notes`
    describe irregularities, such as calls that differ from those in the server's final message.
    """

    first_token_seconds: float | None
    tokens_per_second: float | None = None
    notes: tuple[str, ...] = ()


_KINDS: dict[object, tuple[Callable[[object], bool], str]] = {
    "JsonObject": (lambda one: isinstance(one, dict), "an object"),
    "JsonObject | None": (lambda one: isinstance(one, dict | None), "an object or None"),
    "str | None": (lambda one: isinstance(one, str | None), "a text or None"),
    "Source | None": (lambda one: isinstance(one, str | None) and one in (None, *get_args(Source)),
                      "'structured', 'text' or None"),
    "int": (lambda one: _is_number(one, int), "a whole number"),
    "int | None": (lambda one: one is None or _is_number(one, int), "a whole number or None"),
    "float | None": (lambda one: one is None or _is_number(one, int | float),
                     "a finite number or None"),
    "tuple[str, ...]": (lambda one: isinstance(one, tuple | list)
                        and all(isinstance(text, str) for text in one), "a tuple of texts"),
    "Usage": (lambda one: isinstance(one, Usage), "a Usage"),
    "Streamed | None": (lambda one: isinstance(one, Streamed | None), "a Streamed or None"),
}  # fmt: skip
"""What a field of a reply must be by its annotation, as a test and in words."""


def fault_of(reply: Reply) -> str | None:
    """Return the first fault of a reply, such as "retries=None, wanted a whole number", or None.

    Each reply is checked where it enters, whoever made it: a client, a cache, a recording. A run
    that keeps a reply without a fault can be read again.
    """
    for place, holder in (("", reply), ("usage.", reply.usage), ("streamed.", reply.streamed)):
        for one in () if holder is None else fields(holder):
            value, (fits, wanted) = getattr(holder, one.name), _KINDS[one.type]
            if not fits(value):
                return f"{place}{one.name}={brief(value)}, wanted {wanted}"
    content = reply.message.get("content")
    if not isinstance(content, str | list | None):
        return f"message.content={brief(content)}, wanted a text, a list or None"
    return _fault_in(reply.message)


def _is_number(value: Any, kind: type | UnionType) -> bool:
    # NaN and infinity are not below it, and longer integers are texts in files.
    is_one = isinstance(value, kind) and not isinstance(value, bool)
    return is_one and abs(value) < 2**63


_MOST_DEPTH = 10_000
"""A message that is nested more deeply contains itself."""


def _fault_in(message: JsonObject) -> str | None:
    """Return what in a message is no JSON, or None."""
    waiting: list[tuple[str, JsonValue, int]] = [("message", message, 0)]
    while waiting:
        place, value, depth = waiting.pop()
        if isinstance(value, str | int | None) or (isinstance(value, float) and isfinite(value)):
            continue
        is_object = isinstance(value, dict) and all(isinstance(key, str) for key in value)
        if depth == _MOST_DEPTH or not (is_object or isinstance(value, list)):
            return f"{visible(place)}={brief(value)}, wanted JSON"
        parts = value.items() if is_object else enumerate(value)
        waiting += [(f"{place}.{name}"[:60], one, depth + 1) for name, one in parts]
    return None


@dataclass(frozen=True, slots=True)
class AgentTask:
    """A task for a whole agent: the prompt, and the directory that it works in. `within_seconds` is
    how long it may take. `scenario` and `repeat` identify it. `faults` is what its model's endpoint
    does wrong, as data for `tunaeval.types.faults.read_fault`. `sandbox` is what its commands are
    to run in, or None.
    """

    prompt: str
    workspace: str
    within_seconds: float
    scenario: str = ""
    repeat: int = 1
    faults: tuple[JsonObject, ...] = ()
    sandbox: Any = None


@dataclass(frozen=True, slots=True)
class AgentRun:
    """What a whole agent did: its final answer, and its model's replies as far as they were seen.
    `ended` is "answer", "error" (explained in `words`), or "seconds" if it was stopped. `met` has,
    for each fault of the task, the number of the first reply (from 1) that it changed, or None.
    `results` are the texts of its tools' results, each with the number of the reply before it.
    """

    answer: str
    replies: tuple[Reply, ...] = ()
    ended: Literal["answer", "error", "seconds"] = "answer"
    words: str = ""
    met: tuple[int | None, ...] = ()
    results: tuple[tuple[int, str], ...] = ()


def is_blank(message: JsonObject) -> bool:
    """Whether a message has neither text nor calls; reasoning does not count."""
    content = message.get("content")
    parts = content if isinstance(content, list | tuple) else (content or "",)
    texts = [_text_in(part) for part in parts]
    if any(not isinstance(text, str) or text.strip() for text in texts):
        return False
    return not any(message.get(key) for key in ("refusal", "tool_calls", "function_call"))


def text_of(content: JsonValue) -> str:
    """Return all text in a message's content: a string, None, or parts (texts, dicts, objects)."""
    if isinstance(content, str):
        return content if type(content) is str else str.__str__(content)
    parts = content if isinstance(content, list | tuple) else ()
    return "".join(text for text in map(_text_in, parts) if isinstance(text, str))


def _text_in(part: object) -> object:
    if isinstance(part, str):
        return part
    return field_of(part, "text")


def field_of(thing: object, key: str) -> object:
    """Return a field of a mapping or of an object; None if there is none."""
    # dict comes first, as isinstance is slow for an abstract class
    return thing.get(key) if isinstance(thing, (dict, Mapping)) else getattr(thing, key, None)
