"""Plain conversations are read at once: whatever is plain, and whatever is not, is read alike."""

from __future__ import annotations

import json
from collections import UserDict
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tunaeval
from tunaeval.data.adapters.documents import read_conversation, read_plain
from tunaeval.data.adapters.reading import call_of
from tunaeval.errors import UsageError
from tunaeval.testing.strategies import json_values
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Message

ROLES = st.sampled_from(["user", "assistant", "tool", "system", "function", "tool_result", "", 3])
IDS = st.sampled_from([None, "c1", "c2", "", 7, True, ["c1"]])
TEXTS = st.none() | st.sampled_from(["", "text", 3, [{"type": "text", "text": "part"}]])
WRITTEN = st.one_of(
    json_values(3).map(json.dumps),
    st.dictionaries(st.text(max_size=2), json_values(2), max_size=2).map(json.dumps),
    st.dictionaries(st.text(max_size=2), json_values(2), max_size=2),
    st.sampled_from([
        None, "", "{", "[1]", '{"a": 1, "a": 2}', '{"a": 18446744073709551616}', '{"a": 1e999}',
        '{"a": NaN}', '{"a": "\\ud800"}', '{"a": -9223372036854775809}', '{"a": "\\u0000"}', 3,
        '{"a": 9223372036854775808}', "{'a': 1}", '\ufeff{"a": 1}', ' {"a": 1.0}\n', '{"a": 1',
    ]),
)  # fmt: skip
FUNCTIONS = st.one_of(
    st.fixed_dictionaries({"name": st.sampled_from(["read", "", None, 3]), "arguments": WRITTEN}),
    st.sampled_from([None, "read", {}]),
)
CALLS = st.one_of(
    st.fixed_dictionaries({"id": IDS, "function": FUNCTIONS}),
    st.sampled_from([None, "read", {"name": "read", "args": {}}, {"custom": {"name": "x"}}]),
)
MESSAGES = st.fixed_dictionaries(
    {"role": ROLES, "content": TEXTS},
    optional={
        "tool_calls": st.none() | st.just({}) | st.lists(CALLS, max_size=2),
        "tool_call_id": IDS,
        "name": st.just("read"),
        "refusal": st.none() | st.just("no"),
        "is_error": st.none() | st.booleans(),
        "function_call": st.none() | st.just({"name": "read", "arguments": "{}"}),
        "kind": st.none() | st.just("request"),
        "type": st.none() | st.sampled_from(["human", "reasoning"]),
    },
)


def told(messages: list[Any]) -> Conversation | str:
    try:
        return read_conversation(messages)
    except UsageError as error:
        return str(error).partition(" is ")[0]


@given(messages=st.lists(MESSAGES, max_size=4))
@example([{"role": "assistant", "content": None, "tool_calls": None, "refusal": None}])
def test_what_is_plain_is_read_as_by_the_longer_way(messages: list[dict[str, Any]]) -> None:
    """Other mappings than dicts are never plain."""
    one, other = told(messages), told(list(map(UserDict, messages)))
    assert one == other
    assert repr(one) == repr(other)  # 1 is no 1.0, and no True


@given(arguments=st.dictionaries(st.text(max_size=3), json_values(3), max_size=3))
@example({"a": 2**63})
@example({"a": 2**64, "b": -(2**63) - 1})
@example({"a": [2**64], "b": 1e308, "c": -0.0, "d": 1.0, "e": True})
@example({"a": "\ud800\x00"})
@example({"a": "x" * 20_000})
def test_arguments_are_what_their_text_says(arguments: dict[str, Any]) -> None:
    text = json.dumps(arguments)
    call = call_of("read", text, "c")
    assert repr(call.arguments) == repr(json.loads(text))
    assert not call.repairs


PLAIN = [
    {"role": "user", "content": "Read it."},
    {"role": "assistant", "content": None, "refusal": None, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"n": [1]}'}},
    ]},
    {"role": "tool", "tool_call_id": "c", "content": "text"},
]  # fmt: skip


def test_plain_conversations_are_known_as_such() -> None:
    assert read_plain(PLAIN) == read_plain(tuple(PLAIN)) == read_conversation(PLAIN)
    own = read_conversation(PLAIN).messages
    assert read_plain(own) == read_conversation(list(own))


@pytest.mark.parametrize(
    "odd",
    [
        [], {}, "text", None, [PLAIN], [*PLAIN, Message("user", "too")], iter(PLAIN),
        [*PLAIN, {"role": "user", "content": [{"type": "text", "text": "a part"}]}],
        [{"role": "assistant", "tool_calls": [{"function": {"name": "read", "arguments": "["}}]}],
    ],
)  # fmt: skip
def test_others_are_looked_at(odd: Any) -> None:
    assert read_plain(odd) is None


@given(messages=st.lists(MESSAGES, max_size=4))
def test_scores_are_the_same_either_way(messages: list[dict[str, Any]]) -> None:
    with suppress(UsageError):
        wanted = tunaeval.score(list(map(UserDict, messages)), "q")
        assert tunaeval.score(messages, "q") == wanted
