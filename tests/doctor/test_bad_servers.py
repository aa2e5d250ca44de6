"""Servers that are none, refuse, limit, hang or die: a row each, never a traceback, all that was
learnt is in the report.
"""

from __future__ import annotations

import asyncio
import json
import socket
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.doctor.answering import Reply
from tests.doctor.loopback import Loopback
from tests.faults import CANARY_KEY, Answer, FaultServer
from tunaeval.clients.server import Heard
from tunaeval.doctor.asks import ONE
from tunaeval.doctor.blame import blame, compare_pair
from tunaeval.doctor.examination import Examination, examine
from tunaeval.doctor.reading import read_answer
from tunaeval.doctor.report import markdown, show_examination
from tunaeval.doctor.runner import DoctorSettings
from tunaeval.doctor.values import APIS

LM_STUDIO = b'{"error":"Unexpected endpoint or method. (GET /x)"}'
HTML = b"<!doctype html><html><body>Welcome</body></html>"


def examined(url: str, key: str = "", **settings: float) -> Examination:
    found = asyncio.run(
        examine(
            url,
            DoctorSettings(deadline_seconds=settings.get("deadline_seconds", 60.0)),
            environment={"TUNAEVAL_API_KEY": key} if key else {},
        )
    )
    page = StringIO()
    show_examination(found, page)
    assert CANARY_KEY not in page.getvalue() + markdown(found) + json.dumps(found.as_json())
    return found


def first(found: Examination) -> str:
    return str(found.findings[0].evidence["summary"])


def blamed(found: Examination) -> set[str]:
    return {finding.check for finding in found.findings if finding.verdict == "server"}


def test_no_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    found = examined(f"http://127.0.0.1:{port}/v1")
    assert found.exit == 2
    assert "no connection" in first(found)
    assert {finding.verdict for finding in found.findings} == {"not tested"}


def test_a_server_of_html() -> None:
    with FaultServer(then=Answer(HTML, headers={"content-type": "text/html"})) as server:
        found = examined(server.base_url)
    assert found.exit == 2
    assert "the answer is HTML" in first(found)
    assert len(server.seen) < 12


def test_one_that_answers_200_to_all() -> None:
    with FaultServer(then=Answer(LM_STUDIO)) as server:
        found = examined(server.base_url)
    assert found.exit == 2
    assert found.server["name"] == "LM Studio"
    assert "Unexpected endpoint" in first(found)


def test_a_wrong_key_is_said_and_not_shown() -> None:
    with Loopback(key="sk-right") as server:
        found = examined(server.base_url, key=CANARY_KEY)
        bare = examined(server.base_url)
    for each in (found, bare):
        assert each.exit == 2
        assert "refuses the key (401)" in first(each)
        assert each.server["name"] == "vLLM", "what was learnt before is in the report"


class Picky(Loopback):
    """Refuses an unknown model with 400, as LiteLLM does."""

    def post(self, path: str, body: Any, authorization: str | None) -> Reply | None:
        if body["model"] == "scripted":
            return super().post(path, body, authorization)
        return Reply.error(400, f"Invalid model name passed in model={body['model']}")


def test_a_model_that_is_not_listed_is_no_fault_of_the_server() -> None:
    with Picky() as server:
        found = asyncio.run(examine(server.base_url, DoctorSettings(model="nope"), environment={}))
    assert found.exit == 2
    assert "--model NAME (Invalid model name passed in model=nope)" in first(found)
    lines = StringIO()
    show_examination(found, lines)
    assert "needed by" not in lines.getvalue(), "no list of all checks where none was answered"


def test_a_gateway_that_strips_fields() -> None:
    with Loopback("gateway-strips") as server:
        found = examined(server.base_url)
    assert {"tools-in-prompt", "choice-required", "usage"} <= blamed(found)
    assert found.exit == 1


def test_rate_limits_are_waited_for() -> None:
    with Loopback(busy_every=4) as server:
        found = examined(server.base_url)
    assert found.findings == ()
    assert found.exit == 0


def test_a_limit_that_never_ends() -> None:
    limit = Answer(b'{"error": {"message": "slow down"}}', 429, {"retry-after": "0.01"})
    with FaultServer(then=limit) as server:
        found = examined(server.base_url)
    assert found.exit == 2
    assert "429" in first(found)
    assert len(server.seen) < 20


@pytest.mark.parametrize("lives", [10, 20, 45, 70])
def test_a_server_that_dies_in_the_middle(lives: int) -> None:
    with Loopback("index-always-0", lives=lives) as server:
        found = examined(server.base_url)
    assert "does not answer any more" in first(found) or "no chat completion" in first(found)
    learnt = {"stream-fragments"} if lives > 40 else set()
    assert learnt <= blamed(found)
    assert found.exit == 3, "what could not be asked is not known"
    assert len(server.requests) < lives + 8


def test_a_server_that_hangs() -> None:
    with FaultServer(then=Answer(seconds_before=5.0)) as server:
        found = examined(server.base_url, deadline_seconds=0.4)
    assert found.exit == 2
    assert "deadline" in first(found)


def test_streams_that_break_off_are_one_row() -> None:
    cut = Answer(b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n', cut_after=20)
    with FaultServer(then=cut) as server:
        assert examined(server.base_url).exit == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "message", "delta", "tool_calls", "function", "name", "arguments", "index",
             "id", "content", "logprobs", "bytes", "token", "usage", "error", "finish_reason"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=24,
)  # fmt: skip
FRAMES = st.lists(JSON, max_size=4).map(
    lambda found: b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in found)
)


@given(body=st.binary(max_size=60) | JSON.map(lambda v: json.dumps(v).encode()) | FRAMES)
@pytest.mark.parametrize("place", [0, 1], ids=["whole", "streamed"])
def test_no_answer_raises(place: int, body: bytes) -> None:
    """Whatever a server sends is read and judged, whole and streamed."""
    for status in (200, 400, 500):
        answer = read_answer(ONE[place], Heard(status, {}, body))
        assert blame(answer).verdict in ("pass", "server", "model", "not tested", "note")
        compare_pair([answer], [answer])


class CutStreams(Loopback):
    """A server whose streams all break off after two thirds."""

    def post(self, path: str, body: Any, authorization: str | None) -> Reply | None:
        reply = super().post(path, body, authorization)
        streamed = reply is not None and body.get("stream")
        return reply._replace(body=reply.body[: len(reply.body) // 3]) if streamed else reply  # type: ignore[union-attr]  # by `streamed`


def test_streams_that_all_break_off_are_a_fault_and_no_failures() -> None:
    with CutStreams() as server:
        found = asyncio.run(examine(server.base_url, DoctorSettings(quick=True), environment={}))
    assert (blamed(found), found.failures, found.exit) == ({"stream-frames"}, 0, 1)
    untested = [f for f in found.findings if f.verdict == "not tested"]
    assert {str(f.evidence["summary"]) for f in untested} == {
        "the server's streams come to nothing (stream-frames)"
    }


def test_a_server_that_fails_every_request_is_one_sentence() -> None:
    class Failing(Loopback):
        def post(self, path: str, body: Any, authorization: str | None) -> Reply | None:
            super().post(path, body, authorization)
            return Reply.error(500, "oops")

    with Failing() as server:
        found = examined(server.base_url)
    assert found.exit == 2
    assert first(found) == "every request fails with 500: oops"
    assert {finding.verdict for finding in found.findings} == {"not tested"}
    assert not any(finding.group in APIS for finding in found.findings)
    assert len(server.requests) < 20


def test_a_key_that_expires_stops_the_examination() -> None:
    class Expiring(Loopback):
        def post(self, path: str, body: Any, authorization: str | None) -> Reply | None:
            reply = super().post(path, body, authorization)
            return reply if len(self.requests) < 30 else Reply.error(401, "key expired")

    with Expiring() as server:
        found = examined(server.base_url)
    assert (first(found), found.exit) == (
        "the server does not answer any more: status 401: key expired",
        3,
    )
    assert len(server.requests) < 36
