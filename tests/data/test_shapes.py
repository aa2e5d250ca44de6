"""Every shape is read as the same conversation; what cannot be read is a fault in its place."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.rows import ARGUMENTS, ASK, GOLDS, HERMES, PROMPT, RESULT, SHAPES, openai, sharegpt
from tunaeval.data.rows import LOSSES, Fault, Raw, Row, as_openai
from tunaeval.data.shapes import read_row, read_rows, shape_of
from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.parsing.api import parse
from tunaeval.parsing.templates import render_by
from tunaeval.rewards.gold import Gold
from tunaeval.rewards.scored import reward
from tunaeval.testing.strategies import json_values
from tunaeval.types.calls import ToolCall

ROWS = [(shape, row) for shape, rows in SHAPES.items() for row in rows]


def read(row: Any, shape: str = "auto") -> Row:
    (found,) = read_rows([row], shape)
    assert isinstance(found, Row), found
    return found


def calls_of(row: Row) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for one in row.messages for call in one.tool_calls]


@pytest.mark.parametrize(("shape", "row"), ROWS)
def test_each_shape_is_told_and_read(shape: str, row: dict[str, Any]) -> None:
    before = json.dumps(row)
    found = read(row)
    assert found.shape == shape == shape_of(row)
    name = "Get Weather" if shape == "toolace" else "get_weather"
    assert calls_of(found) == [(name, ARGUMENTS)]
    asked = [one.content for one in found.messages if one.role == "user"]
    assert asked == [ASK]
    assert found.tools is not None
    assert [*found.tools] == [name]
    assert found.tools[name].parameters["properties"]["days"]["type"] == "integer"
    assert [one.content for one in found.messages if one.is_result] in ([], [RESULT])
    assert {note.code for _, note in found.notes} <= {"made-id"}
    assert json.dumps(row) == before
    assert read(row, shape).messages == found.messages


@pytest.mark.parametrize("row", [row for _, row in ROWS])
def test_what_is_written_is_read_back(row: dict[str, Any]) -> None:
    found = read(row)
    written = as_openai(found)
    back = read(json.loads(json.dumps(written)))
    shape = "openai" if found.prompt is None else "trl"
    assert (back.shape, back.prompt, calls_of(back)) == (shape, found.prompt, calls_of(found))
    parts = [written.get(key, []) for key in ("messages", "prompt", "completion", "chosen")]
    said = [one for part in parts for one in part]
    assert [(one.role, one.content) for one in back.messages] == [
        (one.role, one.content) for one in found.messages
    ]
    ids = [item["id"] for one in said for item in one.get("tool_calls", ())]
    answered = [one["tool_call_id"] for one in said if one["role"] == "tool"]
    assert answered == ids[: len(answered)]
    assert back.tools == found.tools


def test_arguments_survive_arrow_as_text_as_json_and_from_lines(tmp_path: Path) -> None:
    """The trap: Arrow gives every object of a column every key that any of them has."""
    cities = [{"city": "Oslo"}, {"days": 2}]
    rows = [
        {"query": ASK, "answers": [{"name": "get_weather", "arguments": one}]} for one in cities
    ]
    objects, texts = ([as_openai(read(row), kind) for row in rows] for kind in ("object", "text"))
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, objects)))
    sources = [
        datasets.Dataset.from_list(texts),
        datasets.Dataset.from_list(objects, on_mixed_types="use_json"),
        datasets.load_dataset(
            "json", data_files=str(tmp_path / "rows.jsonl"), split="train", cache_dir=str(tmp_path)
        ),
    ]
    for source in sources:
        back = [row for row in read_rows(source) if isinstance(row, Row)]
        assert [calls_of(row) for row in back] == [[("get_weather", one)] for one in cities]
    trapped = [*read_rows(datasets.Dataset.from_list(objects))]
    assert isinstance(trapped[0], Row)
    assert calls_of(trapped[0]) == [("get_weather", {"city": "Oslo", "days": None})]


FAULTS: list[tuple[Any, str]] = [
    (None, "a row is an object, not NoneType"),
    ([1], "a row is an object, not list"),
    ({"a": 1}, "no shape is known that has 'a'"),
    ({"messages": []}, "openai: there is no message in it"),
    ({"messages": ["x"]}, "openai: message 0 is str"),
    ({"messages": [{"content": "x"}]}, "openai: message 0 has the role None"),
    (openai(tools="no tools"), "openai: tools is 'no tools'"),
    (sharegpt(("alien", "x")), "message 0 is from the unknown speaker 'alien'"),
    (sharegpt(("human", "x"), ("function_call", "no call")), "message 1 is a call that is no JSON"),
    (sharegpt(("human", "x"), ("function_call", "7")), "message 1"),
    ({"query": "x", "answers": "[7]", "tools": "[]"}, "xlam: 'answers'"),
    ({"query": "x", "answers": "[", "tools": "[]"}, "xlam: 'answers'"),
    ({"system": "", "chat": "no speaker"}, "glaive: the chat begins with 'no speaker'"),
    ({"system": "", "chat": "USER: x\nASSISTANT: <functioncall> x"}, "glaive: 'x' is no call"),
    ({"question": "x", "correct_answer": "y", "answers": {}}, "when2call: not of this shape"),
    ({"prompt": "x", "completion": 7}, "trl: not of this shape"),
]


@pytest.mark.parametrize(("row", "reason"), FAULTS)
def test_a_row_that_cannot_be_read_is_a_fault_with_its_reason(row: Any, reason: str) -> None:
    (found,) = read_rows([row])
    assert isinstance(found, Fault)
    assert reason in found.reason
    assert (found.number, found.raw) == (1, row)


def test_a_toolace_call_that_cannot_be_read_is_a_fault() -> None:
    (row,) = SHAPES["toolace"]
    said = [*row["conversations"]]
    said[1] = {"from": "assistant", "value": "[Get Rain(city=x)]"}
    (found,) = read_rows([{**row, "conversations": said}])
    assert isinstance(found, Fault)
    assert "toolace: message 2" in found.reason


@given(json_values(), st.sampled_from([*SHAPES]))
def test_no_row_is_an_exception(value: Any, shape: str) -> None:
    template = SHAPES[shape][0]
    rows = [value, *({**template, key: value} for key in template)]
    found = [read_row(Raw(row), 1, shape) for row in rows]
    assert all(isinstance(one, Row | Fault) for one in found)


# --- what else belongs to a message --------------------------------------------------------------

IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}
EXTRAS: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": ASK}, IMAGE], "name": "ann"},
    {"role": "assistant", "content": "Well.", "weight": 0, "thinking": "Hm."},
    {"role": "assistant", "content": "No.", "train": False, "loss": False},
    {"role": "assistant", "content": None, "refusal": "I must not."},
    {"role": "assistant", "content": None, "reasoning_content": "So.", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]},
    {"role": "tool", "tool_call_id": "c1", "name": "f", "content": [
        {"type": "text", "text": "seen"}, IMAGE]},
]  # fmt: skip


def test_every_field_of_a_message_is_carried() -> None:
    row = read({"messages": EXTRAS, "id": 7})
    assert row.notes == ()
    wanted = [{**one, "content": one["content"] or ""} for one in EXTRAS]
    assert as_openai(row) == {"id": 7, "messages": wanted}
    said = [
        {"from": "human", "value": "?", "weight": 0},
        {"from": "gpt", "value": "!", "loss": True},
    ]
    human, gpt = as_openai(read({"conversations": said}))["messages"]
    assert (human["weight"], gpt["loss"]) == (0, True)


def test_the_boundaries_of_prompt_and_replies_are_kept() -> None:
    def said(role: str, text: str) -> list[dict[str, Any]]:
        return [{"role": role, "content": text}]

    asked, good, bad = said("user", "?"), said("assistant", "yes"), said("assistant", "no")
    pair = {"prompt": asked, "completion": good}
    preference = {"prompt": asked, "chosen": good, "rejected": bad}
    for row, wanted in (
        (pair, pair),
        ({"prompt": "?", "completion": "yes", "label": True}, {**pair, "label": True}),
        (preference, preference),
        ({"chosen": asked + good, "rejected": asked + bad}, preference),
        ({"input": {"messages": asked}, "preferred_output": good, "non_preferred_output": bad},
         preference),
        ({"messages": asked, "chosen_response": good[0], "rejected_response": bad[0]}, preference),
        ({"prompt": asked, "gold": []}, {"prompt": asked, "gold": []}),
    ):  # fmt: skip
        assert as_openai(read(row)) == wanted


TURN = "{% for one in messages %}{{ one.content }}{% for call in one.tool_calls or [] %}"
ENDS = "{% endfor %}{% endfor %}"
CALLED = '<tool_call>{"name": {{ call.function.name | tojson }}, "arguments": '
TEMPLATES = {
    "object": f"{TURN}{CALLED}{{{{ call.function.arguments | tojson }}}}}}</tool_call>{ENDS}",
    "text": f"{TURN}{CALLED}{{{{ call.function.arguments }}}}}}</tool_call>{ENDS}",
    "both": TURN + CALLED + "{% set it = call.function.arguments %}{{ it if it is string else "
    "it | tojson }}}</tool_call>" + ENDS,
}  # fmt: skip


@pytest.mark.parametrize("kind", [*TEMPLATES])
@given(st.dictionaries(st.text("ab<>\"'é", min_size=1, max_size=4), json_values(), max_size=3))
def test_a_template_writes_an_export_so_that_the_calls_are_read_back(
    kind: str, arguments: dict[str, Any]
) -> None:
    row = read({"query": ASK, "answers": [{"name": "f", "arguments": arguments}]})
    written = as_openai(row, TEMPLATES[kind])["messages"]
    wanted = calls_of(row)
    assert [*map(called, parse(render_by(TEMPLATES[kind], written), "hermes").calls)] == wanted


def called(call: ToolCall) -> tuple[str, Any]:
    return call.name, call.arguments


def test_a_template_without_calls_and_other_words_are_refused() -> None:
    with pytest.raises(UsageError, match="writes 0 of 1 calls"):
        as_openai(read(openai()), TURN + ENDS)
    with pytest.raises(UsageError, match="wanted 'object', 'text', or the text of a chat template"):
        as_openai(read(openai()), "json")


@pytest.mark.parametrize("shape", [*GOLDS])
def test_a_gold_is_read_with_its_tools_and_kept(shape: str) -> None:
    row = read(GOLDS[shape])
    assert (row.shape, row.prompt, [one.content for one in row.messages]) == (shape, 1, [ASK])
    assert isinstance(row.gold, Gold)
    assert row.gold.tools == row.tools
    assert reward([{"role": "assistant", "content": HERMES}], row.gold).value == 1.0
    written = as_openai(row)
    assert written["prompt"] == PROMPT
    assert "function" in written or GOLDS[shape].keys() - {"question", "function"} <= written.keys()


def test_results_are_unwrapped_and_taken_apart() -> None:
    two = HERMES + HERMES.replace("Oslo", "Rome")
    wrapped = "<tool_response>\n{}\n</tool_response>"
    row = read(sharegpt(("human", "?"), ("gpt", two), ("tool", f"{wrapped}\n{wrapped}")))
    results = as_openai(row)["messages"][2:]
    assert [one["content"] for one in results] == ["{}", "{}"]
    calls = as_openai(row)["messages"][1]["tool_calls"]
    assert [one["tool_call_id"] for one in results] == [one["id"] for one in calls]


def test_ids_are_not_made_up_in_silence_and_calls_of_the_user_are_kept() -> None:
    """As in tau2, whose results have their call's id as `id`."""
    call = {"id": "u1", "name": "toggle", "arguments": {}, "requestor": "user"}
    row = read({"messages": [
        {"role": "user", "content": None, "tool_calls": [call]},
        {"role": "tool", "id": "u1", "content": "on"},
        {"role": "tool", "content": "off"},
    ]})  # fmt: skip
    assert {(at, note.code) for at, note in row.notes} == {(0, "user-call"), (2, "unlinked-result")}
    with (
        pytest.warns(UserWarning, match=LOSSES["user-call"]),
        pytest.warns(UserWarning, match=LOSSES["unlinked-result"]),
    ):
        (asked, on, off) = as_openai(row)["messages"]
    assert asked["tool_calls"][0]["function"]["name"] == "toggle"
    assert (on["tool_call_id"], "tool_call_id" in off) == ("u1", False)
    assert [note.code for _, note in read(SHAPES["xlam"][0]).notes] == ["made-id"]


def test_an_image_beside_a_call_in_the_text_is_kept_and_the_move_is_reported() -> None:
    content = [{"type": "text", "text": f"See. {HERMES}"}, IMAGE]
    row = read({"messages": [{"role": "assistant", "content": content}]})
    with pytest.warns(UserWarning, match="moved-part"):
        (one,) = as_openai(row)["messages"]
    image, text = one["content"]
    assert (image, text["text"].strip(), len(one["tool_calls"])) == (IMAGE, "See.", 1)


# --- sources -------------------------------------------------------------------------------------

EVERY = [row for rows in SHAPES.values() for row in rows]


def shapes(found: Iterable[Row | Fault]) -> list[str]:
    return [row.shape if isinstance(row, Row) else row.reason for row in found]


WANTED = [shape for shape, rows in SHAPES.items() for _ in rows]


def test_a_file_of_lines_or_a_list_has_the_same_rows(tmp_path: Path) -> None:
    lines, listed = tmp_path / "a.jsonl", tmp_path / "a.json"
    lines.write_text("\n".join(map(json.dumps, EVERY)) + "\n\n")
    listed.write_text(json.dumps(EVERY, indent=1))
    assert shapes(read_rows(lines)) == shapes(read_rows(str(listed))) == WANTED
    assert [row.number for row in read_rows(lines)] == [*range(1, len(EVERY) + 1)]


@pytest.mark.parametrize("kind", ["parquet", "table", "datasets", "streamed"])
def test_columns_have_the_same_rows(kind: str, tmp_path: Path) -> None:
    rows = [as_openai(read(row)) for row in (openai(), sharegpt())]
    table = pa.Table.from_pylist(rows)
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    source: Any = {
        "parquet": path,
        "table": table,
        "datasets": datasets.Dataset(table),
        "streamed": datasets.Dataset(table).to_iterable_dataset(),
    }[kind]
    found = [*read_rows(source)]
    assert shapes(found) == ["openai", "openai"]
    assert [calls_of(row) for row in found if isinstance(row, Row)] == [
        [("get_weather", ARGUMENTS)]
    ] * 2


def test_objects_that_arrow_has_filled_with_nulls_are_read() -> None:
    other = {"type": "function", "function": {"name": "f", "description": "", "parameters": {
        "type": "object", "properties": {"x": {"type": "number", "minimum": 1}}}}}  # fmt: skip
    table = pa.Table.from_pylist([openai(), openai(tools=[other])])
    first, second = read_rows(table)
    assert isinstance(first, Row)
    assert isinstance(second, Row)
    assert first.tools is not None
    assert [*first.tools["get_weather"].parameters["properties"]] == ["city", "days"]
    assert second.tools is not None
    assert [*second.tools["f"].parameters["properties"]] == ["x"]


def test_what_cannot_be_read_keeps_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = json.dumps(openai()).encode()
    path.write_bytes(b"\n".join([good, b"{broken", b'{"text": "caf\xe9"}', b"[" * 100_000, good]))
    found = [*read_rows(path)]
    assert [isinstance(row, Fault) for row in found] == [False, True, True, True, False]
    assert [row.line for row in found][1] == b"{broken\n"
    path = tmp_path / "a.json"
    path.write_bytes(b"[" + good + b", " + good[:40])
    first, second = read_rows(path)
    assert isinstance(first, Row)
    assert isinstance(second, Fault)
    path.write_bytes(b"[" + good + b", ")
    assert "it was cut off" in shapes(read_rows(path))[-1]


def test_a_list_that_is_not_utf_8_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"query": "caf\xe9", "answers": "[]"}]')
    (found,) = read_rows(path)
    assert isinstance(found, Fault)
    assert "not UTF-8" in found.reason


def test_a_parquet_file_that_was_cut_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist([as_openai(read(openai()))] * 4), path)
    path.write_bytes(path.read_bytes()[:-100])
    (found,) = read_rows(path)
    assert isinstance(found, Fault)
    assert "damaged or was cut off" in found.reason


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    for source in (tmp_path / "none.jsonl", "a.csv", 7, {"a": 1}):
        with pytest.raises(UsageError):
            [*read_rows(source)]  # type: ignore[arg-type]  # that is the point
    with pytest.raises(UnknownNameError, match="sharegpt"):
        read_rows([], "share-gpt")


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_row_at_a_time_is_in_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    row = json.dumps(openai(pad="x" * 20_000))
    lines = [row] * 1_000
    path.write_text("\n".join(lines) if name.endswith("l") else f"[{','.join(lines)}]")
    tracemalloc.start()
    assert sum(isinstance(one, Row) for one in read_rows(path)) == 1_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8_000_000, "of a file of 20 MB"


def test_a_row_of_ten_megabytes_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([openai(pad="x" * 10_000_000), openai()]))
    assert shapes(read_rows(path)) == ["openai", "openai"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"messages": "hi"}, "its 'messages' is 'hi', wanted a list of messages"),
        ({}, "the row is an empty object"),
        ({"query": "?", "answers": "weather()"}, "xlam: 'answers' is a call that is no JSON"),
    ],
)
def test_a_reason_says_what_is_wrong(row: dict[str, Any], reason: str) -> None:
    (fault,) = read_rows([row])
    assert isinstance(fault, Fault)
    assert fault.reason.startswith(reason)


LOSING = {
    "a tool that is not listed": ({"function": {"name": "other", "arguments": "{}"}}, "lost-call"),
    "unreadable arguments": ({"function": {"name": "look", "arguments": '{"city": '}}, "lost-call"),
    "a value that the schema changes": (
        {"function": {"name": "look", "arguments": '{"city": 3}'}},
        "changed-call",
    ),
    "a weight of its own": (
        {"function": {"name": "look", "arguments": '{"city": "a"}'}, "weight": 0},
        "lost-field",
    ),
}
LOOK = {"name": "look", "parameters": {"properties": {"city": {"type": "string"}}}}


@pytest.mark.parametrize(("call", "code"), LOSING.values(), ids=LOSING)
def test_what_a_structured_call_loses_is_warned_of(call: dict[str, Any], code: str) -> None:
    said = [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": [call]}]
    row = read({"messages": said, "tools": [LOOK]})
    with pytest.warns(UserWarning, match=code):
        as_openai(row)


def test_errors_and_signed_thinking_of_anthropic_are_carried() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "x"}
    call = {"type": "tool_use", "id": "t", "name": "look", "input": {"city": "a"}}
    result = {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": "no"}
    picture = {"type": "image", "source": {"type": "base64", "data": "aaaa"}}
    said = [
        {"role": "user", "content": [{"type": "text", "text": "?"}, picture]},
        {"role": "assistant", "content": [thought, call]},
        {"role": "user", "content": [result]},
    ]
    row = read({"messages": said, "tools": [LOOK]})
    with pytest.warns(UserWarning, match="foreign-part"):
        made = as_openai(row)
    _, reply, answer = made["messages"]
    assert reply["thinking_blocks"] == [thought]
    assert answer["is_error"] is True


def test_other_fields_of_a_preferences_input_are_kept() -> None:
    said = [{"role": "assistant", "content": "a"}]
    asked = {"messages": [{"role": "user", "content": "?"}], "parallel_tool_calls": False}
    row = {"input": asked, "preferred_output": said, "non_preferred_output": said}
    assert as_openai(read(row))["parallel_tool_calls"] is False
