"""Tables in, tables out: the same rows in the same order, in every kind of table."""

from __future__ import annotations

import json
from functools import partial
from multiprocessing.reduction import ForkingPickler
from typing import Any

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rewards.table import TOOLS, WORDS, call
from tunaeval.data.columns import parse_table, score_table
from tunaeval.errors import UsageError
from tunaeval.rewards.recipe import TOOLRL, Recipe
from tunaeval.rewards.scored import reward

GOLD = json.dumps([call(city="Paris")])
KNOWN = json.dumps(TOOLS.as_openai())
TEXTS = [WORDS["GOOD"], WORDS["GOOD"] + WORDS["BROKEN"], "No.", None, WORDS["WRONG"], "x"]
ROWS: dict[str, list[Any]] = {
    "id": [1, 2, 3, 4, 5, 6],
    "completion": TEXTS,
    "gold": [GOLD, GOLD, None, GOLD, "no JSON", GOLD],
    "tools": [KNOWN, KNOWN, None, KNOWN, KNOWN, "no tools"],
}
REWARDS = [1.0, 0.475, 1.0, None, None, None]

KINDS: dict[str, Any] = {
    "table": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "chunked": lambda rows: pa.concat_tables([pa.table(rows).slice(0, 2), pa.table(rows).slice(2)]),
    "polars": pl.DataFrame,
    "pandas": pd.DataFrame,
    "dict": dict,
}


def lists(table: Any) -> dict[str, list[Any]]:
    if isinstance(table, pd.DataFrame):
        table = pa.Table.from_pandas(table, preserve_index=False)
    if isinstance(table, pl.DataFrame):
        return table.to_dict(as_series=False)  # type: ignore[no-any-return]  # Polars has no types here
    found: dict[str, list[Any]] = table if isinstance(table, dict) else table.to_pydict()
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_reward_for_each_row_in_the_same_kind_of_table(kind: str) -> None:
    table = KINDS[kind](ROWS)
    scored = score_table(table)
    assert type(scored) is type(table)
    found = lists(scored)
    assert [*found][:4] == [*ROWS]
    assert found["id"] == ROWS["id"]
    assert found["reward"] == pytest.approx(REWARDS)
    assert found["reward_outcome"] == ["calls", "calls", "no_call", None, None, None]
    assert found["reward_broken"] == [0, 1, 0, None, None, None]
    assert found["reward_failure"] == [None, "invalid-json", None, None, None, None]
    errors = found["reward_error"]
    assert errors[:3] == [None, None, None]
    assert errors[3] == "the text is null"
    assert "no JSON" in errors[4]
    assert "tools is 'no tools'" in errors[5]
    assert lists(table) == lists(KINDS[kind](ROWS)), "what was given stays"


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_read_is_flat(kind: str) -> None:
    table = KINDS[kind](ROWS)
    found = lists(parse_table(table, tools=TOOLS))
    assert found["parse_names"][:3] == [["get_weather"], ["get_weather"], []]
    assert json.loads(found["parse_arguments"][0][0]) == {"city": "Paris"}
    assert found["parse_broken"] == [0, 1, 0, None, 0, 0]
    assert found["parse_error"][3] == "the text is null"
    by_row = lists(parse_table(table, tools_column="tools"))
    assert "tools is 'no tools'" in by_row["parse_error"][5]
    assert by_row["parse_outcome"][5] is None


def test_types_are_those_that_the_pages_say() -> None:
    schema = score_table(parse_table(pa.table(ROWS))).schema
    made = [(field.name, str(field.type)) for field in schema][4:]
    assert made == [
        ("parse_outcome", "string"),
        ("parse_names", "list<item: string>"),
        ("parse_arguments", "list<item: string>"),
        ("parse_repaired", "int32"),
        ("parse_broken", "int32"),
        ("parse_error", "string"),
        ("reward", "double"),
        ("reward_format", "double"),
        ("reward_name", "double"),
        ("reward_arguments", "double"),
        ("reward_abstention", "double"),
        ("reward_outcome", "string"),
        ("reward_attempts", "int32"),
        ("reward_broken", "int32"),
        ("reward_failure", "string"),
        ("reward_error", "string"),
    ]


def test_columns_and_tools_may_be_named() -> None:
    table = pa.table({"said": [WORDS["GOOD"]], "want": [GOLD]})
    for tools in (TOOLS, KNOWN, TOOLS.as_openai()):
        scored = score_table(table, text="said", gold="want", tools=tools, recipe=TOOLRL)
        assert scored.column("reward").to_pylist() == [4.0]
    messages = pa.table({"completion": [[{"role": "assistant", "content": WORDS["GOOD"]}]],
                         "gold": [GOLD]})  # fmt: skip
    assert score_table(messages).column("reward").to_pylist() == [1.0]


def test_what_cannot_be_is_refused() -> None:
    table = pa.table(ROWS)
    for arguments, piece in (
        ({"text": "said"}, "no column 'said'; it has id, completion"),
        ({"gold": "want"}, "no column 'want'"),
        ({"tools": "functions"}, "no column 'functions'"),
    ):
        with pytest.raises(UsageError, match=piece):
            score_table(table, **arguments)
    with pytest.raises(UsageError, match="a column 'reward' already"):
        score_table(score_table(table))
    with pytest.raises(UsageError, match=r"builtins.list'; wanted a"):
        score_table([ROWS])


def test_no_rows_are_no_rows() -> None:
    for kind in ("table", "batch", "dict"):
        empty = KINDS[kind]({name: [] for name in ROWS})
        assert lists(score_table(empty))["reward"] == []
        assert lists(parse_table(empty))["parse_names"] == []


def test_half_a_character_that_a_model_wrote_is_spelled_out() -> None:
    """Arrow holds no lone surrogate, and JSON text may have one."""
    text = '<tool_call>{"name": "f", "arguments": {"a": "\\ud800"}}</tool_call>'
    table = parse_table(pa.table({"completion": [text]}))
    assert table["parse_arguments"].to_pylist() == [['{"a": "\\ud800"}']]


def test_datasets_map_takes_the_same_functions() -> None:
    rows = datasets.Dataset.from_dict({name: values[:3] for name, values in ROWS.items()})
    score = partial(score_table, recipe=Recipe())
    assert rows.map(score, batched=True, batch_size=2)["reward"] == pytest.approx(REWARDS[:3])
    arrow = rows.with_format("arrow").map(score, batched=True, batch_size=2)
    assert arrow.with_format(None)["reward"] == pytest.approx(REWARDS[:3])


def test_the_functions_go_to_other_processes() -> None:
    there: Any = ForkingPickler.loads(ForkingPickler.dumps(partial(score_table, tools=TOOLS)))
    assert there(pa.table({"completion": [WORDS["GOOD"]], "gold": [GOLD]}))[
        "reward"
    ].to_pylist() == [1.0]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.none() | st.sampled_from([*WORDS.values()][:4]) | st.text(max_size=20),
            st.sampled_from([None, "", "[]", GOLD, "{", "7"]),
            st.sampled_from([None, "", KNOWN, "[", "[7]"]),
        ),
        max_size=8,
    ),
    st.data(),
)
def test_rows_do_not_know_of_each_other(rows: list[Any], data: st.DataObject) -> None:
    """However a table is cut into batches, each row has the reward that it has alone."""
    texts, golds, tools = ([row[index] for row in rows] for index in range(3))
    whole = score_table({"completion": texts, "gold": golds, "tools": tools})
    cut = data.draw(st.integers(0, len(rows)))
    first, second = (
        score_table({"completion": texts[part], "gold": golds[part], "tools": tools[part]})
        for part in (slice(0, cut), slice(cut, None))
    )
    for name, values in whole.items():
        assert values == first[name] + second[name]
    for text, gold, known, value, error in zip(
        texts, golds, tools, whole["reward"], whole["reward_error"], strict=True
    ):
        if error is None:
            assert value == reward(text, gold, known).value
        else:
            assert value is None


@pytest.mark.parametrize("values", [[b"x", None], [1, 2], [True, False], [1.5, None]])
def test_a_column_of_another_type_is_an_error_of_each_row(values: list[Any]) -> None:
    table = pa.table({"completion": values, "gold": [GOLD, GOLD]})
    scored, parsed = score_table(table), parse_table(table)
    assert scored["reward"].null_count == scored["reward_outcome"].null_count == 2
    assert parsed["parse_outcome"].null_count == 2
    for column in (scored["reward_error"], parsed["parse_error"]):
        kind = type(values[0]).__name__
        assert column[0].as_py() == f"the text is {kind}; wanted a text, or messages"


def test_recipes_are_named_and_columns_are_of_one_length() -> None:
    rows = {"completion": TEXTS[:2], "gold": [GOLD, GOLD]}
    assert score_table(rows, recipe="EXACT")["reward"] == [1.0, 0.0]
    with pytest.raises(UsageError, match="wanted a Recipe, or one of"):
        score_table(rows, recipe="exact")
    with pytest.raises(UsageError, match="column 'gold' has 1 value, and 'completion' has 2"):
        score_table({**rows, "gold": [GOLD]})


def test_odd_rows_are_answered_in_their_places() -> None:
    """Equal ids, tools as text and as objects, turns of several roles, ten megabytes, no gold."""
    good = WORDS["GOOD"]
    said = [
        {"role": "user", "content": WORDS["WRONG"]},
        {"role": "assistant", "content": good},
        {"role": "tool", "content": WORDS["WRONG"]},
        {"role": 7, "content": WORDS["WRONG"]},
    ]
    rows = [
        (1, good, GOLD, KNOWN),
        (1, good, [call(city="Paris")], TOOLS.as_openai()),
        (1, said, GOLD, None),
        (2, good + "x" * 10_000_000, GOLD, KNOWN),
        (2, good, "{", KNOWN),
        (3, None, None, None),
        (3, "It rains.", None, []),
    ]
    columns = map(list, zip(*rows, strict=True))
    table = dict(zip(("id", "completion", "gold", "tools"), columns, strict=True))
    scored = score_table(table)
    assert scored["id"] == [1, 1, 1, 2, 2, 3, 3]
    assert scored["reward"] == [1.0, 1.0, 1.0, 0.0, None, None, 1.0]
    assert scored["reward_outcome"][3] == "too_long"
    assert [bool(error) for error in scored["reward_error"]] == [*[False] * 4, True, True, False]
