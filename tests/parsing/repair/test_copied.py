"""What was copied from a page: white space that JSON does not know, and typographic quotes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.repair.test_odd_strings import in_pieces
from tunaeval import parse
from tunaeval.parsing.repair.machine import read_json
from tunaeval.parsing.repair.values import ODD_SPACES, Read

VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab \xa0", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("kl", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
).filter(lambda value: isinstance(value, dict))


@given(
    value=VALUES, space=st.text(ODD_SPACES + " \n", min_size=1, max_size=3), step=st.integers(1, 9)
)
def test_it_changes_no_value(value: dict[str, object], space: str, step: int) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1, separators=(",", ":"))
    text = text.replace("\n", space)
    read = read_json(text)
    assert isinstance(read, Read)
    assert read.value == value
    between = bool(value) and not set(space) <= set(" \n")
    assert {repair.code for repair in read.repairs} == ({"odd-space"} if between else set())
    assert in_pieces(text, step) == read


def test_calls_that_were_copied_from_a_page() -> None:
    text = '```json\n{\n\xa0\xa0"name": "f",\n\xa0\xa0"arguments": {"s":\xa0"x"}\n}\n```'
    calls = parse(text).calls
    assert [(call.name, call.arguments) for call in calls] == [("f", {"s": "x"})]
    assert not parse(text, level="strict").calls


@given(value=VALUES, step=st.integers(1, 9))
def test_typographic_single_quotes_are_quotes_everywhere(value: object, step: int) -> None:
    text = json.dumps(value, ensure_ascii=False)
    pairs = text.split('"')
    quoted = (
        "".join(part + ("‘" if at % 2 == 0 else "’") for at, part in enumerate(pairs[:-1]))
        + pairs[-1]
    )
    read = read_json(quoted)
    assert isinstance(read, Read)
    assert read.value == value
    assert {repair.code for repair in read.repairs} <= {"smart-quotes"}
    assert in_pieces(quoted, step) == read
