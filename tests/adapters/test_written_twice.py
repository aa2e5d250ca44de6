"""What is written twice counts once: lines of one reply, and spans that were exported again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tunaeval.data.adapters.documents import read_conversation
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
