"""Turn a server's HTTP response into a `ServerAnswer`, whole or streamed, sound or not.

A stream is read by the rules of server-sent events, and what breaks them is reported. The standard
(https://html.spec.whatwg.org/multipage/server-sent-events.html) allows a byte order mark at the
start, CR, LF or CRLF, comments and unknown fields. The call fragments of a stream are assembled by
index, as most clients do, and by id. A server is right if both give the same calls, each with one
index, one id and one name.

The raw text, which the model wrote before the server parsed it, is revealed in different ways.
Log-probabilities list the tokens of the very answer that is judged: vLLM and SGLang give them whole
and streamed, Ollama and others whole. vLLM and SGLang also give token ids, which their
`/detokenize` turns into text. llama.cpp has the text in `__verbose` of a whole answer, and refuses
log-probabilities with tools in a stream. llama.cpp and vLLM also show the rendered prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from tunaeval.clients.server import Heard
from tunaeval.clients.statuses import meaning
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import json_object
from tunaeval.wire.apis import APIS
from tunaeval.wire.asking import ASKED
from tunaeval.wire.assembler import Assembler, GrowingCall
from tunaeval.wire.chat import call_of, calls_of, first_choice
from tunaeval.wire.endings import ENDS_CALLS, error_words, finish_of
from tunaeval.wire.events import DONE
from tunaeval.wire.fields import json_words
from tunaeval.wire.values import Fragment, Part

from .values import Api, ApiCall, Ask, ServerAnswer, listed

_QUOTED = 300  # characters of a body in an error


def read_answer(ask: Ask, heard: Heard) -> ServerAnswer:
    """Return the answer in a response. Never raises: what cannot be read becomes its `failure`."""
    if heard.timed_out:
        return ServerAnswer(ask, heard.status, failure=f"the server hangs: {heard.failure}")
    if heard.status is None:
        return ServerAnswer(ask, failure=heard.failure or "nothing came")
    if 300 <= heard.status < 400:
        place = heard.headers.get("location", "nowhere")
        return ServerAnswer(
            ask, heard.status, error=f"redirects are not followed; this one is to {place}"
        )
    if heard.status != 200:
        return ServerAnswer(ask, heard.status, error=_error(heard.body) or f"status {heard.status}")
    if ask.streamed:
        return _streamed(ask, heard)
    if heard.failure:
        return ServerAnswer(ask, heard.status, failure=heard.failure)
    return _whole(ask, heard)


def _whole(ask: Ask, heard: Heard) -> ServerAnswer:
    body = json_object(heard.body)
    if body is None:
        kind = "HTML" if heard.body.lstrip()[:1] == b"<" else "no JSON object"
        written = heard.body[:_QUOTED].decode(errors="replace")
        return ServerAnswer(ask, 200, failure=f"the answer is {kind}: {written!r}")
    found = APIS[ask.api].read_reply(body)
    if found.message is None or found.error is not None:
        words = error_words(body) or found.error or json.dumps(body)[:_QUOTED]
        message = f"status 200 without a message: {words}"
        return ServerAnswer(ask, _status(body), error=message)
    tokens = _tokens(_choice(body))
    calls = tuple(
        _api_call(part, ask.api) for part in found.parts if part.kind == "call" and not part.hosted
    )
    return ServerAnswer(
        ask,
        200,
        content=found.message.get("content"),
        reasoning="".join(part.text for part in found.parts if part.kind == "thought"),
        calls=calls,
        finish=_finish(found.reason, ask.api, called=bool(calls)),
        prompt_tokens=found.usage.prompt_tokens,
        completion_tokens=found.usage.completion_tokens,
        raw=raw_of(body, tokens),
        raw_tokens=len(tokens) or None,
        token_ids=ids_of([body]),
        prompt=prompt_of(body),
    )


def _streamed(ask: Ask, heard: Heard) -> ServerAnswer:
    frames = read_frames(heard.body, ask.api)
    if (whole := json_object(heard.body)) is not None and APIS[ask.api].answers(whole):
        words = "stream was true, and the answer is one JSON object"
        return ServerAnswer(ask, 200, error=words, stream_faults=(("frame-none", words),))
    if heard.failure or not frames.objects:
        written = heard.body[:_QUOTED].decode(errors="replace")
        none = "it has [DONE] alone" if frames.done else repr(written)
        return ServerAnswer(ask, 200, failure=heard.failure or f"no frame in the stream: {none}")
    found = Folded(ask.api, frames.objects)
    done = frames.done or found.done
    if not done and found.finish is None and found.failed is None:
        words = "the stream breaks off: no finish reason, and no mark of the end"
        return ServerAnswer(ask, 200, failure=words)
    faults = [*frames.faults, *found.faults]
    if not done:
        faults.append(("frame-no-done", "the stream ends without [DONE] or its last event"))
    failure = found.failed and (error_words(found.failed[1]) or found.failed[0])
    tokens = [token for event in frames.objects for token in _tokens(_choice(event))]
    usage = found.answer.usage
    return ServerAnswer(
        ask,
        _status(found.failed[1] if found.failed else {}),
        error=f"an error in the stream: {failure}" if failure else None,
        content=found.text("text"),
        reasoning=found.text("thought") or "",
        calls=found.calls,
        finish=_finish(found.finish, ask.api, called=bool(found.calls)),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        raw=_tokens_text(tokens),
        raw_tokens=len(tokens) or None,
        token_ids=ids_of(frames.objects),
        stream_faults=tuple(faults),
    )


def _error(body: bytes) -> str | None:
    """Return the server's error message, plus the model's text if the error contains it."""
    found = json_object(body)
    if found is None:
        return body[:_QUOTED].decode(errors="replace").strip() or None
    words = error_words(found) or json.dumps(found)[:_QUOTED]
    inner = found.get("error")
    quoted = [str(inner[key]) for key in RAW_KEYS if isinstance(inner, dict) and inner.get(key)]
    return " ".join([words, *quoted])


def _status(body: JsonObject) -> int:
    """Return the status in an error that came with 200, if it says that the answer is lost."""
    inner = body.get("error")
    code = inner.get("code") if isinstance(inner, dict) else None
    return code if isinstance(code, int) and meaning(code).is_lost else 200


def _choice(body: JsonObject) -> Mapping[str, JsonValue]:
    """Return the choice that has the log-probabilities of an answer, or an empty one."""
    return first_choice(listed(body.get("choices")))[1]


def _api_call(part: Part, api: Api, *, streamed: bool = False) -> ApiCall:
    """Return a call with the type and the arguments that it has in chat completions.

    In a stream arguments are text in every API, and of objects nothing at all means an empty one.
    """
    arguments = part.arguments
    if ASKED[api].has_objects and not (streamed and isinstance(arguments, str)):
        arguments = json_words(arguments)
    if ASKED[api].has_objects and arguments == "":
        arguments = "{}"
    has_id = not any(field.endswith("id") for field in part.missing)  # else another one is read
    kind = part.type if api == "chat" else "function"
    return ApiCall(part.name, arguments, part.id if has_id else None, kind)


def _finish(reason: JsonValue, api: Api, *, called: bool) -> JsonValue:
    """Return a finish reason in the words of chat completions, but one that is wrong as it is."""
    if api == "chat" or not isinstance(reason, str):
        return reason
    return finish_of(reason, called=called and reason in ENDS_CALLS)


_FIELDS = ("data", "event", "id", "retry")
_LINE_END = re.compile(r"\r\n|\n|\r")


Fault: TypeAlias = tuple[str, str]
"""What is wrong with a stream: a code, and a message."""


class Frames(NamedTuple):
    """The JSON objects of a stream in order, and its faults."""

    objects: list[JsonObject]
    faults: list[Fault]
    done: bool = False


def read_frames(body: bytes, api: Api = "chat") -> Frames:
    """Return the frames of a body. Never raises: what cannot be read is reported as a fault."""
    faults: list[Fault] = []
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = body.decode("utf-8-sig", "replace")
        faults.append(("frame-utf8", f"byte {error.start} is no UTF-8"))
    objects: list[JsonObject] = []
    done = False
    for data in _events(text, faults):
        if data.strip() == DONE:
            done = True
        elif done:
            faults.append(("frame-after-done", f"after [DONE] there is {data[:_QUOTED]!r}"))
        else:
            _take(data, api, objects, faults)
    return Frames(objects, faults, done)


def _events(text: str, faults: list[Fault]) -> list[str]:
    """Return the data of each event, including a last one that no blank line terminates."""
    found: list[str] = []
    data: list[str] = []
    for line in (*_LINE_END.split(text), ""):
        if not line:
            if data:
                found.append("\n".join(data))
            data = []
            continue
        name, colon, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif name and not (colon and name in _FIELDS):
            faults.append(("frame-line", f"a line is no field of an event: {line[:_QUOTED]!r}"))
    return found


def _take(data: str, api: Api, objects: list[JsonObject], faults: list[Fault]) -> None:
    if (found := json_object(data)) is None:
        faults.append(("frame-json", f"an event's data are no JSON object: {data[:_QUOTED]!r}"))
        return
    name, kind = ASKED[api].event
    if not isinstance(found.get(name), kind) and "error" not in found:
        what = "list" if kind is list else "text"
        words = f"a frame has no {what} {name!r}: {data[:_QUOTED]!r}"
        faults.append((f"frame-{name}", words))
    objects.append(found)


class Folded:
    """A stream put together by the assembler, without what events repeat whole: many clients never
    look at that. `failed` has an error's words and event; `done` says that the last event came.
    """

    def __init__(self, api: Api, events: Iterable[JsonObject]) -> None:
        self.answer = Assembler()
        self.calls: tuple[ApiCall, ...] = ()
        self.faults: list[Fault] = []
        self.finish: str | None = None
        self.failed: tuple[str, JsonObject] | None = None
        self.done = False
        self._api, self._texts = api, dict[str, list[str]]()
        self._named: set[int] = set()
        self._final: JsonValue = None
        for event in events:
            self._take(event)
        self._end()

    def text(self, kind: str) -> str | None:
        """Return the text or the reasoning; None if there is none."""
        return "".join(self._texts[kind]) if kind in self._texts else None

    def _take(self, event: JsonObject) -> None:
        api = APIS[self._api]
        api = api if api.answers(event) else APIS["chat"]  # as errors are
        role = (api.read_reply(event).message or {}).get("role")
        if role not in (None, "", "assistant"):
            self._fault("role-other", f"a delta's role is {role!r}, not 'assistant'")
        for one in api.fragments(event):
            match one.kind:
                case "finish":
                    self.finish = one.text or self.finish
                case "end":
                    self.done = True
                case "whole":
                    self._final = one.value
                case "error":
                    self.failed = self.failed or (one.text, event)
                case _ if not one.is_whole:
                    self._add(one)

    def _add(self, one: Fragment) -> None:
        is_late = self.finish is not None and one.kind in {"call", "text"}
        if is_late:
            self._fault("frame-after-finish", "calls or text come after the finish reason")
        for added in self.answer.take([one]):
            if added.call is not None:
                self._look(one, added.call)
            elif added.kind in {"text", "thought"}:
                self._texts.setdefault(added.kind, []).append(added.text)

    def _look(self, one: Fragment, call: GrowingCall) -> None:
        """Report what is wrong with a fragment of a call."""
        if one.type not in (None, "", "function"):
            self._fault("type-other", f"a call's type is {one.type!r}")
        if call.number not in self._named:
            self._named |= {call.number} if one.name else set()
        elif one.name:
            self._fault("name-again", f"the name {one.name!r} comes again")
        elif "" in (one.id, one.name):
            self._fault("id-empty", "a later fragment of a call has an empty id or name")
        elif one.has_nulls:
            self._fault("id-null", "a later fragment of a call has an id or name that is null")

    def _end(self) -> None:
        """Put the calls together, and report what is wrong with all of the stream."""
        self.answer.end()
        items = (call.item() for call in self.answer.ordered())
        self.calls = tuple(_api_call(call_of(one), self._api, streamed=True) for one in items)
        for code, words in self.answer.oddities.items():
            self._fault(code, words)
        ids = [call.id for call in self.calls]
        if not all(ids):
            self._fault("id-missing", "a call never gets an id")
        elif again := next((one for one in ids if ids.count(one) > 1), None):
            self._fault("id-shared", f"two calls have one id: {again!r}")
        *earlier, last = self._texts.get("text") or [""]
        if len(earlier) > 1 and len(last) >= _LONG and last.strip() == "".join(earlier).strip():
            self._fault("text-again", f"the last delta repeats the whole text: {last[:_QUOTED]!r}")
        ours = [(call.name, call.arguments) for call in self.calls]
        theirs = [(call.name, call.arguments) for call in calls_of(self._final)]
        if self._final is not None and ours != theirs:
            words = f"the last event has the calls {theirs!r:.80}, and the stream {ours!r:.80}"
            self._fault("frame-final", words)

    def _fault(self, code: str, words: str) -> None:
        if code not in dict(self.faults):
            self.faults.append((code, words))


_LONG = 10
"""The least length in characters at which a repeated text is not a coincidence."""


LOGPROBS: JsonObject = {"logprobs": True, "top_logprobs": 0}
VERBOSE: JsonObject = {"verbose": True}
TOKEN_IDS: JsonObject = {"return_token_ids": True}
SGLANG_STREAM_IDS: JsonObject = {"return_output_ids_in_sglext": True}
COUNTED: JsonObject = {"stream_options": {"include_usage": True}}

RAW_KEYS = ("failed_generation", "raw")
"""Keys under which an error body may contain the model's text (Groq: failed_generation)."""

_ENDINGS = re.compile(
    r"(?:<\|(?:im_end|eot_id|eom_id|endoftext|end|end_of_text|return|user|observation|eos)\|>"
    r"|</s>|<eos>|<end_of_turn>|<\uff5cend\u2581of\u2581sentence\uff5c>|<turn\|>){1,3}\Z"
)
"""Stop tokens at the end, which are not part of the model's text."""

_IN_ERROR = re.compile(r"""raw=['"](?P<raw>.{1,4000})['"](?:,|\s|\Z)""", re.DOTALL)


def extras(kind: str, *, streamed: bool) -> tuple[JsonObject, ...]:
    """Return sets of fields that ask for raw text and usage, in the order to try, {} last."""
    if kind == "llama.cpp":
        options: tuple[JsonObject, ...] = () if streamed else (VERBOSE,)
    elif kind in ("vLLM", "SGLang"):
        ids = SGLANG_STREAM_IDS if streamed and kind == "SGLang" else TOKEN_IDS
        options = ({**LOGPROBS, **ids}, LOGPROBS, ids)
    else:
        options = (LOGPROBS,)
    if not streamed:
        return (*options, {})
    return (*({**fields, **COUNTED} for fields in options), COUNTED, *options, {})


def prompt_extras(kind: str) -> tuple[JsonObject, ...]:
    """Return sets of request fields that ask for the rendered prompt; the last is empty."""
    shown = {"llama.cpp": VERBOSE, "vLLM": {"return_prompt_text": True}}.get(kind)
    return ({},) if shown is None else (shown, {})


def prompt_of(body: JsonObject) -> str | None:
    """Return the rendered prompt in the body of a whole answer, or None if it has none."""
    verbose = body.get("__verbose")
    found = verbose.get("prompt") if isinstance(verbose, dict) else body.get("prompt_text")
    return found if isinstance(found, str) and found else None


def ids_of(bodies: Sequence[JsonObject]) -> tuple[int, ...]:
    """Return the token ids of an answer, from its whole body or from the frames of its stream."""
    found: list[JsonValue] = []
    for body in bodies:
        one = next((one for one in listed(body.get("choices")) if isinstance(one, dict)), {})
        found += listed(one.get("token_ids")) or listed(one.get("response_token_ids"))
        more = body.get("sglext")
        outputs = listed(more.get("output_ids")) if isinstance(more, dict) else []
        found += outputs[0] if outputs and isinstance(outputs[0], list) else outputs
    sound = all(isinstance(one, int) and not isinstance(one, bool) for one in found)
    return tuple(found) if sound else ()


def detokenized(body: JsonObject) -> str | None:
    """Return the text in a `/detokenize` response of vLLM, SGLang or llama.cpp, or None."""
    found = next((body[key] for key in ("prompt", "text", "content") if key in body), None)
    found = found[0] if isinstance(found, list) and len(found) == 1 else found
    return without_ending(found) if isinstance(found, str) and found else None


def raw_of(body: JsonObject, tokens: Sequence[JsonObject]) -> str | None:
    """Return the raw text in the body of a whole answer, or None if it has none."""
    verbose = body.get("__verbose")
    if isinstance(verbose, dict) and isinstance(text := verbose.get("content"), str) and text:
        return without_ending(text)
    return _tokens_text(tokens)


def raw_in_error(words: str) -> str | None:
    """Return the model's text if an error quotes it (Ollama: error parsing tool call: raw='..')."""
    found = _IN_ERROR.search(words)
    return found["raw"] if found else None


def without_ending(text: str) -> str:
    return _ENDINGS.sub("", text)


def _tokens(choice: Mapping[str, JsonValue]) -> list[JsonObject]:
    logprobs = choice.get("logprobs")
    found = logprobs.get("content") if isinstance(logprobs, dict) else None
    return [token for token in listed(found) if isinstance(token, dict)]


def _tokens_text(tokens: Sequence[JsonObject]) -> str | None:
    """Return the tokens as text, by their bytes if all have them; None if that is no valid text."""
    if not tokens:
        return None
    pieces = [_bytes(token.get("bytes")) for token in tokens]
    if all(piece is not None for piece in pieces):
        text = b"".join(piece or b"" for piece in pieces).decode(errors="replace")
    else:
        text = "".join(str(token.get("token") or "") for token in tokens)
    return without_ending(text) if "\ufffd" not in text else None  # a character is incomplete


def _bytes(value: JsonValue) -> bytes | None:
    try:
        return bytes(value) if isinstance(value, list) else None
    except (TypeError, ValueError):
        return None
