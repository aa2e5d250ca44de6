"""A fault in a file of labels is told with its file, line and field; our own file has none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tunaeval.data.adapters import to_messages
from tunaeval.errors import RecordError, UsageError
from tunaeval.scoring.judging.calibrating import read_labels
from tunaeval.scoring.judging.prompts import RUBRICS

OURS = Path(__file__).parents[3] / "examples" / "judge" / "labels.jsonl"
GOOD = {
    "id": "a",
    "query": "Say hi.",
    "messages": [{"role": "assistant", "content": "hi"}],
    "label": {"goal-completion": True, "plan-correctness": 0.25},
}


def written(folder: Path, *lines: object) -> Path:
    path = folder / "labels.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def test_labels_are_shares(tmp_path: Path) -> None:
    labels = read_labels(written(tmp_path, GOOD), to_messages)
    (item,) = labels.items
    assert item.label == {"goal-completion": 1.0, "plan-correctness": 0.25}
    assert item.transcript.messages[0].content == "hi"
    assert (labels.info.file, labels.info.transcripts) == ("labels.jsonl", 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": ""}, "id: found '', wanted a text that is not empty"),
        ({"query": 3}, "query: found 3, wanted a text that is not empty"),
        ({"messages": {}}, "messages: found {}, wanted a list of messages"),
        ({"messages": [{"content": "x"}]}, "messages[0] is {'content': 'x'} and has no role"),
        ({"label": {}}, "label: found {}, wanted an object"),
        ({"label": {"goal": True}}, "label.goal: found 'goal', wanted one of goal-completion"),
        ({"label": {"goal-completion": 7}}, "label.goal-completion: found 7, wanted true, false"),
        ({"label": {"goal-completion": "yes"}}, "found 'yes', wanted true, false, or a number"),
        ({"label": {"goal-completion": None}}, "found None, wanted true"),
        ({"grade": 1}, "grade: found 1, wanted no other fields than"),
    ],
)
def test_a_fault_is_told_with_its_place(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = written(tmp_path, GOOD, {**GOOD, "id": "b", **change})
    with pytest.raises(UsageError) as caught:
        read_labels(path, to_messages)
    assert str(caught.value).startswith(f"{path}, line 2")
    assert words in str(caught.value)


@pytest.mark.parametrize("field", GOOD)
def test_a_field_that_is_missing_is_named(field: str, tmp_path: Path) -> None:
    without = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(UsageError, match=f"line 1, {field}: found None, wanted this field"):
        read_labels(written(tmp_path, without), to_messages)


def test_an_id_stands_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="line 2, id: found 'a', wanted an id that no other line"):
        read_labels(written(tmp_path, GOOD, GOOD), to_messages)


@pytest.mark.parametrize("text", ["[]\n", "{\n", "\xff\n"])
def test_a_line_that_is_no_object_is_told(text: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f"\n{text}", "latin-1")
    with pytest.raises(UsageError, match=r"line 2: found .* wanted a JSON object on one line"):
        read_labels(path, to_messages)


def test_no_labels_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no line has a transcript"):
        read_labels(written(tmp_path), to_messages)
    with pytest.raises(RecordError, match="cannot read"):
        read_labels(tmp_path / "none.jsonl", to_messages)


def test_our_own_are_twenty_good_and_bad_in_every_category() -> None:
    items = read_labels(OURS, to_messages).items
    assert len(items) == 20
    for name in RUBRICS:
        good = [item.label[name] >= 0.5 for item in items if name in item.label]
        assert min(good.count(True), good.count(False)) >= 2, name
    kinds = {item.id.partition("-")[0] for item in items}
    assert {"half", "bad", "deceptive", "empty", "injected"} <= kinds
