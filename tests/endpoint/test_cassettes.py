"""A cassette answers what was asked before, keeps no key, and says what is not in it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.endpoint.asking import READ, chat, question, refusal, said, sent
from tests.faults import CANARY_KEY
from tunaeval.endpoint.apis import ModelRequest
from tunaeval.endpoint.cassettes import MASKS, Masker, key_of
from tunaeval.errors import RecordError, UsageError
from tunaeval.types.faults import Cut, Fail, Fault, Garbage


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    return tmp_path / "cassettes" / "fix.jsonl"


def recorded(cassette: Path, *bodies: dict[str, Any], script: Any = None, **headers: str) -> None:
    """Ask a scripted upstream these, and record it."""
    answers = script or [READ, "Done.", "Over."]
    with (
        tunaeval.model_endpoint(answers) as upstream,
        tunaeval.model_endpoint(upstream=upstream.url, cassette=cassette, record=True) as model,
    ):
        for body in bodies:
            said(chat(model.url, body, **headers))


def test_what_was_recorded_is_answered_again_whole_or_streamed(cassette: Path) -> None:
    recorded(cassette, question("One."), question("Two."))
    with tunaeval.model_endpoint(cassette=cassette) as model:
        assert said(chat(model.url, question("Two.")))["content"] == "Done."
        chunks = sent(chat(model.url, question("One.", stream=True)))
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert model.calls == tunaeval.expect("read_file")
    assert model.left == 0


def test_a_cassette_can_be_read_by_people(cassette: Path) -> None:
    recorded(cassette, question("One."))
    header, line = [json.loads(one) for one in cassette.read_text("utf-8").splitlines()]
    assert header == {"cassette": 1, "masks": MASKS}
    assert line["request"]["messages"] == [{"role": "user", "content": "One."}]
    assert line["message"]["tool_calls"][0]["function"]["name"] == "read_file"


def test_only_its_owner_may_read_a_cassette(cassette: Path) -> None:
    mask = os.umask(0)
    try:
        recorded(cassette, question("One."))
    finally:
        os.umask(mask)
    assert stat.S_IMODE(cassette.stat().st_mode) == 0o600


def test_a_request_that_is_not_there_fails_with_the_nearest(cassette: Path) -> None:
    recorded(cassette, question("Something else.", tools=[]), question("Fix add() in calc.py."))
    with tunaeval.model_endpoint(cassette=cassette) as model:
        words = refusal(chat(model.url, question("Fix sub() in calc.py.")))
    assert "the nearest, in line 3, differs in messages[0].content: recorded 'Fix add() in" in words
    assert "asked 'Fix sub() in calc.py.'" in words
    assert model.turns[0].code == "not_in_cassette"


def test_the_same_request_is_answered_as_often_as_it_was_recorded(cassette: Path) -> None:
    recorded(cassette, question(), question())
    with tunaeval.model_endpoint(cassette=cassette) as model:
        answers = [said(chat(model.url)) for _ in range(2)]
        words = refusal(chat(model.url))
    assert answers[1]["content"] == "Done."
    assert "has this request 2 times, and it was asked once more" in words


def test_no_key_is_kept(cassette: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "sk-proj-abcdefghijklmnop0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", CANARY_KEY)
    body = question(f"My keys are {CANARY_KEY} and {other} and agent-secret-1234.")
    recorded(
        cassette,
        body,
        script=[f"I saw {CANARY_KEY}, {other} and agent-secret-1234."],
        authorization="Bearer agent-secret-1234",
    )
    kept = cassette.read_text("utf-8")
    assert not [key for key in (CANARY_KEY, other, "agent-secret-1234") if key in kept]
    assert "I saw <key>, <key> and <key>." in kept
    with tunaeval.model_endpoint(cassette=cassette) as model:
        said(chat(model.url, body, authorization="Bearer agent-secret-1234"))


def test_the_key_of_the_environment_goes_upstream(
    cassette: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.faults import FaultServer

    monkeypatch.setenv("TUNAEVAL_API_KEY", CANARY_KEY)
    with (
        FaultServer() as server,
        tunaeval.model_endpoint(upstream=server.base_url, cassette=cassette, record=True) as model,
    ):
        said(chat(model.url, authorization="Bearer dummy"))
    assert server.seen[0].headers["authorization"] == f"Bearer {CANARY_KEY}"


VARYING = [
    ("At 2026-11-22T10:00:01Z", "At 2026-11-23 11:12"),
    (
        "See /tmp/pytest-of-a/pytest-1/test_x0/calc.py",
        "See /tmp/pytest-of-b/pytest-22/test_x1/calc.py",
    ),
    ("<object at 0x7f00deadbeef>", "<object at 0x7f00deadb000>"),
    ("id 6f1c2a34-0b1c-4d2e-8f3a-1234567890ab", "id 00000000-0b1c-4d2e-8f3a-1234567890ab"),
    ("at http://127.0.0.1:8123/x", "at http://127.0.0.1:45001/x"),
    ("took 1.25 s", "took 11.7 s"),
]


@pytest.mark.parametrize(("then", "now"), VARYING)
def test_what_differs_from_run_to_run_is_masked(cassette: Path, then: str, now: str) -> None:
    recorded(cassette, question(then))
    with tunaeval.model_endpoint(cassette=cassette) as model:
        said(chat(model.url, question(now)))
    assert len(model.turns) == 1
    assert not model.unanswered


def test_a_reply_speaks_of_the_directory_of_today(cassette: Path) -> None:
    then, now = (f"/tmp/pytest-of-a/pytest-{number}/x0/calc.py" for number in (1, 22))  # noqa: S108 - words
    recorded(cassette, question(f"Fix {then}"), script=[f"It is {then}."])
    assert "It is <tmp 1>/calc.py." in cassette.read_text("utf-8")
    with tunaeval.model_endpoint(cassette=cassette) as model:
        assert said(chat(model.url, question(f"Fix {now}")))["content"] == f"It is {now}."


def test_masks_of_ones_own_are_kept_in_the_file(cassette: Path) -> None:
    masks = {"<pid>": r"pid \d+"}
    with (
        tunaeval.model_endpoint(["a"]) as upstream,
        tunaeval.model_endpoint(
            upstream=upstream.url, cassette=cassette, record=True, masks=masks
        ) as model,
    ):
        said(chat(model.url, question("pid 1")))
    with tunaeval.model_endpoint(cassette=cassette) as model:
        assert said(chat(model.url, question("pid 2345")))["content"] == "a"


_HEAD = '{"cassette": 1, "masks": {}}\n'


def _request(body: dict[str, Any]) -> ModelRequest:
    return ModelRequest("chat", body, (), None, "m")


@given(
    texts=st.lists(st.text(), max_size=4),
    ids=st.lists(st.text(min_size=1), min_size=2, max_size=2, unique=True),
    streams=st.booleans(),
)
def test_ids_and_streaming_change_no_key_and_texts_do(
    texts: list[str], ids: list[str], streams: bool
) -> None:
    def body(call_id: str, **more: Any) -> ModelRequest:
        messages = [{"role": "tool", "tool_call_id": call_id, "content": one} for one in texts]
        return _request({"messages": messages, **more})

    masker = Masker(MASKS)
    keys = [key_of(masker.normalised(one)) for one in (body(ids[0], stream=streams), body(ids[1]))]
    assert keys[0] == keys[1]
    texts.append("another")
    assert key_of(masker.normalised(body(ids[0]))) != keys[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ('{"cassette": 2, "masks": {}}\n', "is of version 2, and this tunaeval plays version 1"),
        ('{"recording": 1}\n', "is of version None"),
        ('{"cassette": 1}\n', "line 1: 'masks'"),
        ('{"cassette": 1, "masks": {"<x>": "("}}\n', "line 1: "),
        ('{"cassette": 1, "masks": {}}\n{"key": "x"}\n', "line 2: 'message'"),
        (
            _HEAD + '{"key": "x", "request": {}, "message": {}, "finish_reason": "stop"}',
            "its request was changed",
        ),
    ],
)
def test_what_is_no_cassette_is_refused_in_a_sentence(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(text)
    with pytest.raises(RecordError) as caught:
        tunaeval.model_endpoint(cassette=path)
    assert words in str(caught.value)
    assert "record it again" in str(caught.value)


def test_a_missing_cassette_says_how_it_is_made(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"there is no cassette .*record it again"):
        tunaeval.model_endpoint(cassette=tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="record=True needs a cassette to write and an upstream"):
        tunaeval.model_endpoint(cassette=tmp_path / "none.jsonl", record=True)


def test_a_recording_of_nothing_leaves_the_old_one(cassette: Path) -> None:
    recorded(cassette, question())
    before = cassette.read_bytes()
    recorded(cassette)
    assert cassette.read_bytes() == before
    assert [path.name for path in cassette.parent.iterdir()] == [cassette.name]


def test_an_upstream_that_fails_is_passed_on() -> None:
    with (
        tunaeval.model_endpoint([]) as upstream,
        tunaeval.model_endpoint(upstream=upstream.url) as model,
    ):
        assert "the upstream says: the script is over" in refusal(chat(model.url))
    with tunaeval.model_endpoint(upstream="http://127.0.0.1:9/v1") as model:
        reply = chat(model.url)
    assert reply.status_code == 502
    assert "the upstream 127.0.0.1 was not reached" in refusal(reply)


FAULTS = (Fail(at=2), Garbage(at=2), Cut(at=2))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: type(one).__name__)
def test_an_upstream_that_fails_leaves_the_old_cassette(cassette: Path, fault: Fault) -> None:
    recorded(cassette, question("One."), question("Two."))
    before = cassette.read_bytes()
    with (  # noqa: PT012 - the block's end raises
        tunaeval.model_endpoint(["Other."] * 3, faults=[fault]) as upstream,
        pytest.raises(RecordError, match="was not recorded and is unchanged: the upstream"),
        tunaeval.model_endpoint(upstream=upstream.url, cassette=cassette, record=True) as model,
    ):
        chat(model.url, question("One."))
        chat(model.url, question("Two."))
    assert cassette.read_bytes() == before
    assert len(model.unanswered) == 1


def test_a_request_that_is_answered_when_sent_again_is_recorded(cassette: Path) -> None:
    with (
        tunaeval.model_endpoint(["Yes."], faults=[Fail(at=1)]) as upstream,
        tunaeval.model_endpoint(upstream=upstream.url, cassette=cassette, record=True) as model,
    ):
        assert refusal(chat(model.url, question("One.")))
        assert said(chat(model.url, question("One.")))["content"] == "Yes."
    assert model.unanswered == ()
    with tunaeval.model_endpoint(cassette=cassette) as played:
        assert said(chat(played.url, question("One.")))["content"] == "Yes."


def test_a_block_that_raises_leaves_the_old_cassette(cassette: Path) -> None:
    recorded(cassette, question("One."))
    before = cassette.read_bytes()
    with (  # noqa: PT012 - it raises after it was answered
        tunaeval.model_endpoint(["Other."]) as upstream,
        pytest.raises(ZeroDivisionError),
        tunaeval.model_endpoint(upstream=upstream.url, cassette=cassette, record=True) as model,
    ):
        said(chat(model.url, question("One.")))
        _ = 1 / 0
    assert cassette.read_bytes() == before


def test_what_is_no_file_is_not_replaced_by_a_cassette(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(UsageError, match="which is no file"):
            tunaeval.model_endpoint(upstream="http://127.0.0.1:9", cassette=path, record=True)
    assert pipe.is_fifo()


def test_responses_are_recorded_with_their_items(cassette: Path) -> None:
    body = {"model": "m", "input": "Hi.", "stream": True}
    with (
        tunaeval.model_endpoint([{"content": "Yes.", "reasoning_content": "Hm."}]) as upstream,
        tunaeval.model_endpoint(upstream=upstream.url, cassette=cassette, record=True) as model,
    ):
        first = sent(httpx2.post(f"{model.url}/responses", json=body))
    with tunaeval.model_endpoint(cassette=cassette) as model:
        again = sent(httpx2.post(f"{model.url}/responses", json=body))
    assert first == again
    assert [item["type"] for item in again[-1]["response"]["output"]] == ["reasoning", "message"]


def test_a_cassette_that_is_not_played_to_its_end_fails_like_a_script(cassette: Path) -> None:
    recorded(cassette, question(), question("Thanks."))
    with (
        pytest.raises(AssertionError, match="the cassette has 1 exchange left after 1 turn"),
        tunaeval.model_endpoint(cassette=cassette, leftover="fail") as model,
    ):
        said(chat(model.url))
    cassette.write_bytes(cassette.read_bytes()[:-20])
    with pytest.raises(RecordError, match=r"line 3.*record it again"):
        tunaeval.model_endpoint(cassette=cassette)


@pytest.mark.parametrize("wrong", [{"model": "m"}, "m"])
def test_a_report_wants_a_request(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"request is .*; wanted a ModelRequest"):
        tunaeval.cassette_report(tmp_path / "none.jsonl", wrong)
