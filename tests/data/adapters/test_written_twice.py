"""What is written twice counts once: lines of one reply, and spans that were exported again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval.data.adapters.documents import read_conversation, read_conversations
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Usage

Block = dict[str, Any]


def line(reply: str, blocks: Sequence[Block], completion: int | None = 5) -> dict[str, Any]:
    """A line of Claude Code with some blocks of the reply with this id."""
    message = {"id": reply, "role": "assistant", "type": "message", "content": [*blocks]}
    usage = {"input_tokens": 10, "output_tokens": completion}
    return {"type": "assistant", "uuid": "u", "sessionId": "s",
            "message": message if completion is None else {**message, "usage": usage}}  # fmt: skip


def user(content: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": "u", "message": {"role": "user", "content": content}}


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def use(call_id: str, **arguments: Any) -> Block:
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": arguments}


def result(call_id: str) -> dict[str, Any]:
    return user([{"type": "tool_result", "tool_use_id": call_id, "content": "a"}])


ASKED = user("List files.")


def test_the_usage_that_a_reply_reports_last_counts() -> None:
    lines = [ASKED, line("m", [text("ok")], 1), line("m", [use("c")], 50), result("c")]
    read = read_conversation(lines)
    assert [m.usage for m in read.messages] == [None, Usage(10, 50), None]
    assert read_conversation([*lines[:3], line("m", [use("c")], None)]).messages[1].usage == Usage(
        10, 50
    )


def test_a_reply_that_is_continued_behind_a_result_is_one_message() -> None:
    lines = [
        ASKED, line("m", [text("I look."), use("a")], 9), result("a"),
        line("m", [use("a"), use("b")], 70), result("b"), line("n", [text("Done.")]),
    ]  # fmt: skip
    read = read_conversation(lines)
    assert [(m.role, m.content, [c.id for c in m.tool_calls]) for m in read.messages] == [
        ("user", "List files.", []), ("assistant", "I look.", ["a", "b"]),
        ("tool", "a", []), ("tool", "a", []), ("assistant", "Done.", []),
    ]  # fmt: skip
    assert read.sources == (0, 1, 2, 4, 5)
    assert (read.messages[1].usage, read.warnings) == (Usage(10, 70), ())


def said(read: Conversation) -> list[tuple[Any, ...]]:
    return [(m.role, m.content, m.reasoning, m.tool_calls, m.usage) for m in read.messages]


_BLOCKS = st.lists(
    st.one_of(
        st.builds(text, st.sampled_from("ab")),
        st.builds(lambda words: {"type": "thinking", "thinking": words}, st.sampled_from("ab")),
        st.builds(lambda i: use(f"c{i}", n=i), st.integers(0, 3)),
    ),
    max_size=6,
)


@given(blocks=_BLOCKS, data=st.data())
def test_a_reply_in_many_lines_is_read_as_in_one(blocks: list[Block], data: st.DataObject) -> None:
    """Each line has the next block, or all so far, as different versions write them."""
    wanted = read_conversation([ASKED, line("m", blocks, 9)])
    lines, done = [ASKED], 0
    while done < len(blocks):
        more = data.draw(st.integers(1, len(blocks) - done))
        start = 0 if data.draw(st.booleans()) else done
        if {*map(str, blocks[:done])} & {*map(str, blocks[done : done + more])}:
            start = 0  # only a line with both shows that a block is written twice on purpose
        done += more
        lines.append(line("m", blocks[start:done], done))
    assert said(read_conversation([*lines, line("m", blocks[-1:], 9)])) == said(wanted)


def test_equal_blocks_of_two_replies_are_two() -> None:
    read = read_conversation([ASKED, line("m", [text("ok")]), line("n", [text("ok")])])
    assert [m.content for m in read.messages] == ["List files.", "ok", "ok"]


def test_lines_of_one_reply_are_read_in_linear_time() -> None:
    lines = [one for i in range(10_000) for one in (line("m", [use(f"c{i}")]), result(f"c{i}"))]
    read = read_conversation(lines)
    assert len(read.messages[0].tool_calls) == 10_000
    assert read.warnings == ()


def test_a_role_that_is_no_text_is_told() -> None:
    roles: list[Any] = [{"name": "user"}, [], 1, None]
    for role in roles:
        odd = {**line("m", [text("ok")]), "message": {"role": role, "content": "ok"}}
        read = read_conversation([ASKED, line("m", [text("ok")]), odd])
        assert [m.content for m in read.messages] == ["List files.", "ok", "ok"]
        assert [one.code for one in read.warnings] == ["unknown-role"]


def said_by(role: str, *parts: Block) -> dict[str, Any]:
    return {"role": role, "parts": [*parts]}


ASK = said_by("user", {"type": "text", "content": "go"})
MADE = said_by("assistant", {"type": "tool_call", "id": "c", "name": "f", "arguments": {"x": 1}})
BACK = said_by("tool", {"type": "tool_call_response", "id": "c", "response": "r"})
DONE = said_by("assistant", {"type": "text", "content": "done"})
FIRST, SECOND = ([ASK], [MADE]), ([ASK, MADE, BACK], [DONE])


def request(
    number: int, messages: tuple[Any, Any], parent: str | None = "r", trace: str = "t", **more: Any
) -> dict[str, Any]:
    """A span of OTLP with the messages before a request, and its reply, as JSON texts."""
    before, after = (one if isinstance(one, str) else json.dumps(one) for one in messages)
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": before,
                  "gen_ai.output.messages": after, **more}  # fmt: skip
    return {"traceId": trace, "spanId": f"s{number}", "parentSpanId": parent, "name": "chat m",
            "startTimeUnixNano": str(1_780_000_000_000_000_000 + number * 10**9),
            "attributes": [{"key": key, "value": {"stringValue": value}}
                           for key, value in attributes.items()]}  # fmt: skip


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": [*spans]}]}]}


def counted(*spans: dict[str, Any]) -> list[tuple[int, int]]:
    """The messages and calls of each conversation."""
    return [
        (len(one.messages), sum(len(m.tool_calls) for m in one.messages))
        for one in read_conversations(export(*spans))
    ]


def test_spans_that_were_exported_twice_are_one() -> None:
    first, second = request(1, FIRST), request(2, SECOND)
    assert counted(first, second, first, second) == [(4, 1)]
    assert counted(*[first] * 3) == [(2, 1)]
    assert counted(first, {**request(1, FIRST), "traceId": "u"}) == [(2, 1), (2, 1)]


def test_a_request_that_two_instrumentations_wrote_is_one() -> None:
    outer = request(1, FIRST), request(3, SECOND)
    inner = request(2, FIRST, "s1"), request(4, SECOND, "s3")
    assert counted(*outer, *inner) == [(4, 1)]
    between = {**request(9, FIRST, "s1"), "name": "POST", "attributes": [
        {"key": "http.method", "value": {"stringValue": "POST"}}]}  # fmt: skip
    assert counted(*outer, between, request(2, FIRST, "s9"), inner[1]) == [(4, 1)]


def test_a_span_around_several_requests_is_left_out() -> None:
    whole = request(0, ([ASK], [DONE]))
    assert counted(whole, request(1, FIRST, "s0"), request(2, SECOND, "s0")) == [(4, 1)]


def test_a_parent_with_messages_of_its_own_stays() -> None:
    other = said_by("user", {"type": "text", "content": "another task"})
    spans = request(1, ([other], [DONE])), request(2, FIRST, "s1")
    assert counted(*spans) == [(2, 0), (2, 1)]


def test_requests_without_a_parent_continue_each_other_in_any_trace() -> None:
    for none in (None, "", "0000000000000000"):
        spans = [request(1, FIRST, none, "a"), request(2, SECOND, none, "b")]
        assert counted(*spans) == counted(*reversed(spans)) == [(4, 1)]
    assert counted(request(1, FIRST, "r", "a"), request(2, SECOND, "r", "b")) == [(2, 1), (4, 1)]
    assert counted(request(1, FIRST, None, "a"), request(2, SECOND, "r", "b")) == [(2, 1), (4, 1)]


def test_a_tool_that_ran_in_a_trace_of_its_own_is_joined() -> None:
    run = {"traceId": "x", "spanId": "s5", "name": "execute_tool f", "status": {"code": 2},
           "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": "c",
                          "gen_ai.tool.call.result": "broken"}}  # fmt: skip
    (read,) = read_conversations(export(request(1, FIRST, None, "a"), run))
    assert [(m.role, m.content, m.is_error) for m in read.messages[2:]] == [
        ("tool", "broken", True)
    ]


@pytest.mark.parametrize("side", ["input", "output"])
def test_an_attribute_that_is_cut_is_told(side: str) -> None:
    before, after = map(json.dumps, SECOND)
    cut = (before[:70], after) if side == "input" else (before, after[:40])
    reads = read_conversations(export(request(1, FIRST), request(2, cut)))
    (notice,) = (one for read in reads for one in read.warnings if one.code == "cut-off")
    place = "/resourceSpans/0/scopeSpans/0/spans/1/attributes"
    assert notice.path == f"{place}/{1 if side == 'input' else 2}"
    assert [m.content for m in reads[0].messages if m.role == "user"] == ["go"]
    if side == "input":  # its reply is still the next one of its trace
        assert [m.content for m in reads[0].messages][-1] == "done"


def test_a_span_of_which_everything_is_cut_is_told() -> None:
    (read,) = read_conversations(export(request(1, ('[{"role": "us', '[{"role": "assis'))))
    assert [one.code for one in read.warnings] == ["cut-off", "cut-off"]
    assert read.messages == ()


def test_attributes_of_plain_text_are_messages() -> None:
    system = {"gen_ai.system_instructions": "Be brief."}
    (read,) = read_conversations(export(request(1, ("go", "done"), **system)))
    assert [(m.role, m.content) for m in read.messages] == [
        ("system", "Be brief."), ("user", "go"), ("assistant", "done"),
    ]  # fmt: skip
    assert read.warnings == ()


def test_spans_that_are_below_themselves_are_told() -> None:
    spans = request(1, FIRST, "s2"), request(2, FIRST, "s1"), request(3, SECOND, "s3")
    reads = read_conversations(export(*spans))
    assert [len(one.messages) for one in reads] == [4, 2]
    told = sorted(str(one.path) for read in reads for one in read.warnings
                  if one.code == "cyclic-parents")  # fmt: skip
    assert told == [f"/resourceSpans/0/scopeSpans/0/spans/{index}" for index in range(3)]


def test_many_spans_are_read_in_linear_time() -> None:
    """Parents in one long line, each with the same messages; then all in one circle."""
    most = 3_000
    line_ = [request(i, FIRST, f"s{i - 1}") for i in range(most)]
    assert counted(*line_) == [(2, 1)]
    circle = [request(i, FIRST, f"s{(i + 1) % most}") for i in range(most)]
    assert len(read_conversations(export(*circle))) == most
    runs = [{**span, "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}]}
        for span in line_]  # fmt: skip
    others = [{**request(most + i, FIRST, f"s{i}")} for i in range(most)]
    assert len(read_conversations(export(*runs, *others))) == most


def step(number: int, source: str, message: str, **more: Any) -> dict[str, Any]:
    return {"step_id": number, "source": source, "message": message, **more}


def acting(number: int, *, copied: bool) -> dict[str, Any]:
    """A step of ATIF with a call, its failure, and tokens."""
    call = {"tool_call_id": f"c{number}", "function_name": "bash", "arguments": {"command": "ls"}}
    seen = {"source_call_id": f"c{number}", "content": "no ls", "extra": {"is_error": copied}}
    more = {"is_copied_context": True} if copied else {}
    return step(number, "agent", "I look.", tool_calls=[call], observation={"results": [seen]},
                metrics={"prompt_tokens": 7, "completion_tokens": 2}, **more)  # fmt: skip


COPIED = [
    step(1, "user", "Fix it.", is_copied_context=True), acting(2, copied=True),
    step(3, "user", "So far: nothing.", is_copied_context=True),
]  # fmt: skip


def test_steps_that_were_copied_from_another_run_do_not_count() -> None:
    trajectory = {"schema_version": "ATIF-v1.8", "steps": [*COPIED, acting(4, copied=False)]}
    for document in (trajectory, trajectory["steps"]):
        read = read_conversation(document)
        assert [call.id for m in read.messages for call in m.tool_calls] == ["c4"]
        assert [m.usage for m in read.messages if m.usage] == [Usage(7, 2)]
        assert (read.query, read.start, read.warnings) == ("Fix it.", 3, ())
        assert [m.content for m in read.messages][1:3] == [
            'I look.[bash {"command": "ls"}]',
            "no ls",
        ]
        score = tunaeval.score(document, "Fix it.")
        assert (score.details.tool_calls, score.details.failed_calls) == (1, 0)
        assert all(at >= 3 for one in score.categories.values() for at in one.evidence)
        assert tunaeval.score(document, "Fix it.", start=4).details.tool_calls == 0


def test_a_step_that_is_copied_in_the_middle_hides_nothing_before_it() -> None:
    steps = [
        step(1, "user", "Fix it."),
        acting(2, copied=False),
        *COPIED[2:],
        acting(4, copied=False),
    ]
    read = read_conversation({"schema_version": "ATIF-v1.8", "steps": steps})
    assert read.start == 0
    assert tunaeval.score(read, "Fix it.").details.tool_calls == 2


def test_a_source_that_is_no_text_is_told() -> None:
    sources: list[Any] = [[[]], {}, 1, "somebody"]
    for source in sources:
        read = read_conversation(
            [*COPIED, {"step_id": 4, "source": source, "message": "hm"}], shape="atif"
        )
        assert [one.code for one in read.warnings] == ["unknown-role"]
