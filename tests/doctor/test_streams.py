"""Streams as clients see them: bytes to frames, fragments to calls."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.doctor.reading import Folded, read_frames
from tunaeval.doctor.values import ApiCall

DONE = "data: [DONE]\n\n"


def delta(delta: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


def fold(deltas: list[dict[str, Any]]) -> tuple[tuple[ApiCall, ...], tuple[tuple[str, str], ...]]:
    found = Folded("chat", map(delta, deltas))
    return found.calls, tuple(found.faults)


def delta_faults(deltas: list[dict[str, Any]]) -> list[str]:
    return [code for code, _ in Folded("chat", map(delta, deltas)).faults]


def frame(**more: Any) -> str:
    return f"data: {json.dumps({'choices': [], **more})}\n\n"


def codes(text: str) -> list[str]:
    return [code for code, _ in read_frames(text.encode("utf-8")).faults]


@given(
    objects=st.lists(st.text(max_size=12).map(lambda text: {"choices": [], "t": text}), max_size=5),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    blank=st.sampled_from(["", " "]),
    mark=st.sampled_from(["", "\ufeff"]),
    comment=st.sampled_from(["", ": keep-alive", ":", "event: message", "retry: 3"]),
)
def test_every_way_that_the_standard_allows_is_sound(
    objects: list[dict[str, Any]], end: str, blank: str, mark: str, comment: str
) -> None:
    text = mark
    for one in objects:
        text += f"{comment}{end}data:{blank}{json.dumps(one)}{end}{end}"
    frames = read_frames(f"{text}data:{blank}[DONE]{end}{end}".encode())
    assert frames.objects == objects
    assert frames.faults == []


@given(body=st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    found = read_frames(body)
    assert found.faults or found.objects == [] or b"[DONE]" in body


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (DONE + frame(), "frame-after-done"),
        ("data: {'choices'}\n\n" + DONE, "frame-json"),
        ("data: [1]\n\n" + DONE, "frame-json"),
        ('data: {"usage": {}}\n\n' + DONE, "frame-choices"),
        (frame().replace("\n\n", "\n") + frame() + DONE, "frame-json"),
        ('{"choices": []}\n\n' + DONE, "frame-line"),
    ],
)
def test_what_breaks_a_frame_is_named(body: str, code: str) -> None:
    assert codes(body) == [code]


def test_bytes_that_are_no_text_are_named() -> None:
    assert read_frames(b'data: {"choices": [], "t": "\xff"}\n\ndata: [DONE]\n\n').faults[0][0] == (
        "frame-utf8"
    )


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["add", "ping"]), st.dictionaries(st.text(max_size=3), st.integers())
    ),
    min_size=1,
    max_size=3,
)


def fragments(calls: list[tuple[str, dict[str, int]]], cut: int) -> list[dict[str, Any]]:
    """Deltas of these calls, arguments in pieces of `cut` characters."""
    deltas: list[dict[str, Any]] = []
    for index, (name, arguments) in enumerate(calls):
        text = json.dumps(arguments)
        first = {"name": name, "arguments": ""}
        deltas.append({"index": index, "id": f"c{index}", "type": "function", "function": first})
        deltas += [
            {"index": index, "function": {"arguments": text[at : at + cut]}}
            for at in range(0, len(text), cut)
        ]
    return [{"tool_calls": [delta]} for delta in deltas]


@given(calls=CALLS, cut=st.integers(1, 9))
def test_fragments_cut_anywhere_give_the_calls(
    calls: list[tuple[str, dict[str, int]]], cut: int
) -> None:
    found, faults = fold(fragments(calls, cut))
    assert [(call.name, call.object) for call in found] == calls
    assert faults == ()


@given(calls=CALLS, cut=st.integers(1, 9))
def test_an_index_that_is_always_0_is_said_once_and_the_calls_are_those_by_id(
    calls: list[tuple[str, dict[str, int]]], cut: int
) -> None:
    deltas = fragments(calls, cut)
    for delta in deltas:
        delta["tool_calls"][0]["index"] = 0
    found, faults = fold(deltas)
    assert [(call.name, call.object) for call in found] == calls
    assert [code for code, _ in faults] == (["index-shared"] if len(calls) > 1 else [])


@given(calls=CALLS, cut=st.integers(1, 9))
def test_one_id_of_two_calls_is_said_once_and_the_calls_are_those_by_index(
    calls: list[tuple[str, dict[str, int]]], cut: int
) -> None:
    deltas = fragments(calls, cut)
    for delta in deltas:
        if "id" in delta["tool_calls"][0]:
            delta["tool_calls"][0]["id"] = "c0"
    found, faults = fold(deltas)
    assert [(call.name, call.object) for call in found] == calls
    assert [code for code, _ in faults] == (["id-shared"] if len(calls) > 1 else [])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"index": None}, "index-missing"),
        ({"id": "c9"}, "id-changed"),
        ({"id": ""}, "id-empty"),
        ({"type": "tool_call"}, "type-other"),
        ({"function": {"name": "add", "arguments": "{}"}}, "name-again"),
    ],
)
def test_what_is_wrong_with_a_later_fragment_is_named(change: dict[str, Any], code: str) -> None:
    deltas = fragments([("add", {})], 9)
    deltas[-1]["tool_calls"][0] |= change
    assert [found for found, _ in fold(deltas)[1]] == [code]


@given(calls=CALLS, cut=st.integers(1, 9), data=st.data())
def test_fragments_of_several_calls_may_be_mixed(
    calls: list[tuple[str, dict[str, int]]], cut: int, data: st.DataObject
) -> None:
    """Each index is that of one call, so that OpenAI's own client reads them, too."""
    queues = [fragments([call], cut) for call in calls]
    for index, queue in enumerate(queues):
        for one in queue:
            one["tool_calls"][0] |= {"index": index}
        queue[0]["tool_calls"][0]["id"] = f"c{index}"
    mixed = []
    while any(queues):
        waiting = [queue for queue in queues if queue]
        mixed.append(data.draw(st.sampled_from(waiting)).pop(0))
    found, faults = fold(mixed)
    assert sorted((call.id, call.name, str(call.object)) for call in found) == sorted(
        (f"c{index}", name, str(arguments)) for index, (name, arguments) in enumerate(calls)
    )
    assert faults == ()


@given(calls=CALLS, cut=st.integers(1, 9))
def test_an_id_may_come_with_a_later_fragment(
    calls: list[tuple[str, dict[str, int]]], cut: int
) -> None:
    deltas = fragments(calls, cut)
    items = [one["tool_calls"][0] for one in deltas]
    for first, later in pairwise(items):
        if first["function"].get("name"):
            later["id"] = first.pop("id")
    found, faults = fold(deltas)
    assert [(call.id, call.object) for call in found] == [
        (f"c{index}", arguments) for index, (_, arguments) in enumerate(calls)
    ]
    assert faults == ()


@given(cut=st.integers(1, 9))
def test_arguments_that_come_twice_are_broken_wherever_they_are_cut(cut: int) -> None:
    """As in most clients, which add them to the call of their index."""
    text = json.dumps({"a": 1}) * 2
    deltas = fragments([("add", {})], 9)[:1]
    items = ({"index": 0, "function": {"arguments": text[at : at + cut]}}
             for at in range(0, len(text), cut))  # fmt: skip
    found, _ = fold([*deltas, *pieces(*items)])
    assert [(call.name, call.arguments) for call in found] == [("add", text)]


def pieces(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"tool_calls": [item]} for item in items]


F, ARGUMENTS = {"name": "add", "arguments": ""}, {"arguments": "{}"}


@pytest.mark.parametrize(
    ("items", "code"),
    [
        (pieces({"id": "c0", "function": F}, {"function": ARGUMENTS}), "index-missing"),
        (pieces({"index": "0", "id": "c0", "function": {**F, **ARGUMENTS}}), "index-missing"),
        (
            pieces(*({"index": 0, "id": id_, "function": {**F, **ARGUMENTS}} for id_ in "ab")),
            "index-shared",
        ),
        (
            pieces({"index": 0, "id": "c0", "function": ARGUMENTS}, {"index": 0, "function": F}),
            "name-late",
        ),
        (
            pieces({"index": 0, "id": "c0", "function": F},
                   {"index": 0, "id": "c1", "function": ARGUMENTS}),
            "id-changed",
        ),
        (
            pieces(*({"index": at, "id": "c0", "function": {**F, **ARGUMENTS}} for at in (0, 1))),
            "id-shared",
        ),
        (pieces({"index": 0, "function": {**F, **ARGUMENTS}}), "id-missing"),
    ],
)  # fmt: skip
def test_how_fragments_are_joined_is_named(items: list[dict[str, Any]], code: str) -> None:
    found, faults = fold(items)
    assert [one for one, _ in faults] == [code]
    assert all((call.name, call.object) == ("add", {}) for call in found)


@given(
    parts=st.lists(st.text("ab c", min_size=1, max_size=9), max_size=6),
    role=st.sampled_from([None, "", "assistant"]),
)
def test_texts_of_an_assistant_are_sound(parts: list[str], role: str | None) -> None:
    before, last = "".join(parts[:-1]).strip(), "".join(parts[-1:]).strip()
    deltas = [{"role": role, "content": part} for part in parts]
    assert before == last or delta_faults([{"content": None}, *deltas, {}]) == []


@given(text=st.text("ab c", min_size=16, max_size=40).filter(lambda text: len(text.strip()) > 15))
def test_a_text_that_the_last_delta_repeats_is_named(text: str) -> None:
    deltas = [{"content": text[:7]}, {"content": text[7:]}, {"content": text}]
    assert delta_faults(deltas) == ["text-again"]
    assert delta_faults([*deltas, {"content": "."}]) == []


@pytest.mark.parametrize("role", ["user", "tool", 7])
def test_a_role_that_is_not_the_assistant_s_is_named(role: Any) -> None:
    assert delta_faults([{"content": ""}, {"role": role}]) == ["role-other"]
