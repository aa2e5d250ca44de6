"""What a server says about a body (encoding, type, index) does not hide what is in it."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.asking import GOOD, ask, failure
from tests.clients.test_streamed_replies import DONE, WHOLE, call, event, names, streamed
from tests.faults import Answer, FaultServer
from tunaeval.clients.answers import MAX_BODY_BYTES, Unpacking
from tunaeval.parsing.message import OTHER_CHOICES
from tunaeval.types.exchange import Reply


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data, wbits=-zlib.MAX_WBITS)


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
}


def got(body: bytes, *, stream: bool, **headers: str) -> Reply:
    labels = {name.replace("_", "-"): value for name, value in headers.items()}
    with FaultServer(Answer(body, headers=labels)) as server:
        return ask(server, stream=stream, max_retries=0)


def notes(reply: Reply) -> tuple[str, ...]:
    assert reply.streamed is not None
    return reply.streamed.notes


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_compressed_reply_is_read_whole_and_streamed(encoding: str, stream: bool) -> None:
    body = WHOLE.encode() if stream else GOOD
    reply = got(ENCODINGS[encoding](body), stream=stream, content_encoding=encoding)
    assert reply.message["content"] == ("I look." if stream else "hello")


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(data=st.binary(max_size=40), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_it_does_not_matter_where_a_packed_body_is_cut(
    encoding: str, data: bytes, cuts: list[int]
) -> None:
    packed, unpacking = ENCODINGS[encoding](data), Unpacking({"content-encoding": encoding})
    places = [0, *sorted(cuts), len(packed)]
    pieces = [packed[a:b] for a, b in pairwise(places)]
    assert b"".join(unpacking.piece(piece) for piece in pieces) == data
    unpacking.end()


@pytest.mark.parametrize(("stream", "wanted"), [(True, "identity"), (False, "gzip, deflate")])
def test_a_stream_is_asked_for_unpacked(stream: bool, wanted: str) -> None:
    with FaultServer(Answer(WHOLE.encode() if stream else GOOD)) as server:
        ask(server, stream=stream)
    assert server.seen[0].headers["accept-encoding"] == wanted


def test_a_packed_stream_is_bounded_as_whole_replies_are() -> None:
    bomb = gzip.compress(event({"content": "x" * 60_000}).encode() * 1200)
    tracemalloc.start()
    try:
        answer = Answer(bomb, headers={"content-encoding": "gzip"})
        failed = failure(then=answer, stream=True, max_retries=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "larger than 16,777,216 bytes" in str(failed)
    assert peak < 4 * MAX_BODY_BYTES


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip"])
def test_a_stream_that_cannot_be_unpacked_is_named(encoding: str) -> None:
    answer = Answer(WHOLE.encode(), headers={"content-encoding": encoding})
    failed = failure(then=answer, stream=True, max_retries=0)
    assert failed.kind == "body"
    assert encoding in str(failed)


@pytest.mark.parametrize("label", ["application/json", "text/plain", "text/html", ""])
def test_a_wrong_type_of_content_hides_nothing(label: str) -> None:
    assert got(GOOD, stream=True, content_type=label).message["content"] == "hello"
    reply = got(b"\n" + GOOD, stream=True, content_type=label)
    assert (reply.message["content"], reply.streamed) == ("hello", None)
    assert got(WHOLE.encode(), stream=True, content_type=label).message["content"] == "I look."


def test_a_page_where_a_stream_belongs_is_named() -> None:
    page = Answer(b"<!DOCTYPE html><html>Sign in</html>", headers={"content-type": "text/html"})
    assert "found HTML" in str(failure(then=page, stream=True, max_retries=0))


def test_events_that_are_there_twice_are_noted() -> None:
    say = event({"content": "say"})
    reply = streamed(say * 2 + event(finish_reason="stop") * 2 + DONE)
    assert reply.message["content"] == "saysay"
    [note] = notes(reply)
    assert note.startswith("1 event is the same, byte for byte, as the one before")
    assert notes(streamed(say + event({"content": " say"}) + DONE)) == ()


def test_a_name_that_is_there_twice_is_one_name() -> None:
    reply = streamed(event(call(0, "ls", id="c")) * 2 + event(call(0, arguments="{}")) + DONE)
    assert names(reply) == [("ls", "{}")]
    assert "1 event is the same" in notes(reply)[0]


def choice(index: int | None, content: str) -> dict[str, Any]:
    said = {"message": {"role": "assistant", "content": content}, "finish_reason": f"of {content}"}
    return said if index is None else {"index": index, **said}


@pytest.mark.parametrize(
    ("choices", "content"),
    [
        ([choice(1, "b"), choice(0, "a")], "a"),
        ([choice(2, "c"), choice(None, "a"), choice(1, "b")], "a"),
        ([choice(0, "a"), choice(0, "b")], "a"),
        ([choice(1, "a"), choice(2, "b")], "a"),
    ],
)
def test_the_choice_of_index_0_is_the_answer(choices: list[Any], content: str) -> None:
    reply = got(json.dumps({"choices": choices}).encode(), stream=False)
    assert (reply.message["content"], reply.finish_reason) == (content, f"of {content}")
    assert reply.notes == (OTHER_CHOICES,)
    assert reply.kept()["stream_notes"] == reply.notes


def test_one_choice_is_nothing_to_note() -> None:
    assert got(GOOD, stream=False).notes == ()


def test_the_choice_of_index_0_is_the_answer_in_a_stream() -> None:
    def chunk(*choices: Mapping[str, Any]) -> str:
        return f"data: {json.dumps({'choices': choices})}\n\n"

    a, b = ({"index": at, "delta": {"content": said}} for at, said in enumerate("ab"))
    reply = streamed(chunk(b, a) + chunk(b) + chunk(a) + event(finish_reason="stop") + DONE)
    assert reply.message["content"] == "aa"
    assert notes(reply) == (OTHER_CHOICES,)
