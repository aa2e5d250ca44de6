"""The endpoint as a context manager, served in a thread or in the running event loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Literal, Self

from tunaeval.errors import UsageError
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject
from tunaeval.types.faults import Fault
from tunaeval.types.messages import Usage
from tunaeval.types.wanted import refusal, wanted_count, wanted_path, wanted_seconds

from .answering import Answering, Faults, Source
from .apis import EndpointTurn, MadeCalls, ModelRequest
from .cassettes import Cassette, Match, checked_masks, checked_match
from .connections import Loopback
from .sources import Passing, Script, Scripted

MODEL = "tunaeval"
"""The name of the model that a scripted endpoint lists."""


def model_endpoint(
    script: Script | None = None,
    *,
    cassette: str | PathLike[str] | None = None,
    upstream: str | None = None,
    record: bool = False,
    faults: Sequence[Fault] = (),
    format: str = "auto",  # noqa: A002 - the public word for it
    model: str | None = None,
    masks: Mapping[str, str] | None = None,
    match: Match = "exact",
    timeout_seconds: float = 120.0,
    leftover: Literal["fail", "allow"] = "allow",
    allow_unasked: bool = False,
    port: int = 0,
    keep_turns: int | None = None,
) -> ModelEndpoint:
    """Serve a model on loopback until the block ends, for an agent that takes a base URL.

        with tunaeval.model_endpoint(["<tool_call>...</tool_call>", "Done."]) as model:
            my_agent("Fix add()", base_url=model.url)
        assert model.calls == tunaeval.expect("read_file")

    Args:
        script: The model's answers: a list with an item for each turn, or a callable for all turns.
            An item is a text (its calls are parsed, and sent as structured ones if tools are
            offered), `ToolCall`s, an assistant's message, a `Fail`, or a callable, sync or async,
            that takes the `ModelRequest` and returns one of these or yields deltas.
        cassette: A file with recorded answers.
        upstream: The base URL of a server to which requests are passed on.
        record: Replace the cassette by what the upstream answers, unless the block raises.
        faults: Values of `tunaeval.types.faults`.
        format: The wire format of a script's texts.
        model: The name that is listed, and that an upstream is asked for.
        masks: Patterns of what differs from run to run, by their replacements.
        match: How a request is found in a cassette: "exact", or "loose", by turn and results.
        timeout_seconds: How long an upstream may take to answer.
        leftover: With "fail", the end of the block raises AssertionError if the script or the
            cassette has answers left, or if the model was never asked.
        allow_unasked: Whether a model may never be asked. If not, its calls equal no `expect(...)`.
        port: The port of 127.0.0.1; 0 is a free one.
        keep_turns: How many of the last turns are kept; None keeps all.

    Raises UsageError, and RecordError for a cassette that cannot be read or recorded.

    Examples:
        >>> import httpx2
        >>> script = ['<tool_call>{"name": "ls", "arguments": {}}</tool_call>']
        >>> tools = [{"type": "function", "function": {"name": "ls"}}]
        >>> with tunaeval.model_endpoint(script) as model:
        ...     messages = [{"role": "user", "content": "Hi"}]
        ...     asked = {"model": "m", "messages": messages, "tools": tools}
        ...     answer = httpx2.post(f"{model.url}/chat/completions", json=asked).json()
        ...
        >>> answer["choices"][0]["finish_reason"], model.calls[0].name
        ('tool_calls', 'ls')
    """
    wanted_seconds(timeout_seconds, "timeout_seconds")
    path = None if cassette is None else wanted_path(cassette, "cassette")
    is_played = script is None and path is not None and not record
    match, own = checked_match(match, is_played=is_played), checked_masks(masks)
    if script is not None and (path is not None or upstream is not None or record):
        raise UsageError("a script excludes cassette, upstream and record; leave these out")
    if script is not None:
        source: Source = Scripted(script, format=format)
    elif is_played and path is not None:
        source = Cassette(path, own, match)
    else:
        how = (upstream, path, own)
        source = Passing(*how, record=record, model=model, timeout_seconds=timeout_seconds)
    allowed = (leftover, allow_unasked)
    return ModelEndpoint(source, Faults(faults), model or MODEL, allowed, (port, keep_turns))


class ModelEndpoint:
    """A served model, made by `tunaeval.model_endpoint`.

    Its requests, calls and turns can be read while it is served and afterwards.

    Examples:
        >>> import httpx2
        >>> with tunaeval.model_endpoint(["Hello."]) as model:
        ...     asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        ...     answer = httpx2.post(f"{model.url}/chat/completions", json=asked).json()
        ...
        >>> answer["choices"][0]["message"]["content"], len(model.requests)
        ('Hello.', 1)
    """

    def __init__(
        self,
        source: Source,
        faults: Faults,
        model: str,
        allowed: tuple[str, bool] = ("allow", False),
        serving: tuple[int, int | None] = (0, None),
    ) -> None:
        leftover, allow_unasked = allowed
        if leftover not in ("fail", "allow"):
            raise refusal("leftover", leftover, "'fail' or 'allow'")
        if not isinstance(allow_unasked, bool):
            raise refusal("allow_unasked", allow_unasked, "True or False")
        self._source = source
        self._may_leave, self._may_be_unasked = leftover == "allow", allow_unasked
        port, keep_turns = serving
        if type(port) is not int or not 0 <= port < 1 << 16:
            raise refusal("port", port, "a port, 0 to 65535")
        if keep_turns is not None:
            wanted_count(keep_turns, "keep_turns", 0)
        self._answering = Answering(source, faults, model, keep_turns)
        self._faults = faults
        self._loopback = Loopback(self._answering.respond, port)
        self._thread = threading.Thread(target=self._run, name="tunaeval-endpoint", daemon=True)
        self._started = threading.Event()
        self._stop: Callable[[], object] = lambda: None
        self._failure: BaseException | None = None
        self._is_entered = self._raised = False

    def __repr__(self) -> str:
        return f"<ModelEndpoint {self.url if self._loopback.port else 'not served yet'}>"

    @property
    def url(self) -> str:
        """The base URL to pass to an agent that speaks one of OpenAI's APIs."""
        return f"{self.anthropic_url}/v1"

    @property
    def anthropic_url(self) -> str:
        """The base URL for Anthropic's SDK, and for `ANTHROPIC_BASE_URL`."""
        if not self._loopback.port:
            raise UsageError("the endpoint is not served yet; use it in a with block")
        return f"http://127.0.0.1:{self._loopback.port}"

    @property
    def google_url(self) -> str:
        """The base URL for Google's SDK, and for `GOOGLE_GEMINI_BASE_URL`."""
        return self.anthropic_url

    @property
    def turns(self) -> tuple[EndpointTurn, ...]:
        """The requests with their answers, in the order in which they came.

        An endpoint with `keep_turns` has only the last ones. A turn with a streamed answer is there
        when the stream has ended.
        """
        return tuple(sorted(self._answering.turns, key=lambda turn: turn.number))

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """The requests, in order."""
        return tuple(turn.request for turn in self.turns)

    @property
    def calls(self) -> MadeCalls:
        """All calls of the model, in order, to be compared with `tunaeval.expect(...)`."""
        return MadeCalls.of(self.turns, None if self._answering.asked else self.unused)

    @property
    def errors(self) -> tuple[str, ...]:
        """The messages of all errors that the endpoint has sent."""
        return tuple(self._answering.errors)

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The errors of requests that the upstream failed to answer, and did not answer later."""
        return self._source.unanswered if isinstance(self._source, Passing) else ()

    @property
    def unused_faults(self) -> tuple[Fault, ...]:
        """The faults that never occurred, such as an injection for a tool that was not called."""
        return tuple(one for one in self._faults.every if one not in self._answering.met)

    @property
    def left(self) -> int | None:
        """How many items of the script, or exchanges of the cassette, were not used."""
        return getattr(self._source, "left", None)

    @property
    def unused(self) -> str | None:
        """Why a test of what was asked would show too little: the model was never asked, or its
        script or cassette has answers left. None if neither is so, or if it is allowed.
        """
        if not self._answering.asked:
            last = f"; it refused this: {self.errors[-1]}" if self.errors else ""
            hint = "pass its .url to the agent, or allow_unasked=True"
            words = f"the model was never asked{last or f', so no call could be wrong; {hint}'}"
            return None if self._may_be_unasked else words
        if self._may_leave or not self.left:
            return None
        is_script = isinstance(self._source, Scripted)
        what, one = ("script", "item") if is_script else ("cassette", "exchange")
        turns = counted(self._answering.asked, "turn")
        return (
            f"the {what} has {counted(self.left, one)} left after {turns}, so the agent stopped "
            'too early; leave the rest out, or pass leftover="allow"'
        )

    @property
    def usage(self) -> Usage:
        """The tokens of all turns: as the upstream counted them, else characters / 4."""
        return self._answering.usage

    @property
    def transcript(self) -> list[JsonObject]:
        """The messages as `tunaeval.score` takes them: each request's new ones, and each reply."""
        messages: list[JsonObject] = []
        seen: Counter[str] = Counter()
        for turn in self.turns:
            known: Counter[str] = Counter()
            for message in turn.request.messages:
                key = json.dumps(message, sort_keys=True, default=str)
                known[key] += 1
                if message.get("role") != "assistant" and known[key] > seen[key]:
                    messages.append(message)
            seen |= known
            if turn.message is not None:
                messages.append(turn.message)
        return messages

    def __enter__(self) -> Self:
        self._check_new()
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        return self

    def __exit__(self, _kind: object, error: object, _traceback: object) -> None:
        self._raised = error is not None
        self._stop()
        self._thread.join()
        if self._failure is not None and error is None:
            raise self._failure
        self._check_used()

    async def __aenter__(self) -> Self:
        self._check_new()
        await self._loopback.start()
        return self

    async def __aexit__(self, _kind: object, error: object, _traceback: object) -> None:
        self._raised = error is not None
        await self._end()
        self._check_used()

    def _check_used(self) -> None:
        if not (self._raised or self._may_leave) and (why := self.unused) is not None:
            raise AssertionError(why)

    def _check_new(self) -> None:
        if self._is_entered:
            raise UsageError("this endpoint was entered before, which works once; make another one")
        self._is_entered = True

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread of the with block
            self._failure = error
        finally:
            self._started.set()

    async def _serve(self) -> None:
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        self._stop = partial(loop.call_soon_threadsafe, over.set)
        await self._loopback.start()
        self._started.set()
        try:
            await over.wait()
        finally:
            await self._end()

    async def _end(self) -> None:
        await self._loopback.stop()
        if isinstance(self._source, Passing):
            await self._source.close(keeps=not self._raised)
