"""What each of the reads makes of one message: `feed_sse`, `feed_delta`, client and doctor.

python -m tests.wire.reads 100000          # so many streams of all APIs, in process
python -m tests.wire.reads 2000 --served   # by the client from a server on loopback
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections import deque
from collections.abc import Iterator, Sequence

import httpx2

from tests.clients.asking import HELLO
from tests.faults import Answer, FaultServer
from tests.wire.writing import WAYS, Events, Said, said, sse
from tunaeval import parse_message, stream
from tunaeval.clients.openai import OpenAIClient
from tunaeval.clients.server import Heard
from tunaeval.doctor.reading import read_answer
from tunaeval.doctor.values import Ask
from tunaeval.testing.tape import Tape
from tunaeval.types.exchange import Reply
from tunaeval.types.parsing import JOINED, ParseResult

TAPE_BYTES = 400
SSE = {"content-type": "text/event-stream"}


def written(tape: Tape, api: str) -> tuple[Said, Events, bytes]:
    """A message, its events as an API writes them in some way, and their bytes."""
    told = said(tape)
    events = WAYS[api](tape, told)
    done = api == "chat" and tape.below(4) > 0
    return told, events, sse(tape, events, done=done)


def read_sse(tape: Tape, body: bytes) -> ParseResult:
    reader = stream("hermes")
    cuts = sorted(tape.below(len(body) + 1) for _ in range(tape.below(6)))
    for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True):
        reader.feed_sse(body[start:end])
    return reader.finish()


def read_deltas(tape: Tape, events: Events) -> ParseResult:
    """What `feed_delta` reads: whole events, or of a single entry the entry or its delta."""
    reader = stream("hermes")
    for event in events:
        own = [one for one in event.get("choices", ()) if not one.get("index")]
        alone = own[0] if len(own) == len(event.get("choices", ())) == 1 else None
        if alone is None or "message" in alone or tape.below(3) == 0:
            reader.feed_delta(event)
        else:
            reader.feed_delta(alone if tape.below(2) else alone["delta"])
    return reader.finish()


class Played(httpx2.AsyncBaseTransport):
    """A transport that answers each request with the next body."""

    def __init__(self) -> None:
        self.bodies: deque[bytes] = deque()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        return httpx2.Response(200, headers=SSE, content=self.bodies.popleft())


def faults(told: Said, result: ParseResult) -> Iterator[str]:
    """In what a result is not the message."""
    made = [(call.name, call.arguments) for call in result.calls]
    if made != [(call.name, call.arguments) for call in told.calls]:
        yield f"calls {made}"
    for call, own in zip(result.calls, told.calls, strict=False):
        if call.id not in {own.id, None}:
            yield f"id {call.id!r}, not {own.id!r}"
        if call.repairs:
            yield f"repairs {call.repairs}"
    if (result.content, result.reasoning or "") != (told.text, told.thought):
        yield f"content {result.content!r}, reasoning {result.reasoning!r}"
    if odd := {one.code for one in result.diagnoses} - {*JOINED, "other-choices"}:
        yield f"diagnoses {odd}"
    if result.outcome != ("calls" if told.calls else "no_call") or result.truncated:
        yield f"outcome {result.outcome!r}"


def doctor_faults(told: Said, api: str, body: bytes) -> Iterator[str]:
    """In what the doctor's answer is not the message. What comes whole alone it does not count."""
    answer = read_answer(Ask("any", (), streamed=True, api=api), Heard(200, {}, body))  # type: ignore[arg-type]  # one of its three
    if answer.failure or answer.error:
        yield f"failure {answer.failure or answer.error}"
    made = [
        (call.name, call.object if isinstance(call.arguments, str) else call.arguments)
        for call in answer.calls
    ]
    if made != [(call.name, call.arguments) for call in told.calls]:
        yield f"calls {made}"
    if (answer.content or "", answer.reasoning) != (told.text, told.thought):
        yield f"content {answer.content!r}, reasoning {answer.reasoning!r}"


def reply_faults(told: Said, reply: Reply) -> Iterator[str]:
    """In what a reply of the client is not the message."""
    yield from faults(told, parse_message(reply.message, "hermes"))
    if (reply.finish_reason, reply.usage.prompt_tokens, reply.usage.completion_tokens) != (
        told.finish, 7, 5,
    ):  # fmt: skip
        yield f"finish {reply.finish_reason!r}, usage {reply.usage}"


def checked(tapes: Sequence[bytes], apis: Sequence[str] = tuple(WAYS)) -> None:
    """Assert that all reads of the streams that the tapes write are the message."""
    asyncio.run(_checked(tapes, apis))


async def _checked(tapes: Sequence[bytes], apis: Sequence[str]) -> None:
    played = Played()
    client = OpenAIClient(base_url="http://x.test/v1", model="m", stream=True, transport=played)
    for number, raw in enumerate(tapes):
        api = apis[number % len(apis)]
        tape = Tape(raw)
        told, events, body = written(tape, api)
        played.bodies.append(body)
        reads = {
            "feed_sse": [*faults(told, read_sse(tape, body))],
            "feed_delta": [*faults(told, read_deltas(tape, events))],
            "client": [*reply_faults(told, await client.complete(HELLO))],
        }
        if api in {"chat", "messages"}:
            reads["doctor"] = [*doctor_faults(told, api, body)]
        wrong = {how: found for how, found in reads.items() if found}
        assert not wrong, f"{api}: {wrong}\n{told}\n{body.decode('utf-8', 'replace')}"
    await client.close()


def tapes(count: int, seed: int = 0) -> list[bytes]:
    drawn = random.Random(seed)
    return [drawn.randbytes(TAPE_BYTES) for _ in range(count)]


def served(tapes: Sequence[bytes], apis: Sequence[str] = tuple(WAYS)) -> None:
    """Assert that the client reads the streams from a server on loopback."""
    every = [written(Tape(raw), apis[at % len(apis)]) for at, raw in enumerate(tapes)]
    answers = [Answer(body, headers=SSE) for _, _, body in every]

    async def ask(url: str) -> list[Reply]:
        client = OpenAIClient(base_url=url, model="m", stream=True)
        replies = [await client.complete(HELLO) for _ in every]
        await client.close()
        return replies

    with FaultServer(*answers) as server:
        replies = asyncio.run(ask(server.base_url))
    for (told, _, body), reply in zip(every, replies, strict=True):
        wrong = [*reply_faults(told, reply)]
        assert not wrong, f"{wrong}\n{told}\n{body.decode('utf-8', 'replace')}"


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("count", type=int)
    reader.add_argument("--seed", type=int, default=0)
    reader.add_argument("--served", action="store_true")
    asked = reader.parse_args()
    begun = time.monotonic()
    (served if asked.served else checked)(tapes(asked.count, asked.seed))
    how = "from a server" if asked.served else "in each way"
    print(json.dumps({"streams": asked.count, "read": how,
                      "seconds": round(time.monotonic() - begun)}))  # fmt: skip


if __name__ == "__main__":
    main()
