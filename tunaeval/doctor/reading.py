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
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import NamedTuple, TypeAlias

from tunaeval.models.clients.answers import error_words, read_usage
from tunaeval.models.clients.server import Heard
from tunaeval.models.clients.statuses import meaning
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import json_object

from .values import ApiCall, Ask, ServerAnswer, listed

_REASONING = ("reasoning_content", "reasoning")
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
    choice = _first(body.get("choices"))
    message = choice.get("message")
    if not isinstance(message, dict):
        words = error_words(body) or json.dumps(body)[:_QUOTED]
        said = f"status 200 without a message: {words}"
        return ServerAnswer(ask, _status(body), error=said)
    usage = read_usage(body.get("usage"))
    tokens = _tokens(choice)
    return ServerAnswer(
        ask,
        200,
        content=message.get("content"),
        reasoning=_joined([message], *_REASONING) or "",
        calls=_calls(message.get("tool_calls")),
        finish=choice.get("finish_reason"),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        raw=raw_of(body, tokens),
        raw_tokens=len(tokens) or None,
        token_ids=ids_of([body]),
        prompt=prompt_of(body),
    )


def _streamed(ask: Ask, heard: Heard) -> ServerAnswer:
    frames = read_frames(heard.body)
    faults = list(frames.faults)
    if (whole := json_object(heard.body)) is not None and "choices" in whole:
        words = "stream was true, and the answer is one JSON object"
        return ServerAnswer(ask, 200, error=words, stream_faults=(("frame-none", words),))
    if heard.failure or not frames.objects:
        written = heard.body[:_QUOTED].decode(errors="replace")
        none = "it has [DONE] alone" if frames.done else repr(written)
        return ServerAnswer(ask, 200, failure=heard.failure or f"no frame in the stream: {none}")
    failed = next((o for o in frames.objects if o.get("error")), None)
    choices = [choice for o in frames.objects if (choice := _first(o.get("choices")))]
    deltas = [delta for c in choices if isinstance(delta := c.get("delta"), dict)]
    calls, wrong = fold(deltas)
    faults += [*delta_faults(deltas), *_late(choices)]
    usages = [o["usage"] for o in frames.objects if isinstance(o.get("usage"), dict)]
    usage = read_usage(usages[-1] if usages else None)
    finishes = [c["finish_reason"] for c in choices if c.get("finish_reason") is not None]
    if not frames.done and not finishes and failed is None:
        words = "the stream breaks off: no finish reason, no [DONE]"
        return ServerAnswer(ask, 200, failure=words)
    said = (error_words(failed) or str(failed["error"])) if failed else None
    tokens = [token for choice in choices for token in _tokens(choice)]
    return ServerAnswer(
        ask,
        _status(failed or {}),
        error=f"an error in the stream: {said}" if said else None,
        content=_joined(deltas, "content"),
        reasoning=_joined(deltas, *_REASONING) or "",
        calls=calls,
        finish=finishes[-1] if finishes else None,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        raw=_text(tokens),
        raw_tokens=len(tokens) or None,
        token_ids=ids_of(frames.objects),
        stream_faults=(*faults, *wrong),
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


def _first(choices: JsonValue) -> JsonObject:
    return next((c for c in listed(choices) if isinstance(c, dict) and not c.get("index")), {})


def _calls(found: JsonValue) -> tuple[ApiCall, ...]:
    items = [item if isinstance(item, dict) else {} for item in listed(found)]
    return tuple(
        ApiCall(_name(item), _function(item).get("arguments"), item.get("id"), item.get("type"))
        for item in items
    )


def _joined(deltas: Sequence[JsonObject], *keys: str) -> str | None:
    texts = [d[key] for d in deltas for key in keys if isinstance(d.get(key), str)]
    return "".join(texts) if texts else None


_DONE = "[DONE]"
_FIELDS = ("data", "event", "id", "retry")
_LINE_END = re.compile(r"\r\n|\n|\r")


Fault: TypeAlias = tuple[str, str]
"""What is wrong with a stream: a code, and a message."""


class Frames(NamedTuple):
    """The JSON objects of a stream in order, and its faults."""

    objects: list[JsonObject]
    faults: list[Fault]
    done: bool = False


def read_frames(body: bytes) -> Frames:
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
        if data.strip() == _DONE:
            done = True
        elif done:
            faults.append(("frame-after-done", f"after [DONE] there is {data[:_QUOTED]!r}"))
        else:
            _take(data, objects, faults)
    if not done:
        faults.append(("frame-no-done", "the stream ends without [DONE]"))
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


def _take(data: str, objects: list[JsonObject], faults: list[Fault]) -> None:
    if (found := json_object(data)) is None:
        faults.append(("frame-json", f"an event's data are no JSON object: {data[:_QUOTED]!r}"))
        return
    if not isinstance(found.get("choices"), list) and "error" not in found:
        faults.append(("frame-choices", f"a frame has no list 'choices': {data[:_QUOTED]!r}"))
    objects.append(found)


class _Growing:
    """A call that is being put together from its fragments."""

    def __init__(self) -> None:
        self.name: JsonValue = None
        self.id: JsonValue = None
        self.type: JsonValue = None
        self.texts: list[str] = []
        self.value: JsonValue = None

    def take(self, fragment: JsonObject) -> None:
        function = _function(fragment)
        self.id = self.id or fragment.get("id")
        self.type = self.type or fragment.get("type")
        self.name = self.name or function.get("name")
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self.texts.append(arguments)
        elif arguments is not None:
            self.value = arguments

    def whole(self) -> ApiCall:
        text = "".join(self.texts)
        arguments = self.value if self.value is not None and not text else text
        return ApiCall(self.name, arguments, self.id, self.type)


def fold(deltas: Sequence[JsonObject]) -> tuple[tuple[ApiCall, ...], tuple[Fault, ...]]:
    """Return the calls of a stream's deltas, and what is wrong with their fragments.

    Where index and id disagree, the calls are those by id, or by index if two calls share an id:
    the fault is then reported once, for the fragments, and not again for each value.
    """
    found = (one for delta in deltas for one in listed(delta.get("tool_calls")))
    fragments = [one for one in found if isinstance(one, dict)]
    by_index, by_id = _by_index(fragments), _by_id(fragments)
    faults = [*_faults(fragments)]
    if [_plain(call) for call in by_index] == [_plain(call) for call in by_id]:
        return tuple(by_index), tuple(faults)
    if any(code.startswith("index") for code, _ in faults):
        return tuple(by_id), tuple(faults)
    if any(code == "id-shared" for code, _ in faults):
        return tuple(by_index), tuple(faults)
    words = "by index the calls are others than by id"
    if len(by_index) != len(by_id):
        words = f"the stream has {counted(len(by_index), 'call')} by index, {len(by_id)} by id"
    return tuple(by_id), (*faults, ("index-and-id", words))


def _plain(call: ApiCall) -> tuple[JsonValue, JsonValue]:
    return call.name, call.arguments


def _by_index(fragments: Sequence[JsonObject]) -> list[ApiCall]:
    calls: dict[object, _Growing] = {}
    for fragment in fragments:
        index = fragment.get("index")
        key = index if isinstance(index, int) else 0
        calls.setdefault(key, _Growing()).take(fragment)
    return [call.whole() for call in calls.values()]


def _by_id(fragments: Sequence[JsonObject]) -> list[ApiCall]:
    """Return the calls by id: one begins with a new id and a name, or a name if no ids are sent."""
    calls: list[_Growing] = []
    known: dict[object, _Growing] = {}
    have_ids = any(fragment.get("id") for fragment in fragments)
    for fragment in fragments:
        id_, name = fragment.get("id"), _name(fragment)
        call = known.get(id_) if isinstance(id_, str) and id_ else None
        begins = bool(name) and (bool(id_) if have_ids else not _goes_on(calls, fragment))
        if call is None and (begins or not calls):
            call = _Growing()
            calls.append(call)
        call = call or calls[-1]
        call.take(fragment)
        if isinstance(id_, str) and id_:
            known[id_] = call
    return [call.whole() for call in calls]


def _goes_on(calls: Sequence[_Growing], fragment: JsonObject) -> bool:
    """Whether a fragment repeats the name of the last call, which is still incomplete."""
    return bool(calls) and calls[-1].name == _name(fragment) and calls[-1].whole().object is None


def _name(fragment: JsonObject) -> JsonValue:
    return _function(fragment).get("name")


def _function(call: JsonObject) -> JsonObject:
    found = call.get("function")
    return found if isinstance(found, dict) else {}


def _faults(fragments: Sequence[JsonObject]) -> Iterator[Fault]:
    """Yield what is wrong with indices, ids and names, each kind once."""
    reported: set[str] = set()
    names: dict[object, JsonValue] = {}
    ids: dict[object, JsonValue] = {}
    for fragment in fragments:
        kind = fragment.get("type")
        is_other = kind not in (None, "", "function")
        other = [("type-other", f"a call's type is {kind!r}")] if is_other else []
        for code, words in (*other, *_faults_of(fragment, names, ids)):
            if code not in reported:
                reported.add(code)
                yield code, words
    for index in names:
        if not ids.get(index) and "id-missing" not in reported:
            reported.add("id-missing")
            yield "id-missing", f"call {index} never gets an id"


def _faults_of(
    fragment: JsonObject, names: dict[object, JsonValue], ids: dict[object, JsonValue]
) -> Iterator[Fault]:
    index, id_, name = fragment.get("index"), fragment.get("id"), _name(fragment)
    if not isinstance(index, int) or isinstance(index, bool):
        yield "index-missing", f"a fragment's index is {index!r}"
        return
    if name and index in names:
        if id_ and ids.get(index) not in (None, id_):
            yield "index-shared", f"index {index} is that of two calls, {ids[index]!r} and {id_!r}"
        else:
            yield "name-again", f"the name {name!r} comes again at index {index}"
    elif name and id_ and any(known == id_ for at, known in ids.items() if at != index):
        yield "id-shared", f"two calls have one id: {id_!r} comes again at index {index}"
    elif id_ and index in ids and index in names:
        yield "id-again", f"an id comes again at index {index}: {ids[index]!r}, then {id_!r}"
    elif index in names and "" in (id_, name):
        yield "id-empty", f"a later fragment at index {index} has an empty id or name"
    elif index in names and None in (fragment.get("id", ""), _function(fragment).get("name", "")):
        yield "id-null", f"a later fragment at index {index} has an id or name that is null"
    if id_ and index not in ids:
        ids[index] = id_
    if name and index not in names:
        names[index] = name


_LONG = 10
"""The least length in characters at which a repeated text is not a coincidence."""


def delta_faults(deltas: Sequence[JsonObject]) -> Iterator[Fault]:
    """Yield faults: a role other than "assistant", or a last delta that repeats all the text."""
    roles = [role for delta in deltas if (role := delta.get("role")) not in (None, "", "assistant")]
    if roles:
        yield "role-other", f"a delta's role is {roles[0]!r}, not 'assistant'"
    texts = [text for delta in deltas if isinstance(text := delta.get("content"), str) and text]
    before, last = texts[:-1], "".join(texts[-1:])
    if len(before) > 1 and len(last) >= _LONG and last.strip() == "".join(before).strip():
        yield "text-again", f"the last delta repeats the whole text: {last[:_QUOTED]!r}"


def _late(choices: Sequence[JsonObject]) -> Iterator[Fault]:
    """Yield a fault if a call or text comes after the finish reason, where many clients stop."""
    after = [*dropwhile(lambda choice: not choice.get("finish_reason"), choices)][1:]
    deltas = [delta for choice in after if isinstance(delta := choice.get("delta"), dict)]
    if any(delta.get("tool_calls") or delta.get("content") for delta in deltas):
        yield "frame-after-finish", "calls or text come after the finish reason"


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
    return _text(tokens)


def raw_in_error(words: str) -> str | None:
    """Return the model's text if an error quotes it (Ollama: error parsing tool call: raw='..')."""
    found = _IN_ERROR.search(words)
    return found["raw"] if found else None


def without_ending(text: str) -> str:
    return _ENDINGS.sub("", text)


def _tokens(choice: JsonObject) -> list[JsonObject]:
    logprobs = choice.get("logprobs")
    found = logprobs.get("content") if isinstance(logprobs, dict) else None
    return [token for token in listed(found) if isinstance(token, dict)]


def _text(tokens: Sequence[JsonObject]) -> str | None:
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
