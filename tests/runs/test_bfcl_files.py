"""BFCL's files, in small: how entries become scenarios, and what is said of those that cannot."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.runs.whole_runs import ONE, Answers, run
from tunaeval.errors import SuiteError
from tunaeval.parsing.api import parser_for
from tunaeval.runs.options import RunOptions
from tunaeval.tasks.suites.loading import load_suite, without
from tunaeval.types.exchange import Request

FUNCTION = {
    "name": "area.of",
    "description": "An area.",
    "parameters": {
        "type": "dict",
        "properties": {
            "base": {"type": "float", "optional": True},
            "sides": {"type": "tuple", "items": {"type": "dict", "properties": {}}},
        },
        "required": ["base"],
    },
}
ENTRY = {
    "id": "one",
    "question": [[{"role": "system", "content": "Be terse."}, {"role": "user", "content": "How?"}]],
    "function": [FUNCTION],
}
ANSWER = {"id": "one", "ground_truth": [{"area.of": {"base": [2.0], "sides": ["", [{"a": [1]}]]}}]}


def data(
    folder: Path, entry: Any = ENTRY, answer: Any = ANSWER, file: str = "simple_python"
) -> Path:
    (folder / "possible_answer").mkdir(parents=True)
    (folder / f"BFCL_v4_{file}.json").write_text(json.dumps(entry) + "\n")
    (folder / "possible_answer" / f"BFCL_v4_{file}.json").write_text(json.dumps(answer) + "\n")
    return folder


def test_an_entry_becomes_a_scenario(tmp_path: Path) -> None:
    (scenario,) = load_suite("bfcl:simple", bfcl=data(tmp_path)).scenarios
    assert (scenario.id, scenario.prompt, scenario.tags) == ("one", "How?", ("simple",))
    assert scenario.messages == ({"role": "system", "content": "Be terse."},)
    assert scenario.tools is not None
    assert scenario.tools["area_of"].parameters == {
        "type": "object",
        "properties": {
            "base": {"type": "number"},
            "sides": {"type": "array", "items": {"type": "object", "properties": {}}},
        },
        "required": ["base"],
    }
    assert scenario.expect.calls is not None
    assert scenario.expect.calls[0].arguments == {
        "base": {"$any_of": [2.0]},
        "sides": {"$any_of": [{"$default": True}, [{"a": {"$any_of": [1]}}]]},
    }


@pytest.mark.parametrize(
    ("category", "field", "value"),
    [
        ("irrelevance", "none", True),
        ("relevance", "min_calls", 1),
        ("parallel", "match", "any_order"),
    ],
)
def test_a_category_says_what_is_expected(
    category: str, field: str, value: object, tmp_path: Path
) -> None:
    file = "live_relevance" if category == "relevance" else category
    suite = load_suite(f"bfcl:{category}", bfcl=data(tmp_path, file=file))
    assert getattr(suite.scenarios[0].expect, field) == value


def test_the_newest_version_of_a_file_is_read(tmp_path: Path) -> None:
    data(tmp_path)
    old = {**ENTRY, "id": "old"}
    (tmp_path / "BFCL_v3_simple_python.json").write_text(json.dumps(old))
    (tmp_path / "BFCL_v4_live_simple_python.json").write_text(json.dumps(old))
    assert load_suite("bfcl:simple", bfcl=tmp_path).scenarios[0].id == "one"


def changed(**parameters: Any) -> dict[str, Any]:
    function = {**FUNCTION, "parameters": {**FUNCTION["parameters"], **parameters}}  # type: ignore[dict-item] # a dict of dicts
    return {**ENTRY, "function": [function]}


@pytest.mark.parametrize(
    ("entry", "answer", "words"),
    [
        (changed(properties={"a": {"type": "flaot"}}), ANSWER, "line 1, .*did you mean 'float'"),
        (changed(properties={"a": {"type": "number"}}), ANSWER, "no BFCL type is called 'number'"),
        (changed(properties=[]), ANSWER, "cannot be understood"),
        ({**ENTRY, "function": [{}]}, ANSWER, "cannot be understood"),
        ({**ENTRY, "function": [FUNCTION, FUNCTION]}, ANSWER, "is taken by"),
        ({**ENTRY, "question": [[], []]}, ANSWER, "one turn"),
        ({**ENTRY, "question": [[]]}, ANSWER, "end with the user's"),
        ({**ENTRY, "question": [[{"role": "user"}]]}, ANSWER, "end with the user's"),
        ({"question": []}, ANSWER, "wanted an object with an id"),
        (ENTRY, {**ANSWER, "id": "two"}, "no possible answer for 'one'"),
        (ENTRY, {"id": "one"}, "wanted a list of calls"),
        (ENTRY, {"id": "one", "ground_truth": [{"a": {}, "b": {}}]}, "one function"),
        (ENTRY, {"id": "one", "ground_truth": [{"aera.of": {}}]}, "did you mean 'area_of'"),
        (ENTRY, {"id": "one", "ground_truth": [{"area.of": {"base": 2}}]}, "alternatives"),
    ],
)
def test_what_cannot_be_a_scenario_is_named_with_its_line(
    entry: Any, answer: Any, words: str, tmp_path: Path
) -> None:
    with pytest.raises(SuiteError, match=words):
        load_suite("bfcl:simple", bfcl=data(tmp_path, entry, answer))


def test_a_category_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="did you mean 'parallel'"):
        load_suite("bfcl:paralel", bfcl=tmp_path)
    with pytest.raises(SuiteError, match=r"no BFCL_v4_multiple\.json"):
        load_suite("bfcl:multiple", bfcl=tmp_path)


def test_scenarios_are_left_out_by_id_and_by_tag(tmp_path: Path) -> None:
    data(tmp_path)
    two = "\n".join(json.dumps({**ENTRY, "id": id_}) for id_ in ("one", "live_simple_106-63-0"))
    (tmp_path / "BFCL_v4_irrelevance.json").write_text(two)
    suite = load_suite("bfcl:irrelevance", bfcl=tmp_path)
    assert [one.id for one in without(suite, ["defective-gold"]).scenarios] == ["one"]
    assert [one.id for one in without(suite, ["one"]).scenarios] == ["live_simple_106-63-0"]
    with pytest.raises(SuiteError, match="nothing is left"):
        without(suite, ["irrelevance"])
    simple = load_suite("bfcl:simple", bfcl=tmp_path)
    assert without(simple, ["defective-gold"]) == simple
    with pytest.raises(SuiteError, match="did you mean 'one'"):
        without(suite, ["ones"])


def test_a_scenario_is_asked_with_its_own_tools_and_messages(tmp_path: Path) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return '{"name": "area_of", "arguments": {"base": 2}}'

    suite = load_suite("bfcl:simple", bfcl=data(tmp_path / "data"))
    report = run(suite, Answers(answer), parser_for("auto"), RunOptions(profile="bfcl"))
    assert (report.passed, report.total) == (1, 1)
    (request,) = asked
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert request.tools is not None
    assert request.tools[0]["function"]["name"] == "area_of"
    run(suite, Answers(answer), parser_for("auto"), RunOptions(ask="prompt"))
    system = asked[1].messages[0]["content"]
    assert system.startswith("Be terse.\n\n")
    assert "area_of" in system


def test_a_suite_file_gives_a_scenario_its_own_tools_and_messages(tmp_path: Path) -> None:
    tool = {"name": "add", "parameters": {"type": "object", "properties": {"a": {}}}}
    row = {
        "prompt": "And now?",
        "messages": [{"role": "user", "content": "1"}, {"role": "assistant", "content": "2"}],
        "tools": [tool],
        "expect": {"calls": [{"name": "add", "arguments": {"a": 1}}]},
    }
    (tmp_path / "own.json").write_text(json.dumps([row]))
    (scenario,) = load_suite(tmp_path / "own.json").scenarios
    assert scenario.tools is not None
    assert list(scenario.tools) == ["add"]
    assert len(scenario.messages) == 2
    for key, value, words in (
        ("tools", [{"nom": "x"}], "the tool's name"),
        ("messages", [{"role": "user"}], r"messages\[0\]: .*role and content"),
        ("expect", {"tools": ["bash"]}, "'bash'"),
    ):
        (tmp_path / "own.json").write_text(json.dumps([{**row, key: value}]))
        with pytest.raises(SuiteError, match=words):
            load_suite(tmp_path / "own.json")


def said(reply: str, request: Request) -> str:
    del request
    return reply


@pytest.mark.parametrize("tag", ["irrelevance", "🐟", "defective-gold"])
def test_an_unrelated_tag_changes_no_verdict(tag: str, tmp_path: Path) -> None:
    suite = load_suite("bfcl:simple", bfcl=data(tmp_path / "data"))
    tagged = suite.model_copy(
        update={
            "scenarios": tuple(
                one.model_copy(update={"tags": (*one.tags, tag)}) for one in suite.scenarios
            )
        }
    )
    for reply in ('{"name": "area_of", "arguments": {"base": 2}}', "no", '{"name": "area_of"'):
        client = Answers(partial(said, reply))
        plain, other = (run(one, client, parser_for("auto"), ONE) for one in (suite, tagged))
        assert other.summary.final == plain.summary.final
        assert other.results[0].model_copy(update={"tags": ("simple",)}) == plain.results[0]
