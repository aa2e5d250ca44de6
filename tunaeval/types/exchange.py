"""What is asked of a model and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .calls import JsonObject, JsonValue, Source
from .deadlines import Deadline
from .messages import Usage


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    `messages` and `tools` are in the shape of OpenAI's chat completions; `tools` is None when
    they are in the prompt. `schema` is a JSON schema that the answer has to fit (constrained
    decoding). `scenario`, `repeat` and `attempt` (both from 1) say what the question is for:
    a recording answers by them. `within_seconds` is how long the answer is waited for, with all
    retries; None where nobody says. A client stops `deadline` while it keeps a
    pause for all its requests.
    """

    messages: Sequence[JsonObject]
    tools: Sequence[JsonObject] | None = None
    schema: JsonObject | None = None
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
    """A model's answer: the assistant's message as the server gave it, and what came with it.

    `latency_seconds` is None where no model was run. `retries` counts failed tries before it.
    `source` says where its calls belong: "structured" when the tools went through a server's API,
    which then parses the calls, so that one in the text was left there; "text" when they belong
    into the text; None where nobody says. `notes` say what else the server sent, and nobody reads.
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

    def kept(self) -> JsonObject:
        """Where its calls belong and how it was streamed, as an `AttemptRecord` has them."""
        came = self.streamed or Streamed(None)
        return {
            "source": self.source,
            "first_token_seconds": came.first_token_seconds,
            "tokens_per_second": came.tokens_per_second,
            "stream_notes": (*self.notes, *came.notes),
        }


@dataclass(frozen=True, slots=True)
class Streamed:
    """How a reply came that was streamed.

    `first_token_seconds` from the request to the first of its text, thoughts or calls;
    `tokens_per_second` from then on, None where the server counts no tokens. `notes` say in what
    its calls differ from those of the final message, if the server sent one, and what is odd about
    how they came.
    """

    first_token_seconds: float | None
    tokens_per_second: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentTask:
    """A task for a whole agent: what is asked, and the directory that it works in.

    `within_seconds` is how long it is waited for. `scenario` and `repeat` say what it is for;
    `faults` are what its model's endpoint is to do wrong, as `tunaeval.types.faults.read_fault`
    takes it.
    """

    prompt: str
    workspace: str
    within_seconds: float
    scenario: str = ""
    repeat: int = 1
    faults: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentRun:
    """What a whole agent did: what it said at the end, and the replies of its model, as far as they
    were seen. `ended` is "answer", "error" (with `words`), or "seconds" where it was stopped.
    `met` has for each fault of the task the first reply (from 1) that it hit, None where none.
    """

    answer: str
    replies: tuple[Reply, ...] = ()
    ended: Literal["answer", "error", "seconds"] = "answer"
    words: str = ""
    met: tuple[int | None, ...] = ()


def is_blank(message: JsonObject) -> bool:
    """Whether a message has neither words nor calls. What was thought before does not matter."""
    content = message.get("content")
    parts = content if isinstance(content, list | tuple) else (content or "",)
    texts = [_text_in(part) for part in parts]
    if any(not isinstance(text, str) or text.strip() for text in texts):
        return False
    return not any(message.get(key) for key in ("refusal", "tool_calls", "function_call"))


def text_of(content: JsonValue) -> str:
    """The text of a message's content: a string, null, or parts (texts, dicts or objects)."""
    if isinstance(content, str):
        return content if type(content) is str else str.__str__(content)
    parts = content if isinstance(content, list | tuple) else ()
    return "".join(text for text in map(_text_in, parts) if isinstance(text, str))


def _text_in(part: object) -> object:
    if isinstance(part, str):
        return part
    return _of(part, "text")


_FOREIGN = frozenset({"tool_use", "tool_call", "function_call", "functionCall"})


def foreign_calls(content: object, items: Iterable[object] = ()) -> list[str]:
    """The types of the parts that are calls of another API, which nobody reads as one of OpenAI's.

    Those that repeat one of `items`, the structured calls beside them, by its id are none
    (LangChain has each call in both places).
    """
    known = {one for item in items if isinstance(one := _of(item, "id"), str)}
    found: list[str] = []
    for part in content if isinstance(content, list | tuple) else ():
        kind, id_ = _of(part, "type"), _of(part, "id")
        if not isinstance(kind, str):
            kind = next((key for key in _FOREIGN if _of(part, key)), None)
        if kind in _FOREIGN and not (isinstance(id_, str) and id_ in known):
            found.append(str(kind))
    return found


def _of(thing: object, key: str) -> object:
    # dict first: the abstract class is slow to ask
    return thing.get(key) if isinstance(thing, (dict, Mapping)) else getattr(thing, key, None)
