"""An expectation that is written wrong: what is said, in words of our own."""

from __future__ import annotations

from typing import Any

import pytest

from tunaeval.errors import ExpectationError
from tunaeval.matching.expectations import read_expectation


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"call": []}, "no field of an expectation is called 'call'; did you mean 'calls'?"),
        ({"zzz": []}, "no field of an expectation is called 'zzz'; known: calls, forbid, match, "),
        ({"calls": {"name": "a"}}, "calls is {'name': 'a'}, wanted a list"),
        ({"tools": "a"}, "tools is 'a', wanted a list"),
        ({"calls": ["a"]}, 'calls[0] is \'a\', wanted a call such as {"name": "grep", "argu'),
        (
            {"calls": [{"nam": "a"}]},
            "calls[0]: no field of a call is called 'nam'; did you",
        ),
        ({"calls": [{"arguments": {}}]}, "calls[0].name is missing"),
        ({"calls": [{"name": 5}]}, "calls[0].name is 5, wanted a text"),
        (
            {"calls": [{"name": "a", "arguments": '{"x": 1}'}]},
            "calls[0].arguments is '{\"x\": 1}', wanted a dict (json.loads makes one of JSON text)",
        ),
        ({"calls": [{"name": "a", "arguments": 5}]}, "calls[0].arguments is 5, wanted a dict"),
        ({"tools": ["a"], "match": "exact"}, "match is 'exact', wanted 'exactly', 'in_order', "),
        ({"tools": ["a"], "none": "x"}, "none is 'x', wanted True or False"),
        ({"min_calls": "many"}, "min_calls is 'many', wanted a whole number"),
        ({"tools": ["a"], "forbid": [5]}, "forbid[0] is 5, wanted a text"),
    ],
)
def test_what_is_written_wrong_is_said_in_our_words(written: dict[str, Any], words: str) -> None:
    with pytest.raises(ExpectationError) as caught:
        read_expectation(written)
    said = str(caught.value)
    assert words in said
    assert "\n" not in said
    assert not any(word in said for word in ("Input should", "Extra inputs", "Field required"))


def test_a_name_that_is_known_wrong_is_not_missing_as_well() -> None:
    with pytest.raises(ExpectationError) as caught:
        read_expectation({"calls": [{"nam": "a"}, {}]})
    assert "calls[0].name" not in str(caught.value)
    assert "calls[1].name is missing" in str(caught.value)
