"""Where the answers of an endpoint come from, beside cassettes: a script, or a real server."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import httpx2

from tunaeval.clients.server import Heard, Server, read_key
from tunaeval.errors import ClientSetupError, UsageError
from tunaeval.files.keys import (
    COVER,
    Secret,
    SecretBytes,
    covered,
    long_enough,
    of_environment,
    of_headers,
)
from tunaeval.files.plain_files import is_there, seen_at
from tunaeval.parsing.api import parser_for
from tunaeval.showing import brief, counted
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall
from tunaeval.types.copies import copied
from tunaeval.types.faults import Fail
from tunaeval.types.json_text import decoded_or, encode
from tunaeval.types.messages import Usage
from tunaeval.types.parsing import ParseResult
from tunaeval.types.wanted import refusal
from tunaeval.wire.apis import APIS
from tunaeval.wire.assembler import Added, Assembler
from tunaeval.wire.endings import error_words, usage_of
from tunaeval.wire.values import Answer, ApiName

from .apis import ModelRequest, Refused, estimated_tokens
from .cassettes import CassetteWriter
from .routes import UPSTREAMS

Said: TypeAlias = str | ToolCall | Sequence[ToolCall] | Mapping[str, Any] | Fail
"""A text, calls, an assistant's message in the shape of chat completions, or an error. A message
may have `finish_reason`, `usage` and `repairs` (codes) of its own.
"""

Deltas: TypeAlias = AsyncIterable[Mapping[str, Any] | Fail]
"""Deltas of chat completions; the last one may have what a message may have of its own."""

Asked: TypeAlias = Callable[[ModelRequest], Said | Deltas | Awaitable[Said | Deltas]]
Item: TypeAlias = Said | Asked
Script: TypeAlias = Iterable[Item] | Asked

_WANTED = (
    "a text, a list of ToolCalls, an assistant's message, a Fail, or a callable that returns one "
    "or yields deltas"
)
_OWN = ("finish_reason", "usage", "repairs")
"""What a message, or the last delta, has beside what the model wrote."""


class Scripted:
    """A source that answers by a script. Raises UsageError for an invalid script."""

    def __init__(self, script: Script, *, format: str = "auto") -> None:  # noqa: A002 - as in `parse`
        self._every = script if callable(script) else None
        if not callable(script) and (
            isinstance(script, str | bytes | Mapping) or not isinstance(script, Iterable)
        ):
            raise UsageError(
                f"script is {brief(script)}; wanted a list with an item for each turn, or a "
                "callable"
            )
        self._items = [] if callable(script) else [*script]
        for index, item in enumerate(self._items):
            _check_item(item, f"script[{index}]")
        self._used = 0
        self._made = 0
        self._parser = parser_for(format)

    @property
    def left(self) -> int | None:
        """How many items were not used; None for a callable."""
        return None if self._every is not None else len(self._items) - self._used

    async def answer(
        self, request: ModelRequest, headers: Mapping[str, str], *, keeps: bool = False
    ) -> Answer | Growing:
        """Return the next item as the model's answer; with `keeps`, the next request gets it again.
        Raises Refused if there is no item left, or if a callable fails.
        """
        del headers  # a script needs none
        item: Any = self._next(keeps=keeps)
        if callable(item):
            with _of_script():
                item = item(copied(request))
                item = await item if inspect.isawaitable(item) else item
                if isinstance(item, AsyncIterable):
                    return Growing(item, request)
                _check_item(item, "what the script returned", of_callable=True)
        return self._made_of(item, request)

    def _next(self, *, keeps: bool) -> Item:
        if self._every is not None:
            return self._every
        if self._used == len(self._items):
            raise Refused(
                f"the script is over: it has {counted(len(self._items), 'turn')}, and this request "
                "is one more; add an item to it, or find out why the agent does not stop",
                code="script_over",
            )
        item = self._items[self._used]
        self._used += not keeps
        return item

    def _made_of(self, item: Said, request: ModelRequest) -> Answer:
        own: JsonObject = {}
        match item:
            case Fail():
                raise Refused(item.message, status=item.status, headers=item.headers)
            case str():
                message, own = self._of_text(item, request)
            case ToolCall():
                message = self._of_calls((item,), None)
            case Mapping():
                given = dict(copied(item))
                own = {name: given.pop(name) for name in _OWN if name in given}
                message = {"role": "assistant", "content": None, **given}
            case _:
                message = self._of_calls(item, None)
        return answer_with(message, own, request)

    def _of_text(self, text: str, request: ModelRequest) -> tuple[JsonObject, JsonObject]:
        """Return a message with structured calls, as a server that got the tools would send it, and
        the codes of their repairs.
        """
        tools = request.tools
        read: ParseResult | None = None if tools is None else self._parser.parse(text, tools=tools)
        if read is None or not read.calls:
            return {"role": "assistant", "content": text}, {}
        message = self._of_calls(read.calls, read.content.strip() or None)
        if read.reasoning:
            message["reasoning_content"] = read.reasoning
        return message, {"repairs": [one.code for call in read.calls for one in call.repairs]}

    def _of_calls(self, calls: Sequence[ToolCall], content: str | None) -> JsonObject:
        message: JsonObject = {"role": "assistant", "content": content}
        if calls:
            message["tool_calls"] = [self._call(call) for call in calls]
        return message

    def _call(self, call: ToolCall) -> JsonObject:
        self._made += 1
        function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
        return {"id": call.id or f"call_{self._made}", "type": "function", "function": function}


def answer_with(message: JsonObject, own: JsonObject, request: ModelRequest) -> Answer:
    """Return an answer; what it has not of its `own` is estimated."""
    counted, repairs = own.get("usage"), own.get("repairs")
    spent, reason = usage_of(counted), own.get("finish_reason")
    if spent.completion_tokens is None:
        made = len(json.dumps(message, default=str)) // 4 + 1
        prompt = estimated_tokens(request) if spent.prompt_tokens is None else spent.prompt_tokens
        spent = Usage(prompt, made)
    codes = repairs if isinstance(repairs, list | tuple) else [repairs] if repairs else []
    is_ours = request.api == "chat" and isinstance(counted, Mapping)
    return Answer(
        message,
        finish=reason if reason and isinstance(reason, str) else _finish(message),
        usage=spent,
        counted=dict(counted) if is_ours and counted else None,
        repairs=tuple(dict.fromkeys(map(str, codes))),
    )


@contextmanager
def _of_script() -> Iterator[None]:
    """Turn what a script raises, and what cannot be sent, into Refused."""
    try:
        yield
    except Refused:
        raise
    except UsageError as error:
        raise Refused(str(error), code="script_failed") from error
    except (Exception, SystemExit) as error:
        words = f"the script raised {type(error).__name__}: {str(error)[:300]}"
        raise Refused(words, code="script_failed") from error


class Growing:
    """An answer that a script makes delta by delta; `answer` is the whole one behind the last."""

    def __init__(self, deltas: Deltas, request: ModelRequest) -> None:
        self._deltas, self._request = aiter(deltas), request
        self._own: JsonObject = {}
        self._assembler = Assembler()

    async def next(self) -> list[Added] | None:
        """Return what the next delta adds, None behind the last. Raise Refused for an error, and
        for what is no delta.
        """
        with _of_script():
            delta = await anext(self._deltas, None)
            if isinstance(delta, Fail):
                raise Refused(delta.message, status=delta.status, headers=delta.headers)
            if not isinstance(delta, Mapping | None):
                raise refusal("what the script yielded", delta, "a delta, or a Fail")
        if delta is None:
            return None
        self._own |= {name: delta[name] for name in _OWN if delta.get(name) is not None}
        added = self._assembler.delta(dict(delta))
        for one in added:
            if one.kind in ("odd", "error"):
                raise Refused(f"the script yielded a bad delta: {one.text}", status=502)
        return added

    async def whole(self) -> Answer:
        """Return the answer, which is read to its end."""
        try:
            while await self.next() is not None:
                pass
        finally:
            await self.close()
        return self.answer

    @property
    def answer(self) -> Answer:
        known = {"finish_reason": self._assembler.finish, "usage": self._assembler.counted}
        own = {name: one for name, one in known.items() if one} | self._own
        return answer_with(self._assembler.message(), own, self._request)

    async def close(self) -> None:
        """Close the generator, so that what it holds is let go."""
        if isinstance(self._deltas, AsyncGenerator):
            await self._deltas.aclose()


def _check_item(item: object, where: str, *, of_callable: bool = False) -> None:
    for call in item if isinstance(item, list | tuple) else [item]:
        if isinstance(call, ToolCall) and not (call.name and isinstance(call.name, str)):
            words = "a name; a message with tool_calls may lack it"
            raise refusal(f"the name of a call in {where}", call.name, words)
    if isinstance(item, str | ToolCall | Fail) or (callable(item) and not of_callable):
        return
    if isinstance(item, Mapping) and (item.keys() & {"content", "tool_calls"}):
        is_said = item.get("role", "assistant") == "assistant"
        if is_said and isinstance(item.get("tool_calls"), list | tuple | None):
            return
    elif isinstance(item, Sequence) and all(isinstance(one, ToolCall) for one in item):
        return
    raise UsageError(f"{where} is {brief(item)}; wanted {_WANTED}")


_TEXTS = ("content", "reasoning_content", "refusal")


class Passing:
    """A source that passes requests on to the server at the address `upstream`, and writes a
    cassette at `path`. It always asks for a whole answer; streams are made from it.

    The server is asked as every server is: the body is bounded, path and query of the address are
    kept, proxies and certificates are those that the environment names. The key is that of the
    environment (`TUNAEVAL_API_KEY`, `OPENAI_API_KEY`), else the one that the agent itself sends;
    user and password in the address come before both. `model` replaces the model that is asked for.
    Raises UsageError.
    """

    def __init__(
        self,
        upstream: str | None,
        path: Path | None,
        masks: Mapping[str, str],
        *,
        record: bool,
        model: str | None,
        timeout_seconds: float,
    ) -> None:
        if record and (path is None or upstream is None):
            raise UsageError(
                "record=True needs a cassette to write and an upstream to ask; pass both"
            )
        if upstream is None:
            raise UsageError(
                "the endpoint has no answers; pass a script, a cassette or an upstream"
            )
        if record and path is not None and is_there(path) and seen_at(path) != "a file":
            raise UsageError(f"cassette is {str(path)!r}, which is no file; wanted one to replace")
        try:
            url = httpx2.URL(upstream)
        except (httpx2.InvalidURL, TypeError) as error:
            raise _no_address(upstream) from error
        if url.scheme not in {"http", "https"} or not url.host:
            raise _no_address(upstream)
        self._url = url
        self._user = SecretBytes(url.userinfo)
        self._keys = {api: read_key(one.variables) for api, one in UPSTREAMS.items()}
        self._model = model
        try:
            self._server = Server(
                str(url.copy_with(userinfo=b"")),
                key=None if self._user else self._keys["chat"],
                attempt_timeout=timeout_seconds,
            )
        except ClientSetupError as error:
            raise UsageError(f"upstream: {error}") from error
        self._writer = None if path is None else CassetteWriter(path, masks)
        self._lost: dict[bytes, str] = {}
        self._kept: dict[bytes, Answer] = {}

    async def models(self, api: ApiName, headers: Mapping[str, str]) -> JsonObject:
        return await self._ask("models", None, api, headers, of_headers(headers))

    async def answer(
        self, request: ModelRequest, headers: Mapping[str, str], *, keeps: bool = False
    ) -> Answer:
        """Return the server's answer; with `keeps`, the same request gets the same answer again."""
        key = encode(request.body)
        answer = self._kept.get(key) or await self._fetched(key, request, headers)
        if keeps:
            self._kept[key] = answer
        else:
            self._kept.pop(key, None)
        return answer

    async def _fetched(
        self, key: bytes, request: ModelRequest, headers: Mapping[str, str]
    ) -> Answer:
        """Return the server's answer. Raise Refused with its error, or with why there is none."""
        api, model = APIS[request.api], self._model or request.model
        body = api.whole_request(request.body, self._model or "")
        path = UPSTREAMS[request.api].path.format(model=model)
        try:
            asked = self._ask(path, body, request.api, headers, request.secrets)
            answer = _checked(api.read_reply(await asked))
        except Refused as refused:
            self._lost[key] = covered(str(refused), request.secrets | self.secrets)
            raise
        self._lost.pop(key, None)
        if self._writer is not None:
            self._writer.add(request, answer, request.secrets | self.secrets)
        return answer

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The errors of requests that failed and were not answered later."""
        return tuple(self._lost.values())

    async def close(self, *, keeps: bool) -> None:
        """Close the connection; with `keeps` replace the cassette, unless an answer is missing."""
        await self._server.close()
        if self._writer is not None and keeps:
            self._writer.close(self.unanswered)

    @property
    def secrets(self) -> frozenset[str]:
        """The secrets of the environment and of the address, which must not go out."""
        asked_as = (self._user.decode(), self._url.username, self._url.password)
        query = (value for _, value in self._url.params.multi_items())
        keys = (key or "" for key in self._keys.values())
        return of_environment() | long_enough((*keys, *asked_as, *query))

    async def _ask(
        self,
        path: str,
        body: Mapping[str, JsonValue] | None,
        api: ApiName,
        headers: Mapping[str, str],
        secrets: frozenset[str],
    ) -> JsonObject:
        hear = partial(self._server.hear, path, body, headers=self._sent(api, headers))
        received = await hear(secrets=secrets)
        if received.dropped:
            received = await hear(secrets=secrets)
        if received.failure is None:
            return _document(received, self._server.hide)
        if received.timed_out:
            words, status = f"gave {received.failure}", 504
        else:
            how = "was not reached" if received.status is None else "gave no whole reply"
            words, status = f"{how}: {received.failure}", 502
        raise Refused(f"the upstream {self._url.host} {words}", status=status)

    def _sent(self, api: ApiName, headers: Mapping[str, str]) -> dict[str, str | None]:
        """Return the headers that the upstream gets: the agent's, unless a key of our own is known
        for this API. The key of another API is not sent.
        """
        sent: dict[str, str | None] = {"authorization": None, **headers}
        upstream, key = UPSTREAMS[api], self._keys[api]
        if key:
            sent |= {"authorization": None, upstream.header: Secret(f"{upstream.scheme}{key}")}
        if self._user:
            user = SecretBytes(f"{self._url.username}:{self._url.password}".encode())
            basic = Secret(f"Basic {base64.b64encode(user).decode()}")
            sent |= {upstream.header: None, "authorization": basic}
        return sent


def _document(received: Heard, hide: Callable[[str], str]) -> JsonObject:
    document = decoded_or(received.body)
    status = received.status or 502
    is_success = 200 <= status < 300
    if isinstance(document, dict) and is_success:
        return document
    words = error_words(document) if isinstance(document, dict) else None
    words = hide(words) if words else repr(hide(received.body.decode(errors="replace"))[:300])
    headers = {one: received.headers[one] for one in ("retry-after",) if one in received.headers}
    status = 502 if is_success else max(400, status)
    raise Refused(f"the upstream says: {words}", status=status, headers=headers)


def _checked(answer: Answer) -> Answer:
    """Return an answer with a finish reason. Raise Refused for one that could not be written."""
    if answer.error:  # a prompt that was blocked is blocked again
        status = 400 if answer.finish == "content_filter" else 502
        raise Refused(f"the upstream says: {answer.error}", status=status)
    if answer.message is None:
        raise Refused(f"the upstream's answer has no {' and no '.join(answer.missing)}", status=502)
    if not all(isinstance(one, dict) for one in answer.items or ()):
        raise _odd("items", answer.items, "objects")
    message = {"role": "assistant", **answer.message}
    for name in _TEXTS:
        if not isinstance(message.get(name), str | list | None):
            raise _odd(name, message[name], "a text")
    calls = message.get("tool_calls")
    for index, call in enumerate(calls if isinstance(calls, list) else [calls] if calls else []):
        function = call.get("function") if isinstance(call, dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else 0
        if not isinstance(arguments, str | dict | None):
            raise _odd("tool_calls", calls, "calls with a function and its arguments")
        if answer.items is not None:
            call["id"] = call["id"] or f"call_{index}"
    return replace(answer, message=message, finish=answer.finish or _finish(message))


def _finish(message: JsonObject) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"


def _odd(name: str, value: JsonValue, wanted: str) -> Refused:
    words = f"the upstream's message has {name!r}: {value!r:.100}; wanted {wanted}"
    return Refused(words, status=502)


def _no_address(base_url: object) -> UsageError:
    if isinstance(base_url, str) and "@" in base_url:
        scheme, found, rest = base_url.partition("://")
        base_url = f"{scheme}{found}{COVER}@{rest.rpartition('@')[2]}"
    return UsageError(f"upstream is {base_url!r:.60}; wanted a URL as http://127.0.0.1:8000/v1")
